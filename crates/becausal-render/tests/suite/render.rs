//! Pictures: golden files, overlaps, and invalid input.

use crate::pictures;
use becausal_render::{
    Area, Chart, ChartError, Drawing, Layout, LayoutOptions, LegendEntry, Link, LinkStyle, Node,
    NodeKind, NodeOrder, Picture, PictureColumn, PictureError, Place, PngError, Point, Sample,
    Series, SeriesPoint, Shape, Spacing, Term, Tone, Waterfall,
};
use proptest::prelude::*;

use crate::golden::assert_golden;

/// The drawings of the gallery with their names.
fn gallery() -> Vec<(&'static str, Drawing)> {
    let (graph, chain) = (pictures::graph_options(), pictures::chain_options());
    vec![
        ("cart-pole", pictures::cart_pole().drawing(&graph)),
        ("lander", pictures::lander().drawing(&graph)),
        ("lander-fewer-crossings", pictures::lander().drawing(&pictures::fewer_crossings())),
        ("chain", pictures::chain().drawing(&chain)),
        ("contrast", pictures::contrast().drawing(&chain)),
        ("awkward", pictures::awkward().drawing(&graph)),
        ("curves", pictures::curves().drawing()),
        ("waterfall", pictures::waterfall().drawing()),
    ]
}

// ---- golden files and formats -------------------------------------------------------------

#[test]
fn drawings_are_the_same_byte_for_byte() {
    for ((name, drawing), (_, again)) in gallery().into_iter().zip(gallery()) {
        let svg = drawing.svg();
        assert_eq!(svg, again.svg(), "{name}");
        assert_eq!(drawing.png(1.0), again.png(1.0), "{name}");
        assert_golden(&format!("{name}.svg"), &svg);
    }
}

#[test]
fn dot_has_every_node_and_link_and_escapes_text() {
    for (name, picture) in [("chain", pictures::chain()), ("awkward", pictures::awkward())] {
        let dot = picture.dot();
        assert_eq!(dot.matches(" -> ").count(), picture.links().len());
        let nodes: usize = picture.columns().iter().map(|column| column.nodes.len()).sum();
        assert_eq!(dot.matches("shape=").count(), nodes);
        // Every line has an even number of unescaped quotes.
        let paired = |line: &str| line.replace("\\\"", "").matches('"').count().is_multiple_of(2);
        assert!(dot.lines().all(paired));
        assert_golden(&format!("{name}.dot"), &dot);
    }
}

#[test]
fn svg_is_well_formed_self_contained_and_accessible() {
    for (name, drawing) in gallery() {
        let svg = drawing.svg();
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        assert_eq!(root.attribute("aria-label"), Some(drawing.title.as_str()));
        let child = |tag: &str| root.children().find(|node| node.tag_name().name() == tag);
        let text = |tag: &str| child(tag).and_then(|node| node.text()).unwrap_or_default();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        let first = root.children().filter(roxmltree::Node::is_element).take(2);
        let first: Vec<&str> = first.map(|node| node.tag_name().name()).collect();
        assert_eq!(first, ["title", "desc"], "{name}");
        assert_eq!(text("title"), drawing.title, "{name}");
        assert!(text("desc").len() > 20, "{name}");
        for reference in ["href", "url(", "<script", "<style", "<image"] {
            assert!(!svg.contains(reference), "{name} has {reference}");
        }
    }
}

#[test]
fn the_hint_of_a_shortened_label_has_the_full_text() {
    let svg = pictures::awkward().drawing(&LayoutOptions::default()).svg();
    let document = roxmltree::Document::parse(&svg).expect("XML");
    let full = "the_very_long_name_of_a_variable_that_somebody_exported_from_a_spreadsheet_left";
    let hint = |node: &roxmltree::Node<'_, '_>| {
        node.tag_name().name() == "title" && node.text() == Some(full)
    };
    assert!(document.descendants().any(|node| hint(&node)));
    let shown: Vec<&str> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "text")
        .filter_map(|node| node.text())
        .collect();
    assert!(shown.contains(&"a < b && \"c\" > 'd'"), "{shown:?}");
    assert!(shown.iter().any(|text| text.starts_with("the_very_lon…")));
    assert!(!shown.contains(&full));
}

#[test]
fn png_has_the_size_of_the_drawing_times_the_scale() {
    for (name, drawing) in gallery() {
        for scale in [1.0, 2.0, 0.5] {
            let bytes = drawing.png(scale).expect("a PNG file");
            let image = tiny_skia::Pixmap::decode_png(&bytes).expect("it decodes");
            let size = (f64::from(image.width()), f64::from(image.height()));
            let expected = ((drawing.width * scale).ceil(), (drawing.height * scale).ceil());
            assert_eq!(size, expected, "{name}");
            let opaque = image.pixels().iter().all(|pixel| pixel.alpha() == 255);
            let white = |pixel: &&tiny_skia::PremultipliedColorU8| {
                (pixel.red(), pixel.green(), pixel.blue()) == (255, 255, 255)
            };
            let share =
                image.pixels().iter().filter(white).count() as f64 / image.pixels().len() as f64;
            assert!(opaque && (0.4..0.97).contains(&share), "{name}: {share} white");
        }
    }
}

#[test]
fn png_shows_text_and_accent() {
    let node = Node::new("velocity", NodeKind::State);
    let dark = |node: Node| {
        let column = PictureColumn::new("", vec![node]);
        let picture = Picture::new("", vec![column], Vec::new()).expect("a picture");
        let bytes = picture.drawing(&LayoutOptions::default()).png(1.0).expect("a PNG file");
        let image = tiny_skia::Pixmap::decode_png(&bytes).expect("it decodes");
        let count = |of: fn(&tiny_skia::PremultipliedColorU8) -> bool| {
            image.pixels().iter().filter(|pixel| of(pixel)).count()
        };
        (
            count(|pixel| pixel.red() < 80 && pixel.blue() < 90),
            count(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (0xD5, 0x5E, 0)),
        )
    };
    let (plain, accented) = (dark(node.clone()), dark(node.clone().with_accent(true)));
    let empty = dark(node.with_label(""));
    assert!(plain.0 > 60 && empty.0 == 0, "{plain:?} {empty:?}");
    assert!(plain.1 == 0 && accented.1 > 60, "{plain:?} {accented:?}");
}

#[test]
fn a_drawing_that_is_too_large_for_png_is_refused() {
    let drawing = pictures::cart_pole().drawing(&LayoutOptions::default());
    assert!(matches!(drawing.png(0.0), Err(PngError::Scale(_))));
    assert!(matches!(drawing.png(f64::NAN), Err(PngError::Scale(_))));
    let error = drawing.png(1000.0).expect_err("too large").to_string();
    assert!(error.contains("pixels is too large: choose a smaller scale, or SVG"), "{error}");
}

#[test]
fn the_description_lists_the_strongest_links_first() {
    let text = pictures::cart_pole().description();
    assert!(text.starts_with("11 links, strongest first: position → position'; angle → angle'"));
    let many = pictures::large(20).description();
    assert!(many.contains("weaker ones"), "{many}");
}

#[test]
fn labels_without_room_are_counted_in_a_footnote() {
    let column = |id: &str| PictureColumn::new("", vec![Node::new(id, NodeKind::State)]);
    let link = Link::new(Place::new(0, 0), Place::new(1, 0), 0.5);
    let links = (0..60).map(|index| link.clone().with_label(format!("label number {index}")));
    let columns = vec![column("a"), column("b")];
    let picture = Picture::new("full", columns, links.collect()).expect("a picture");
    let layout = picture.layout(&LayoutOptions::default());
    let placed = layout.links.iter().filter(|link| link.label.is_some()).count();
    let texts = layout.texts.iter().map(|text| text.content.as_str()).collect::<Vec<_>>().join(" ");
    assert!((3..60).contains(&placed), "{placed}");
    let expected = format!("Left out for lack of space: {} link labels.", 60 - placed);
    assert!(texts.contains(&expected), "{texts}");
    check(&picture, &layout);
}

// ---- nothing overlaps ---------------------------------------------------------------------

/// Nothing overlaps or leaves the canvas, and links pass between nodes.
fn check(picture: &Picture, layout: &Layout) {
    let canvas = Area { left: 0.0, top: 0.0, width: layout.width, height: layout.height };
    let areas = layout.label_areas();
    for (index, area) in areas.iter().enumerate() {
        assert!(canvas.contains(area), "{area:?} is outside of {canvas:?}");
        for other in &areas[index + 1..] {
            assert!(!area.overlaps(other), "{area:?} overlaps {other:?}");
        }
    }
    for column in &layout.nodes {
        for node in column {
            for text in std::iter::once(&node.label).chain(&node.detail) {
                assert!(node.area.contains(&text.area()), "{text:?} is outside of its node");
            }
        }
    }
    assert_eq!(layout.links.len(), picture.links().len());
    for (link, placed) in picture.links().iter().zip(&layout.links) {
        let points =
            placed.curves.iter().flat_map(|curve| (0..=20).map(|i| curve.at(f64::from(i) / 20.0)));
        for point in points.chain(placed.head) {
            assert!(canvas.holds(point), "{link:?} leaves the canvas at {point:?}");
        }
        assert!(placed.width >= 1.0);
        for pair in placed.curves.windows(2) {
            let (from, to) = (pair[0].end, pair[1].start);
            let segment =
                Area::around(Point::new(f64::midpoint(from.x, to.x), from.y), to.x - from.x, 1.0);
            let hit = layout.nodes.iter().flatten().find(|node| node.area.overlaps(&segment));
            assert!(hit.is_none(), "{link:?} runs through {hit:?}");
        }
    }
}

fn node(index: usize, label: String, detail: Option<String>, kind: usize, accent: bool) -> Node {
    let kinds = [NodeKind::State, NodeKind::Action, NodeKind::Outcome, NodeKind::Reward];
    Node { id: format!("{index}"), label, detail, kind: kinds[kind], accent }
}

prop_compose! {
    fn any_picture()(
        title in "\\PC{0,80}",
        sizes in prop::collection::vec(0_usize..8, 0..6),
    )(
        title in Just(title),
        headings in prop::collection::vec("[a-z <&]{0,40}", sizes.len()),
        nodes in sizes.iter().map(|&size| prop::collection::vec(
            ("\\PC{0,40}", prop::option::of("[0-9→ −.]{0,40}"), 0_usize..4, any::<bool>()), size,
        )).collect::<Vec<_>>(),
        ends in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0.0..=1.0_f64, prop::option::of("\\PC{0,12}")), 0..30),
        legend in prop::collection::vec(("\\PC{0,60}", 0.0..=1.0_f64), 0..5),
        footnotes in prop::collection::vec("\\PC{0,200}", 0..3),
    ) -> Picture {
        let mut index = 0;
        let mut places = Vec::new();
        let mut columns = Vec::new();
        for (column, (heading, nodes)) in headings.into_iter().zip(nodes).enumerate() {
            let nodes: Vec<Node> = nodes.into_iter().map(|(label, detail, kind, accent)| {
                index += 1;
                node(index, label, detail, kind, accent)
            }).collect();
            places.extend((0..nodes.len()).map(|node| Place::new(column, node)));
            columns.push(PictureColumn { heading, nodes });
        }
        let mut links = Vec::new();
        for (from, to, weight, label) in ends {
            if places.len() < 2 {
                break;
            }
            let (mut from, mut to) = (*from.get(&places), *to.get(&places));
            if from.column > to.column {
                std::mem::swap(&mut from, &mut to);
            }
            if from != to {
                let styles = [LinkStyle::Solid, LinkStyle::Dashed, LinkStyle::Dotted];
                let tones = [Tone::Faint, Tone::Plain, Tone::Alternative, Tone::Accent];
                let link = Link::new(from, to, weight).with_style(styles[links.len() % 3]);
                links.push(Link { label, ..link.with_tone(tones[links.len() % 4]) });
            }
        }
        let legend = legend.into_iter().enumerate().map(|(index, (text, weight))| {
            let (style, tone) = (LinkStyle::Solid, Tone::Plain);
            let link = Sample::Link { weight, style, tone };
            let node = Sample::Node { kind: NodeKind::Reward, accent: true };
            LegendEntry { sample: if index % 2 == 0 { link } else { node }, text }
        }).collect();
        let picture = Picture::new(title, columns, links).and_then(|p| p.with_legend(legend));
        picture.expect("a whole picture").with_footnotes(footnotes)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_overlaps_and_nothing_leaves_the_canvas(
        picture in any_picture(),
        fewer in any::<bool>(),
        straight in any::<bool>(),
        widest_label in 0.0..300.0_f64,
    ) {
        let order = if fewer { NodeOrder::FewerCrossings } else { NodeOrder::Given };
        let spacing = if straight { Spacing::Straight } else { Spacing::Even };
        let options = LayoutOptions { order, spacing, widest_label };
        check(&picture, &picture.layout(&options));
        let svg = picture.drawing(&options).svg();
        let document = roxmltree::Document::parse(&svg).expect("XML");
        for path in document.descendants().filter_map(|node| node.attribute("d")) {
            prop_assert!(!path.contains("NaN") && !path.contains("inf"), "{path}");
        }
    }

    #[test]
    fn texts_of_charts_and_waterfalls_stay_inside(
        names in prop::collection::vec("\\PC{0,40}", 0..20),
        values in prop::collection::vec(-1e6..1e6_f64, 1..20),
    ) {
        let series = names.iter().enumerate().map(|(index, name)| {
            let points = values.iter().enumerate().map(|(x, value)| {
                let mean = value + index as f64;
                SeriesPoint { x: x as f64, mean, low: mean - 1.0, high: mean + 2.0 }
            });
            Series { name: name.clone(), points: points.collect() }
        });
        let chart = Chart::new("chart", "x", "y", series.collect()).expect("a chart").drawing();
        let terms = names.iter().zip(values.iter().cycle());
        let terms = terms.map(|(label, &value)| Term { label: label.clone(), value });
        let waterfall = Waterfall::new("sum", terms.collect(), "total").expect("terms").drawing();
        for drawing in [chart, waterfall] {
            let canvas = Area { left: 0.0, top: 0.0, width: drawing.width, height: drawing.height };
            let texts: Vec<Area> = drawing.marks.iter().flat_map(|mark| &mark.shapes).filter_map(|shape| match shape {
                Shape::Text(text) if !text.content.is_empty() => Some(text.area()),
                _ => None,
            }).collect();
            for (index, area) in texts.iter().enumerate() {
                prop_assert!(canvas.contains(area), "{area:?} is outside of {canvas:?}");
                for other in &texts[index + 1..] {
                    prop_assert!(!area.overlaps(other), "{area:?} overlaps {other:?}");
                }
            }
            prop_assert!(roxmltree::Document::parse(&drawing.svg()).is_ok());
        }
    }
}

#[test]
fn nothing_overlaps_in_the_gallery() {
    let (graph, chain) = (pictures::graph_options(), pictures::chain_options());
    for (picture, options) in [
        (pictures::cart_pole(), &graph),
        (pictures::lander(), &graph),
        (pictures::large(50), &graph),
        (pictures::large(20), &pictures::fewer_crossings()),
        (pictures::chain(), &chain),
        (pictures::long_chain(10, 20), &chain),
        (pictures::contrast(), &chain),
        (pictures::awkward(), &graph),
    ] {
        let layout = picture.layout(options);
        check(&picture, &layout);
        let labelled = |count: usize, some: bool| count + usize::from(some);
        let wanted = picture.links().iter().map(|l| l.label.is_some()).fold(0, labelled);
        let placed = layout.links.iter().map(|l| l.label.is_some()).fold(0, labelled);
        assert_eq!(placed, wanted, "{}", picture.title());
    }
}

#[test]
fn a_stronger_link_is_wider() {
    let picture = pictures::cart_pole();
    let layout = picture.layout(&LayoutOptions::default());
    let mut pairs: Vec<(f64, f64)> =
        picture.links().iter().zip(&layout.links).map(|(l, p)| (l.weight, p.width)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(pairs.windows(2).all(|pair| pair[0].1 < pair[1].1), "{pairs:?}");
}

// ---- invalid input ------------------------------------------------------------------------

fn two_columns(link: Link) -> Result<Picture, PictureError> {
    let column = |ids: [&str; 2]| {
        PictureColumn::new("", ids.map(|id| Node::new(id, NodeKind::State)).into())
    };
    Picture::new("", vec![column(["a", "b"]), column(["c", "d"])], vec![link])
}

#[test]
fn a_picture_with_broken_links_is_refused() {
    let (a, b, c) = (Place::new(0, 0), Place::new(0, 1), Place::new(1, 0));
    let error_of = |link: Link| two_columns(link).expect_err("refused").to_string();
    assert!(two_columns(Link::new(a, c, 1.0)).is_ok());
    assert!(two_columns(Link::new(a, b, 0.0)).is_ok());
    assert_eq!(
        error_of(Link::new(a, Place::new(1, 2), 0.5)),
        "link 0: there is no node 2 in column 1"
    );
    assert_eq!(
        error_of(Link::new(Place::new(4, 0), c, 0.5)),
        "link 0: there is no node 0 in column 4"
    );
    for weight in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let expected = format!(
            "link 0 from `a` to `c`: the weight is {weight}, expected a number from 0 to 1"
        );
        assert_eq!(error_of(Link::new(a, c, weight)), expected);
    }
    assert!(error_of(Link::new(c, a, 0.5)).starts_with("link 0 from `c` to `a` goes back"));
    assert!(error_of(Link::new(a, a, 0.5)).starts_with("link 0 from `a` to `a` goes back"));
    let sample = Sample::Link { weight: 2.0, style: LinkStyle::Solid, tone: Tone::Plain };
    let entry = LegendEntry { sample, text: "strong".to_owned() };
    let picture = two_columns(Link::new(a, c, 1.0)).expect("a picture");
    let error = picture.with_legend(vec![entry]).expect_err("refused").to_string();
    assert!(error.starts_with("legend entry 0, `strong`: the weight is 2"), "{error}");
}

#[test]
fn two_nodes_with_one_id_are_refused() {
    let column = || PictureColumn::new("", vec![Node::new("x", NodeKind::State)]);
    let error = Picture::new("", vec![column(), column()], Vec::new()).expect_err("refused");
    assert_eq!(error.to_string(), "two nodes have the id `x`");
}

#[test]
fn charts_and_waterfalls_refuse_invalid_numbers() {
    let chart = |points: &[(f64, f64, f64, f64)]| {
        let point =
            |&(x, mean, low, high): &(f64, f64, f64, f64)| SeriesPoint { x, mean, low, high };
        let series = Series { name: "s".to_owned(), points: points.iter().map(point).collect() };
        Chart::new("", "", "", vec![series])
    };
    assert!(chart(&[(0.0, 1.0, 0.0, 2.0)]).is_ok());
    assert!(matches!(chart(&[]), Err(ChartError::Empty { .. })));
    assert!(matches!(chart(&[(0.0, f64::NAN, 0.0, 2.0)]), Err(ChartError::NotFinite { .. })));
    assert!(matches!(chart(&[(0.0, 3.0, 0.0, 2.0)]), Err(ChartError::Spread { .. })));
    let back = chart(&[(1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 1.0, 1.0)]);
    assert!(matches!(back, Err(ChartError::Unordered { point: 1, .. })));
    let term = Term { label: "fuel".to_owned(), value: f64::NAN };
    let error = Waterfall::new("", vec![term], "sum").expect_err("refused");
    assert_eq!(error.to_string(), "the term `fuel` is NaN, expected a finite number");
}

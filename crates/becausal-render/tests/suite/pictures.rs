//! Example pictures, for tests and for the gallery.

use becausal_core::Stream;
use becausal_render::{
    Chart, LayoutOptions, LegendEntry, Link, LinkStyle, Node, NodeKind, NodeOrder, Picture,
    PictureColumn, Place, Sample, Series, SeriesPoint, Spacing, Term, Tone, Waterfall,
};

/// Options for a graph of two columns.
pub fn graph_options() -> LayoutOptions {
    LayoutOptions::default()
}

/// Options for a chain over time.
pub fn chain_options() -> LayoutOptions {
    LayoutOptions { spacing: Spacing::Straight, ..LayoutOptions::default() }
}

fn link_entry(text: &str, weight: f64, style: LinkStyle, tone: Tone) -> LegendEntry {
    LegendEntry { sample: Sample::Link { weight, style, tone }, text: text.to_owned() }
}

fn node_entry(text: &str, kind: NodeKind) -> LegendEntry {
    LegendEntry { sample: Sample::Node { kind, accent: false }, text: text.to_owned() }
}

fn graph_legend() -> Vec<LegendEntry> {
    vec![
        node_entry("state", NodeKind::State),
        node_entry("action", NodeKind::Action),
        node_entry("outcome", NodeKind::Outcome),
        link_entry("strong", 1.0, LinkStyle::Solid, Tone::Plain),
        link_entry("weak", 0.05, LinkStyle::Solid, Tone::Plain),
        link_entry("untestable", 0.2, LinkStyle::Dashed, Tone::Faint),
    ]
}

fn nodes(names: &[&str], kind: NodeKind) -> Vec<Node> {
    names.iter().map(|name| Node::new(*name, kind)).collect()
}

fn link(from: usize, to: usize, weight: f64) -> Link {
    Link::new(Place::new(0, from), Place::new(1, to), weight)
}

/// The causal graph of CartPole: 5 causes, 4 effects, 11 edges.
pub fn cart_pole() -> Picture {
    let mut causes = nodes(&["position", "velocity", "angle", "angle_velocity"], NodeKind::State);
    causes.push(Node::new("push", NodeKind::Action));
    let effects = nodes(&["position'", "velocity'", "angle'", "angle_velocity'"], NodeKind::State);
    let edges = [
        (0, 0, 0.98),
        (1, 0, 0.61),
        (1, 1, 0.95),
        (2, 1, 0.22),
        (3, 1, 0.04),
        (4, 1, 0.88),
        (2, 2, 0.97),
        (3, 2, 0.7),
        (2, 3, 0.31),
        (3, 3, 0.9),
        (4, 3, 0.8),
    ];
    let links = edges.iter().map(|&(from, to, weight)| link(from, to, weight)).collect();
    let columns = vec![PictureColumn::new("now", causes), PictureColumn::new("next", effects)];
    let legend = graph_legend().into_iter().enumerate().filter(|(index, _)| *index != 2);
    Picture::new("Causal graph of CartPole-v1", columns, links)
        .and_then(|picture| picture.with_legend(legend.map(|(_, entry)| entry).collect()))
        .expect("a picture")
        .with_footnotes(vec![
            "20,000 transitions of the random policy; edges at eta = 0.05; width is strength."
                .to_owned(),
        ])
}

/// A lander: 9 causes, 10 effects, strengths of all sizes; untestable pairs are dashed.
pub fn lander() -> Picture {
    let states = ["x", "y", "vx", "vy", "angle", "v_angle", "legs[0]", "legs[1]"];
    let mut causes = nodes(&states, NodeKind::State);
    causes.push(Node::new("engine", NodeKind::Action));
    let mut effects: Vec<Node> =
        states.iter().map(|name| Node::new(format!("{name}'"), NodeKind::State)).collect();
    effects.push(Node::new("fuel", NodeKind::Outcome));
    effects.push(Node::new("crash", NodeKind::Outcome));
    let mut links = Vec::new();
    for (cause, effect, weight) in [
        (0, 0, 1.0),
        (2, 0, 0.62),
        (1, 1, 1.0),
        (3, 1, 0.58),
        (2, 2, 0.97),
        (4, 2, 0.35),
        (8, 2, 0.41),
        (3, 3, 0.95),
        (4, 3, 0.12),
        (8, 3, 0.66),
        (4, 4, 0.99),
        (5, 4, 0.5),
        (5, 5, 0.9),
        (8, 5, 0.44),
        (6, 5, 0.06),
        (7, 5, 0.05),
        (1, 6, 0.3),
        (6, 6, 0.72),
        (1, 7, 0.28),
        (7, 7, 0.74),
        (8, 8, 1.0),
        (1, 9, 0.33),
        (3, 9, 0.18),
        (4, 9, 0.09),
    ] {
        links.push(link(cause, effect, weight));
    }
    for (cause, effect) in [(6, 2), (7, 2), (6, 3), (7, 3), (6, 9), (7, 9)] {
        let faint = link(cause, effect, 0.15).with_style(LinkStyle::Dashed);
        links.push(faint.with_tone(Tone::Faint));
    }
    let columns = vec![PictureColumn::new("now", causes), PictureColumn::new("next", effects)];
    Picture::new("Causal graph of LunarLander-v3", columns, links)
        .and_then(|picture| picture.with_legend(graph_legend()))
        .expect("a picture")
        .with_footnotes(vec![
            "150,000 transitions; 24 edges of 90 pairs.".to_owned(),
            "6 pairs untestable: the legs touched the ground in too few rows.".to_owned(),
        ])
}

/// A random graph with `size` causes and effects.
pub fn large(size: usize) -> Picture {
    let mut stream = Stream::new(7);
    let name = |index: usize| format!("sensor_{index:02}");
    let causes = (0..size).map(|i| Node::new(name(i), NodeKind::State)).collect();
    let effects = (0..size).map(|i| Node::new(format!("{}'", name(i)), NodeKind::State)).collect();
    let mut links = Vec::new();
    for effect in 0..size {
        links.push(link(effect, effect, stream.uniform(0.5, 1.0)));
        for _ in 0..2 {
            let cause = stream.below(size);
            if cause != effect {
                links.push(link(cause, effect, stream.uniform(0.02, 0.6)));
            }
        }
    }
    let columns = vec![PictureColumn::new("now", causes), PictureColumn::new("next", effects)];
    Picture::new(format!("A graph of {size} causes and effects"), columns, links)
        .expect("a picture")
}

/// The first steps of a BuildMarine chain, from an action to a reward.
pub fn chain() -> Picture {
    let value = |id: &str, label: &str, detail: &str, accent: bool| {
        Node::new(id, NodeKind::State).with_label(label).with_detail(detail).with_accent(accent)
    };
    let action = |id: &str, detail: &str, accent: bool| {
        Node::new(id, NodeKind::Action).with_label("build").with_detail(detail).with_accent(accent)
    };
    let columns = vec![
        PictureColumn::new(
            "step 12",
            vec![
                value("money0", "money", "330", false),
                value("workers0", "workers", "12", false),
                value("depots0", "depots", "1", false),
                value("barracks0", "barracks", "0", false),
                action("a0", "depot", true),
            ],
        ),
        PictureColumn::new(
            "step 13",
            vec![
                value("money1", "money", "330 → 430", true),
                value("workers1", "workers", "12", false),
                value("depots1", "depots", "1 → 2", true),
                value("barracks1", "barracks", "0", false),
                action("a1", "barracks", false),
            ],
        ),
        PictureColumn::new(
            "step 14",
            vec![
                value("money2", "money", "430 → 380", true),
                value("workers2", "workers", "12", false),
                value("barracks2", "barracks", "0 → 1", true),
                action("a2", "marine", false),
            ],
        ),
        PictureColumn::new(
            "step 15",
            vec![
                value("money3", "money", "380 → 405", false),
                value("barracks3", "barracks", "1", true),
                value("marines3", "marines", "0 → 1", true),
                action("a3", "marine", false),
            ],
        ),
        PictureColumn::new(
            "rewards",
            vec![
                Node::new("r1", NodeKind::Reward)
                    .with_label("marines")
                    .with_detail("+1.00")
                    .with_accent(true),
                Node::new("r2", NodeKind::Reward).with_label("idle money").with_detail("−0.12"),
            ],
        ),
    ];
    let mut links = Vec::new();
    let mut join = |from: (usize, usize), to: (usize, usize), weight: f64, tone: Tone| {
        let (from, to) = (Place::new(from.0, from.1), Place::new(to.0, to.1));
        links.push(Link::new(from, to, weight).with_tone(tone));
    };
    join((0, 4), (1, 2), 0.95, Tone::Accent);
    join((0, 4), (1, 0), 0.5, Tone::Accent);
    join((0, 0), (1, 0), 0.8, Tone::Plain);
    join((0, 1), (1, 0), 0.3, Tone::Plain);
    join((0, 1), (1, 1), 0.9, Tone::Faint);
    join((0, 2), (1, 2), 0.6, Tone::Plain);
    join((0, 3), (1, 3), 0.9, Tone::Faint);
    join((1, 0), (2, 0), 0.7, Tone::Accent);
    join((1, 2), (2, 2), 0.85, Tone::Accent);
    join((1, 4), (2, 2), 0.6, Tone::Plain);
    join((1, 4), (2, 0), 0.4, Tone::Plain);
    join((1, 1), (2, 1), 0.9, Tone::Faint);
    join((2, 2), (3, 1), 0.9, Tone::Accent);
    join((2, 2), (3, 2), 0.8, Tone::Accent);
    join((2, 3), (3, 2), 0.7, Tone::Plain);
    join((2, 0), (3, 0), 0.6, Tone::Faint);
    join((2, 0), (3, 2), 0.2, Tone::Accent);
    join((3, 2), (4, 0), 1.0, Tone::Accent);
    join((1, 0), (4, 1), 0.2, Tone::Accent);
    join((2, 0), (4, 1), 0.3, Tone::Accent);
    join((3, 0), (4, 1), 0.5, Tone::Faint);
    for (column, node) in [(1, 2), (2, 2)] {
        let to = Place::new(column, if column == 1 { 4 } else { 3 });
        let route = Link::new(Place::new(column, node), to, 0.4).with_style(LinkStyle::Dotted);
        links.push(route.with_tone(Tone::Accent).with_label("policy"));
    }
    Picture::new("Why build a depot at step 12?", columns, links)
        .and_then(|picture| {
            picture.with_legend(vec![
                link_entry("chain to the reward", 0.7, LinkStyle::Solid, Tone::Accent),
                link_entry("acts with it", 0.5, LinkStyle::Solid, Tone::Plain),
                link_entry("through the policy", 0.4, LinkStyle::Dotted, Tone::Accent),
                node_entry("state", NodeKind::State),
                node_entry("action", NodeKind::Action),
                node_entry("reward", NodeKind::Reward),
            ])
        })
        .expect("a picture")
        .with_footnotes(vec!["7 weaker influences are not shown.".to_owned()])
}

/// A chain of `steps` steps over at most `variables` variables.
pub fn long_chain(steps: usize, variables: usize) -> Picture {
    let mut stream = Stream::new(11);
    let mut columns = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    let first = Node::new("engine", NodeKind::Action).with_detail("main").with_accent(true);
    columns.push(PictureColumn::new("step 0", vec![first]));
    for step in 1..=steps {
        let previous: usize = columns[step - 1].nodes.len();
        let count = (step * 3).min(variables);
        let node = |index: usize| {
            Node::new(format!("variable_{index} {step}"), NodeKind::State)
                .with_label(format!("variable_{index}"))
                .with_accent(index < 3)
        };
        columns.push(PictureColumn::new(format!("step {step}"), (0..count).map(node).collect()));
        for index in 0..count {
            let tone = if index < 3 { Tone::Accent } else { Tone::Plain };
            let same = index.min(previous - 1);
            let from = Place::new(step - 1, same);
            let weight = stream.uniform(0.3, 1.0);
            links.push(Link::new(from, Place::new(step, index), weight).with_tone(tone));
            let other = Place::new(step - 1, stream.below(previous));
            if stream.below(3) == 0 && other != from {
                let weight = stream.uniform(0.05, 0.5);
                links.push(Link::new(other, Place::new(step, index), weight).with_tone(tone));
            }
        }
    }
    let rewards = ["getting close", "slowing down", "crash"];
    let rewards: Vec<Node> = rewards
        .iter()
        .map(|name| Node::new(*name, NodeKind::Reward).with_detail("+1.25"))
        .collect();
    columns.push(PictureColumn::new("rewards", rewards));
    for step in 1..=steps {
        for reward in 0..3 {
            if step % 3 == reward {
                let (from, to) = (Place::new(step, reward), Place::new(steps + 1, reward));
                links.push(Link::new(from, to, 0.4).with_tone(Tone::Accent));
            }
        }
    }
    Picture::new(format!("A chain over {steps} steps"), columns, links).expect("a picture")
}

/// A factual and a counterfactual chain in one picture, with labels on links.
pub fn contrast() -> Picture {
    let columns = vec![
        PictureColumn::new(
            "step 3",
            vec![
                Node::new("push", NodeKind::Action)
                    .with_detail("right, not left")
                    .with_accent(true),
            ],
        ),
        PictureColumn::new(
            "step 4",
            vec![
                Node::new("v4", NodeKind::State)
                    .with_label("velocity")
                    .with_detail("0.21, not −0.18"),
                Node::new("w4", NodeKind::State)
                    .with_label("angle_velocity")
                    .with_detail("−0.3, not 0.29"),
            ],
        ),
        PictureColumn::new(
            "step 5",
            vec![
                Node::new("p5", NodeKind::State)
                    .with_label("position")
                    .with_detail("0.03, not 0.02"),
                Node::new("a5", NodeKind::State).with_label("angle").with_detail("0.04, not 0.21"),
            ],
        ),
        PictureColumn::new(
            "rewards",
            vec![Node::new("alive", NodeKind::Reward).with_detail("+1, not 0")],
        ),
    ];
    let at = Place::new;
    let links = vec![
        Link::new(at(0, 0), at(1, 0), 0.9).with_tone(Tone::Accent).with_label("+0.195"),
        Link::new(at(0, 0), at(1, 1), 0.9).with_tone(Tone::Accent).with_label("−0.295"),
        Link::new(at(0, 0), at(1, 1), 0.6)
            .with_tone(Tone::Alternative)
            .with_style(LinkStyle::Dashed),
        Link::new(at(1, 0), at(2, 0), 0.2).with_tone(Tone::Plain).with_label("+0.004"),
        Link::new(at(1, 1), at(2, 1), 0.7).with_tone(Tone::Accent).with_label("−0.006"),
        Link::new(at(1, 1), at(2, 1), 0.7)
            .with_tone(Tone::Alternative)
            .with_style(LinkStyle::Dashed),
        Link::new(at(2, 1), at(3, 0), 0.8).with_tone(Tone::Accent),
        Link::new(at(2, 1), at(3, 0), 0.8)
            .with_tone(Tone::Alternative)
            .with_style(LinkStyle::Dashed)
            .with_label("falls"),
        Link::new(at(2, 0), at(3, 0), 0.05).with_tone(Tone::Faint),
    ];
    Picture::new("Why push right and not left at step 3?", columns, links)
        .and_then(|picture| {
            picture.with_legend(vec![
                link_entry("what happened: push right", 0.7, LinkStyle::Solid, Tone::Accent),
                link_entry("push left instead", 0.7, LinkStyle::Dashed, Tone::Alternative),
            ])
        })
        .expect("a picture")
}

/// Labels that are long, foreign or look like markup.
pub fn awkward() -> Picture {
    let causes = [
        "the_very_long_name_of_a_variable_that_somebody_exported_from_a_spreadsheet_left",
        "the_very_long_name_of_a_variable_that_somebody_exported_from_a_spreadsheet_right",
        "a < b && \"c\" > 'd'",
        "größe in µm²",
        "θ̇ = ∂θ/∂t",
        "速度",
        "]]> <script>alert(1)</script>",
        "tab\tand\nline\u{1}break",
        "",
    ];
    let causes = causes
        .iter()
        .enumerate()
        .map(|(index, label)| Node::new(format!("c{index}"), NodeKind::State).with_label(*label));
    let effects = (0..4_usize).map(|index| {
        let kinds = [NodeKind::State, NodeKind::Action, NodeKind::Outcome, NodeKind::Reward];
        Node::new(format!("e{index}"), kinds[index])
            .with_label(format!("x′{index} & so on and so forth until the line is full"))
            .with_detail("1.5 → 2.5 × 10⁻³ … and much more detail than there is room for")
    });
    let columns = vec![
        PictureColumn::new(
            "causes with a heading that is far too long to stand here",
            causes.collect(),
        ),
        PictureColumn::new("effects", effects.collect()),
    ];
    let links =
        (0..9).map(|i| link(i, i % 4, (i as f64 + 1.0) / 9.0).with_label(format!("p < {i}e−3")));
    Picture::new(
        "A title that goes on & on: <b>bold</b> \"quoted\" 'single', long enough that it needs more than one line",
        columns,
        links.collect(),
    )
    .and_then(|picture| picture.with_legend(vec![
        link_entry("an entry of the legend that is much longer than the picture is wide, so that it has to be shortened somewhere", 0.5, LinkStyle::Solid, Tone::Plain),
        node_entry("R&D", NodeKind::Reward),
    ]))
    .expect("a picture")
    .with_footnotes(vec!["A footnote with <angle brackets> and so many words that it must be broken into lines, because nobody writes footnotes that are short when there is so much to say about the data.".to_owned()])
}

/// Learning curves of four kinds of models.
pub fn curves() -> Chart {
    let mut stream = Stream::new(3);
    let runs = [
        ("causal model", 240.0, 60.0),
        ("full model", 225.0, 100.0),
        ("dense model", 205.0, 140.0),
        ("no model (PPO)", 215.0, 260.0),
    ];
    let series = runs.iter().map(|&(name, end, pace)| {
        let points = (0..=60_u32).map(|index| {
            let x = f64::from(index) * 10_000.0;
            let learned = 1.0 - (-f64::from(index) * 10.0 / pace).exp();
            let mean = -180.0 + (end + 180.0) * learned + stream.normal() * 4.0;
            let spread = 15.0 + 60.0 * learned * (1.0 - learned);
            SeriesPoint { x, mean, low: mean - spread, high: mean + spread }
        });
        Series { name: name.to_owned(), points: points.collect() }
    });
    let series = series.collect();
    Chart::new("Learning LunarLander-v3", "environment steps", "return, mean of 5 seeds", series)
        .expect("a chart")
}

/// The reward terms behind one difference.
pub fn waterfall() -> Waterfall {
    let term = |label: &str, value| Term { label: label.to_owned(), value };
    let terms = vec![
        term("getting close", 12.4),
        term("slowing down", 8.31),
        term("upright", -3.07),
        term("legs on the ground", 20.0),
        term("fuel", -1.2),
        term("crash", -48.0),
        term("rest", 0.0),
    ];
    Waterfall::new("Where the reward of steps 40 to 52 comes from", terms, "sum").expect("terms")
}

/// Options for fewer crossings.
pub fn fewer_crossings() -> LayoutOptions {
    LayoutOptions { order: NodeOrder::FewerCrossings, ..LayoutOptions::default() }
}

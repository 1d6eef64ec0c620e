//! The picture of a causal graph: causes left, effects right, width for strength.

use std::collections::BTreeMap;

use super::picture::{
    LegendEntry, Link, LinkStyle, Node, NodeKind, Picture, PictureColumn, PictureError, Place,
    Sample, Tone,
};
use becausal_core::schema::{Role, Schema};
use becausal_discovery::{ActionGraph, CausalGraph, Pair, Verdict, distinct};

/// Reasons that are spelled out below a picture; the rest is in the graph itself.
const MOST_REASONS: usize = 4;

/// The picture of a graph: edges solid, as wide as they are strong; pairs that the data cannot
/// tell dashed; edges that may be proxies dotted.
///
/// # Errors
/// When a strength is not between 0 and 1, as it always is in a graph that was discovered.
pub fn graph_picture(graph: &CausalGraph, schema: &Schema) -> Result<Picture, PictureError> {
    let title = format!("What causes what in {}", schema.name());
    draw(&title, &graph.pairs, schema, &basis(graph))
}

/// The picture of a graph under one value of the action.
///
/// # Errors
/// As for [`graph_picture`].
pub fn action_picture(
    graph: &CausalGraph,
    part: &ActionGraph,
    schema: &Schema,
) -> Result<Picture, PictureError> {
    let title =
        format!("What causes what in {} when {} is {}", schema.name(), part.variable, part.label);
    draw(&title, &part.pairs, schema, &basis(graph))
}

/// What the graph was found from.
fn basis(graph: &CausalGraph) -> String {
    let correction = if graph.corrected { ", corrected for the number of pairs" } else { "" };
    format!(
        "From {} transitions in {} episodes; test {}, eta {}{correction}.",
        graph.rows, graph.episodes, graph.method, graph.eta
    )
}

fn draw(
    title: &str,
    pairs: &[Pair],
    schema: &Schema,
    basis: &str,
) -> Result<Picture, PictureError> {
    let causes = distinct(pairs.iter().map(|pair| pair.cause.as_str()));
    let effects = distinct(pairs.iter().map(|pair| pair.effect.as_str()));
    let column = |heading: &str, prefix: &str, names: &[&str]| {
        let node = |name: &&str| {
            Node::new(format!("{prefix}{name}"), kind(schema, name)).with_label(*name)
        };
        PictureColumn::new(heading, names.iter().map(node).collect())
    };
    let columns = vec![column("causes", "", &causes), column("effects", "→ ", &effects)];
    let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
    let mut links = Vec::new();
    for pair in pairs {
        let (Some(cause), Some(effect)) =
            (place(&causes, &pair.cause), place(&effects, &pair.effect))
        else {
            continue;
        };
        let ends = (Place::new(0, cause), Place::new(1, effect));
        match pair.verdict {
            Verdict::None => {}
            Verdict::Edge => {
                let style = if pair.proxy { LinkStyle::Dotted } else { LinkStyle::Solid };
                links.push(Link::new(ends.0, ends.1, pair.strength).with_style(style));
            }
            Verdict::Untestable => links.push(
                Link::new(ends.0, ends.1, 0.0).with_style(LinkStyle::Dashed).with_tone(Tone::Faint),
            ),
        }
    }
    let footnotes = footnotes(pairs, basis);
    Picture::new(title, columns, links)?
        .with_legend(legend(pairs, schema))
        .map(|picture| picture.with_footnotes(footnotes))
}

/// What a variable is, by its name with or without prime.
fn kind(schema: &Schema, name: &str) -> NodeKind {
    let name = name.strip_suffix('\'').unwrap_or(name);
    match schema.variables().iter().find(|variable| variable.name == name).map(|v| v.role) {
        Some(Role::Action) => NodeKind::Action,
        Some(Role::Outcome) => NodeKind::Outcome,
        Some(Role::State) | None => NodeKind::State,
    }
}

/// Only what the picture shows.
fn legend(pairs: &[Pair], schema: &Schema) -> Vec<LegendEntry> {
    let shown = |kind_wanted: NodeKind| {
        let mut names = pairs.iter().flat_map(|pair| [&pair.cause, &pair.effect]);
        names.any(|name| kind(schema, name) == kind_wanted)
    };
    let mut entries = Vec::new();
    for (kind, text) in
        [(NodeKind::State, "state"), (NodeKind::Action, "action"), (NodeKind::Outcome, "outcome")]
    {
        if shown(kind) {
            let sample = Sample::Node { kind, accent: false };
            entries.push(LegendEntry { sample, text: text.into() });
        }
    }
    let mut link = |weight, style, tone, text: &str| {
        let sample = Sample::Link { weight, style, tone };
        entries.push(LegendEntry { sample, text: text.into() });
    };
    let edge = |proxy| move |pair: &Pair| pair.verdict == Verdict::Edge && pair.proxy == proxy;
    if pairs.iter().any(edge(false)) {
        link(1.0, LinkStyle::Solid, Tone::Plain, "strong influence");
        link(0.1, LinkStyle::Solid, Tone::Plain, "weak influence");
    }
    if pairs.iter().any(edge(true)) {
        link(0.5, LinkStyle::Dotted, Tone::Plain, "may only stand for another cause");
    }
    if pairs.iter().any(|pair| pair.verdict == Verdict::Untestable) {
        link(0.0, LinkStyle::Dashed, Tone::Faint, "cannot be told from this data");
    }
    entries
}

/// What the graph was found from, and why some pairs could not be told, most frequent first.
fn footnotes(pairs: &[Pair], basis: &str) -> Vec<String> {
    let edges = pairs.iter().filter(|pair| pair.verdict == Verdict::Edge).count();
    let mut notes = vec![format!("{edges} edges of {} pairs. {basis}", pairs.len())];
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.verdict == Verdict::Untestable) {
        *reasons.entry(pair.reason.as_deref().unwrap_or("no reason given")).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
    let more = reasons.len().saturating_sub(MOST_REASONS);
    for (reason, count) in reasons.into_iter().take(MOST_REASONS) {
        let noun = if count == 1 { "pair" } else { "pairs" };
        notes.push(format!("{count} {noun} untestable: {reason}"));
    }
    if more > 0 {
        notes.push(format!("and {more} further reasons"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let text = "name = \"Hover\"\n[state]\nheight = { kind = \"continuous\" }\n[action]\n\
                    engine = { kind = \"boolean\" }\n[outcome]\ncrash = { kind = \"boolean\" }\n";
        Schema::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn pair(cause: &str, effect: &str, p: f64, strength: f64) -> Pair {
        Pair { p, strength, ..Pair::new(cause, effect) }
    }

    #[test]
    fn edges_are_solid_unknowns_dashed_and_the_rest_is_not_drawn() {
        let mut pairs = vec![
            pair("height", "height'", 1e-9, 0.9),
            pair("engine", "height'", 1e-9, 0.3),
            pair("height", "crash", 0.6, 0.0),
            pair("engine", "crash", 1.0, 0.0),
        ];
        pairs[1].proxy = true;
        pairs[3].reason = Some("`engine` is constant".into());
        let graph = CausalGraph::new("auto", 0.001, pairs);
        let picture = graph_picture(&graph, &schema()).expect("a picture");
        let styles: Vec<LinkStyle> = picture.links().iter().map(|link| link.style).collect();
        assert_eq!(styles, [LinkStyle::Solid, LinkStyle::Dotted, LinkStyle::Dashed]);
        assert_eq!(picture.links()[0].weight, 0.9);
        let kinds: Vec<NodeKind> =
            picture.columns().iter().flat_map(|c| &c.nodes).map(|node| node.kind).collect();
        assert_eq!(kinds, [NodeKind::State, NodeKind::Action, NodeKind::State, NodeKind::Outcome]);
        let notes = picture.footnotes().join("\n");
        assert!(notes.contains("2 edges of 4 pairs."), "{notes}");
        assert!(notes.contains("1 pair untestable: `engine` is constant"), "{notes}");
        let legend: Vec<&str> = picture.legend().iter().map(|entry| entry.text.as_str()).collect();
        assert!(legend.contains(&"cannot be told from this data"), "{legend:?}");
    }
}

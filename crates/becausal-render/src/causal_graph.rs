//! The picture of a causal graph: causes on the left, effects on the right, width shows strength.

use std::collections::BTreeMap;

use super::number::counted;
use super::picture::{
    LegendEntry, Link, LinkStyle, Node, NodeKind, Picture, PictureColumn, PictureError, Place,
    Sample, Tone,
};
use super::reason::reason_words;
use becausal_core::schema::{Role, Schema};
use becausal_discovery::{ActionGraph, CausalGraph, CauseId, Pair, Verdict};

/// The maximum number of reasons below a picture; the graph itself has them all.
const MAX_REASONS: usize = 4;

/// The picture of a graph. Edges are solid, and wider if stronger. Untestable pairs are dashed. Edges
/// that may be proxies are dotted.
///
/// # Errors
/// When a strength is not between 0 and 1, which never happens in a discovered graph.
pub fn graph_picture(graph: &CausalGraph, schema: &Schema) -> Result<Picture, PictureError> {
    let title = format!("What causes what in {}", schema.name());
    let causes: Vec<CauseId> = (0..graph.causes().len()).map(CauseId).collect();
    draw(&title, graph, graph.pairs(), &causes, schema)
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
    let action = graph.cause(part.action);
    let title = format!("What causes what in {} when {action} is {}", schema.name(), part.label);
    let mut causes: Vec<CauseId> = part.pairs.iter().map(|pair| pair.cause).collect();
    causes.sort_unstable();
    causes.dedup();
    draw(&title, graph, &part.pairs, &causes, schema)
}

/// `causes` are the causes that get a node.
fn draw(
    title: &str,
    graph: &CausalGraph,
    pairs: &[Pair],
    causes: &[CauseId],
    schema: &Schema,
) -> Result<Picture, PictureError> {
    let node = |prefix: &str, name: &str| {
        Node::new(format!("{prefix}{name}"), kind(schema, name)).with_label(name)
    };
    let causes_column = causes.iter().map(|&cause| node("", graph.cause(cause))).collect();
    let effects_column = graph.effects().iter().map(|effect| node("→ ", effect)).collect();
    let columns = vec![
        PictureColumn::new("causes", causes_column),
        PictureColumn::new("effects", effects_column),
    ];
    let mut links = Vec::new();
    for pair in pairs {
        let Ok(cause) = causes.binary_search(&pair.cause) else { continue };
        let ends = (Place::new(0, cause), Place::new(1, pair.effect.0));
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
    let names = causes.iter().map(|&cause| graph.cause(cause));
    let names = names.chain(graph.effects().iter().map(String::as_str));
    let kinds: Vec<NodeKind> = names.map(|name| kind(schema, name)).collect();
    Picture::new(title, columns, links)?
        .with_legend(legend(pairs, &kinds))
        .map(|picture| picture.with_footnotes(footnotes(graph, pairs)))
}

/// The kind of a variable, by its name with or without a prime.
fn kind(schema: &Schema, name: &str) -> NodeKind {
    let name = name.strip_suffix('\'').unwrap_or(name);
    match schema.variables().iter().find(|variable| variable.name == name).map(|v| v.role) {
        Some(Role::Action) => NodeKind::Action,
        Some(Role::Outcome) => NodeKind::Outcome,
        Some(Role::State) | None => NodeKind::State,
    }
}

/// The entries for what the picture shows.
fn legend(pairs: &[Pair], kinds: &[NodeKind]) -> Vec<LegendEntry> {
    let mut entries = Vec::new();
    for (kind, text) in
        [(NodeKind::State, "state"), (NodeKind::Action, "action"), (NodeKind::Outcome, "outcome")]
    {
        if kinds.contains(&kind) {
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
        link(0.5, LinkStyle::Dotted, Tone::Plain, "may be a proxy for another cause");
    }
    if pairs.iter().any(|pair| pair.verdict == Verdict::Untestable) {
        link(0.0, LinkStyle::Dashed, Tone::Faint, "cannot be told from this data");
    }
    entries
}

/// The data behind the graph, and why some pairs are untestable, most frequent reason first.
fn footnotes(graph: &CausalGraph, pairs: &[Pair]) -> Vec<String> {
    let edges = pairs.iter().filter(|pair| pair.verdict == Verdict::Edge).count();
    let correction = if graph.corrected { ", corrected for the number of pairs" } else { "" };
    let mut notes = vec![format!(
        "{} of {}. From {} in {}; test {}, eta {}{correction}.",
        counted(edges, "edge"),
        counted(pairs.len(), "pair"),
        counted(graph.rows, "transition"),
        counted(graph.episodes, "episode"),
        graph.method,
        graph.eta
    )];
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.verdict == Verdict::Untestable) {
        let words = pair.reason.as_ref().map_or("no reason given".to_owned(), reason_words);
        *reasons.entry(words).or_default() += 1;
    }
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let more = reasons.len().saturating_sub(MAX_REASONS);
    for (reason, count) in reasons.into_iter().take(MAX_REASONS) {
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
    use becausal_discovery::Reason;

    use super::*;

    fn schema() -> Schema {
        let text = "name = \"Hover\"\n[state]\nheight = { kind = \"continuous\" }\n[action]\n\
                    engine = { kind = \"boolean\" }\n[outcome]\ncrash = { kind = \"boolean\" }\n";
        Schema::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn edges_are_solid_untestable_pairs_dashed_and_the_rest_is_not_drawn() {
        let schema = schema();
        let mut graph = CausalGraph::new("auto", 0.001, &schema.causes(), &schema.effects());
        let evidence = [(1e-9, 0.9), (1e-9, 0.3), (0.6, 0.0), (1.0, 0.0)];
        for (pair, (p, strength)) in graph.pairs_mut().iter_mut().zip(evidence) {
            (pair.p, pair.strength) = (p, strength);
        }
        graph.pairs_mut()[1].proxy = true;
        graph.pairs_mut()[3].reason =
            Some(Reason::Constant { variable: "engine".into(), value: None });
        let graph = graph.with_eta(0.001);
        let picture = graph_picture(&graph, &schema).expect("a picture");
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

//! The evidence for an explanation and its caveats, as text.

use std::fmt::Write;

use super::doubt;
use super::text::{Alignment, Table};
use super::words::{counted, list, number, title};
use becausal_core::schema::Schema;
use becausal_explain::chain::{Part, Trajectory, Way};
use becausal_explain::{Doubt, LinkEvidence};

/// The maximum number of influences to list; weaker ones are counted.
const MAX_LINKS: usize = 8;

/// A list of the first few words, and how many more there are.
pub(super) fn short_list(mut words: Vec<String>) -> String {
    if words.len() > MAX_LINKS + 1 {
        let more = words.split_off(MAX_LINKS).len();
        words.push(format!("{more} more"));
    }
    list(&words)
}

/// The direct effects of the explained action in the chain.
pub(super) fn acted_on(schema: &Schema, links: &[LinkEvidence]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for LinkEvidence { edge, .. } in links {
        let name = title(schema, edge.to);
        if edge.way == Way::Action && edge.from.step == 0 && !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The strongest influences with their evidence.
pub(super) fn links(text: &mut String, schema: &Schema, links: &[LinkEvidence]) {
    let mut shown: Vec<&LinkEvidence> =
        links.iter().filter(|link| link.edge.way == Way::Influence).collect();
    shown.sort_by(|a, b| b.edge.weight.total_cmp(&a.edge.weight));
    // Each cause and effect is listed once, at its strongest.
    let mut seen: Vec<(Part, usize, Part, usize)> = Vec::new();
    shown.retain(|link| {
        let (from, to) = (link.edge.from, link.edge.to);
        let key = (from.part, from.index, to.part, to.index);
        let new = !seen.contains(&key);
        if new {
            seen.push(key);
        }
        new && (from.index != to.index || from.part != to.part)
    });
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nInfluences, strongest first:");
    let ends = |link: &LinkEvidence| {
        format!("{} → {}", title(schema, link.edge.from), title(schema, link.edge.to))
    };
    let mut table = Table::new([("", Alignment::Left); 2]);
    for link in shown.iter().take(MAX_LINKS) {
        table.push([format!("  {}", ends(link)), evidence(link)]);
    }
    text.push_str(&table.lines());
    if shown.len() > MAX_LINKS {
        let _ = writeln!(text, "  and {}", counted(shown.len() - MAX_LINKS, "weaker one"));
    }
}

/// The evidence for an influence.
fn evidence(link: &LinkEvidence) -> String {
    let mut words = vec![format!("influence {}", number(link.edge.weight, 2))];
    if let Some(support) = link.edge.support.filter(|support| support.members > 1) {
        words.push(format!("in {} of {}", support.agreeing, counted(support.members, "network")));
    }
    if let Some(pair) = &link.finding {
        words.push(format!(
            "discovery: {}, strength {}",
            pair.verdict.word(),
            number(pair.strength, 2)
        ));
    }
    words.join("; ")
}

/// The caveats, or that there are none.
pub(super) fn doubts(
    text: &mut String,
    schema: &Schema,
    trajectory: &Trajectory,
    doubts: &[Doubt],
) {
    let lines = doubt::sentences(schema, doubts, trajectory.first());
    if lines.is_empty() {
        let _ = writeln!(text, "\nNo caveats.");
        return;
    }
    let _ = writeln!(text, "\nCaveats:");
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

//! What stands behind an explanation and what speaks against it, in words.

use std::fmt::Write;

use super::doubt;
use super::words::{list, number, title};
use becausal_core::schema::Schema;
use becausal_explain::chain::{Part, Trajectory, Way};
use becausal_explain::{Doubt, LinkEvidence};

/// Influences that are listed; the weaker ones are counted.
const MOST_LINKS: usize = 8;

/// The first of some words, and how many more there are.
pub(super) fn few(mut words: Vec<String>) -> String {
    if words.len() > MOST_LINKS + 1 {
        let more = words.split_off(MOST_LINKS).len();
        words.push(format!("{more} more"));
    }
    list(&words)
}

/// What the explained action acts on within the chain.
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

/// The strongest influences with what is known about them.
pub(super) fn links(text: &mut String, schema: &Schema, links: &[LinkEvidence]) {
    let mut shown: Vec<&LinkEvidence> =
        links.iter().filter(|link| link.edge.way == Way::Influence).collect();
    shown.sort_by(|a, b| b.edge.weight.total_cmp(&a.edge.weight));
    // Each cause and effect once, by its strongest appearance.
    let mut told: Vec<(Part, usize, Part, usize)> = Vec::new();
    shown.retain(|link| {
        let (from, to) = (link.edge.from, link.edge.to);
        let key = (from.part, from.index, to.part, to.index);
        let new = !told.contains(&key);
        if new {
            told.push(key);
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
    let few = &shown[..shown.len().min(MOST_LINKS)];
    let width = few.iter().map(|link| ends(link).chars().count()).max().unwrap_or(0);
    for link in few {
        let _ = writeln!(text, "  {:width$}  {}", ends(link), evidence(link));
    }
    if shown.len() > few.len() {
        let _ = writeln!(text, "  and {} weaker ones", shown.len() - few.len());
    }
}

/// What is known about an influence.
fn evidence(link: &LinkEvidence) -> String {
    let mut words = vec![format!("influence {}", number(link.edge.weight, 2))];
    if let Some(support) = link.edge.support.filter(|support| support.members > 1) {
        words.push(format!("in {} of {} networks", support.agreeing, support.members));
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

/// What speaks against an explanation.
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

//! A causal graph as text: a table of edges, and the untestable pairs.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use becausal_discovery::{ActionGraph, CausalGraph, EffectId, Given, Pair, Verdict};

use super::number;
use super::reason::reason_parts;
use super::text::{Alignment, Table};
use super::words::counted;

/// The most causes listed for an effect, and effects for a reason; the rest is counted.
const MAX_LISTED: usize = 6;

/// The graph as a table, effect by effect; the graphs by action; and the untestable pairs with reasons.
#[must_use]
pub fn graph_text(graph: &CausalGraph) -> String {
    let mut text = String::new();
    table(&mut text, graph);
    for part in &graph.by_action {
        by_action(&mut text, graph, part);
    }
    untestable(&mut text, graph);
    hidden_state(&mut text, graph);
    text
}

/// The graph in one line: `10 edges of 16 pairs by auto (eta 0.001) from 1,500 rows in 165 episodes`.
#[must_use]
pub fn graph_summary(graph: &CausalGraph) -> String {
    format!(
        "{} of {} by {} (eta {}) from {} in {}",
        number::counted(graph.edges().count(), "edge"),
        number::counted(graph.pairs().len(), "pair"),
        graph.method,
        graph.eta,
        number::counted(graph.rows, "row"),
        number::counted(graph.episodes, "episode"),
    )
}

/// A p-value with three decimals, or `< 0.001`.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn table(text: &mut String, graph: &CausalGraph) {
    let edges: Vec<&Pair> = graph.edges().collect();
    if edges.is_empty() {
        text.push_str("no edges\n");
        return;
    }
    let confident = edges.iter().any(|pair| pair.confidence.is_some());
    let corrected = edges.iter().any(|pair| pair.adjusted_p.is_some());
    // The p-values of FCIT are scores, not error rates.
    let p = if graph.method == "fcit" { "score" } else { "p" };
    let mut columns = vec![
        ("effect", Alignment::Left),
        ("", Alignment::Left),
        ("cause", Alignment::Left),
        ("strength", Alignment::Right),
        (p, Alignment::Right),
    ];
    if corrected {
        columns.push(("adjusted", Alignment::Right));
    }
    if confident {
        columns.push(("confidence", Alignment::Right));
    }
    columns.push(("", Alignment::Left));
    let mut table = Table::new(columns);
    let mut last = None;
    for pair in edges {
        // The effect is written once, before the first of its causes.
        let shown = if last == Some(pair.effect) { "" } else { graph.effect(pair.effect) };
        last = Some(pair.effect);
        let mut row = vec![
            shown.to_owned(),
            "<-".to_owned(),
            graph.cause(pair.cause).to_owned(),
            format!("{:.3}", pair.strength),
            probability(pair.p),
        ];
        if corrected {
            row.push(pair.adjusted_p.map_or_else(String::new, probability));
        }
        if confident {
            row.push(pair.confidence.map_or_else(String::new, |c| format!("{:.0} %", 100.0 * c)));
        }
        let notes = [
            (pair.given == Some(Given::Required), "required"),
            (pair.proxy, "may be a proxy for other causes"),
        ];
        let notes: Vec<&str> =
            notes.iter().filter(|(holds, _)| *holds).map(|(_, note)| *note).collect();
        row.push(notes.join(", "));
        table.push(row);
    }
    text.push_str(&table.lines());
}

fn by_action(text: &mut String, graph: &CausalGraph, part: &ActionGraph) {
    let _ = writeln!(text, "\n{} = {}:", graph.cause(part.action), part.label);
    let mut table = Table::new([("", Alignment::Left); 3]);
    for pairs in part.pairs.chunk_by(|one, next| one.effect == next.effect) {
        let edges = pairs.iter().filter(|pair| pair.verdict == Verdict::Edge);
        let causes: Vec<&str> = edges.map(|pair| graph.cause(pair.cause)).collect();
        let causes = if causes.is_empty() { "-".to_owned() } else { causes.join(", ") };
        let effect = pairs.first().map_or("", |pair| graph.effect(pair.effect));
        table.push([format!("  {effect}"), "<-".to_owned(), causes]);
    }
    text.push_str(&table.lines());
}

/// The effects whose residuals depend on earlier rows.
fn hidden_state(text: &mut String, graph: &CausalGraph) {
    if graph.hidden_state.is_empty() {
        return;
    }
    let effects: Vec<&str> = graph.hidden_state.iter().map(|&id| graph.effect(id)).collect();
    let _ = writeln!(
        text,
        "\nsigns of a hidden state: {}\n  what the inputs leave unexplained depends on earlier rows; a cause found for them \
         may be a mere stand-in for a variable that is not in the log",
        effects.join(", ")
    );
}

/// One entry for each reason, with the effects and their causes.
fn untestable(text: &mut String, graph: &CausalGraph) {
    let mut reasons: Vec<(String, Vec<Undecided>)> = Vec::new();
    for pair in graph.pairs().iter().filter(|pair| pair.verdict == Verdict::Untestable) {
        let (reason, rows) = pair.reason.as_ref().map_or_else(Default::default, reason_parts);
        let place = reasons.iter().position(|(known, _)| *known == reason);
        let place = place.unwrap_or_else(|| {
            reasons.push((reason, Vec::new()));
            reasons.len() - 1
        });
        let effects = &mut reasons[place].1;
        if effects.last().is_none_or(|last| last.effect != pair.effect) {
            effects.push(Undecided { effect: pair.effect, causes: Vec::new() });
        }
        let cause = Cause { name: graph.cause(pair.cause).to_owned(), rows };
        effects.last_mut().expect("one at least").causes.push(cause);
    }
    if !reasons.is_empty() {
        text.push_str("\ncannot be told from this data:\n");
    }
    for (reason, mut effects) in reasons {
        let _ = writeln!(text, "  {reason}");
        let common = take_common(graph, &mut effects);
        if !common.is_empty() {
            let _ = writeln!(text, "    all effects <- {}", listed(&common));
        }
        for Undecided { effect, causes } in effects.iter().take(MAX_LISTED) {
            let all = graph.pairs().iter().filter(|pair| pair.effect == *effect).count();
            let plain = causes.iter().all(|cause| cause.rows.is_none());
            let causes = if plain && causes.len() == all && all > 1 {
                "all inputs".to_owned()
            } else {
                listed(causes)
            };
            let _ = writeln!(text, "    {} <- {causes}", graph.effect(*effect));
        }
        if effects.len() > MAX_LISTED {
            let more = counted(effects.len() - MAX_LISTED, "other effect");
            let _ = writeln!(text, "    and {more}");
        }
    }
}

/// Takes out the causes of which the data cannot tell for any effect.
fn take_common(graph: &CausalGraph, effects: &mut Vec<Undecided>) -> Vec<Cause> {
    let every: BTreeSet<EffectId> = graph.pairs().iter().map(|pair| pair.effect).collect();
    let Some((first, others)) = effects.split_first() else { return Vec::new() };
    if others.is_empty() || effects.len() < every.len() {
        return Vec::new();
    }
    let in_others = |cause: &&Cause| others.iter().all(|other| other.causes.contains(*cause));
    let common: Vec<Cause> = first.causes.iter().filter(in_others).cloned().collect();
    for effect in &mut *effects {
        effect.causes.retain(|cause| !common.contains(cause));
    }
    effects.retain(|effect| !effect.causes.is_empty());
    common
}

/// An effect, and causes of which the data cannot tell.
struct Undecided {
    effect: EffectId,
    causes: Vec<Cause>,
}

/// A cause of which the data cannot tell, with the rows that there are, where the reason counts them.
#[derive(Clone, PartialEq)]
struct Cause {
    name: String,
    rows: Option<String>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows {
            Some(rows) => write!(f, "{} ({rows})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// "x, y, z and 3 others".
fn listed(causes: &[Cause]) -> String {
    let names: Vec<String> = causes.iter().map(Cause::to_string).collect();
    if names.len() <= MAX_LISTED {
        return names.join(", ");
    }
    let more = counted(names.len() - MAX_LISTED + 1, "other");
    format!("{} and {more}", names[..MAX_LISTED - 1].join(", "))
}

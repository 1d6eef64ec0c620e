//! A causal graph as text: a table of edges, and the untestable pairs.

use std::fmt::Write;

use becausal_discovery::{ActionGraph, CausalGraph, Given, Pair, Verdict};

use super::number;
use super::reason::reason_words;
use super::text::{Alignment, Table};
use super::words::counted;

/// The maximum number of pairs listed for a reason; the rest is counted.
const MAX_PAIRS_PER_REASON: usize = 6;

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
        "\nsigns of a hidden state: {}\n  their residuals depend on earlier rows, and a cause of them may \
         only stand for a variable that is not in the log",
        effects.join(", ")
    );
}

/// One entry for each reason, with its pairs.
fn untestable(text: &mut String, graph: &CausalGraph) {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for pair in graph.pairs().iter().filter(|pair| pair.verdict == Verdict::Untestable) {
        let reason = pair.reason.as_ref().map_or_else(String::new, reason_words);
        let name = format!("{} -> {}", graph.cause(pair.cause), graph.effect(pair.effect));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, pairs)) => pairs.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    if !reasons.is_empty() {
        text.push_str("\ncannot be told from this data:\n");
    }
    for (reason, pairs) in reasons {
        let shown = if pairs.len() > MAX_PAIRS_PER_REASON {
            let more = pairs.len() - MAX_PAIRS_PER_REASON + 1;
            let more = counted(more, "other");
            format!("{} and {more}", pairs[..MAX_PAIRS_PER_REASON - 1].join(", "))
        } else {
            pairs.join(", ")
        };
        let _ = writeln!(text, "  {reason}\n    {shown}");
    }
}

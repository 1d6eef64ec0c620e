//! How far to trust a report: the scores of the audit and of the model.

use super::html::{escaped, table};
use super::number::counted;
use super::report::{Report, ReportScores, percent};
use super::words::number;
use becausal_explain::{Audit, Line, Measure};
use becausal_model::VariableScore;

/// The audit and the scores.
pub(super) fn section(report: &Report<'_>) -> String {
    let audited = match &report.audit {
        Ok(audit) => audit_part(audit, &report.audit_policy),
        Err(reason) => format!("<p>There is no audit: {}</p>", escaped(reason)),
    };
    let scored = report.scores.as_ref().map_or_else(String::new, scores_html);
    format!("<h3>The audit</h3>\n{audited}\n{scored}")
}

fn audit_part(audit: &Audit, policy: &str) -> String {
    if audit.cases == 0 {
        return format!(
            "<p>In {} of fresh episodes under {} there was no other action to try: there is nothing to score.</p>",
            counted(audit.states, "state"),
            escaped(policy)
        );
    }
    let measures = [Measure::Precision, Measure::Recall, Measure::Sign, Measure::BestAction];
    let row = |name: &str, line: &Line| -> [String; 6] {
        let [precision, recall, sign, best] =
            measures.map(|measure| share(line.by_kind.value(measure)));
        let error = share(line.by_kind.value(Measure::SizeError));
        [name.to_owned(), precision, recall, sign, error, best]
    };
    let mut rows = vec![row("these explanations", &audit.explanations)];
    rows.extend(audit.references.iter().map(|line| {
        let name = match line.name {
            "everything" => "claiming that everything changes",
            "direct" => "claiming direct effects only",
            "twin" => "the environment itself, with other noise",
            "reachable" => "its rules, with the noise of steps that had the same action",
            _ => "its rules, with all noise that the record shows",
        };
        row(name, line)
    }));
    let headings = [
        "",
        "precision: claimed changes that happened",
        "recall: changes that were claimed",
        "right sign of the reward difference",
        "error of the reward difference / its size",
        "best action named",
    ];
    let own = &audit.explanations.by_kind;
    let interval = |measure, what: &str| {
        own.get(measure).map(|score| {
            let interval = score.interval.map_or_else(String::new, |[low, high]| {
                format!(" (90 % interval {} to {})", percent(low), percent(high))
            });
            format!("<li>{what}: {}{interval}.</li>\n", percent(score.value))
        })
    };
    let points: String = [
        interval(Measure::Sign, "Right sign of the reward difference"),
        interval(Measure::BestAction, "Best action named, where actions differ"),
        interval(Measure::Direction, "Right direction of a change"),
        interval(Measure::Ends, "Right end of the episode"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let nothing = if own.get(Measure::Sign).is_none() {
        "<li>No reward difference was more than negligible.</li>\n"
    } else {
        ""
    };
    format!(
        "<p>In {} of {} under {}, drawn evenly over the kinds of states, the explainer was asked about every \
         other action, and each was tried in the environment itself, with the same noise ({}). A change counts \
         when it is more than {} % of the variable's standard deviation.</p>\n{}<ul>\n{points}{nothing}</ul>",
        counted(audit.states, "state"),
        counted(audit.episodes, "fresh episode"),
        escaped(policy),
        counted(audit.cases, "case"),
        escaped(&number(100.0 * audit.threshold, 3)),
        table("Scores of the audit", &headings, &rows),
    )
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), percent)
}

/// The share of values inside the 90 % interval of a number, how often a label is up to chance, or
/// `no noise`.
#[must_use]
pub fn noise_words(score: &VariableScore) -> String {
    match (score.coverage, score.chance) {
        _ if score.is_certain() => "no noise".to_owned(),
        (Some(share), _) => format!("{:.0} %", 100.0 * share),
        (None, Some(chance)) => format!("chance, {} %", number(100.0 * chance, 2)),
        (None, None) => "no noise".to_owned(),
    }
}

/// How well the world model predicts, variable by variable.
#[must_use]
pub fn scores_html(scored: &ReportScores) -> String {
    let rows: Vec<[String; 4]> = scored
        .scores
        .variables
        .iter()
        .map(|variable| {
            [
                variable.name.clone(),
                percent(variable.error),
                variable.change_error.map_or_else(|| "–".to_owned(), percent),
                noise_words(variable),
            ]
        })
        .collect();
    let headings = [
        "one step ahead",
        "error / standard deviation",
        "error / usual change",
        "inside the 90 % interval",
    ];
    format!(
        "<h3>The world model</h3>\n<p>Predictions one step ahead, on {} of {}. An error of 100 % is no better \
         than the mean. Chance: how often the model expects another label than the likeliest.</p>\n{}",
        counted(scored.scores.rows, "row"),
        escaped(&scored.on),
        table("Errors of the world model", &headings, &rows),
    )
}

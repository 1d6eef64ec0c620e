//! How far to trust a report: the scores of the audit and of the model.

use super::audit_text::{precision, recall};
use super::html::{escaped, table};
use super::number::counted;
use super::report::{Report, ReportScores, percent};
use super::words::number;
use becausal_explain::Audit;
use becausal_model::VariableScore;

/// The audit and the scores.
pub(super) fn section(report: &Report<'_>) -> String {
    let audited = match &report.audit {
        Ok(audit) => audit_part(audit, &report.audit_policy),
        Err(reason) => format!("<p>There is no audit: {}</p>", escaped(reason)),
    };
    let scored = report.scores.as_ref().map_or_else(String::new, scores_part);
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
    let mut rows = vec![[
        "these explanations".to_owned(),
        or_dash(precision(&audit.changes)),
        or_dash(recall(&audit.changes)),
        signs(audit, Some(audit.sign)),
    ]];
    rows.extend(audit.trivial.iter().map(|trivial| {
        let name = match trivial.name {
            "everything" => "claiming that everything changes",
            _ => "claiming direct effects only",
        };
        let sign = signs(audit, trivial.sign);
        [
            name.to_owned(),
            or_dash(precision(&trivial.changes)),
            or_dash(recall(&trivial.changes)),
            sign,
        ]
    }));
    let headings = [
        "",
        "precision: claimed changes that happened",
        "recall: changes that were claimed",
        "right sign of the reward difference",
    ];
    let best = match audit.better_action_cases {
        0 => "The choice of the action does not change the reward over these steps in any of the states.".to_owned(),
        cases => format!(
            "The best action was named correctly in {} of the {} where actions differ.",
            percent(audit.better_action),
            counted(cases, "state")
        ),
    };
    let size = match audit.sign_cases {
        0 => "No reward difference was more than negligible.".to_owned(),
        cases => format!(
            "The mean error of a reward difference is {} of its mean size, over {} that {} more than negligible.",
            percent(audit.size_error),
            counted(cases, "difference"),
            if cases == 1 { "was" } else { "were" }
        ),
    };
    format!(
        "<p>In {} of fresh episodes under {}, the explainer was asked about every other action, and each was tried \
         in the environment itself, with the same noise ({}). A change counts when it is at least {} % of the variable's standard deviation.</p>\n\
         {}<ul>\n<li>{}</li>\n<li>{}</li>\n\
         <li>The end of the episode was predicted correctly in {} of the cases.</li>\n</ul>",
        counted(audit.states, "state"),
        escaped(policy),
        counted(audit.cases, "case"),
        escaped(&number(100.0 * audit.threshold, 3)),
        table("Scores of the audit", &headings, &rows),
        escaped(&best),
        escaped(&size),
        percent(audit.ends),
    )
}

fn or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), percent)
}

/// The share of right signs; a dash if no difference was large enough to have one.
fn signs(audit: &Audit, share: Option<f64>) -> String {
    share.filter(|_| audit.sign_cases > 0).map_or_else(|| "–".to_owned(), percent)
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

fn scores_part(scored: &ReportScores) -> String {
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

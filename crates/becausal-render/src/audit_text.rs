//! An audit as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::number::counted;
use super::text::{Alignment, Table};
use becausal_explain::{Audit, Tally, Trivial};

/// An audit as text and as JSON.
pub trait AuditText {
    /// The scores in words and as a table, with the baselines.
    fn text(&self) -> String;

    /// The scores as JSON.
    fn json(&self) -> Value;
}

/// The share of the claims that are right; `None` if nothing was claimed.
pub(super) fn precision(tally: &Tally) -> Option<f64> {
    (tally.right + tally.wrong > 0).then(|| tally.precision())
}

/// The share of the changes that were claimed; `None` if nothing changed.
pub(super) fn recall(tally: &Tally) -> Option<f64> {
    (tally.right + tally.missed > 0).then(|| tally.recall())
}

/// The share of right signs; `None` if no difference was large enough to have one.
fn sign(audit: &Audit, share: Option<f64>) -> Option<f64> {
    share.filter(|_| audit.sign_cases > 0)
}

fn better_action(audit: &Audit) -> Option<f64> {
    (audit.better_action_cases > 0).then_some(audit.better_action)
}

fn or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"))
}

impl AuditText for Audit {
    fn text(&self) -> String {
        let cases = counted(self.cases, "case");
        let mut text = format!("{cases} from {}. ", counted(self.states, "state"));
        if self.cases == 0 {
            text.push_str(
                "There is nothing to score: no other action could be tried. Actions without bounds have none \
                 to try; low and high in the schema give them some.\n",
            );
            return text;
        }
        let _ = write!(
            text,
            "A change counts when it is at least {} % of the variable's standard deviation.\n\n",
            super::words::number(100.0 * self.threshold, 3)
        );
        let columns = ["", "precision", "recall", "sign"].map(str::to_owned);
        let mut rows = vec![vec![
            "explanations".to_owned(),
            or_dash(precision(&self.changes)),
            or_dash(recall(&self.changes)),
            or_dash(sign(self, Some(self.sign))),
        ]];
        rows.extend(self.trivial.iter().map(|trivial: &Trivial| {
            let name = match trivial.name {
                "everything" => "everything changes",
                _ => "direct effects only",
            };
            vec![
                name.to_owned(),
                or_dash(precision(&trivial.changes)),
                or_dash(recall(&trivial.changes)),
                or_dash(sign(self, trivial.sign)),
            ]
        }));
        table(&mut text, &columns, rows);
        let _ = writeln!(
            text,
            "\nsign: of the reward difference, in the {} where it is not negligible\n\
             mean error of the reward difference: {:.1} % of its mean size\n\
             best action named correctly: {} (of {} in which actions differ)\n\
             end of the episode predicted correctly: {:.3}\n",
            counted(self.sign_cases, "case"),
            100.0 * self.size_error,
            or_dash(better_action(self)),
            counted(self.better_action_cases, "state"),
            self.ends
        );
        let columns = ["threshold", "precision", "recall"].map(str::to_owned);
        let rows = self.curve.iter().map(|point| {
            let threshold = format!("{} %", super::words::number(100.0 * point.threshold, 3));
            vec![threshold, or_dash(precision(&point.changes)), or_dash(recall(&point.changes))]
        });
        table(&mut text, &columns, rows.collect());
        text
    }

    fn json(&self) -> Value {
        let trivial: serde_json::Map<String, Value> = self
            .trivial
            .iter()
            .map(|trivial| {
                let scores = json!({
                    "precision": precision(&trivial.changes),
                    "recall": recall(&trivial.changes),
                    "sign": sign(self, trivial.sign),
                });
                (trivial.name.to_owned(), scores)
            })
            .collect();
        let curve: Vec<Value> = self
            .curve
            .iter()
            .map(|point| {
                json!({
                    "threshold": point.threshold,
                    "precision": precision(&point.changes),
                    "recall": recall(&point.changes),
                })
            })
            .collect();
        let any = self.cases > 0;
        json!({
            "cases": self.cases,
            "precision": precision(&self.changes),
            "recall": recall(&self.changes),
            "sign": sign(self, Some(self.sign)),
            "better_action": better_action(self),
            "trivial": trivial,
            "states": self.states,
            "threshold": self.threshold,
            "sign_cases": self.sign_cases,
            "better_action_cases": self.better_action_cases,
            "size_error": any.then_some(self.size_error),
            "ends": any.then_some(self.ends),
            "curve": curve,
        })
    }
}

fn table(text: &mut String, columns: &[String], rows: Vec<Vec<String>>) {
    let mut table = Table::new(columns.iter().enumerate().map(|(index, name)| {
        let alignment = if index == 0 { Alignment::Left } else { Alignment::Right };
        (name.clone(), alignment)
    }));
    for row in rows {
        table.push(row);
    }
    text.push_str(&table.lines());
}

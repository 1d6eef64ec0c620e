//! An audit as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::text::{Alignment, Table};
use becausal_explain::{Audit, Trivial};

/// An audit as text and as JSON.
pub trait AuditText {
    /// The scores in words and as a table, with the baselines.
    fn text(&self) -> String;

    /// The scores as JSON.
    fn json(&self) -> Value;
}

impl AuditText for Audit {
    fn text(&self) -> String {
        let share = |value: f64| format!("{value:.3}");
        let mut text = format!(
            "{} cases from {} states. A change counts when it is at least {} % of the variable's standard deviation.\n\n",
            self.cases,
            self.states,
            super::words::number(100.0 * self.threshold, 3)
        );
        let columns = ["", "precision", "recall", "sign"].map(str::to_owned);
        let mut rows = vec![vec![
            "explanations".to_owned(),
            share(self.changes.precision()),
            share(self.changes.recall()),
            share(self.sign),
        ]];
        rows.extend(self.trivial.iter().map(|trivial: &Trivial| {
            let sign = trivial.sign.map_or_else(|| "-".to_owned(), share);
            let changes = trivial.changes;
            let name = match trivial.name {
                "everything" => "everything changes",
                _ => "direct effects only",
            };
            vec![name.to_owned(), share(changes.precision()), share(changes.recall()), sign]
        }));
        table(&mut text, &columns, rows);
        let _ = writeln!(
            text,
            "\nsign: of the reward difference, in the {} cases where it is not negligible\n\
             mean error of the reward difference: {:.1} % of its mean size\n\
             best action named correctly: {} (of {} states in which actions differ)\n\
             end of the episode predicted correctly: {}\n",
            self.sign_cases,
            100.0 * self.size_error,
            share(self.better_action),
            self.better_action_cases,
            share(self.ends)
        );
        let columns = ["threshold", "precision", "recall"].map(str::to_owned);
        let rows = self.curve.iter().map(|point| {
            let threshold = format!("{} %", super::words::number(100.0 * point.threshold, 3));
            vec![threshold, share(point.changes.precision()), share(point.changes.recall())]
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
                    "precision": trivial.changes.precision(),
                    "recall": trivial.changes.recall(),
                    "sign": trivial.sign,
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
                    "precision": point.changes.precision(),
                    "recall": point.changes.recall(),
                })
            })
            .collect();
        json!({
            "cases": self.cases,
            "precision": self.changes.precision(),
            "recall": self.changes.recall(),
            "sign": self.sign,
            "better_action": self.better_action,
            "trivial": trivial,
            "states": self.states,
            "threshold": self.threshold,
            "sign_cases": self.sign_cases,
            "better_action_cases": self.better_action_cases,
            "size_error": self.size_error,
            "ends": self.ends,
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

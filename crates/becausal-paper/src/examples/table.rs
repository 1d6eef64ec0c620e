//! The paper's Table 1: is the influence under each action recovered?

use becausal::Preset;
use becausal::progress::Listener;

use crate::Failure;
use crate::aim::{self, HEADINGS, Scores, TableRow};
use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::number::{count, counted, percent};

use super::folder::Folder;
use super::{Size, texts};

/// Table 1, reproduced.
pub struct AimTable {
    arguments: aim::Arguments,
    scores: Scores,
}

impl AimTable {
    pub fn measure(listener: &Listener, size: &Size) -> Result<Self, Failure> {
        let arguments = aim::Arguments {
            rows: size.aim_rows,
            seeds: size.seeds.to_vec(),
            steps: Some(size.fit_steps),
            preset: Preset::Default,
        };
        let scores = aim::measure(listener, &arguments)?;
        Ok(Self { arguments, scores })
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        folder.json("aim.json", &aim::as_json(&self.arguments, &self.scores))
    }

    pub fn section(&self) -> ComparisonSection {
        let rows = aim::rows(&self.scores);
        let accuracy =
            |key: &str| rows.iter().find(|row| row.key == key).map_or(0.0, |row| row.accuracy);
        let [direct, full, causal] = ["direct", "full_attention", "causal_attention"].map(accuracy);
        let compare = |published: &str, one: f64, other: f64, reason: &str| Claim {
            published: published.to_owned(),
            measured: format!("{} against {}.", percent(one), percent(other)),
            agreement: Agreement::of(one > other),
            reason: match one > other {
                true => String::new(),
                false if one == other => format!("They are equal. {reason}"),
                false => reason.to_owned(),
            },
        };
        ComparisonSection {
            title: "Table 1: is the influence under each action recovered?".to_owned(),
            published: texts(&[
                "The share of influences classified correctly in a small environment whose true \
                 graph is known: 97.0 % by testing the rows of each action alone, 90.0 % by \
                 attention over the full graph, 99.3 % by attention over the discovered graph.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "AimTest-v0 is that environment: 4 actions, 5 effects and 5 states make 100 \
                     influences to classify. {} rows under random actions, {}. The last three \
                     rows are simple baselines. SHD is the number of wrong edges.",
                    count(self.arguments.rows),
                    counted(self.arguments.seeds.len(), "seed"),
                )),
                Piece::Table {
                    headings: HEADINGS.map(str::to_owned).to_vec(),
                    rows: rows.iter().map(TableRow::cells).map(|cells| cells.to_vec()).collect(),
                },
            ],
            claims: vec![
                compare(
                    "Attention over the discovered graph is more accurate than over the full graph.",
                    causal,
                    full,
                    "Our full graph is pruned like the discovered one; the paper's was not.",
                ),
                compare(
                    "Attention over the discovered graph is more accurate than testing the rows \
                     of each action alone.",
                    causal,
                    direct,
                    "Here the rows of each action are tested by becausal's own independence test, \
                     in the paper by FCIT.",
                ),
            ],
        }
    }
}

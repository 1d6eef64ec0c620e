//! The paper's Table 1: is the influence of each action recovered?

use becausal::render::{Agreement, Claim, ComparisonSection, Piece};

use crate::arguments::{Common, ReproduceAim};
use crate::failure::Failure;
use crate::number::{count, counted};
use crate::reproduce_aim::{self, Figures, HEADINGS, Scores};

use super::folder::Folder;
use super::lander::texts;
use super::{Size, percent};

/// Table 1, measured anew.
pub struct AimTable {
    arguments: ReproduceAim,
    scores: Scores,
}

impl AimTable {
    pub fn measure(common: &Common, size: &Size) -> Result<Self, Failure> {
        let arguments =
            ReproduceAim { rows: size.aim_rows, seeds: size.seeds.to_vec(), steps: size.aim_fit() };
        let scores = reproduce_aim::measure(common, &arguments)?;
        Ok(Self { arguments, scores })
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        folder.json("aim.json", &reproduce_aim::as_json(&self.arguments, &self.scores))
    }

    pub fn section(&self) -> ComparisonSection {
        let lines = reproduce_aim::figures(&self.scores);
        let of = |key: &str| lines.iter().find(|line| line.key == key).map_or(0.0, |l| l.accuracy);
        let [direct, full, causal] = ["direct", "full_attention", "causal_attention"].map(of);
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
            title: "Table 1: is the influence of each action recovered?".to_owned(),
            published: texts(&[
                "Of the influences in a small environment whose truth is known, so many are told rightly: 97.0 % by looking at the rows of \
                 each action alone, 90.0 % by attention over the full graph, 99.3 % by attention over the discovered graph.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "AimTest-v0 is that environment: 4 actions, 5 effects, 5 states, 100 influences to tell. {} random-policy rows, {}. \
                     Three trivial answers stand below, to show what a figure is worth.",
                    count(self.arguments.rows),
                    counted(self.arguments.seeds.len(), "seed"),
                )),
                Piece::Table {
                    headings: HEADINGS.map(str::to_owned).to_vec(),
                    rows: lines.iter().map(Figures::cells).map(|cells| cells.to_vec()).collect(),
                },
            ],
            claims: vec![
                compare(
                    "Attention over the discovered graph is more accurate than over the full graph.",
                    causal,
                    full,
                    "Our full graph is pruned like the discovered one, which the paper's was not.",
                ),
                compare(
                    "It is more accurate than looking at each action's rows alone.",
                    causal,
                    direct,
                    "Here the rows of each action go through becausal's own independence test, in the paper through FCIT.",
                ),
            ],
        }
    }
}

//! Figure 8 of the paper's appendix: the chain of Build-Marine without a discovered graph.

use becausal::model::WorldModel;
use becausal::render::{Agreement, Claim, ComparisonSection, Piece};

use crate::failure::Failure;
use crate::number::brief;

use super::lander::texts;
use super::marines::Marines;
use super::rules::{BARRACKS, DEPOT, DEPOTS, MONEY, TIME};
use super::study::TAU;

impl Marines {
    /// The three states with the largest weights for an effect under an order, with the full graph.
    fn largest_weights(&self, order: f64, effect: usize) -> String {
        let Some(influence) = self.full.influence_by_weight(&[order]) else {
            return "none".to_owned();
        };
        let mut weights: Vec<(f64, &str)> = (0..influence.states())
            .map(|state| (influence.weight(effect, state), self.truth.causes[state].as_str()))
            .collect();
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        let told =
            weights.iter().take(3).map(|(weight, name)| format!("{name} {}", brief(*weight)));
        told.collect::<Vec<_>>().join(", ")
    }

    pub fn full_section(&self) -> Result<ComparisonSection, Failure> {
        let weight = |model: &WorldModel, action: f64, effect: usize| {
            model.influence_by_weight(&[action]).map_or(0.0, |found| found.weight(effect, TIME))
        };
        let chains = [
            ("discovered graph, influence in the state at hand (becausal's)", &self.why),
            ("discovered graph, by attention weight", &self.by_weight),
            ("full graph, by attention weight (the paper's counter-example)", &self.of_full),
        ];
        let rows: Vec<Vec<String>> = chains
            .iter()
            .map(|(name, why)| {
                let (all, spurious) = self.influences(why);
                vec![(*name).to_owned(), all.to_string(), spurious.to_string()]
            })
            .collect();
        let (depots, money) =
            (weight(&self.full, DEPOT, DEPOTS), weight(&self.full, BARRACKS, MONEY));
        let (_, in_full) = self.influences(&self.of_full);
        let (_, in_causal) = self.influences(&self.by_weight);
        let salient = |published: &str, found: f64, (effect, order): (usize, f64), under: &str| {
            let name = &self.truth.effects[effect];
            Claim {
                published: published.to_owned(),
                measured: format!(
                    "The weight of time → {name} under {under} is {} with the full graph, {} the threshold of {TAU}.",
                    brief(found),
                    if found > TAU { "above" } else { "not above" }
                ),
                agreement: Agreement::of(found > TAU),
                reason: if found > TAU {
                    String::new()
                } else {
                    format!(
                        "The largest weights for {name} there: {}. In our networks a number that stays has a weight of 1 for itself, \
                         and only its change is left to the others.",
                        self.largest_weights(order, effect)
                    )
                },
            }
        };
        Ok(ComparisonSection {
            title: "Figure 8: the same without a discovered graph".to_owned(),
            published: texts(&[
                "A chain of Build-Marine by attention alone, over the full graph, with unreasonable links in red: time gets a weight of \
                 about 0.78 for the number of supply depots when depots are built, and is taken for a cause of money when barracks are.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "The step of figure 5 once more, with a model of every variable on every other, attention alone, not pruned. Influences \
                     above {TAU}; those that the rules of the simulator do not have under the action taken are dashed."
                )),
                Piece::Picture(self.drawing(&self.of_full)?),
                Piece::Table {
                    headings: ["chain", "influences", "not in the rules"]
                        .map(str::to_owned)
                        .to_vec(),
                    rows,
                },
            ],
            claims: vec![
                salient(
                    "time is a salient parent of depots when depots are built (a weight of about 0.78).",
                    depots,
                    (DEPOTS, DEPOT),
                    "build = depot",
                ),
                salient(
                    "time is a salient parent of money when barracks are built.",
                    money,
                    (MONEY, BARRACKS),
                    "build = barracks",
                ),
                Claim {
                    published: "A discovered graph removes most of the spurious links.".to_owned(),
                    measured: format!(
                        "{in_full} spurious with the full graph, {in_causal} with the discovered one, both by weight."
                    ),
                    agreement: Agreement::of(in_causal * 2 < in_full),
                    reason: if in_causal * 2 < in_full {
                        String::new()
                    } else {
                        "Not most of them in this chain.".to_owned()
                    },
                },
            ],
        })
    }
}

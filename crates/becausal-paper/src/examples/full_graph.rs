//! Figure 8 of the paper's appendix: the chain of Build-Marine without a discovered graph.

use becausal::explain::Why;

use crate::Failure;
use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::number::brief;

use super::marines::Marines;
use super::rules::{BARRACKS, DEPOT, DEPOTS, MONEY, TIME};
use super::study::TAU;
use super::texts;

/// How many of the largest weights are listed.
const LISTED_WEIGHTS: usize = 3;

impl Marines {
    /// The weights of all states for an effect under an order with the full graph, largest first.
    fn weights(&self, order: f64, effect: usize) -> Vec<(f64, usize)> {
        let Some(influence) = self.full.influence_by_weight(&[order]) else { return Vec::new() };
        let mut weights: Vec<(f64, usize)> =
            (0..influence.states()).map(|state| (influence.weight(effect, state), state)).collect();
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        weights
    }

    /// The claim that time has a large weight for an effect under an order.
    fn salient_time(&self, published: &str, effect: usize, (order, label): (f64, &str)) -> Claim {
        let name = &self.truth.effects[effect];
        let weights = self.weights(order, effect);
        let time =
            weights.iter().find(|(_, state)| *state == TIME).map_or(0.0, |(weight, _)| *weight);
        let salient = time > TAU;
        let largest = weights.iter().take(LISTED_WEIGHTS);
        let largest: Vec<String> = largest
            .map(|(weight, state)| format!("{} {}", self.truth.causes[*state], brief(*weight)))
            .collect();
        Claim {
            published: published.to_owned(),
            measured: format!(
                "With the full graph the weight of time → {name} under build = {label} is {}, {} \
                 the threshold {TAU}.",
                brief(time),
                if salient { "above" } else { "not above" }
            ),
            agreement: Agreement::of(salient),
            reason: if salient {
                String::new()
            } else {
                format!(
                    "The largest weights for {name} are: {}. Where a value persists, our networks \
                     predict only its change: its own weight is 1, and the other weights concern \
                     the change.",
                    largest.join(", ")
                )
            },
        }
    }

    pub fn full_section(&self) -> Result<ComparisonSection, Failure> {
        let chains = [
            ("discovered graph, influences in the states at hand (becausal's)", &self.why),
            ("discovered graph, attention weights", &self.why_by_weight),
            ("full graph, attention weights (the paper's counter-example)", &self.why_full),
        ];
        let row = |(name, why): &(&str, &Why)| {
            let (all, spurious) = self.influences(why);
            vec![(*name).to_owned(), all.to_string(), spurious.to_string()]
        };
        let (_, in_full) = self.influences(&self.why_full);
        let (_, in_causal) = self.influences(&self.why_by_weight);
        let most_removed = in_causal * 2 < in_full;
        Ok(ComparisonSection {
            title: "Figure 8: the same without a discovered graph".to_owned(),
            published: texts(&[
                "A chain of Build-Marine by attention alone, over the full graph, with \
                 implausible links in red. time gets a weight of about 0.78 for the number of \
                 supply depots when depots are built, and counts as a cause of money when \
                 barracks are built.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "The step of figure 5 again, with an unrestricted model: every effect reads \
                     every variable, weighted by attention alone, without pruning. Influences \
                     above {TAU}. Those that the simulator's rules do not have under the action \
                     taken are dashed."
                )),
                Piece::Picture(self.drawing(&self.why_full)?),
                Piece::Table {
                    headings: ["chain", "influences", "spurious"].map(str::to_owned).to_vec(),
                    rows: chains.iter().map(row).collect(),
                },
            ],
            claims: vec![
                self.salient_time(
                    "time is a salient parent of depots when depots are built (weight about 0.78).",
                    DEPOTS,
                    (DEPOT, "depot"),
                ),
                self.salient_time(
                    "time is a salient parent of money when barracks are built.",
                    MONEY,
                    (BARRACKS, "barracks"),
                ),
                Claim {
                    published: "A discovered graph removes most spurious links.".to_owned(),
                    measured: format!(
                        "By attention weights: {in_full} spurious with the full graph, \
                         {in_causal} with the discovered graph."
                    ),
                    agreement: Agreement::of(most_removed),
                    reason: if most_removed {
                        String::new()
                    } else {
                        "It does not remove most of them in this chain.".to_owned()
                    },
                },
            ],
        })
    }
}

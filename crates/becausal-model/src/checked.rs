//! A causal model checked against networks that read everything: do the causes found tell all?
//!
//! A rule that matters in one row of a hundred (no supply left) escapes a test over all rows, but not
//! a network. Where networks over the full graph, or dense ones, predict an effect better, on
//! held-out episodes, than those over its causes, a cause is missing. Then everything is tried as a parent of
//! that effect. What proves of no use is pruned, unless the gain lies in so few rows that they show
//! that something is missing, but not what: then everything stays.

use rayon::prelude::*;

use becausal_core::data::Transitions;
use becausal_discovery::{CausalGraph, Reason, Verdict};
use becausal_nn::Block;

use super::error::FitError;
use super::fit_data::FitData;
use super::inputs::Encoded;
use super::member::{Member, ModelKind};
use super::probe::likelihoods;
use super::score::log_mean;
use super::structure::Structure;
use super::train::ModelParams;
use super::world_model::{FitReport, WorldModel};

/// Networks over the full graph, and dense ones, at most. Each is compared with the causal one that
/// learned from the same sample.
const COMPARED: usize = 2;

/// They must gain more than this many nats a row...
const LEAST_GAIN: f64 = 0.002;

/// ...by so many standard errors.
const ERRORS: f64 = 2.5;

/// Short of that, an error of this share of the causal one's, or less, is reason enough to try...
const BETTER: f64 = 0.95;

/// ...unless the causal one's, over the variable's spread, is no larger than this.
const NEGLIGIBLE: f64 = 1e-3;

/// With an error below this share of the causal one's, a cause is very likely missing.
const FAR_BETTER: f64 = 0.5;

/// A gain shows in the rows with more than this many nats...
const STRONG: f64 = 1.0;

/// ...and with fewer of them than this for each possible cause, nobody can tell which cause it is.
const ROWS_A_CAUSE: usize = 10;

/// No row counts for more than this many nats: a few must not decide.
const LARGEST: f64 = 5.0;

/// Fewer held-out episodes tell nothing.
const LEAST_EPISODES: usize = 10;

/// An effect of which everything together tells more than the causes found.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortfall {
    /// The effect.
    pub effect: String,
    /// How much more, in nats a row.
    pub gain: f64,
    /// The root mean square of the error one step ahead, over the variable's spread: of networks
    /// over the causes found, and over everything.
    pub errors: [f64; 2],
    /// The causes that were not found, and that the networks use once they may.
    pub used: Vec<String>,
}

/// A causal model, and where the causes found fell short.
#[derive(Debug)]
pub struct Checked {
    /// The causal model; where it fell short, with more parents.
    pub model: WorldModel,
    /// How its fit went.
    pub report: FitReport,
    /// Where the causes found were not enough.
    pub shortfalls: Vec<Shortfall>,
}

impl Checked {
    /// Fits a causal model over the edges of a graph, and compares it with one over all.
    ///
    /// Where it falls short, it is fitted again with everything tried as a parent, if the actions
    /// can be told apart one by one. The pairs in question become untestable in the graph: the
    /// networks use the cause, but no test has confirmed it.
    ///
    /// All fits have the same seed, the same held-out episodes and the same encoded rows.
    ///
    /// # Errors
    /// When there are too few data, a value is not finite, a fit breaks down, or the listener stops it.
    pub fn fit(
        data: &Transitions,
        graph: &mut CausalGraph,
        params: &ModelParams,
    ) -> Result<Self, FitError> {
        Self::fit_to(&FitData::new(data, params)?, graph, params)
    }

    /// The same with data that were made ready before.
    ///
    /// # Errors
    /// When a fit breaks down, or the listener stops it.
    pub fn fit_to(
        data: &FitData,
        graph: &mut CausalGraph,
        params: &ModelParams,
    ) -> Result<Self, FitError> {
        let schema = data.train.schema();
        let structure = Structure::of(schema, graph);
        let (mut model, mut report) =
            WorldModel::fit_to(data, ModelKind::Causal, &structure, params)?;
        let few = ModelParams { members: params.members.min(COMPARED), ..params.clone() };
        let mut gains: Vec<Gain> = Vec::new();
        for kind in [ModelKind::Full, ModelKind::Mlp] {
            let (everything, _) = WorldModel::fit_to(data, kind, &structure, &few)?;
            gains.extend(model.gains_of(&everything, data));
        }
        // Of an effect that both predict better, the larger gain.
        gains.sort_by(|a, b| a.effect.cmp(&b.effect).then(b.nats.total_cmp(&a.nats)));
        gains.dedup_by_key(|gain| gain.effect);
        let short: Vec<usize> = gains.iter().map(|gain| gain.effect).collect();
        if !short.is_empty() && model.encoding.action_table().is_some() {
            let enough = ROWS_A_CAUSE * (structure.states() + structure.actions());
            let doubtful = gains.iter().filter(|gain| gain.is_clear() && gain.rows < enough);
            let doubtful: Vec<usize> = doubtful.map(|gain| gain.effect).collect();
            let wider = structure.widened(&short).in_doubt(&doubtful);
            (model, report) = WorldModel::fit_to(data, ModelKind::Causal, &wider, params)?;
            model.narrow();
        }
        let (names, causes) = (schema.effects(), schema.causes());
        let shortfall = |&Gain { effect, nats, certain, errors, .. }: &Gain| {
            let new = |cause: &&usize| !structure.parents(effect).contains(*cause);
            let used = model.structure.parents(effect).iter().filter(new);
            let used: Vec<String> = used.map(|&cause| causes[cause].clone()).collect();
            let effect = names[effect].clone();
            (certain || !used.is_empty()).then_some(Shortfall { effect, gain: nats, errors, used })
        };
        let shortfalls: Vec<Shortfall> = gains.iter().filter_map(shortfall).collect();
        for shortfall in &shortfalls {
            shortfall.tell(graph);
        }
        Ok(Self { model, report, shortfalls })
    }
}

/// How much better networks over everything predict an effect.
struct Gain {
    effect: usize,
    /// In nats a row.
    nats: f64,
    /// Whether that is beyond chance.
    certain: bool,
    /// In how many rows it shows.
    rows: usize,
    /// As in [`Shortfall`].
    errors: [f64; 2],
}

/// Whether the error of everything is so much smaller than that of the causes found that it is
/// worth a try.
fn is_notable([causes, everything]: [f64; 2]) -> bool {
    causes > NEGLIGIBLE && everything < BETTER * causes
}

impl Gain {
    /// Whether a cause is missing, or very likely so.
    fn is_clear(&self) -> bool {
        let [causes, everything] = self.errors;
        self.certain || everything < FAR_BETTER * causes
    }
}

impl Shortfall {
    /// Takes back that there is no influence.
    fn tell(&self, graph: &mut CausalGraph) {
        let used: Vec<bool> =
            graph.causes().iter().map(|cause| self.used.contains(cause)).collect();
        let effect = graph.effects().iter().position(|effect| *effect == self.effect);
        for pair in graph.pairs_mut().iter_mut().filter(|pair| Some(pair.effect.0) == effect) {
            let asked = pair.verdict == Verdict::None && pair.given.is_none();
            if asked && (self.used.is_empty() || used[pair.cause.0]) {
                pair.verdict = Verdict::Untestable;
                pair.reason = Some(Reason::NetworksUse);
            }
        }
    }
}

impl WorldModel {
    /// The effects that networks over everything predict better.
    fn gains_of(&self, everything: &Self, prepared: &FitData) -> Vec<Gain> {
        let data = &prepared.held_out;
        if data.episodes() < LEAST_EPISODES {
            return Vec::new();
        }
        let members = self.members().min(everything.members());
        let own = self.likelihoods(&prepared.held_out_rows, members);
        let other = everything.likelihoods(&prepared.held_out_rows, members);
        let [own_scores, other_scores] = [self, everything].map(|model| model.score(data));
        let gain = |effect: usize| {
            let episodes: Vec<(f64, f64)> = (0..data.episodes())
                .map(|episode| {
                    let rows = data.rows_of(&[episode]);
                    let gain = |&row: &usize| {
                        (other[effect][row] - own[effect][row]).clamp(-LARGEST, LARGEST)
                    };
                    (rows.iter().map(gain).sum(), rows.len() as f64)
                })
                .collect();
            let rows: f64 = episodes.iter().map(|(_, rows)| rows).sum();
            let mean = episodes.iter().map(|(gain, _)| gain).sum::<f64>() / rows;
            let squares: f64 =
                episodes.iter().map(|(gain, rows)| (gain - mean * rows).powi(2)).sum();
            let certain = mean - ERRORS * squares.sqrt() / rows > LEAST_GAIN;
            let errors = [&own_scores, &other_scores].map(|scores| scores.variables[effect].error);
            let better = |row: &usize| other[effect][*row] - own[effect][*row] > STRONG;
            let rows = (0..data.len()).filter(better).count();
            let gain = Gain { effect, nats: mean, certain, rows, errors };
            (certain || is_notable(errors)).then_some(gain)
        };
        (0..self.structure.effects()).filter_map(gain).collect()
    }

    /// The log-likelihood of each row under the mixture of the first members: `[effects][rows]`.
    fn likelihoods(&self, rows: &Encoded, members: usize) -> Vec<Vec<f64>> {
        let predict = |member: &Member| member.predict(&rows.inputs, &self.structure);
        let said: Vec<Block> = self.members[..members].par_iter().map(predict).collect();
        let of_effect = |effect: usize| {
            let each: Vec<Vec<f64>> =
                said.iter().map(|said| likelihoods(&self.encoding, rows, effect, said)).collect();
            let mixed =
                |row: usize| log_mean(&each.iter().map(|rows| rows[row]).collect::<Vec<_>>());
            (0..rows.inputs.rows()).map(mixed).collect()
        };
        (0..self.structure.effects()).map(of_effect).collect()
    }

    /// Leaves out the states that were only tried and that every member has pruned under every
    /// action. No prediction changes. Actions are never pruned, so those that were tried stay.
    fn narrow(&mut self) {
        let states = self.structure.states();
        let uses = |effect: usize, cause: usize| {
            cause >= states
                || self.members.iter().any(|member| {
                    let Some(pruned) = &member.pruned else { return true };
                    let actions = pruned.len() / (states * self.structure.effects());
                    (0..actions).any(|a| !pruned[(effect * actions + a) * states + cause])
                })
        };
        self.structure = self.structure.narrowed(uses).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_error_is_worth_a_try_unless_both_are_negligible() {
        assert!(is_notable([0.0028, 0.0022]));
        assert!(!is_notable([0.0028, 0.0027]));
        assert!(!is_notable([0.0022, 0.0028]));
        assert!(!is_notable([0.0005, 0.0001]));
    }

    #[test]
    fn a_gain_is_clear_beyond_chance_or_when_the_error_is_halved() {
        let clear =
            |certain, errors| Gain { effect: 0, nats: 0.001, certain, rows: 3, errors }.is_clear();
        assert!(clear(true, [0.010, 0.009]));
        assert!(clear(false, [0.010, 0.004]));
        assert!(!clear(false, [0.010, 0.006]));
    }
}

//! Trains the networks by maximum likelihood.

use becausal_core::Stream;
use becausal_core::progress::{Listener, Tracker};
use becausal_nn::{Parameters, Schedule};

use super::descent::{Descent, Lessons};
use super::error::FitError;
use super::inputs::Encoded;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::probe::Probe;

/// The share of the steps after which parents are pruned that were tried in addition to discovered
/// ones.
const LATE_PRUNING: f64 = 0.8;

/// The share of the steps after which nothing more is pruned.
const LAST_PRUNING: f64 = 0.9;

/// Once the likelihood no longer improves, a step counts as this many of the schedule: the learning
/// rate still falls to its end, and what is left to prune is pruned, in a quarter of the steps.
const SHORTENED_PACE: usize = 4;

/// A gain of the held-out likelihood above this, in nats a row over all effects, is an improvement.
/// Members of BuildMarine (20,000 rows, seed 1) still gain 0.03 to 0.3 in every 100 steps until nine
/// tenths of them are done.
const MIN_GAIN_NATS: f64 = 0.02;

/// Evaluations from one pruning to the next. A pruning computes the held-out rows anew for every edge,
/// as much as 15 to 20 steps.
const PRUNING_EVALUATIONS: usize = 2;

/// Steps of each network in the paper's preset, which the paper does not give: a compromise. A network takes
/// four minutes of one core for them on 20,000 rows of the AIM test (seed 101), and its held-out likelihood still
/// improved at step 4,900.
const PAPER_STEPS: usize = 5000;

/// Options for fitting a world model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelParams {
    /// Networks in the ensemble.
    pub members: usize,
    /// Their widths.
    pub sizes: Sizes,
    /// Rows per step at the end.
    pub batch: usize,
    /// Rows per step at the start of a fit; from then on they grow by the same factor in every step. A
    /// [refit](super::WorldModel::refit) takes `batch` rows throughout.
    /// With 32 instead of 64, BuildMarine's error was a tenth larger (docs/world-model.md).
    pub first_batch: usize,
    /// Maximum number of steps per member.
    pub steps: usize,
    /// Maximum learning rate.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// Maximum norm of a gradient.
    pub clip: f64,
    /// Whether the learning rate rises over the first steps and falls towards the last one; otherwise it
    /// is constant.
    pub annealed: bool,
    /// See [`becausal_nn::Likelihood::balanced`].
    pub balance: f64,
    /// Whether a number that persists under an action is predicted as its value before plus a change
    /// (`persistence.rs`); otherwise all that is known of it goes through the influence weights.
    pub persist: bool,
    /// Whether numbers are read and predicted as the paper does it: their values alone, and normal distributions. Otherwise
    /// a throttle is also read as the steps that it is above, a number that is often at rest by its order of magnitude, and
    /// distributions have exponential tails.
    pub plain: bool,
    /// The share of the steps during which the influence weights are held constant; 0 to learn them from
    /// the start.
    pub hold: f64,
    /// The share of the steps after which parents that do not matter under an action are pruned; 1
    /// for never.
    pub prune: f64,
    /// The share of the rows, in whole episodes, that is held out for early stopping and scores.
    pub held_out: f64,
    /// After this many evaluations on the held-out episodes without an improvement, the rest of the
    /// steps is shortened.
    pub patience: usize,
    /// Steps between two evaluations.
    pub interval: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Who hears how far the fit is, and may stop it.
    pub progress: Listener,
}

impl Default for ModelParams {
    fn default() -> Self {
        Self {
            members: 5,
            sizes: Sizes::default(),
            batch: 256,
            first_batch: 64,
            steps: 2000,
            rate: 6e-3,
            decay: 1e-3,
            clip: 5.0,
            annealed: true,
            balance: 1.0,
            persist: true,
            plain: false,
            hold: 0.4,
            prune: 0.4,
            held_out: 0.1,
            patience: 4,
            interval: 100,
            seed: 0,
            progress: Listener::default(),
        }
    }
}

impl ModelParams {
    /// The paper's model, fitted as its published program does: influence weights that are learned from the
    /// start and never pruned, no way around them, the plain likelihood, a constant learning rate.
    ///
    /// Three things are ours. Targets are standardised (without it the program needs 50,000 steps), the
    /// parameters with the best held-out likelihood are kept, and the decay is that of `PyTorch`'s `AdamW`,
    /// which the paper does not name.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            sizes: Sizes::PAPER,
            batch: 1024,
            first_batch: 1024,
            steps: PAPER_STEPS,
            rate: 1e-4,
            decay: 1e-2,
            clip: 1.0,
            annealed: false,
            balance: 0.0,
            persist: false,
            plain: true,
            hold: 0.0,
            prune: 1.0,
            patience: usize::MAX,
            ..Self::default()
        }
    }
}

/// How the fit of a member went.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberReport {
    /// Steps done.
    pub steps: usize,
    /// The step with the best held-out likelihood, whose parameters are used.
    pub best_step: usize,
    /// The mean log-likelihood per held-out row at that step, summed over the effects.
    pub held_out: f64,
    /// Step and held-out log-likelihood of every evaluation.
    pub curve: Vec<(usize, f64)>,
}

/// What all members have in common.
pub(super) struct Training<'a> {
    pub kind: ModelKind,
    pub options: &'a ModelParams,
    pub lessons: Lessons<'a>,
    /// The rows for evaluations.
    pub held_out: &'a Encoded,
    /// Whether parents can be pruned.
    pub prunes: bool,
    /// Measures which parents matter, if parents can be pruned.
    pub probe: Option<&'a Probe>,
}

impl Training<'_> {
    /// Fits a member to `sample`, the rows to train on, some of which occur several times.
    pub fn run(
        &self,
        at: usize,
        member: &mut Member,
        sample: Vec<usize>,
        stream: Stream,
        tracker: &Tracker<'_>,
    ) -> Result<MemberReport, FitError> {
        let options = self.options;
        let steps = options.steps;
        let warm_up = (steps / 20).clamp(1, 100);
        let schedule = Schedule { peak: options.rate, end: 0.01, warm_up, steps };
        let schedule = if options.annealed { schedule } else { constant(schedule) };
        let mut descent =
            Descent::new(self.lessons, options, schedule, (at, &*member), sample, stream)
                .growing_from(options.first_batch);
        let look =
            |descent: &Descent<'_>, member: &Member| descent.likelihood_of(member, self.held_out);
        let mut best = Best::new(&member.parameters, look(&descent, member).mean);
        let mut plateau = Plateau::default();
        let mut held = self.kind.has_weights() && options.hold > 0.0;
        let mut prunings = Prunings::default();
        let mut told = 0;
        let mut looks = 0;
        let mut note = self.kind.name().to_owned();
        while descent.position() < steps {
            descent.step(member, held)?;
            let position = descent.position().min(steps);
            let last = position == steps;
            if position / options.interval == looks && !last {
                tracker.advance((position - told) as f64, &note);
                told = position;
                if tracker.is_stopped() {
                    return Err(FitError::Stopped);
                }
                continue;
            }
            looks = position / options.interval;
            let held_out = look(&descent, member);
            best.look(descent.steps(), held_out.mean, &member.parameters);
            let share = position as f64 / steps as f64;
            if share >= options.prune.min(LATE_PRUNING)
                && plateau.look(held_out.bounded) >= options.patience
            {
                descent.hurry(SHORTENED_PACE);
            }
            held &= share < options.hold;
            if self.prunes && share >= options.prune && share <= LAST_PRUNING && prunings.due(share)
            {
                let structure = self.lessons.structure;
                let kind = self.kind.name();
                let looked_at = |done: usize, of: usize| {
                    tracker.advance(0.0, &format!("{kind}, which causes matter: {done} of {of}"));
                };
                let late = share >= LATE_PRUNING;
                member.pruned =
                    self.probe.and_then(|probe| probe.prune(member, structure, late, &looked_at));
                best.restart(look(&descent, member).mean, &member.parameters);
            }
            note = format!("{}, held-out log-likelihood {:.2}", self.kind.name(), held_out.mean);
            tracker.advance((position - told) as f64, &note);
            told = position;
            if tracker.is_stopped() {
                return Err(FitError::Stopped);
            }
        }
        Ok(best.finish(member))
    }
}

/// The same steps at a constant learning rate.
pub(super) fn constant(schedule: Schedule) -> Schedule {
    Schedule { end: 1.0, warm_up: 1, ..schedule }
}

/// Whether the held-out likelihood still improves.
#[derive(Default)]
struct Plateau {
    best: Option<f64>,
    /// Evaluations since the last improvement.
    since: usize,
}

impl Plateau {
    /// The number of evaluations since the last improvement.
    fn look(&mut self, held_out: f64) -> usize {
        if self.best.is_none_or(|best| held_out > best + MIN_GAIN_NATS) {
            (self.best, self.since) = (Some(held_out), 0);
        } else {
            self.since += 1;
        }
        self.since
    }
}

/// When parents are pruned: every [`PRUNING_EVALUATIONS`], and as soon as late ones may be.
#[derive(Default)]
struct Prunings {
    /// Evaluations since the last pruning, if there was one.
    since: Option<usize>,
    /// Whether late parents were pruned.
    late: bool,
}

impl Prunings {
    /// Whether parents are pruned at this evaluation, after this share of the steps.
    fn due(&mut self, share: f64) -> bool {
        let late = share >= LATE_PRUNING;
        let since = self.since.map(|since| since + 1);
        let due = since.is_none_or(|since| since >= PRUNING_EVALUATIONS) || (late && !self.late);
        self.since = if due { Some(0) } else { since };
        self.late |= due && late;
        due
    }
}

/// The best parameters so far.
struct Best {
    parameters: Parameters,
    step: usize,
    held_out: f64,
    steps: usize,
    curve: Vec<(usize, f64)>,
}

impl Best {
    fn new(parameters: &Parameters, held_out: f64) -> Self {
        let curve = vec![(0, held_out)];
        Self { parameters: parameters.clone(), step: 0, held_out, steps: 0, curve }
    }

    fn look(&mut self, step: usize, held_out: f64, parameters: &Parameters) {
        self.curve.push((step, held_out));
        self.steps = step;
        if held_out > self.held_out || !self.held_out.is_finite() {
            self.parameters = parameters.clone();
            self.step = step;
            self.held_out = held_out;
        }
    }

    /// Forgets the best parameters so far and continues from these.
    fn restart(&mut self, held_out: f64, parameters: &Parameters) {
        self.held_out = f64::NAN;
        self.look(self.steps, held_out, parameters);
    }

    fn finish(self, member: &mut Member) -> MemberReport {
        member.parameters = self.parameters;
        MemberReport {
            steps: self.steps,
            best_step: self.step,
            held_out: self.held_out,
            curve: self.curve,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_within_the_tolerance_is_no_improvement() {
        let mut plateau = Plateau::default();
        let since: Vec<usize> =
            [-5.0, -4.0, -3.99, -4.5, -3.985, -3.9].map(|held_out| plateau.look(held_out)).into();
        assert_eq!(since, [0, 0, 1, 2, 3, 0]);
    }

    #[test]
    fn parents_are_pruned_at_every_second_evaluation_and_late_ones_in_any_case() {
        let due = |shares: &[f64]| -> Vec<bool> {
            let mut prunings = Prunings::default();
            shares.iter().map(|&share| prunings.due(share)).collect()
        };
        assert_eq!(due(&[0.4, 0.5, 0.6, 0.7]), [true, false, true, false]);
        assert_eq!(due(&[0.5, 0.625, 0.75, 0.875]), [true, false, true, true]);
    }
}

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

/// Options for fitting a world model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelParams {
    /// Networks in the ensemble.
    pub members: usize,
    /// Their widths.
    pub sizes: Sizes,
    /// Rows per step.
    pub batch: usize,
    /// Maximum number of steps per member.
    pub steps: usize,
    /// Maximum learning rate.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// Maximum norm of a gradient.
    pub clip: f64,
    /// See [`becausal_nn::Likelihood::balanced`].
    pub balance: f64,
    /// The share of the steps after which parents that do not matter under an action are pruned; 1
    /// for never.
    pub prune: f64,
    /// The share of the rows, in whole episodes, that is held out for early stopping and scores.
    pub held_out: f64,
    /// Stops after this many evaluations on the held-out episodes without an improvement.
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
            steps: 2000,
            rate: 6e-3,
            decay: 1e-3,
            clip: 5.0,
            balance: 1.0,
            prune: 0.4,
            held_out: 0.1,
            patience: 12,
            interval: 100,
            seed: 0,
            progress: Listener::default(),
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
    /// Whether the attention weights are held constant until the first pruning.
    pub holds: bool,
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
        let mut descent =
            Descent::new(self.lessons, options, schedule, (at, &*member), sample, stream);
        let look =
            |descent: &Descent<'_>, member: &Member| descent.likelihood_of(member, self.held_out);
        let mut best = Best::new(&member.parameters, look(&descent, member));
        let mut held = self.holds;
        let mut reported = 0;
        let mut note = self.kind.name().to_owned();
        for step in 1..=steps {
            descent.step(member, held)?;
            let last = step == steps;
            if step % options.interval != 0 && !last {
                tracker.advance((step - reported) as f64, &note);
                reported = step;
                if tracker.is_stopped() {
                    return Err(FitError::Stopped);
                }
                continue;
            }
            let held_out = look(&descent, member);
            best.look(step, held_out, &member.parameters);
            let share = step as f64 / steps as f64;
            if self.holds && share >= options.prune && share <= LAST_PRUNING {
                let structure = self.lessons.structure;
                let kind = self.kind.name();
                let looked_at = |done: usize, of: usize| {
                    tracker.advance(0.0, &format!("{kind}, which causes matter: {done} of {of}"));
                };
                let late = share >= LATE_PRUNING;
                member.pruned =
                    self.probe.and_then(|probe| probe.prune(member, structure, late, &looked_at));
                best.restart(look(&descent, member), &member.parameters);
                held = false;
            }
            let done = last || best.since >= options.patience;
            // A network that stops early has done all its steps.
            let now = if done { steps } else { step };
            note = format!("{}, held-out log-likelihood {held_out:.2}", self.kind.name());
            tracker.advance((now - reported) as f64, &note);
            reported = now;
            if tracker.is_stopped() {
                return Err(FitError::Stopped);
            }
            if done {
                break;
            }
        }
        Ok(best.finish(member))
    }
}

/// The best parameters so far.
struct Best {
    parameters: Parameters,
    step: usize,
    held_out: f64,
    since: usize,
    steps: usize,
    curve: Vec<(usize, f64)>,
}

impl Best {
    fn new(parameters: &Parameters, held_out: f64) -> Self {
        let curve = vec![(0, held_out)];
        Self { parameters: parameters.clone(), step: 0, held_out, since: 0, steps: 0, curve }
    }

    fn look(&mut self, step: usize, held_out: f64, parameters: &Parameters) {
        self.curve.push((step, held_out));
        self.steps = step;
        if held_out > self.held_out || !self.held_out.is_finite() {
            self.parameters = parameters.clone();
            self.step = step;
            self.held_out = held_out;
            self.since = 0;
        } else {
            self.since += 1;
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

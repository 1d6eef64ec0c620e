//! Learning: the networks are fitted by maximum likelihood.

use becausal_core::Stream;
use becausal_core::progress::{Listener, Tracker};
use becausal_nn::{Parameters, Schedule};

use super::descent::{Descent, Lessons};
use super::error::FitError;
use super::inputs::Encoded;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::probe::Probe;

/// The share of the steps after which parents are pruned that were tried beside causes.
const LATE_PRUNING: f64 = 0.8;

/// The share of the steps after which nothing is pruned any more.
const LAST_PRUNING: f64 = 0.9;

/// How a world model is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelParams {
    /// Networks in the ensemble.
    pub members: usize,
    /// How wide they are.
    pub sizes: Sizes,
    /// Rows a step.
    pub batch: usize,
    /// Steps a member, at most.
    pub steps: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// The largest norm of a gradient.
    pub clip: f64,
    /// See [`becausal_nn::Likelihood::balanced`].
    pub balance: f64,
    /// Parents that do not matter under an action are pruned after this share of the steps; 1 for
    /// never.
    pub prune: f64,
    /// The share of the episodes that is held out to stop early and to score.
    pub held_out: f64,
    /// Stops after so many looks at the held-out episodes without an improvement.
    pub patience: usize,
    /// Steps between two looks.
    pub interval: usize,
    /// Of all that is random.
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
    /// Steps made.
    pub steps: usize,
    /// The step at which the held-out likelihood was best: the parameters are those.
    pub best_step: usize,
    /// The mean log-likelihood of a held-out row then, summed over the effects.
    pub held_out: f64,
    /// Step and held-out log-likelihood at every look.
    pub curve: Vec<(usize, f64)>,
}

/// What all members have in common.
pub(super) struct Training<'a> {
    pub kind: ModelKind,
    pub options: &'a ModelParams,
    pub lessons: Lessons<'a>,
    /// Rows to look at now and then.
    pub held_out: &'a Encoded,
    /// Whether attention waits until it is seen what matters.
    pub holds: bool,
    /// What shows which parents matter, where they can be pruned.
    pub probe: Option<&'a Probe>,
}

impl Training<'_> {
    /// Fits a member to `sample`, rows to learn from, some of them several times.
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
        let mut told = 0;
        for step in 1..=steps {
            descent.step(member, held)?;
            let last = step == steps;
            if step % options.interval != 0 && !last {
                continue;
            }
            let held_out = look(&descent, member);
            best.look(step, held_out, &member.parameters);
            let share = step as f64 / steps as f64;
            if self.holds && share >= options.prune && share <= LAST_PRUNING {
                let structure = self.lessons.structure;
                member.pruned = self
                    .probe
                    .and_then(|probe| probe.prune(member, structure, share >= LATE_PRUNING));
                best.restart(look(&descent, member), &member.parameters);
                held = false;
            }
            let done = last || best.since >= options.patience;
            // A network that stops early has done all its steps.
            let now = if done { steps } else { step };
            let note = format!("{}, held-out log-likelihood {held_out:.2}", self.kind.name());
            tracker.advance((now - told) as f64, &note);
            told = now;
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

    /// Begins anew from here: what was before does not count any more.
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

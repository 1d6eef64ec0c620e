//! One state of an audit: ask the explainer about every other action, and try each in the environment.

use becausal_core::env::{Environment, MAX_EPISODE_STEPS, play_episode, rollout, typical_actions};
use becausal_core::schema::Schema;
use becausal_core::trajectory::Trajectory;
use becausal_core::{Policy, Stream};
use becausal_model::Dynamics;

use super::agent::Agent;
use super::ask::Ask;
use super::audit::{Acting, AuditParams};
use super::change::Change;
use super::contrast::Comparison;
use super::error::ExplainError;
use super::explainer::Explainer;
use super::moment::Moment;
use super::scale::Scale;

/// The maximum number of actions to enumerate before some are selected.
const MAX_ENUMERATED: usize = 4096;

/// The model and policy under audit, with the parameters.
pub struct Auditor<'a> {
    pub(super) dynamics: &'a dyn Dynamics,
    pub(super) policy: &'a dyn Policy,
    pub(super) scale: &'a Scale,
    pub(super) params: &'a AuditParams,
}

/// A moment, the explainer's answer about every other action, and what really follows from each.
pub struct AuditCase {
    /// The moment asked about, as recorded in the environment.
    pub moment: Moment,
    /// For every other action, the answer to *why not* and the trajectory of the environment.
    pub answers: Vec<(Comparison, Trajectory)>,
}

impl<'a> Auditor<'a> {
    /// An auditor of a model and a policy.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(
        dynamics: &'a dyn Dynamics,
        policy: &'a dyn Policy,
        scale: &'a Scale,
        params: &'a AuditParams,
    ) -> Result<Self, ExplainError> {
        let auditor = Self { dynamics, policy, scale, params };
        auditor.ask(params.horizon).check()?;
        Ok(auditor)
    }

    /// The explainer under audit: the same that a user asks.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn explainer(&self, horizon: usize) -> Result<Explainer<'a>, ExplainError> {
        let explainer = Explainer::new(self.dynamics, Some(self.policy), None, self.ask(horizon))?;
        Ok(explainer.with_scale(self.scale.clone(), self.params.threshold))
    }

    /// Plays an episode up to one of its steps, asks about it, and tries every other action in the
    /// environment.
    ///
    /// # Errors
    /// When the environment refuses an action of the policy.
    pub fn examine<E: Environment>(
        &self,
        case: u32,
        environment: &E,
    ) -> Result<AuditCase, ExplainError> {
        let (start, step) = self.walk(case, environment)?;
        let schema = environment.schema();
        let mut draws = self.stream(case, &[2]);
        let mut actor = |_: usize, state: &[f64]| Some(self.choose(state, &mut draws));
        let begun = Trajectory::begin(schema);
        let record = rollout(&mut start.clone(), begun, self.params.horizon, &mut actor)?;
        // Steps after a time limit were never recorded, so the question ends there too.
        let horizon = if record.truncated() { record.len() } else { self.params.horizon };
        let moment = Moment::of_steps(schema.clone(), step, record.steps().to_vec())?;
        let explainer = self.explainer(horizon)?;
        let agent = Agent::new(Some(self.policy));
        let mut answers = Vec::new();
        for other in self.others(schema, moment.action())? {
            let claimed = explainer.compare(&moment, &Change::action(&other))?;
            let mut actor = agent.instead(schema, &other, record.steps());
            let begun = Trajectory::begin(schema);
            let real = rollout(&mut start.clone(), begun, horizon, &mut actor)?;
            answers.push((claimed, real));
        }
        Ok(AuditCase { moment, answers })
    }

    /// The other actions to ask about; an evenly spaced selection if there are too many.
    fn others(&self, schema: &Schema, taken: &[f64]) -> Result<Vec<Vec<f64>>, ExplainError> {
        let mut all = typical_actions(schema, MAX_ENUMERATED);
        if all.is_empty() {
            return Err(ExplainError::Audit(
                "there are no other actions to try: a number has no bounds (give it low and high in \
                 the schema), or there are too many actions"
                    .into(),
            ));
        }
        all.retain(|action| action != taken);
        let count = all.len().min(self.params.most_actions);
        Ok((0..count).map(|at| all[at * all.len() / count].clone()).collect())
    }

    fn ask(&self, horizon: usize) -> Ask {
        Ask::default().horizon(horizon).discount(self.params.discount)
    }

    fn stream(&self, case: u32, key: &[u32]) -> Stream {
        Stream::keyed(self.params.seed, &[&[case], key].concat())
    }

    fn choose(&self, state: &[f64], draws: &mut Stream) -> Vec<f64> {
        match self.params.acting {
            Acting::MostLikely => self.policy.mode(state),
            Acting::Sampled => self.policy.sample(state, draws),
        }
    }

    /// An environment at a step drawn uniformly from an episode, and the number of that step.
    fn walk<E: Environment>(&self, case: u32, environment: &E) -> Result<(E, usize), ExplainError> {
        let seed = self.stream(case, &[0]).next_u64();
        let play = |limit: usize| {
            let mut copy = environment.clone();
            let mut draws = self.stream(case, &[1]);
            let mut actor = |_: usize, state: &[f64]| Some(self.choose(state, &mut draws));
            let episode = play_episode(&mut copy, seed, limit, &mut actor)?;
            Ok::<(E, usize), ExplainError>((copy, episode.len()))
        };
        let (_, length) = play(self.params.longest_walk.min(MAX_EPISODE_STEPS))?;
        let step = self.stream(case, &[4]).below(length.max(1));
        Ok((play(step)?.0, step))
    }
}

//! One state of an audit: ask the explainer about every other action, and try each in the environment.

use becausal_core::env::{Environment, Onlooker, rollout, typical_actions};
use becausal_core::schema::Schema;
use becausal_core::trajectory::Trajectory;
use becausal_core::{Policy, Stream, World};
use becausal_model::Dynamics;

use super::AuditParams;
use super::seen_world::SeenWorld;
use crate::agent::Agent;
use crate::ask::Ask;
use crate::change::Change;
use crate::contrast::Comparison;
use crate::error::ExplainError;
use crate::explainer::Explainer;
use crate::moment::Moment;
use crate::scale::Scale;

/// The maximum number of actions to enumerate before some are selected.
const MAX_ENUMERATED: usize = 4096;

/// The model and policy under audit, with the parameters.
pub struct Auditor<'a> {
    dynamics: &'a dyn Dynamics,
    policy: &'a dyn Policy,
    pub(super) scale: &'a Scale,
    pub(super) params: &'a AuditParams,
}

/// Another action: what the explainer says about it, and what really follows.
pub struct AuditAnswer {
    /// The answer to *why not*.
    pub claimed: Comparison,
    /// What happens in the environment, with the same noise.
    pub real: Trajectory,
    /// What happens with other noise; `None` where there is none.
    pub twin: Option<Trajectory>,
    /// What follows from the rules and the noise that data can teach; `None` where the environment cannot say.
    pub reachable: Option<Trajectory>,
    /// What follows from the rules and all noise that the record shows; `None` where the environment
    /// cannot say.
    pub ideal: Option<Trajectory>,
}

/// A moment, and every other action.
pub struct AuditCase {
    /// The moment asked about, as recorded in the environment.
    pub moment: Moment,
    /// Steps that were compared.
    pub horizon: usize,
    /// Every other action.
    pub answers: Vec<AuditAnswer>,
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

    /// Asks about the first of the recorded steps, and tries every other action in the environment, which
    /// stands before that step. `twin` is the seed of other noise.
    ///
    /// # Errors
    /// When the environment refuses an action of the policy.
    pub fn examine<E: Environment>(
        &self,
        start: &E,
        record: &Trajectory,
        twin: u64,
    ) -> Result<AuditCase, ExplainError> {
        let schema = start.schema();
        let horizon = self.horizon(record);
        let moment = Moment::of_steps(schema.clone(), record.first(), record.steps().to_vec())?;
        let explainer = self.explainer(horizon)?;
        let mut answers = Vec::new();
        for other in self.others(schema, moment.action())? {
            let mut claimed = explainer.compare(&moment, &Change::action(&other))?;
            let play = |world: &mut dyn World| self.play(world, &other, record);
            let real = play(&mut start.clone())?;
            if real.truncated() {
                // What follows a time limit is nobody's claim.
                let [factual, other] = claimed.courses;
                claimed.courses = [factual, other.shortened(real.len())];
                claimed.draws = claimed.draws.shortened(real.len());
            }
            let mut other_noise = start.clone();
            let twin =
                if other_noise.renew_noise(twin) { Some(play(&mut other_noise)?) } else { None };
            let seen_by = |onlooker| {
                let world = SeenWorld::new(start.clone(), record.steps(), onlooker);
                world.map(|mut world| play(&mut world)).transpose()
            };
            let (reachable, ideal) = (seen_by(Onlooker::OfData)?, seen_by(Onlooker::OfRules)?);
            answers.push(AuditAnswer { claimed, real, twin, reachable, ideal });
        }
        Ok(AuditCase { moment, horizon, answers })
    }

    /// What follows from another action in a world that stands where `record` began. Later the agent acts as it does in
    /// explanations.
    ///
    /// # Errors
    /// When the world refuses an action of the policy.
    pub fn play(
        &self,
        world: &mut dyn World,
        other: &[f64],
        record: &Trajectory,
    ) -> Result<Trajectory, ExplainError> {
        let schema = record.schema();
        let agent = Agent::new(Some(self.policy));
        let mut actor = agent.instead(schema, other, record.steps());
        Ok(rollout(world, Trajectory::begin(schema), self.horizon(record), &mut actor)?)
    }

    /// How many steps are compared: those after a time limit were never recorded, so the question ends there too.
    fn horizon(&self, record: &Trajectory) -> usize {
        if record.truncated() { record.len() } else { self.params.horizon }
    }

    /// The explainer under audit: the same that a user asks.
    fn explainer(&self, horizon: usize) -> Result<Explainer<'a>, ExplainError> {
        let explainer = Explainer::new(self.dynamics, Some(self.policy), None, self.ask(horizon))?;
        Ok(explainer.with_scale(self.scale.clone(), self.params.threshold))
    }

    /// The other actions to ask about; an evenly spaced selection if there are too many.
    ///
    /// # Errors
    /// When the actions cannot be enumerated.
    pub fn others(&self, schema: &Schema, taken: &[f64]) -> Result<Vec<Vec<f64>>, ExplainError> {
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

    /// The seed of the other noise of a case.
    #[must_use]
    pub fn twin_seed(&self, case: u32) -> u64 {
        Stream::keyed(self.params.seed, &[case, 5]).next_u64()
    }
}

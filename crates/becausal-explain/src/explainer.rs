//! The explainer: answers questions with a model, a policy and a causal graph.

mod tried;

use std::sync::Arc;

use super::agent::Agent;
use super::ask::Ask;
use super::attribution::Company;
use super::audit::Track;
use super::calibration::Calibration;
use super::change::Change;
use super::choice::{Choice, odds};
use super::contrast::{Comparison, Contrast, ContrastiveExplanan, PROBABLE, differ_by};
use super::credit::Credit;
use super::draws::{Draws, Question};
use super::error::ExplainError;
use super::evidence::{Doubt, Evidence};
use super::explanan::Explanan;
use super::finite::{check_distance, check_finite, check_sum};
use super::influence_by::Meter;
use super::moment::{Moment, check_values};
use super::predicted::Predicted;
use super::rival::{Basis, Rather, Rival, nothing};
use super::scale::Scale;
use super::turning::{Search, Turning};
use crate::chain::{Chain, ExtendedGraph, Horizon, Origin, Part, choices, targets};
use becausal_core::env::{rollout, typical_actions};
use becausal_core::schema::Schema;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_core::{Node, Policy, Transitions};
use becausal_discovery::CausalGraph;
use becausal_model::{Dynamics, ModelWorld, Noise, PossibleNoise};
pub use tried::Copies;

/// Rivals that are compared to find the best one, at most.
const MAX_RIVALS: usize = 16;

/// Why an action: its causal chain, the explanans, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The causal chain.
    pub chain: Chain,
    /// The complete explanan: everything in the chain.
    pub complete: Explanan,
    /// The minimal explanan: the rewards and their parents.
    pub minimal: Explanan,
    /// The evidence and the caveats.
    pub evidence: Evidence,
    /// The agent's side: how sure it was, and what made it choose so. `None` without a policy or without
    /// recorded states, and of courses that were not taken.
    pub choice: Option<Choice>,
    /// What the action was compared with, where nobody said with what. The chain then leads only to rewards
    /// that the other action would not have brought, if there are any.
    pub rather: Option<Box<Rather>>,
}

/// The agent's later actions, by step and state; `None` if unknown.
type LaterActions<'a> = dyn Fn(usize, &[f64]) -> Option<Vec<f64>> + Sync + 'a;

/// Answers questions about moments.
pub struct Explainer<'a> {
    dynamics: &'a dyn Dynamics,
    agent: Agent<'a>,
    graph: Option<&'a CausalGraph>,
    ask: Ask,
    meter: Meter,
    targets: Vec<usize>,
    scale: Option<(Scale, f64)>,
    company: Option<Company>,
    track: Option<Track>,
    calibration: Calibration,
    /// The actions to compare with; any if `None`.
    known: Option<Vec<Vec<f64>>>,
    copies: Option<Box<Copies<'a>>>,
}

impl<'a> Explainer<'a> {
    /// An explainer with these parameters. Without a policy it predicts no actions beyond the record.
    ///
    /// # Errors
    /// When a parameter is out of range, or a reward name is unknown.
    pub fn new(
        dynamics: &'a dyn Dynamics,
        policy: Option<&'a dyn Policy>,
        graph: Option<&'a CausalGraph>,
        ask: Ask,
    ) -> Result<Self, ExplainError> {
        ask.check()?;
        if let Some(graph) = graph {
            let schema = dynamics.schema();
            let expected = [schema.causes(), schema.effects()].concat();
            let got = [graph.causes(), graph.effects()].concat();
            if expected != got {
                let (expected, got) = (expected.join(", "), got.join(", "));
                return Err(ExplainError::Graph { expected, got });
            }
        }
        let targets = targets(dynamics.schema(), &ask.rewards)?;
        let agent = Agent::new(policy);
        Ok(Self {
            dynamics,
            agent,
            graph,
            meter: Meter::new(ask.influence_by()),
            ask,
            targets,
            scale: None,
            company: None,
            track: None,
            calibration: Calibration::default(),
            known: None,
            copies: None,
        })
    }

    /// The same explainer, which ignores differences up to this share of a variable's standard
    /// deviation in the data. Small errors of the model are then not reported as differences.
    #[must_use]
    pub fn with_scale(self, scale: Scale, negligible: f64) -> Self {
        Self { scale: Some((scale, negligible)), ..self }
    }

    /// The same explainer with recorded steps, on which influences by effect are measured: best steps that the
    /// model has not learned from.
    #[must_use]
    pub fn with_rows(self, rows: &Transitions) -> Self {
        Self { meter: self.meter.with_rows(rows), ..self }
    }

    /// The same explainer, which also tells the agent's side, given recorded states.
    #[must_use]
    pub fn with_company(self, company: Company) -> Self {
        Self { company: Some(company), ..self }
    }

    /// The same explainer, which also tells how often such answers were right in an audit.
    #[must_use]
    pub fn with_track(self, track: Option<Track>) -> Self {
        Self { track, ..self }
    }

    /// The same explainer, with intervals as wide as an audit showed that they have to be.
    #[must_use]
    pub fn with_calibration(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// The same explainer, which compares only with these actions where nobody says with which.
    #[must_use]
    pub fn with_actions(self, known: Option<Vec<Vec<f64>>>) -> Self {
        Self { known, ..self }
    }

    /// The same explainer, which does not predict the other course of a contrast where it can be tried in a copy of the
    /// environment. What it [compares](Self::compare) is still the model's.
    #[must_use]
    pub fn with_copies(self, copies: Box<Copies<'a>>) -> Self {
        Self { copies: Some(copies), ..self }
    }

    /// The parameters.
    #[must_use]
    pub fn asked(&self) -> &Ask {
        &self.ask
    }

    /// Why was this action taken? What does it lead to?
    ///
    /// # Errors
    /// When the moment does not fit the model's schema.
    pub fn why(&self, moment: &Moment) -> Result<Why, ExplainError> {
        let factual = self.factual(moment)?;
        Ok(Why { choice: self.choice(moment), ..self.explain(factual, &Origin::default())? })
    }

    /// Why was this action taken rather than another: the agent's second choice, doing nothing, or the best
    /// other one? What the other would have brought as well is no reason. Without another action, and with the
    /// paper's chains, it is [`why`](Self::why).
    ///
    /// # Errors
    /// When the moment does not fit the model's schema.
    pub fn why_rather(&self, moment: &Moment) -> Result<Why, ExplainError> {
        if self.ask.is_paper() {
            return self.why(moment);
        }
        let Some(rival) = self.rival(moment)? else { return self.why(moment) };
        let (contrast, choice) =
            self.both(|| self.why_not(moment, &rival.action), || self.choice(moment));
        let contrast = contrast?;
        let differs = |node: Node| contrast.differs(node) != Some(false);
        let chain = contrast.factual.chain.clone().to_rewards(differs);
        let why = if chain.is_empty() {
            contrast.factual.clone()
        } else {
            self.evident(chain, &Origin::default())
        };
        Ok(Why { choice, rather: Some(Box::new(Rather { rival, contrast })), ..why })
    }

    /// The smallest change of the state, within the data, after which the agent would most likely have taken another
    /// action: a given one, or any. `None` without a policy, or where no such change was found.
    #[must_use]
    pub fn turning(
        &self,
        moment: &Moment,
        wanted: Option<&[f64]>,
        data: &Transitions,
    ) -> Option<Turning> {
        Search::new(self.agent.policy()?, data, moment.state(), wanted).smallest()
    }

    /// The action to compare with where nobody says which; `None` if there is no other.
    ///
    /// # Errors
    /// When the moment does not fit the model's schema.
    pub fn rival(&self, moment: &Moment) -> Result<Option<Rival>, ExplainError> {
        let taken = moment.action();
        let is_rival = |action: &[f64]| {
            let known = |known: &Vec<Vec<f64>>| known.iter().any(|known| known == action);
            action != taken && self.known.as_ref().is_none_or(known)
        };
        let rival = |action: Vec<f64>, basis| Ok(Some(Rival { action, basis }));
        if let Some(policy) = self.agent.policy() {
            let likeliest = policy.mode(moment.state());
            let odds = odds(policy, moment.state()).unwrap_or_default();
            if let Some((action, _)) = odds.into_iter().find(|(action, _)| is_rival(action)) {
                let first = action == likeliest;
                return rival(action, if first { Basis::FirstChoice } else { Basis::SecondChoice });
            }
            if is_rival(&likeliest) {
                return rival(likeliest, Basis::FirstChoice);
            }
        } else if let Some(action) = nothing(self.schema()).filter(|action| is_rival(action)) {
            return rival(action, Basis::Nothing);
        }
        let mut others = match &self.known {
            Some(known) => known.clone(),
            None => typical_actions(self.schema(), MAX_RIVALS),
        };
        others.retain(|action| is_rival(action));
        let returns = self.returns(moment, &others)?;
        let best = others.into_iter().zip(returns).max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(Ok(None), |(action, _)| rival(action, Basis::BestOther))
    }

    /// The agent's side of a moment; `None` without a policy, or without recorded states. It is part of a *why*;
    /// a contrast has it where somebody adds it to its factual side.
    #[must_use]
    pub fn choice(&self, moment: &Moment) -> Option<Choice> {
        let (policy, company) = (self.agent.policy()?, self.company.as_ref()?);
        Some(Choice::of(policy, company, moment.state(), moment.action()))
    }

    /// Why this action and not another?
    ///
    /// # Errors
    /// When the moment or the action does not fit the model's schema.
    pub fn why_not(&self, moment: &Moment, action: &[f64]) -> Result<Contrast, ExplainError> {
        self.what_if(moment, &Change::action(action))
    }

    /// What if the action, the state or both had been different?
    ///
    /// # Errors
    /// When the moment or the change does not fit the model's schema.
    pub fn what_if(&self, moment: &Moment, change: &Change) -> Result<Contrast, ExplainError> {
        let claimed = self.compare(moment, change)?;
        let (comparison, predicted) = match self.tried(moment, change)? {
            Some(tried) => {
                let chain = claimed.shortened(self.ask.horizon.of_chain());
                let predicted = Predicted {
                    difference: claimed.credit.difference(),
                    interval: claimed.worth(None),
                    steps: claimed.steps(),
                    of_chain: chain.credit.difference(),
                };
                (tried, Some(predicted))
            }
            None => (claimed, None),
        };
        let [this, other] = &comparison.courses;
        let origin = change.origin(this.shape(), moment.state(), moment.action());
        let (factual, counterfactual) = rayon::join(
            || self.explain(this.clone(), &origin),
            || self.explain(other.clone(), &origin),
        );
        let mut contrast = Contrast {
            change: change.clone(),
            factual: factual?,
            counterfactual: counterfactual?,
            later: self.later(&comparison.courses),
            comparison,
            minimal: ContrastiveExplanan::default(),
            doubts: Vec::new(),
            scale: self.scale.clone(),
            // An audit tries other actions, not other states, and it asks the model.
            track: self.track.filter(|_| change.state.is_empty() && predicted.is_none()),
            predicted,
        };
        let differs = |node: Node, a: &[f64], b: &[f64]| {
            differ_by(contrast.scale.as_ref(), node, a, b) && contrast.tells(node)
        };
        let (this, other) = (&contrast.factual.minimal, &contrast.counterfactual.minimal);
        contrast.minimal = ContrastiveExplanan::of(this, other, differs);
        contrast.doubts.extend(self.up_to_chance(&contrast));
        Ok(contrast)
    }

    /// What [`why_not`](Self::why_not) and [`what_if`](Self::what_if) claim to happen by the model, without the
    /// chains that explain it.
    ///
    /// # Errors
    /// When the moment or the change does not fit the model's schema.
    pub fn compare(&self, moment: &Moment, change: &Change) -> Result<Comparison, ExplainError> {
        let schema = self.schema();
        let factual = self.factual(moment)?;
        let state = change.state(schema, moment.state())?;
        let action = change.action.clone().unwrap_or_else(|| moment.action().to_vec());
        check_values(schema, schema.action_slots(), &action)?;
        if !change.state.is_empty() {
            check_distance(self.dynamics, &state)?;
        }
        let limit = self.limit(moment);
        let question = Question {
            agent: self.agent,
            dynamics: self.dynamics,
            factual: &factual,
            state: &state,
            action: &action,
            horizon: limit,
        };
        let PossibleNoise { likely, drawn } = question.noise();
        let noise = likely.get(..factual.len()).unwrap_or(&likely);
        let start = (&state[..], &action[..]);
        let follow =
            |step: usize, state: &[f64]| self.agent.act(schema, factual.steps().get(step), state);
        let keep = |step: usize, state: &[f64]| match factual.steps().get(step) {
            Some(step) => Some(step.action.clone()),
            None => self.agent.mode(state),
        };
        let (courses, draws) = self.both(
            || {
                let follows = self.simulate(&factual, noise, start, &follow, limit)?;
                // The same as long as the agent would have acted as it did.
                let keeps = self.simulate(&follows, noise, start, &keep, limit)?;
                Ok::<_, ExplainError>((follows, keeps))
            },
            || Draws::of(&question, drawn),
        );
        let (counterfactual, held) = courses?;
        let draws = draws.calibrated(self.calibration.clone());
        self.comparison([factual, counterfactual, held], draws)
    }

    /// Compares what happened, the other course, and the other course with the agent's later actions as they were, up to
    /// where the first two are the same again.
    fn comparison(
        &self,
        courses: [Trajectory; 3],
        draws: Draws,
    ) -> Result<Comparison, ExplainError> {
        let steps = self.steps_that_differ(&courses[0], &courses[1], &draws);
        let [factual, counterfactual, held] = courses.map(|course| course.shortened(steps));
        let draws = draws.shortened(steps);
        let discount = self.ask.discount;
        let credit = Credit::new(&factual, &counterfactual, &held, &self.targets, discount);
        check_sum(credit.difference(), factual.first())?;
        Ok(Comparison { courses: [factual, counterfactual], credit, draws })
    }

    /// Two parts of an answer at once. One after the other where the agent answers one state at a time: it may
    /// remember what it was asked, and must be asked in the same order every time.
    fn both<A: Send, B: Send>(
        &self,
        left: impl FnOnce() -> A + Send,
        right: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if self.agent.is_quick() { rayon::join(left, right) } else { (left(), right()) }
    }

    /// How many steps to look ahead from a moment: what is recorded, and at least what a chain shows. Without a policy
    /// no more than that, because nobody knows what the agent would have done later; neither with one that answers one
    /// state at a time.
    fn limit(&self, moment: &Moment) -> usize {
        let horizon = self.ask.horizon;
        match (horizon, moment.record().len()) {
            (Horizon::Steps(steps), _) => steps,
            (Horizon::Auto, _) if self.agent.policy().is_none() || !self.agent.is_quick() => {
                horizon.of_chain()
            }
            (Horizon::Auto, 0) => horizon.most(),
            // The other course may go on where the record ends.
            (Horizon::Auto, _) if moment.record().terminated() => horizon.most(),
            (Horizon::Auto, recorded) => recorded.clamp(horizon.of_chain(), horizon.most()),
        }
    }

    /// The number of steps until two courses are the same and stay so, and earn the same in every possible course; all
    /// of them where the question says how many.
    fn steps_that_differ(&self, this: &Trajectory, other: &Trajectory, draws: &Draws) -> usize {
        let longest = |this: &Trajectory, other: &Trajectory| this.len().max(other.len());
        if self.ask.horizon != Horizon::Auto {
            return longest(this, other);
        }
        let negligible = self.scale.as_ref().map_or(0.0, |(scale, share)| scale.reward(*share));
        let earn_alike = |this: &Trajectory, other: &Trajectory, step: usize| {
            let (Some(a), Some(b)) = (this.steps().get(step), other.steps().get(step)) else {
                return false;
            };
            let mut rewards = a.rewards.iter().zip(&b.rewards);
            a.terminated == b.terminated && rewards.all(|(a, b)| (a - b).abs() <= negligible)
        };
        let shape = this.shape();
        let same = |step: usize| {
            let states = (0..shape.states.len()).map(|index| Node::state(step + 1, index));
            let outcomes = (0..shape.outcomes.len()).map(|index| Node::outcome(step, index));
            let alike = |node: Node| match (this.value(node), other.value(node)) {
                (Some(a), Some(b)) => !differ_by(self.scale.as_ref(), node, a, b),
                (a, b) => a.is_none() && b.is_none(),
            };
            earn_alike(this, other, step) && states.chain(outcomes).all(alike)
        };
        let last = (0..longest(this, other)).rev().find(|&step| !same(step));
        let possible = draws.most(|this, other| {
            let differs = |step: &usize| !earn_alike(this, other, *step);
            (0..longest(this, other)).rev().find(differs).map_or(0, |step| step + 1)
        });
        last.map_or(1, |step| step + 1).max(possible)
    }

    /// What each action earns within the horizon, of the rewards asked about, under the same noise. For the action taken
    /// it is what the factual course earns.
    ///
    /// # Errors
    /// When the moment or an action does not fit the model's schema.
    pub fn returns(&self, moment: &Moment, actions: &[Vec<f64>]) -> Result<Vec<f64>, ExplainError> {
        let schema = self.schema();
        let factual = self.factual(moment)?;
        let noise = self.noise(&factual);
        let follow =
            |step: usize, state: &[f64]| self.agent.act(schema, factual.steps().get(step), state);
        let return_of = |action: &Vec<f64>| {
            if action == moment.action() {
                return check_sum(self.earned(&factual), factual.first());
            }
            check_values(schema, schema.action_slots(), action)?;
            let start = (moment.state(), &action[..]);
            let trajectory = self.simulate(&factual, &noise, start, &follow, self.limit(moment))?;
            check_sum(self.earned(&trajectory), trajectory.first())
        };
        actions.iter().map(return_of).collect()
    }

    /// The discounted sum of the rewards asked about.
    fn earned(&self, course: &Trajectory) -> f64 {
        let (mut factor, mut sum) = (1.0, 0.0);
        for step in course.steps() {
            let asked = self.targets.iter().map(|&reward| step.rewards[reward]);
            sum += factor * asked.sum::<f64>();
            factor *= self.ask.discount;
        }
        sum
    }

    /// The best of the other actions, and how much more reward the action taken earns than it; negative if it
    /// earns less. `None` if there is no other.
    pub(super) fn lead(
        &self,
        moment: &Moment,
        actions: &[Vec<f64>],
    ) -> Result<Option<(Vec<f64>, f64)>, ExplainError> {
        let mut all = vec![moment.action().to_vec()];
        all.extend(actions.iter().filter(|action| *action != moment.action()).cloned());
        let returns = self.returns(moment, &all)?;
        let others = returns.iter().enumerate().skip(1);
        let best = others.max_by(|a, b| a.1.total_cmp(b.1));
        Ok(best.map(|(place, best)| (all[place].clone(), returns[0] - best)))
    }

    /// How unexpected the recorded step was, in nats; `None` where nothing was recorded, or the model cannot say.
    pub(super) fn surprise(&self, moment: &Moment) -> Option<f64> {
        let step = moment.record().steps().first()?;
        let each = self.dynamics.surprise(&step.state, &step.action, &step.outcomes, &step.next)?;
        Some(each.iter().sum())
    }

    /// The agent's policy, if it is known.
    pub(super) fn policy(&self) -> Option<&'a dyn Policy> {
        self.agent.policy()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.dynamics.schema()
    }

    /// The recorded steps, continued by the most likely ones.
    fn factual(&self, moment: &Moment) -> Result<Trajectory, ExplainError> {
        let record = moment.record();
        if record.schema().variables() != self.schema().variables() {
            return Err(ExplainError::Schema {
                model: self.schema().name().to_owned(),
                data: record.schema().name().to_owned(),
            });
        }
        let limit = self.limit(moment);
        let begun = record.clone().shortened(limit).continued();
        let state = begun.state(begun.len()).unwrap_or(moment.state()).to_vec();
        let mut world = ModelWorld::new(self.dynamics, state, &[]);
        let mut actor = |step: usize, state: &[f64]| match step {
            0 => Some(moment.action().to_vec()),
            _ => self.agent.mode(state),
        };
        check_finite(rollout(&mut world, begun, limit, &mut actor)?)
    }

    /// The noise of every step: inferred for recorded steps, the most likely for predicted ones.
    fn noise(&self, factual: &Trajectory) -> Vec<Noise> {
        let recorded: Vec<&Step> = factual.steps().iter().filter(|step| step.recorded).collect();
        let mut noise = self.dynamics.noises(&recorded);
        // Recorded steps come first.
        noise.resize_with(factual.len(), Noise::most_likely);
        noise
    }

    /// The trajectory from another state or action, under the noise of a known trajectory.
    ///
    /// While state and action equal the known ones, the known steps are kept.
    fn simulate(
        &self,
        known: &Trajectory,
        noise: &[Noise],
        (state, action): (&[f64], &[f64]),
        later: &LaterActions<'_>,
        limit: usize,
    ) -> Result<Trajectory, ExplainError> {
        let mut actor = |step: usize, state: &[f64]| {
            if step == 0 { Some(action.to_vec()) } else { later(step, state) }
        };
        let mut same = 0;
        let mut at = state.to_vec();
        for (number, step) in known.steps().iter().enumerate() {
            if step.state != at || actor(number, &at).as_ref() != Some(&step.action) {
                break;
            }
            at.clone_from(&step.next);
            same += 1;
        }
        let begun = known.clone().shortened(same);
        let mut world = ModelWorld::new(self.dynamics, at, noise.get(same..).unwrap_or_default());
        check_finite(rollout(&mut world, begun, limit, &mut actor)?)
    }

    /// What the agent expects to earn after each course, discounted to the first step; nothing after its end. `None`
    /// where only some rewards are asked about: it expects all of them.
    fn later(&self, courses: &[Trajectory; 2]) -> Option<[f64; 2]> {
        if self.targets.len() < self.schema().rewards().len() {
            return None;
        }
        let last = |course: &Trajectory| course.steps().last().map(|step| step.next.clone());
        let states = courses.iter().map(last).collect::<Option<Vec<_>>>()?;
        let values = self.agent.policy()?.values(&states)?;
        let mut later = [0.0; 2];
        for ((later, course), value) in later.iter_mut().zip(courses).zip(values) {
            if !course.terminated() {
                let steps = i32::try_from(course.len()).unwrap_or(i32::MAX);
                *later = self.ask.discount.powi(steps) * value;
            }
        }
        let negligible = self.scale.as_ref().map_or(0.0, |(scale, share)| scale.reward(*share));
        let told = later.iter().all(|v| v.is_finite()) && (later[0] - later[1]).abs() > negligible;
        told.then_some(later)
    }

    /// The label of the other course that chance leaves most open, with the bounds of its probability under
    /// every way in which the noise of two actions can go together.
    fn up_to_chance(&self, contrast: &Contrast) -> Option<Doubt> {
        let (node, probability) =
            contrast.chances().into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        // A share of some draws may be a little off.
        let bounds = self.bounds(contrast, node);
        let bounds = bounds.map(|[low, high]| [low.min(probability), high.max(probability)]);
        (probability < PROBABLE).then_some(Doubt::Chance { node, probability, bounds })
    }

    /// The lowest and the highest probability of a label in the other course, given the label that was
    /// recorded: how noise goes together under two actions is not in the data. `None` where nothing was
    /// recorded.
    fn bounds(&self, contrast: &Contrast, node: Node) -> Option<[f64; 2]> {
        let [this, other] = &contrast.courses;
        // Later the two courses may be in many states.
        let number = (node.after() == 1).then_some(0)?;
        let states = this.shape().states.len();
        let effect = match node.part {
            Part::State => node.index,
            _ => states + node.index,
        };
        let chance = |course: &Trajectory| {
            let step = course.steps().get(number)?;
            let chances =
                self.dynamics.chances(&step.state, &step.action, &step.outcomes, &step.next);
            *chances.get(effect)?
        };
        let (seen, claimed) = (chance(this)?, chance(other)?);
        let recorded = this.steps().get(number)?.recorded && seen > 0.0;
        // Fréchet's bounds of two events that each have their own probability.
        let low = ((seen + claimed - 1.0) / seen).max(0.0);
        recorded.then(|| [low, (claimed / seen).min(1.0)])
    }

    fn explain(&self, trajectory: Trajectory, origin: &Origin) -> Result<Why, ExplainError> {
        let steps = self.ask.horizon.of_chain();
        let trajectory = trajectory.shortened(steps);
        let influences = self.meter.influences(self.dynamics, trajectory.steps())?;
        // The paper's chains do not lead through what the agent does later.
        let policy = self.agent.policy().filter(|_| !self.ask.is_paper());
        let choices = policy.map(|policy| choices(policy, &trajectory));
        let graph = ExtendedGraph::new(
            trajectory,
            |effect| self.dynamics.parents(effect),
            &influences,
            choices.as_deref(),
            self.ask.tau,
            origin.clone(),
        )?;
        Ok(self.evident(graph.chain(&self.targets), origin))
    }

    /// A chain with its evidence.
    fn evident(&self, chain: Chain, origin: &Origin) -> Why {
        let asked = origin.nodes(chain.trajectory().shape());
        let evidence =
            Evidence::of(&chain, &asked, self.dynamics, self.graph, self.agent.policy().is_some());
        let (complete, minimal) = (Explanan::complete(&chain), Explanan::minimal(&chain));
        Why { chain, complete, minimal, evidence, choice: None, rather: None }
    }
}

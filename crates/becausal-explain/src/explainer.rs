//! The explainer: answers questions with a model, a policy and a causal graph.

use std::sync::Arc;

use super::agent::Agent;
use super::ask::Ask;
use super::attribution::Company;
use super::change::Change;
use super::choice::Choice;
use super::contrast::{Comparison, Contrast, ContrastiveExplanan, differ_by};
use super::credit::Credit;
use super::error::ExplainError;
use super::evidence::{Doubt, Evidence};
use super::explanan::Explanan;
use super::finite::{check_distance, check_finite, check_sum};
use super::moment::{Moment, check_values};
use super::scale::Scale;
use crate::chain::{Chain, ExtendedGraph, Origin, targets};
use becausal_core::env::rollout;
use becausal_core::schema::Schema;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_core::{Node, Policy};
use becausal_discovery::CausalGraph;
use becausal_model::{Dynamics, ModelWorld, Noise};

/// A label that is more probable than this is not called a matter of chance.
const CERTAIN: f64 = 0.95;

/// A label of the other course that is less probable than this is a caveat: at even odds of three labels, as on
/// slippery ice, it is a guess.
const PROBABLE: f64 = 0.75;

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
}

/// The agent's later actions, by step and state; `None` if unknown.
type LaterActions<'a> = dyn Fn(usize, &[f64]) -> Option<Vec<f64>> + 'a;

/// Answers questions about moments.
pub struct Explainer<'a> {
    dynamics: &'a dyn Dynamics,
    agent: Agent<'a>,
    graph: Option<&'a CausalGraph>,
    ask: Ask,
    targets: Vec<usize>,
    scale: Option<(Scale, f64)>,
    company: Option<Company>,
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
        Ok(Self { dynamics, agent, graph, ask, targets, scale: None, company: None })
    }

    /// The same explainer, which ignores differences up to this share of a variable's standard
    /// deviation in the data. Small errors of the model are then not reported as differences.
    #[must_use]
    pub fn with_scale(self, scale: Scale, negligible: f64) -> Self {
        Self { scale: Some((scale, negligible)), ..self }
    }

    /// The same explainer, which also tells the agent's side, given recorded states.
    #[must_use]
    pub fn with_company(self, company: Company) -> Self {
        Self { company: Some(company), ..self }
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
        Ok(Why { choice: self.choice(moment), ..self.explain(factual, Origin::default())? })
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
        let Comparison { factual, counterfactual, credit } = self.compare(moment, change)?;
        let chances = self.chances(&counterfactual);
        let origin = change.origin(factual.shape(), moment.state(), moment.action());
        let factual = self.explain(factual, origin.clone())?;
        let counterfactual = self.explain(counterfactual, origin)?;
        let scale = self.scale.clone();
        let differs = |node: Node, a: &[f64], b: &[f64]| differ_by(scale.as_ref(), node, a, b);
        let minimal = ContrastiveExplanan::of(&factual.minimal, &counterfactual.minimal, differs);
        let mut doubts = Vec::new();
        if credit.difference() < 0.0 && change.action.is_some() {
            doubts.push(Doubt::Worse { difference: credit.difference() });
        }
        if let Some(&(node, probability)) = chances
            .iter()
            .filter(|(_, probability)| *probability < PROBABLE)
            .min_by(|a, b| a.1.total_cmp(&b.1))
        {
            doubts.push(Doubt::Chance { node, probability });
        }
        let change = change.clone();
        Ok(Contrast { change, factual, counterfactual, minimal, credit, doubts, scale, chances })
    }

    /// What [`why_not`](Self::why_not) and [`what_if`](Self::what_if) claim to happen, without the
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
        let noise = self.noise(&factual);
        let start = (&state[..], &action[..]);
        let follow =
            |step: usize, state: &[f64]| self.agent.act(schema, factual.steps().get(step), state);
        let counterfactual = self.simulate(&factual, &noise, start, &follow)?;
        let keep = |step: usize, state: &[f64]| match factual.steps().get(step) {
            Some(step) => Some(step.action.clone()),
            None => self.agent.mode(state),
        };
        let held = self.simulate(&factual, &noise, start, &keep)?;
        let discount = self.ask.discount;
        let credit = Credit::new(&factual, &counterfactual, &held, &self.targets, discount);
        check_sum(credit.difference(), factual.first())?;
        Ok(Comparison { factual, counterfactual, credit })
    }

    /// The return of each action within the horizon, under the same noise. For the action taken it is
    /// the factual return.
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
                return check_sum(factual.discounted(self.ask.discount), factual.first());
            }
            check_values(schema, schema.action_slots(), action)?;
            let start = (moment.state(), &action[..]);
            let trajectory = self.simulate(&factual, &noise, start, &follow)?;
            check_sum(trajectory.discounted(self.ask.discount), trajectory.first())
        };
        actions.iter().map(return_of).collect()
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
        let begun = record.clone().shortened(self.ask.horizon).continued();
        let state = begun.state(begun.len()).unwrap_or(moment.state()).to_vec();
        let mut world = ModelWorld::new(self.dynamics, state, &[]);
        let mut actor = |step: usize, state: &[f64]| match step {
            0 => Some(moment.action().to_vec()),
            _ => self.agent.mode(state),
        };
        check_finite(rollout(&mut world, begun, self.ask.horizon, &mut actor)?)
    }

    /// The noise of every step: inferred for recorded steps, the most likely for predicted ones.
    fn noise(&self, factual: &Trajectory) -> Vec<Noise> {
        let noise = |step: &Step| {
            if step.recorded {
                self.dynamics.noise(&step.state, &step.action, &step.outcomes, &step.next)
            } else {
                Noise::most_likely()
            }
        };
        factual.steps().iter().map(noise).collect()
    }

    /// The trajectory from another state or action, under the noise of the factual trajectory.
    ///
    /// While state and action equal the factual ones, the factual steps are kept.
    fn simulate(
        &self,
        factual: &Trajectory,
        noise: &[Noise],
        (state, action): (&[f64], &[f64]),
        later: &LaterActions<'_>,
    ) -> Result<Trajectory, ExplainError> {
        let mut actor = |step: usize, state: &[f64]| {
            if step == 0 { Some(action.to_vec()) } else { later(step, state) }
        };
        let mut same = 0;
        let mut at = state.to_vec();
        for (number, step) in factual.steps().iter().enumerate() {
            if step.state != at || actor(number, &at).as_ref() != Some(&step.action) {
                break;
            }
            at.clone_from(&step.next);
            same += 1;
        }
        let begun = factual.clone().shortened(same);
        let mut world = ModelWorld::new(self.dynamics, at, noise.get(same..).unwrap_or_default());
        check_finite(rollout(&mut world, begun, self.ask.horizon, &mut actor)?)
    }

    /// The flags and categories of predicted steps that are up to chance, and how probable they are.
    fn chances(&self, trajectory: &Trajectory) -> Vec<(Node, f64)> {
        let states = trajectory.shape().states.len();
        let mut chances = Vec::new();
        for (number, step) in trajectory.steps().iter().enumerate() {
            if step.recorded {
                continue;
            }
            let each = self.dynamics.chances(&step.state, &step.action, &step.outcomes, &step.next);
            for (effect, chance) in each.into_iter().enumerate() {
                let node = match effect.checked_sub(states) {
                    None => Node::state(number + 1, effect),
                    Some(outcome) => Node::outcome(number, outcome),
                };
                chances.extend(chance.filter(|chance| *chance < CERTAIN).map(|p| (node, p)));
            }
        }
        chances
    }

    fn explain(&self, trajectory: Trajectory, origin: Origin) -> Result<Why, ExplainError> {
        let asked = origin.nodes(trajectory.shape());
        let graph = ExtendedGraph::of(
            self.dynamics,
            self.agent.policy(),
            trajectory,
            self.ask.tau,
            origin,
        )?;
        let chain = graph.chain(&self.targets);
        let evidence =
            Evidence::of(&chain, &asked, self.dynamics, self.graph, self.agent.policy().is_some());
        let (complete, minimal) = (Explanan::complete(&chain), Explanan::minimal(&chain));
        Ok(Why { chain, complete, minimal, evidence, choice: None })
    }
}

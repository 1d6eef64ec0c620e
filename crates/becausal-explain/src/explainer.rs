//! Who answers: a model, a policy and what discovery found.

use std::sync::Arc;

use super::change::Change;
use super::contrast::{Contrast, ContrastiveExplanan, differ_by};
use super::credit::Credit;
use super::error::ExplainError;
use super::evidence::{Doubt, Evidence};
use super::explanan::Explanan;
use super::scale::Scale;
use super::situation::{Situation, check_values};
use crate::chain::{
    Chain, Choose, Course, ExtendedGraph, Node, Origin, Step, Trajectory, check_horizon, check_tau,
    simulate, targets,
};
use becausal_core::Policy;
use becausal_core::schema::{Kind, Schema};
use becausal_discovery::CausalGraph;
use becausal_model::{Dynamics, Noise};

/// Choices about explanations.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How many steps a chain has, at most.
    pub horizon: usize,
    /// Influences above this count.
    pub tau: f64,
    /// The reward terms asked about; all when empty.
    pub rewards: Vec<String>,
    /// The factor by which a reward counts less for every step that it comes later.
    pub discount: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { horizon: 5, tau: 0.1, rewards: Vec::new(), discount: 1.0 }
    }
}

/// Why an action: its chain, what to tell of it, and what stands behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The causal chain.
    pub chain: Chain,
    /// Everything in it.
    pub complete: Explanan,
    /// Its rewards and their parents.
    pub minimal: Explanan,
    /// What stands behind it and what speaks against it.
    pub evidence: Evidence,
}

/// Answers questions about situations.
pub struct Explainer<'a> {
    dynamics: &'a dyn Dynamics,
    policy: Option<&'a dyn Policy>,
    graph: Option<&'a CausalGraph>,
    options: Options,
    targets: Vec<usize>,
    scale: Option<(Scale, f64)>,
}

impl<'a> Explainer<'a> {
    /// An explainer with these options. Without a policy only recorded steps can be explained.
    ///
    /// # Errors
    /// When an option is out of its range, or there is no reward of a name.
    pub fn new(
        dynamics: &'a dyn Dynamics,
        policy: Option<&'a dyn Policy>,
        graph: Option<&'a CausalGraph>,
        options: Options,
    ) -> Result<Self, ExplainError> {
        check_horizon(options.horizon)?;
        check_tau(options.tau)?;
        if !(options.discount > 0.0 && options.discount <= 1.0) {
            return Err(ExplainError::Discount(options.discount));
        }
        let targets = targets(dynamics.schema(), &options.rewards)?;
        Ok(Self { dynamics, policy, graph, options, targets, scale: None })
    }

    /// The same explainer, for which values differ only by more than a share of their spread in the
    /// data: what a model is not exact about is then not told.
    #[must_use]
    pub fn with_scale(self, scale: Scale, negligible: f64) -> Self {
        Self { scale: Some((scale, negligible)), ..self }
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Why was this action taken: what does it lead to?
    ///
    /// # Errors
    /// When the situation is none of the model's.
    pub fn why(&self, situation: &Situation) -> Result<Why, ExplainError> {
        let factual = self.factual(situation)?;
        self.explain(factual, Origin::default())
    }

    /// Why this action and not another?
    ///
    /// # Errors
    /// When the situation or the action is none of the model's.
    pub fn why_not(&self, situation: &Situation, action: &[f64]) -> Result<Contrast, ExplainError> {
        self.what_if(situation, &Change::action(action))
    }

    /// What if the action, the state or both had been different?
    ///
    /// # Errors
    /// When the situation or the change is none of the model's.
    pub fn what_if(
        &self,
        situation: &Situation,
        change: &Change,
    ) -> Result<Contrast, ExplainError> {
        let schema = self.schema();
        let factual = self.factual(situation)?;
        let state = change.state(schema, situation.state())?;
        let action = change.action.clone().unwrap_or_else(|| situation.action().to_vec());
        check_values(schema, schema.action_slots(), &action)?;
        let noise: Vec<Noise> = factual.steps().iter().map(|step| self.noise(step)).collect();
        let follow = |step: usize, state: &[f64]| self.follow(&factual, step, state);
        let counterfactual = self.course(&factual, &noise, &state, &action, &follow)?;
        let keep = |step: usize, state: &[f64]| match factual.steps().get(step) {
            Some(step) => Some(step.action.clone()),
            None => self.policy.map(|policy| policy.mode(state)),
        };
        let held = self.course(&factual, &noise, &state, &action, &keep)?;
        let discount = self.options.discount;
        let credit = Credit::new(&factual, &counterfactual, &held, &self.targets, discount);
        let origin = change.origin(factual.shape(), situation.state(), situation.action());
        let factual = self.explain(factual, origin.clone())?;
        let counterfactual = self.explain(counterfactual, origin)?;
        let scale = self.scale.clone();
        let differs = |node: Node, a: &[f64], b: &[f64]| differ_by(scale.as_ref(), node, a, b);
        let minimal = ContrastiveExplanan::of(&factual.minimal, &counterfactual.minimal, differs);
        let mut doubts = Vec::new();
        if credit.difference() < 0.0 && change.action.is_some() {
            doubts.push(Doubt::Worse { difference: credit.difference() });
        }
        let change = change.clone();
        Ok(Contrast { change, factual, counterfactual, minimal, credit, doubts, scale })
    }

    /// What each of these actions would be paid within the horizon, under the same noise; the action taken
    /// what it was paid.
    ///
    /// # Errors
    /// When the situation or an action is none of the model's.
    pub fn returns(
        &self,
        situation: &Situation,
        actions: &[Vec<f64>],
    ) -> Result<Vec<f64>, ExplainError> {
        let schema = self.schema();
        let factual = self.factual(situation)?;
        let noise: Vec<Noise> = factual.steps().iter().map(|step| self.noise(step)).collect();
        let follow = |step: usize, state: &[f64]| self.follow(&factual, step, state);
        let paid = |action: &Vec<f64>| {
            if action == situation.action() {
                return Ok(factual.discounted(self.options.discount));
            }
            check_values(schema, schema.action_slots(), action)?;
            let course = self.course(&factual, &noise, situation.state(), action, &follow)?;
            Ok(course.discounted(self.options.discount))
        };
        actions.iter().map(paid).collect()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.dynamics.schema()
    }

    /// What was recorded, and beyond it the most likely course.
    fn factual(&self, situation: &Situation) -> Result<Trajectory, ExplainError> {
        let record = situation.record();
        if record.schema().variables() != self.schema().variables() {
            return Err(ExplainError::Schema {
                model: self.schema().name().to_owned(),
                data: record.schema().name().to_owned(),
            });
        }
        let steps = record.steps().iter().take(self.options.horizon).cloned().collect();
        let begun = Trajectory::new(Arc::clone(self.schema()), record.first(), steps)?;
        let action = |step: usize, state: &[f64]| match (step, self.policy) {
            (0, _) => Some(situation.action().to_vec()),
            (_, policy) => policy.map(|policy| policy.mode(state)),
        };
        let course = Course { noise: &|_| Noise::most_likely(), action: &action };
        Ok(simulate(self.dynamics, begun, situation.state(), self.options.horizon, &course)?)
    }

    /// The noise of a step: inferred where it was recorded, otherwise that of the most likely course.
    fn noise(&self, step: &Step) -> Noise {
        if step.recorded {
            self.dynamics.noise(&step.state, &step.action, &step.outcomes, &step.next)
        } else {
            Noise::most_likely()
        }
    }

    /// What follows from another beginning under the noise of the factual course.
    ///
    /// As long as state and action are what they were, what follows is what followed.
    fn course(
        &self,
        factual: &Trajectory,
        noise: &[Noise],
        state: &[f64],
        action: &[f64],
        later: &Choose<'_>,
    ) -> Result<Trajectory, ExplainError> {
        let choose = |step: usize, state: &[f64]| {
            if step == 0 { Some(action.to_vec()) } else { later(step, state) }
        };
        let mut same = Vec::new();
        let mut at = state.to_vec();
        for (number, step) in factual.steps().iter().enumerate() {
            if step.state != at || choose(number, &at).as_ref() != Some(&step.action) {
                break;
            }
            at.clone_from(&step.next);
            same.push(step.clone());
        }
        let begun = Trajectory::new(Arc::clone(self.schema()), factual.first(), same)?;
        let noise = |step: usize| noise.get(step).cloned().unwrap_or_default();
        let course = Course { noise: &noise, action: &choose };
        Ok(simulate(self.dynamics, begun, state, self.options.horizon, &course)?)
    }

    /// What the agent would do in another state than the one it was in.
    ///
    /// Where the recorded action is not the most likely one, the deviation is taken over: numbers
    /// by as much, categories where the most likely one is the same in both states. Without a policy
    /// the agent does what it did.
    fn follow(&self, factual: &Trajectory, step: usize, state: &[f64]) -> Option<Vec<f64>> {
        let taken = factual.steps().get(step);
        let Some(policy) = self.policy else {
            return taken.map(|step| step.action.clone());
        };
        let likely = policy.mode(state);
        let Some(taken) = taken else {
            return Some(likely);
        };
        let usual = policy.mode(&taken.state);
        let schema = self.schema();
        let adapt = |(place, slot): (usize, usize)| {
            let (likely, usual, taken) = (likely[place], usual[place], taken.action[place]);
            match &schema.variable_of(slot).kind {
                Kind::Continuous(bounds) | Kind::Integer(bounds) => {
                    let low = bounds.low.unwrap_or(f64::NEG_INFINITY);
                    let high = bounds.high.unwrap_or(f64::INFINITY);
                    // The same state gets the same action to the last bit.
                    let moved = if likely == usual { taken } else { likely + (taken - usual) };
                    moved.max(low).min(high)
                }
                _ if likely == usual => taken,
                _ => likely,
            }
        };
        Some(schema.action_slots().enumerate().map(adapt).collect())
    }

    fn explain(&self, trajectory: Trajectory, origin: Origin) -> Result<Why, ExplainError> {
        let graph =
            ExtendedGraph::of(self.dynamics, self.policy, trajectory, self.options.tau, origin)?;
        let chain = graph.chain(&self.targets);
        let evidence = Evidence::of(&chain, self.dynamics, self.graph, self.policy.is_some());
        let (complete, minimal) = (Explanan::complete(&chain), Explanan::minimal(&chain));
        Ok(Why { chain, complete, minimal, evidence })
    }
}

//! World models with the exact rules: the ground truth for explanations.

use std::sync::Arc;

use becausal_core::Policy;
use becausal_core::env::parse_action;
use becausal_core::schema::{Kind, Role};
use becausal_core::{Environment, Schema, Stream};
use becausal_envs::{BuildMarine, CartPole, Vacuum, find};
use becausal_explain::Moment;
use becausal_model::{Dynamics, Influence, Noise, Prediction, Situation};

type Rule = fn(&Arc<Schema>, &[f64], &[f64]) -> Prediction;

/// The rules of an environment as a model, with additive noise on the next state.
pub struct Exact {
    schema: Arc<Schema>,
    parents: Vec<Vec<usize>>,
    rule: Rule,
    /// Offsets at which a numeric state variable is tried to find its influence.
    probes: &'static [f64],
    /// If set, the model assumes this action instead of the real one.
    assumed_action: Option<&'static [f64]>,
    /// The error of every predicted next value.
    error: f64,
}

impl Exact {
    fn new(id: &str, rule: Rule, probes: &'static [f64]) -> Self {
        let entry = find(id).expect("known");
        let truth = entry.truth().expect("known truth");
        let parents = truth.graph.iter().map(|row| (0..row.len()).filter(|&i| row[i]).collect());
        Self {
            schema: entry.schema(),
            parents: parents.collect(),
            rule,
            probes,
            assumed_action: None,
            error: 0.0,
        }
    }

    /// A model of any environment that expects nothing ever to change.
    #[allow(dead_code)]
    pub fn still(id: &str) -> Self {
        let schema = find(id).expect("known").schema();
        let rule: Rule = |schema, state, _| Prediction {
            outcomes: vec![0.0; schema.outcome_slots().len()],
            next: state.to_vec(),
        };
        let parents = vec![Vec::new(); schema.effects().len()];
        Self { schema, parents, rule, probes: &[], assumed_action: None, error: 0.0 }
    }

    /// The same model, but it assumes this action whatever the action is.
    pub fn assuming(self, action: &'static [f64]) -> Self {
        Self { assumed_action: Some(action), ..self }
    }

    /// The same model, but its predictions are off by this much.
    pub fn off_by(self, error: f64) -> Self {
        Self { error, ..self }
    }

    /// The prediction of the rules, without noise.
    fn predict(&self, state: &[f64], action: &[f64]) -> Prediction {
        (self.rule)(&self.schema, state, self.assumed_action.unwrap_or(action))
    }

    /// The rules of Vacuum.
    pub fn vacuum() -> Self {
        let rule: Rule = |schema, state, action| {
            let mut world = Vacuum::new(Arc::clone(schema));
            world.place([state[0], state[1], state[2]]);
            step(world, action)
        };
        Self::new("Vacuum-v0", rule, &[])
    }

    /// The equations of AimTest in the paper's appendix.
    pub fn aim_test() -> Self {
        let rule: Rule = |_, state, action| {
            let [x1, x2, x3, x4, t] = [state[0], state[1], state[2], state[3], state[4]];
            let (follows, adds, ticks) = match action[0] {
                0.0 => (x1, x1, 10.0),
                1.0 => (x2, x2, 20.0),
                2.0 => (x2, 5.0, 5.0),
                _ => (x2, 10.0, 5.0),
            };
            let next = vec![x1 + 1.0, follows, x3 + adds, 0.1 * x3 + 0.9 * x4, t + ticks];
            Prediction { outcomes: Vec::new(), next }
        };
        Self::new("AimTest-v0", rule, &[-1.0, 1.0])
    }

    /// The equations of CartPole.
    pub fn cart_pole() -> Self {
        let rule: Rule = |schema, state, action| {
            let mut world = CartPole::new(Arc::clone(schema), false);
            world.place([state[0], state[1], state[2], state[3]]);
            step(world, action)
        };
        Self::new("CartPole-v1", rule, &[-0.1, 0.1])
    }

    /// The simulator of BuildMarine with all buildings finished.
    pub fn build_marine() -> Self {
        let rule: Rule = |schema, state, action| {
            let mut world = BuildMarine::new(Arc::clone(schema));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let counts = std::array::from_fn(|i| state[i].max(0.0).round() as u32);
            world.place(counts, 0);
            step(world, action)
        };
        Self::new("BuildMarine-v0", rule, &[-400.0, -100.0, -11.0, -2.0, -1.0, 1.0, 2.0, 100.0])
    }

    fn probes(&self, variable: usize, value: f64) -> Vec<f64> {
        let kind = &self.schema.variables()[variable].kind;
        let values: Vec<f64> = match kind {
            Kind::Boolean => vec![0.0, 1.0],
            Kind::Categorical(labels) => (0..labels.len()).map(|i| i as f64).collect(),
            _ => self.probes.iter().map(|probe| value + probe).collect(),
        };
        values.into_iter().filter(|&v| v != value && kind.objection(v).is_none()).collect()
    }
}

fn step(mut world: impl Environment, action: &[f64]) -> Prediction {
    let step = world.step(action).expect("an action");
    Prediction { outcomes: step.outcomes.to_vec(), next: step.state.to_vec() }
}

impl Dynamics for Exact {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn parents(&self, effect: usize) -> &[usize] {
        &self.parents[effect]
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        let mut predicted = self.predict(state, action);
        if let Some(noise) = noise.values() {
            for (index, (value, noise)) in predicted.next.iter_mut().zip(noise).enumerate() {
                match &self.schema.variable_of(index).kind {
                    Kind::Boolean | Kind::Categorical(_) => {}
                    Kind::Integer(_) => *value = (*value + noise).max(0.0),
                    Kind::Continuous(_) | Kind::Circular(_) => *value += noise,
                }
            }
        }
        predicted.next.iter_mut().for_each(|value| *value += self.error);
        predicted
    }

    fn noise(&self, state: &[f64], action: &[f64], _: &[f64], next: &[f64]) -> Noise {
        let predicted = self.predict(state, action);
        Noise::of(next.iter().zip(&predicted.next).map(|(real, mean)| real - mean).collect())
    }

    /// 1 if another value of the state variable leads to another value of the effect, otherwise 0.
    fn influence(&self, state: &[f64], action: &[f64]) -> Influence {
        let base = (self.rule)(&self.schema, state, action);
        let states = state.len();
        let effects = states + base.outcomes.len();
        let mut weights = vec![0.0; effects * states];
        for variable in 0..states {
            for value in self.probes(variable, state[variable]) {
                let mut other = state.to_vec();
                other[variable] = value;
                let other = (self.rule)(&self.schema, &other, action);
                let all = |p: &Prediction| [&p.next[..], &p.outcomes].concat();
                for (effect, (a, b)) in all(&base).iter().zip(all(&other)).enumerate() {
                    if (a - b).abs() > 1e-9 {
                        weights[effect * states + variable] = 1.0;
                    }
                }
            }
        }
        Influence::new(effects, states, &[weights])
    }

    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.parents.len()]; situations.len()]
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        vec![0.0; state.len()]
    }
}

/// A policy that follows a rule.
pub struct Rules {
    schema: Arc<Schema>,
    rule: fn(&[f64]) -> Vec<f64>,
}

impl Rules {
    /// Builds depots until there are eight, barracks until there are six, then marines.
    pub fn build_marine() -> Self {
        let rule: fn(&[f64]) -> Vec<f64> = |state| {
            let [barracks, depots, money] = [state[2], state[3], state[4]];
            vec![match () {
                () if depots < 8.0 && money >= 100.0 => 4.0,
                () if barracks < 6.0 && money > 150.0 => 3.0,
                () if money >= 50.0 => 2.0,
                () => 0.0,
            }]
        };
        Self { schema: find("BuildMarine-v0").expect("known").schema(), rule }
    }

    /// Sucks if the cell is dirty, otherwise goes to the other cell.
    pub fn vacuum() -> Self {
        let rule: fn(&[f64]) -> Vec<f64> = |state| {
            let clean = if state[0] == 0.0 { state[1] } else { state[2] };
            vec![if clean == 0.0 { 2.0 } else { 1.0 - state[0] }]
        };
        Self { schema: find("Vacuum-v0").expect("known").schema(), rule }
    }

    /// Pushes to the side to which the pole falls.
    pub fn cart_pole() -> Self {
        let rule: fn(&[f64]) -> Vec<f64> =
            |state| vec![f64::from(u8::from(state[2] + 0.5 * state[3] > 0.0))];
        Self { schema: find("CartPole-v1").expect("known").schema(), rule }
    }
}

impl Policy for Rules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        (self.rule)(state)
    }

    fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }
}

/// A moment without a record, with the action as a person writes it.
pub fn imagined(dynamics: &Exact, state: &[f64], action: &str) -> Moment {
    let schema = dynamics.schema();
    let action = parse_action(schema, action).expect("an action");
    Moment::imagined(schema, state.to_vec(), action).expect("a moment")
}

/// The recorded steps of the paper's example: depots, barracks twice, marines.
pub fn paper_example(schema: &Arc<Schema>) -> Moment {
    // workers, marines, barracks, depots, money, time
    let states = [
        [12.0, 0.0, 1.0, 7.0, 505.0, 600.0],
        [12.0, 0.0, 1.0, 11.0, 330.0, 700.0],
        [12.0, 0.0, 3.0, 11.0, 465.0, 850.0],
        [12.0, 0.0, 6.0, 11.0, 430.0, 1000.0],
        [12.0, 6.0, 6.0, 11.0, 250.0, 1060.0],
    ];
    assert_eq!(schema.of_role(Role::State).count(), states[0].len());
    let actions = [4.0, 3.0, 3.0, 2.0];
    let steps = actions.iter().enumerate().map(|(step, &action)| {
        let parts = [&states[step][..], &[action], &[], &states[step + 1]];
        becausal_explain::chain::Step::new(schema, parts, Some(false))
    });
    Moment::of_steps(Arc::clone(schema), 20, steps.collect()).expect("a moment")
}

//! Example explanations, for tests and for the gallery.

use std::sync::Arc;

use becausal_core::Policy;
use becausal_core::env::parse_action;
use becausal_core::{Environment, Schema, Stream};
use becausal_discovery::CausalGraph;
use becausal_discovery::Reason;
use becausal_envs::{BuildMarine, find};
use becausal_explain::chain::Step;
use becausal_explain::{Ask, Change, Contrast, Explainer, Moment, Why};
use becausal_model::{Dynamics, Influence, Noise, Prediction, Situation};
use becausal_render::{Area, Picture, chain_layout};

use crate::exact::{Exact, Rules, imagined, paper_example};

/// The default parameters with this horizon.
pub fn within(horizon: usize) -> Ask {
    Ask::default().horizon(horizon)
}

/// The paper's example of BuildMarine, without a policy.
pub fn paper() -> Why {
    let dynamics = Exact::build_marine();
    let explainer = Explainer::new(&dynamics, None, None, within(4)).expect("an explainer");
    explainer.why(&paper_example(dynamics.schema())).expect("an explanation")
}

/// Steps of BuildMarine under a policy, from the paper's state on.
pub fn build_marine_record(schema: &Arc<Schema>, policy: &dyn Policy, steps: usize) -> Moment {
    let mut base = BuildMarine::new(Arc::clone(schema));
    base.place([12, 0, 1, 7, 505, 600], 3);
    let mut record = Vec::new();
    for _ in 0..steps {
        let state = base.state().to_vec();
        let action = policy.mode(&state);
        let step = base.step(&action).expect("a step");
        let parts = [&state[..], &action, step.outcomes, step.state];
        record.push(Step::new(schema, parts, Some(step.terminated)));
    }
    Moment::of_steps(Arc::clone(schema), 20, record).expect("a moment")
}

/// Why a depot and not nothing, in a recorded game with a policy.
pub fn depot_or_nothing() -> Contrast {
    let (dynamics, policy) = (Exact::build_marine(), Rules::build_marine());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(4)).expect("one");
    let moment = build_marine_record(dynamics.schema(), &policy, 4);
    let none = parse_action(dynamics.schema(), "none").expect("an action");
    explainer.why_not(&moment, &none).expect("a contrast")
}

/// Why a depot: two recorded steps, then simulated ones with the policy's choices.
pub fn depot_with_policy() -> Why {
    let (dynamics, policy) = (Exact::build_marine(), Rules::build_marine());
    let graph = graph(dynamics.schema());
    let explainer = Explainer::new(&dynamics, Some(&policy), Some(&graph), within(4)).expect("one");
    let moment = build_marine_record(dynamics.schema(), &policy, 2);
    explainer.why(&moment).expect("an explanation")
}

/// What if there had been less money.
pub fn less_money() -> Contrast {
    let (dynamics, policy) = (Exact::build_marine(), Rules::build_marine());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(4)).expect("one");
    let moment = build_marine_record(dynamics.schema(), &policy, 4);
    let change = Change::parse(dynamics.schema(), "money=60", moment.action());
    explainer.what_if(&moment, &change.expect("a change")).expect("a contrast")
}

/// A graph with every verdict.
fn graph(schema: &Schema) -> CausalGraph {
    let truth = find(schema.name()).ok().and_then(becausal_envs::Entry::truth).expect("known");
    let mut graph = CausalGraph::new("auto", 0.001, &truth.causes, &truth.effects);
    for pair in graph.pairs_mut() {
        let (cause, effect) = (pair.cause.0, pair.effect.0);
        let edge = truth.graph[effect][cause];
        (pair.p, pair.strength) = if edge { (1e-12, 0.4) } else { (0.5, 0.0) };
        match (truth.causes[cause].as_str(), truth.effects[effect].as_str()) {
            ("depots", "barracks'") => {
                pair.p = 0.4;
                pair.reason =
                    Some(Reason::RarelyVaries { variable: "depots".to_owned(), rows: 12 });
            }
            ("workers", "money'") => pair.p = 0.7,
            _ => {}
        }
    }
    graph.with_eta(0.001)
}

/// The cleaner in a dirty cell.
pub fn suck() -> Why {
    let (dynamics, policy) = (Exact::vacuum(), Rules::vacuum());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(3)).expect("one");
    explainer.why(&imagined(&dynamics, &[0.0, 0.0, 0.0], "suck")).expect("an explanation")
}

/// The cleaner at the wall: why suck and not go left.
pub fn wall() -> Contrast {
    let (dynamics, policy) = (Exact::vacuum(), Rules::vacuum());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(3)).expect("one");
    let moment = imagined(&dynamics, &[0.0, 0.0, 0.0], "suck");
    let left = parse_action(dynamics.schema(), "left").expect("an action");
    explainer.why_not(&moment, &left).expect("a contrast")
}

/// An action of AimTest and then action 2, recorded, without a policy.
pub fn aim(action: &str, horizon: usize) -> Why {
    let dynamics = Exact::aim_test();
    let explainer = Explainer::new(&dynamics, None, None, within(horizon)).expect("one");
    let moment = aim_record(&dynamics, action, horizon);
    explainer.why(&moment).expect("an explanation")
}

/// An action of AimTest and then action 2, recorded.
pub fn aim_record(dynamics: &Exact, action: &str, steps: usize) -> Moment {
    let schema = dynamics.schema();
    let mut environment = becausal_envs::AimTest::new(Arc::clone(schema));
    environment.reset(5);
    let mut record = Vec::new();
    for step in 0..steps {
        let state = environment.state().to_vec();
        let action = parse_action(schema, if step == 0 { action } else { "2" }).expect("one");
        let step = environment.step(&action).expect("a step");
        let parts = [&state[..], &action, step.outcomes, step.state];
        record.push(Step::new(schema, parts, Some(step.terminated)));
    }
    Moment::of_steps(Arc::clone(schema), 0, record).expect("a moment")
}

/// CartPole: why this push and not the other one.
pub fn push() -> Contrast {
    let (dynamics, policy) = (Exact::cart_pole(), Rules::cart_pole());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(6)).expect("one");
    let moment = imagined(&dynamics, &[0.02, 0.4, 0.16, 0.6], "right");
    let left = parse_action(dynamics.schema(), "left").expect("an action");
    explainer.why_not(&moment, &left).expect("a contrast")
}

/// A made-up world with many variables, each of which depends on some others.
pub struct Many {
    schema: Arc<Schema>,
    parents: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

impl Many {
    /// `variables` state variables under two actions, and three rewards.
    pub fn new(variables: usize, seed: u64) -> Self {
        use std::fmt::Write;
        let mut text = "name = \"Many\"\n[state]\n".to_owned();
        for index in 0..variables {
            let _ = writeln!(text, "sensor_{index:02} = {{ kind = \"continuous\" }}");
        }
        text.push_str(
            "[action]\nmain = { kind = \"continuous\", low = -1.0, high = 1.0 }\n\
             mode = { kind = \"categorical\", labels = [\"slow\", \"fast\"] }\n[reward]\n\
             \"getting close\" = \"sensor_00 - sensor_00'\"\n\"calm\" = \"-abs(sensor_01')\"\n\
             \"thrift\" = \"-abs(main)\"\n",
        );
        let schema = Arc::new(Schema::parse(&text).unwrap_or_else(|error| panic!("{error}")));
        let mut stream = Stream::new(seed);
        let mut weights = vec![0.0; variables * variables];
        let mut parents = vec![Vec::new(); variables];
        for effect in 0..variables {
            for cause in 0..variables {
                let related = cause == effect || stream.below(5) == 0;
                if related {
                    weights[effect * variables + cause] = stream.uniform(0.05, 1.0);
                    parents[effect].push(cause);
                }
            }
            parents[effect].extend((0..2).filter(|_| stream.below(4) == 0).map(|a| variables + a));
        }
        Self { schema, parents, weights }
    }
}

impl Dynamics for Many {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn parents(&self, effect: usize) -> &[usize] {
        &self.parents[effect]
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        let count = state.len();
        let next = (0..count).map(|effect| {
            let acted = self.parents[effect].iter().filter(|&&cause| cause >= count);
            let push: f64 = acted.map(|cause| action[cause - count]).sum();
            let pulls = (0..count).map(|cause| self.weights[effect * count + cause] * state[cause]);
            let drawn = noise.values().map_or(0.0, |values| values[effect]);
            (0.2 * pulls.sum::<f64>() + push).tanh() + drawn
        });
        Prediction { outcomes: Vec::new(), next: next.collect() }
    }

    fn noise(&self, state: &[f64], action: &[f64], _: &[f64], next: &[f64]) -> Noise {
        let mean = self.step(state, action, &Noise::most_likely()).next;
        Noise::of(next.iter().zip(mean).map(|(value, mean)| value - mean).collect())
    }

    /// Five members that disagree about weak influences.
    fn influence(&self, state: &[f64], _: &[f64]) -> Influence {
        let member = |factor: f64| self.weights.iter().map(|w| (w * factor).min(1.0)).collect();
        let members: Vec<Vec<f64>> = [0.8, 0.9, 1.0, 1.1, 1.2].map(member).into();
        Influence::new(state.len(), state.len(), &members)
    }

    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        let of = |state: &[f64]| state.iter().map(|value| 0.12 * value.abs()).collect();
        situations.iter().map(|(state, _)| of(state)).collect()
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        state.iter().map(|value| (value.abs() - 0.9).max(0.0)).collect()
    }
}

/// Pushes against the first variable.
pub struct Against(pub Arc<Schema>);

impl Policy for Against {
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        vec![-state[0].clamp(-1.0, 1.0), f64::from(u8::from(state[1] > 0.0))]
    }

    fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }
}

/// Ten steps over twenty variables, with two action variables.
pub fn many() -> Contrast {
    let dynamics = Many::new(20, 4);
    let policy = Against(Arc::clone(dynamics.schema()));
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(10)).expect("one");
    let state: Vec<f64> = (0..20).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let moment = Moment::imagined(dynamics.schema(), state, vec![0.5, 1.0]).expect("one");
    explainer.why_not(&moment, &[-1.0, 0.0]).expect("a contrast")
}

/// No two labels overlap, and none leaves the canvas.
pub fn check_labels(picture: &Picture) {
    let layout = picture.layout(&chain_layout());
    let canvas = Area { left: 0.0, top: 0.0, width: layout.width, height: layout.height };
    let areas = layout.label_areas();
    for (index, area) in areas.iter().enumerate() {
        assert!(canvas.contains(area), "{area:?} is outside of {canvas:?}");
        for other in &areas[index + 1..] {
            assert!(!area.overlaps(other), "{area:?} overlaps {other:?}");
        }
    }
}

#[test]
fn a_reason_that_is_a_growth_is_what_it_has_come_to() {
    use becausal_render::Explained;
    // With marines now one is ahead at first, with a barracks in the end.
    let (dynamics, policy) = (Exact::build_marine(), Rules::build_marine());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(6)).expect("one");
    let mut told = 0;
    for money in (2..20).map(|tens| 50.0 * f64::from(tens)) {
        let state = [16.0, 14.0, 7.0, 9.0, money, 600.0];
        for (taken, other) in [("marine", "barracks"), ("barracks", "marine")] {
            let moment = imagined(&dynamics, &state, taken);
            let other = parse_action(dynamics.schema(), other).expect("an action");
            let sentence = explainer.why_not(&moment, &other).expect("a contrast").sentence();
            let Some((_, marines)) = sentence.split_once("marines are ") else { continue };
            let numbers: Vec<f64> =
                marines.split([' ', ',']).filter_map(|word| word.parse().ok()).take(2).collect();
            let (_, pays) = marines.split_once("which ").expect("what it is worth");
            assert_eq!(!pays.starts_with("costs"), numbers[0] > numbers[1], "{sentence}");
            told += 1;
        }
    }
    assert!(told > 10, "{told}");
}

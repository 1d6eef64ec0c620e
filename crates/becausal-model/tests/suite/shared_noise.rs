//! What the noise of one step says about another, learned from copies of an environment whose noise is known.

use std::sync::Arc;

use becausal_core::env::{
    Environment, EnvironmentError, Fork, ForkParams, StepResult, forks, record_at_random,
};
use becausal_core::progress::Listener;
use becausal_core::trajectory::Step;
use becausal_core::{Policy, Schema, Stream};
use becausal_model::{
    Dynamics, ModelKind, ModelParams, NoiseLessonParams, Sizes, Structure, WorldModel,
};

/// A gust pushes a boat the other way, and twice as far, when it sails west instead of east; a flag that goes up in one
/// half of the gusts going east goes up in the other half going west. At anchor nothing is random.
#[derive(Clone)]
struct Gusts {
    schema: Arc<Schema>,
    state: Vec<f64>,
    stream: Stream,
    steps: usize,
}

/// Steps of an episode.
const LONGEST: usize = 20;

impl Gusts {
    fn new() -> Self {
        let schema = Schema::parse(
            r#"
            name = "Gusts"
            [state]
            x = { kind = "continuous" }
            flag = { kind = "boolean" }
            [action]
            way = { kind = "categorical", labels = ["anchor", "east", "west"] }
            [reward]
            "x" = "x'"
            "#,
        );
        let schema = Arc::new(schema.unwrap());
        Self { schema, state: vec![0.0, 0.0], stream: Stream::new(0), steps: 0 }
    }

    /// The push of a gust, and whether the flag goes up.
    fn effect(way: f64, gust: f64, half: f64) -> (f64, f64) {
        match way {
            1.0 => (1.0 + gust, f64::from(u8::from(half < 0.5))),
            2.0 => (-1.0 - 2.0 * gust, f64::from(u8::from(half >= 0.5))),
            _ => (0.0, 0.0),
        }
    }
}

impl Environment for Gusts {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        self.stream = Stream::new(seed);
        self.state = vec![self.stream.normal(), 0.0];
        self.steps = 0;
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let (gust, half) = (self.stream.normal(), self.stream.unit());
        let (push, flag) = Self::effect(action[0], gust, half);
        self.state = vec![0.9 * self.state[0] + push, flag];
        self.steps += 1;
        let (reward, truncated) = (self.state[0], self.steps >= LONGEST);
        Ok(StepResult { state: &self.state, outcomes: &[], reward, terminated: false, truncated })
    }
}

/// Sails east where x is small, west where it is large, and is at anchor in between.
struct Tacking(Arc<Schema>);

impl Policy for Tacking {
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        vec![if state[0] < 0.3 { 1.0 } else { 2.0 * f64::from(u8::from(state[0] > 1.0)) }]
    }

    fn sample(&self, state: &[f64], _stream: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }
}

fn learned() -> WorldModel {
    let rows = record_at_random(&Gusts::new(), 4000, 1).unwrap();
    let params = ModelParams {
        members: 2,
        sizes: Sizes { encoder: 16, hidden: 16, action: 8, key: 8 },
        steps: 300,
        ..ModelParams::default()
    };
    let structure = Structure::full(rows.schema());
    WorldModel::fit(&rows, ModelKind::Causal, &structure, &params).unwrap().0
}

fn forked(states: usize, seed: u64) -> Vec<Fork> {
    let gusts = Gusts::new();
    let policy = Tacking(Arc::clone(&gusts.schema));
    let params = ForkParams {
        states,
        actions: 2,
        changes: 0,
        values: None,
        horizon: 2,
        longest_episode: LONGEST,
        seed,
        progress: Listener::default(),
    };
    forks(&gusts, &policy, &params).unwrap().unwrap().forks
}

fn lesson() -> NoiseLessonParams {
    NoiseLessonParams { steps: 500, ..NoiseLessonParams::default() }
}

/// The mean error of x' going west where east was recorded, and the share of right flags.
fn going_west(model: &WorldModel, forks: &[Fork]) -> (f64, f64) {
    let first = |fork: &Fork| (fork.recorded[0].clone(), fork.other.steps()[0].clone());
    let pairs: Vec<(Step, Step)> = forks
        .iter()
        .map(first)
        .filter(|(seen, other)| seen.action[0] == 1.0 && other.action[0] == 2.0)
        .collect();
    assert!(pairs.len() > 30, "{}", pairs.len());
    let (mut error, mut right) = (0.0, 0.0);
    for (seen, other) in &pairs {
        let noise = model.noise(&seen.state, &seen.action, &seen.outcomes, &seen.next);
        let claimed = model.step(&other.state, &other.action, &noise).next;
        error += (claimed[0] - other.next[0]).abs();
        right += f64::from(u8::from(claimed[1] == other.next[1]));
    }
    let count = pairs.len() as f64;
    (error / count, right / count)
}

#[test]
fn copies_show_how_the_noise_of_two_actions_goes_together() {
    let (mut model, fresh) = (learned(), forked(300, 77));
    let (error, right) = going_west(&model, &fresh);
    // The rule takes nothing over: a gust of mean size is 0.8.
    assert!(error > 1.2, "{error}");
    assert!(right < 0.8, "{right}");
    let gain = model.learn_shared_noise(&forked(600, 5), &lesson()).unwrap().unwrap();
    assert!(gain > 0.15, "{gain}");
    let (error, right) = going_west(&model, &fresh);
    assert!(error < 0.3, "{error}");
    assert!(right > 0.95, "{right}");
}

#[test]
fn what_a_recorded_step_leaves_open_is_still_drawn() {
    let mut model = learned();
    model.learn_shared_noise(&forked(600, 5), &lesson()).unwrap().unwrap();
    // East was recorded, so west is known; at anchor nothing was shown, so it is not.
    let spread = |way: f64| {
        let (state, action) = (vec![0.0, 0.0], vec![way]);
        let (push, flag) = Gusts::effect(way, 0.5, 0.2);
        let step = Step::new(model.schema(), [&state, &action, &[], &[push, flag]], None);
        let drawn = model.possible_noise(&[Some(&step)], 40, 3).drawn;
        let ask = |noise: &Vec<_>| {
            model.steps_of(0, std::slice::from_ref(&state), &[vec![2.0]], &[&noise[0]])
        };
        let values: Vec<f64> = drawn[0].iter().map(|noise| ask(noise)[0].next[0]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).abs()).sum::<f64>() / values.len() as f64
    };
    let (after_east, after_anchor) = (spread(1.0), spread(0.0));
    assert!(after_east < 0.4, "{after_east}");
    assert!(after_anchor > 1.0, "{after_anchor}");
}

#[test]
fn the_same_step_again_has_the_same_noise() {
    let mut model = learned();
    model.learn_shared_noise(&forked(300, 5), &lesson()).unwrap().unwrap();
    for fork in forked(40, 78) {
        let step = &fork.recorded[0];
        let noise = model.noise(&step.state, &step.action, &step.outcomes, &step.next);
        let again = model.step(&step.state, &step.action, &noise).next;
        assert!((again[0] - step.next[0]).abs() < 1e-6, "{again:?} {:?}", step.next);
        assert_eq!(again[1], step.next[1]);
    }
}

#[test]
fn without_copies_nothing_is_learned() {
    let mut model = learned();
    assert!(matches!(model.learn_shared_noise(&[], &lesson()), Ok(None)));
    // Steps that were paired with those of another moment say nothing about each other.
    let mut mixed = forked(300, 5);
    let others: Vec<_> = mixed.iter().map(|fork| fork.other.clone()).collect();
    let count = others.len();
    for (at, fork) in mixed.iter_mut().enumerate() {
        fork.other = others[(at + count / 2) % count].clone();
    }
    let fresh = forked(300, 77);
    let before = going_west(&model, &fresh);
    model.learn_shared_noise(&mixed, &lesson()).unwrap();
    let (error, _) = going_west(&model, &fresh);
    assert!(error > 0.8 * before.0, "{error} {before:?}");
}

#[test]
fn it_survives_a_round_trip_and_an_altered_manifest_is_refused() {
    let mut model = learned();
    model.learn_shared_noise(&forked(300, 5), &lesson()).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let schema = Gusts::new().schema;
    let loaded = WorldModel::load(folder.path(), &schema).unwrap();
    let fresh = forked(300, 77);
    assert_eq!(going_west(&model, &fresh), going_west(&loaded, &fresh));
    // The manifest says whether there are such networks, and cannot be changed unnoticed.
    let manifest = folder.path().join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let changed = text.replace("\"shares_noise\": true", "\"shares_noise\": false");
    assert_ne!(text, changed, "{text}");
    std::fs::write(&manifest, changed).unwrap();
    let error = WorldModel::load(folder.path(), &schema).unwrap_err().to_string();
    assert!(error.contains("altered"), "{error}");
}

#[test]
fn far_from_what_was_learned_the_rule_holds() {
    let (plain, mut model) = (learned(), learned());
    model.learn_shared_noise(&forked(600, 5), &lesson()).unwrap().unwrap();
    let (state, action) = (vec![0.0, 0.0], vec![1.0]);
    let step = |x: f64, model: &WorldModel| {
        let noise = model.noise(&state, &action, &[], &[1.7, 1.0]);
        model.step(&[x, 0.0], &[2.0], &noise).next
    };
    assert_ne!(step(0.0, &model), step(0.0, &plain));
    assert_eq!(step(60.0, &model), step(60.0, &plain));
}

#[test]
fn who_listens_may_stop_it() {
    let mut model = learned();
    let stop = |_: &becausal_core::progress::Advance<'_>| std::ops::ControlFlow::Break(());
    let params = NoiseLessonParams { progress: Listener::new(stop), ..lesson() };
    let stopped = model.learn_shared_noise(&forked(300, 5), &params);
    assert!(matches!(stopped, Err(becausal_model::FitError::Stopped)));
}

#[test]
fn threads_change_nothing() {
    let fresh = forked(200, 77);
    let taught = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut model = learned();
            let params = NoiseLessonParams { steps: 60, ..lesson() };
            let gain = model.learn_shared_noise(&forked(200, 5), &params).unwrap();
            (gain, going_west(&model, &fresh))
        })
    };
    assert_eq!(taught(1), taught(3));
}

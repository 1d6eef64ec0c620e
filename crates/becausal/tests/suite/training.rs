//! Trainings: the same run from the same seed, also when it was stopped in between; curves that
//! TensorBoard reads; mistakes in words.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becausal::run::{Metrics, TrainingRun, masked};
use becausal::{MemoryLimit, Preset};
use becausal_core::Policy;
use becausal_core::env::{AnyEnvironment, EnvironmentError, Options, StepResult, TimeLimit};
use becausal_core::{Environment, Schema, Stream};
use becausal_envs::find;
use becausal_learn::{Imagination, LearningError, Settings, Training};
use serde_json::json;

/// A small training: seconds, not minutes.
fn small(model: &str) -> Settings {
    let model = Imagination::of(model);
    let mut settings = Settings::preset("CartPole-v1", "default", model).expect("a preset");
    settings
        .change(
            "steps = 500\nwarm_up = 150\nepoch_steps = 100\nmembers = 2\nmodel_width = 8\n\
             fit_steps_first = 20\nfit_steps = 10\nfit_steps_graph = 10\nrounds = 2\n\
             samples = 256\npasses = 2\nbatch = 128\nevaluation_episodes = 3\nfinal_episodes = 3\n\
             final_fit_steps = 20\nfinal_rows = 200\ncopies = 4\ngraph_epochs = 2",
            "test",
        )
        .expect("settings");
    settings
}

fn options() -> Options {
    let mut options = Options::default();
    options.set("max_episode_steps", "60");
    options
}

fn begin(path: &Path, model: &str) -> TrainingRun {
    begin_from(path, model, 7)
}

fn begin_from(path: &Path, model: &str, seed: u64) -> TrainingRun {
    let entry = find("CartPole-v1").expect("built in");
    TrainingRun::begin(path, entry, &options(), (Preset::Default, &small(model)), seed)
        .expect("a new run")
}

fn to_the_end(run: &mut TrainingRun) {
    while !run.training.is_done() {
        run.run_epoch().expect("an epoch");
    }
}

/// `metrics.csv` without its last column, which is time.
fn curves(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path.join("metrics.csv")).expect("metrics");
    text.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_owned()).collect()
}

#[test]
fn a_checkpoint_that_a_kill_left_behind_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    drop(begin(&path, "none"));
    let left = path.join("checkpoints").join("epoch-000099").join("agent");
    fs::create_dir_all(&left).expect("made");
    fs::write(left.join("manifest.json"), "{").expect("written");
    TrainingRun::resume(&path, None, MemoryLimit::default()).expect("resumed");
    let kept = fs::read_dir(path.join("checkpoints")).expect("a folder").count();
    assert_eq!(kept, 1);
}

#[test]
fn a_training_that_was_ended_goes_on_as_if_it_had_not_been() {
    for model in ["causal", "mlp", "none"] {
        let folder = tempfile::tempdir().expect("a folder");
        let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
        let mut run = begin(&whole, model);
        to_the_end(&mut run);

        let mut first = begin(&broken, model);
        first.run_epoch().expect("an epoch");
        first.run_epoch().expect("an epoch");
        // Ended in the middle of its third epoch: data and curves are ahead of the checkpoint.
        let kept = fs::read(broken.join("checkpoint.json")).expect("a checkpoint");
        let folder_name = String::from_utf8_lossy(&kept).contains("epoch-000002");
        assert!(folder_name, "the checkpoint is named");
        fs::create_dir_all(broken.join("checkpoints/epoch-000003/agent")).expect("half written");
        let metrics = broken.join("metrics.csv");
        let mut ahead = fs::read_to_string(&metrics).expect("metrics");
        ahead.push_str("3,350,half a li");
        fs::write(&metrics, ahead).expect("written");
        drop(first);

        let mut again =
            TrainingRun::resume(&broken, None, MemoryLimit::default()).expect("resumed");
        assert_eq!(again.training.epoch, 2);
        to_the_end(&mut again);
        assert_eq!(again.training.real_steps, run.training.real_steps, "{model}");
        assert_eq!(curves(&broken), curves(&whole), "{model}");
        assert_eq!(again.training.data, run.training.data, "{model}");
        assert_eq!(again.training.graph, run.training.graph, "{model}");
        let parameters = |run: &TrainingRun| run.training.learner.agent.parameters.clone();
        assert_eq!(parameters(&again), parameters(&run), "{model}");
        assert_eq!(again.training.learner.adam, run.training.learner.adam, "{model}");
        if let Some(model) = &run.training.model {
            let sample = |model: &becausal_model::WorldModel| {
                model.sample(4, |row, slot| 0.01 * (row + slot) as f64, 1.0, &mut Stream::new(3))
            };
            assert_eq!(sample(again.training.model.as_ref().expect("a model")), sample(model));
        }
    }
}

#[test]
fn the_run_directory_is_enough_to_act_and_to_explain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let mut run = begin(&path, "none");
    to_the_end(&mut run);
    let (_, evaluation) = run.conclude().expect("concluded");
    assert_eq!(evaluation.returns.len(), 3);
    let directory = becausal::run::RunDirectory::open(&path).expect("a run");
    let policy = directory.read_policy().expect("readable").expect("a policy");
    let state = [0.01, -0.2, 0.03, 0.4];
    assert_eq!(policy.mode(&state), run.training.best_agent().mode(&state));
    assert!(directory.read_data().expect("data").len() >= 200);
    assert!(directory.read_graph().expect("readable").is_some());
    directory.read_model().expect("a world model");
    let weights: Vec<_> = fs::read_dir(path.join("policy")).expect("a folder").flatten().collect();
    let file = weights.iter().find(|entry| entry.path().extension().is_some_and(|e| e != "json"));
    let file = file.expect("weights").path();
    let mut bytes = fs::read(&file).expect("weights");
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&file, bytes).expect("written");
    let error = directory.read_policy().expect_err("altered").to_string();
    assert!(error.contains("checksum"), "{error}");
}

#[test]
fn after_the_last_real_step_the_policy_dreams_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let entry = find("CartPole-v1").expect("built in");
    let mut settings = small("causal");
    settings.change("late_epochs = 3", "test").expect("a setting");
    let begin = |path: &Path| {
        TrainingRun::begin(path, entry, &options(), (Preset::Default, &settings), 7)
            .expect("a new run")
    };
    let mut run = begin(&whole);
    let mut reports = Vec::new();
    while !run.training.is_done() {
        let before = run.training.learner.agent.parameters.clone();
        reports.push(run.run_epoch().expect("an epoch"));
        assert_ne!(run.training.learner.agent.parameters, before);
    }
    let (acting, late) = reports.split_at(reports.len() - 3);
    assert!(acting.iter().all(|epoch| !epoch.episodes.is_empty()));
    assert_eq!(acting.last().expect("epochs").real_steps, settings.steps);
    for epoch in late {
        assert!(epoch.episodes.is_empty() && epoch.evaluation.is_some());
        assert_eq!(epoch.real_steps, settings.steps);
    }
    assert!(late.windows(2).all(|pair| pair[1].rate < pair[0].rate && pair[1].rate > 0.0));

    // Ended between two of them.
    let mut first = begin(&broken);
    for _ in 1..reports.len() {
        first.run_epoch().expect("an epoch");
    }
    drop(first);
    let mut again = TrainingRun::resume(&broken, None, MemoryLimit::default()).expect("resumed");
    to_the_end(&mut again);
    assert_eq!(curves(&broken), curves(&whole));
    drop(again);

    // With more steps it acts again, and dreams on after them.
    let more = settings.steps + 100;
    drop(run);
    let mut longer =
        TrainingRun::resume(&whole, Some(more), MemoryLimit::default()).expect("resumed");
    let report = longer.run_epoch().expect("an epoch");
    assert!(!report.episodes.is_empty() && report.rate >= late[0].rate);
    let before = longer.training.epoch;
    to_the_end(&mut longer);
    assert!(longer.training.epoch >= before + 3);
}

#[test]
fn a_folder_with_a_run_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    drop(begin(&path, "none"));
    let entry = find("CartPole-v1").expect("built in");
    let again = TrainingRun::begin(&path, entry, &options(), (Preset::Default, &small("none")), 7);
    let error = again.err().expect("refused").to_string();
    assert!(error.contains("holds a training already; resume it"), "{error}");
}

#[test]
fn threads_do_not_change_a_training() {
    let curve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let environment = find("CartPole-v1").expect("built in").make(&options());
            let environment = environment.expect("an environment");
            let mut settings = small("causal");
            settings.change("samples = 2048\nbatch = 1024\nsteps = 300", "test").expect("settings");
            let mut training = Training::new(&environment, &settings, 5).expect("a training");
            while !training.is_done() {
                training.run_epoch().expect("an epoch");
            }
            training.learner.agent.parameters
        })
    };
    assert_eq!(curve(1), curve(3));
}

/// The events of a file, read by the format's description alone: step, tag and value.
fn read_events(bytes: &[u8]) -> Vec<(u64, String, f32)> {
    fn varint(bytes: &[u8], at: &mut usize) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes[*at];
            *at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }
    /// Fields of a message: number, wire type, and the bytes or the number in them.
    fn fields(message: &[u8]) -> Vec<(u64, Vec<u8>, u64)> {
        let (mut at, mut found) = (0, Vec::new());
        while at < message.len() {
            let key = varint(message, &mut at);
            let (content, number) = match key & 7 {
                0 => (Vec::new(), varint(message, &mut at)),
                kind => {
                    let length = match kind {
                        1 => 8,
                        5 => 4,
                        _ => usize::try_from(varint(message, &mut at)).expect("small"),
                    };
                    at += length;
                    (message[at - length..at].to_vec(), 0)
                }
            };
            found.push((key >> 3, content, number));
        }
        found
    }
    let (mut at, mut events) = (0, Vec::new());
    let mut first = true;
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let sum = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().expect("4 bytes"));
        assert_eq!(sum, masked(&bytes[at..at + 8]));
        let event = &bytes[at + 12..][..usize::try_from(length).expect("small")];
        at += 12 + event.len();
        let sum = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!(sum, masked(event));
        at += 4;
        let parts = fields(event);
        if first {
            assert!(parts.iter().any(|(field, text, _)| *field == 3 && text == b"brain.Event:2"));
            first = false;
            continue;
        }
        let step = parts.iter().find(|(field, ..)| *field == 2).expect("a step").2;
        let summary = &parts.iter().find(|(field, ..)| *field == 5).expect("a summary").1;
        for (_, value, _) in fields(summary) {
            let value = fields(&value);
            let tag = String::from_utf8(value[0].1.clone()).expect("text");
            let number = f32::from_le_bytes(value[1].1[..].try_into().expect("a float"));
            events.push((step, tag, number));
        }
    }
    events
}

#[test]
fn a_policy_that_reaches_the_goal_is_evaluated_again_in_other_episodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let epoch_of = |seed: u64, name: &str, until: Option<f64>| {
        let mut run = begin_from(&folder.path().join(format!("{name}-{seed}")), "causal", seed);
        run.training.until = until;
        let report = run.run_epoch().expect("an epoch");
        (run, report)
    };
    // The goal is what the first evaluation just reaches. Sought is a policy that was lucky in it.
    let is_lucky = |seed: &u64| {
        let first = epoch_of(*seed, "first", None).1.evaluation.expect("evaluated").native_mean();
        let second = epoch_of(*seed, "second", Some(first)).1.confirmation.expect("again");
        second.native_mean() < first
    };
    let seed = (2..12).find(is_lucky).expect("about every second policy is");
    let first_epoch = |name: &str, until: Option<f64>| epoch_of(seed, name, until);
    let (run, report) = first_epoch("free", None);
    let first = report.evaluation.expect("evaluated");
    assert_eq!((run.training.evaluated.episodes, report.confirmation), (3, None));
    assert_eq!(run.training.evaluated.steps, first.lengths.iter().sum::<usize>());
    let (run, report) = first_epoch("far", Some(1e6));
    assert_eq!((report.confirmation, run.training.reached_at()), (None, None));
    let goal = first.native_mean();
    let (run, report) = first_epoch("lucky", Some(goal));
    assert_eq!(report.evaluation.as_ref(), Some(&first));
    let second = report.confirmation.expect("evaluated again");
    assert_ne!(second.native, first.native, "in other episodes");
    assert_eq!(run.training.reached_at(), None, "the other episodes decide");
    assert_eq!(run.training.evaluated.episodes, 6, "both are counted");
    // A goal that both reach.
    let goal = goal.min(second.native_mean());
    let (run, report) = first_epoch("sure", Some(goal));
    assert_eq!(run.training.reached_at(), Some(report.real_steps));
    let evaluated = run.training.evaluated;
    drop(run);
    let path = folder.path().join(format!("sure-{seed}"));
    let mut resumed = TrainingRun::resume(&path, None, MemoryLimit::default()).expect("resumed");
    assert_eq!(resumed.training.evaluated, evaluated, "the count is kept");
    assert_eq!(resumed.training.reached_at(), None, "nobody asks for a goal");
    resumed.training.until = Some(goal);
    assert_eq!(resumed.training.reached_at(), Some(report.real_steps), "it is reached already");
    resumed.training.until = Some(goal + 1e3);
    assert_eq!(resumed.training.reached_at(), None, "but not a higher one");
}

#[test]
fn curves_that_an_earlier_version_began_keep_their_columns() {
    const NEW: [&str; 4] =
        ["graph/edges_in_use", "eval/confirmed_reward", "eval/episodes", "eval/steps"];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let mut run = begin(&path, "causal");
    run.run_epoch().expect("an epoch");
    drop(run);
    let file = path.join("metrics.csv");
    let text = fs::read_to_string(&file).expect("metrics");
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let kept: Vec<usize> = (0..header.len()).filter(|&at| !NEW.contains(&header[at])).collect();
    assert_eq!(kept.len() + NEW.len(), header.len());
    let old: String = text
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            kept.iter().map(|&at| cells[at]).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    fs::write(&file, &old).expect("written");
    let named = fs::read_to_string(path.join("checkpoint.json")).expect("a checkpoint");
    let mut named: serde_json::Value = serde_json::from_str(&named).expect("JSON");
    named["metrics"] = json!(old.len());
    fs::write(path.join("checkpoint.json"), named.to_string()).expect("written");
    let mut run = TrainingRun::resume(&path, None, MemoryLimit::default()).expect("resumed");
    run.run_epoch().expect("an epoch");
    let curves = Metrics::read(&path).expect("a table").expect("metrics");
    assert_eq!(curves.epochs(), 2);
    assert_eq!(curves.curve("eval/mean_reward").len(), 2);
    assert!(curves.curve("graph/edges_in_use").is_empty());
}

#[test]
fn tensorboard_events_hold_the_curves() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let mut run = begin(&path, "causal");
    let report = run.run_epoch().expect("an epoch");
    run.run_epoch().expect("an epoch");
    let bytes = fs::read(path.join("events.out.tfevents.becausal")).expect("events");
    let events = read_events(&bytes);
    for tag in [
        "rollout/ep_rew_mean",
        "time/fps",
        "train/value_loss",
        "eval/mean_reward",
        "model/log_likelihood",
        "graph/edges",
        "graph/edges_in_use",
        "eval/episodes",
    ] {
        assert!(events.iter().any(|(_, found, _)| found == tag), "{tag}");
    }
    let (step, _, value) = events.iter().find(|(_, tag, _)| tag == "eval/mean_reward").expect("it");
    assert_eq!(*step, report.real_steps as u64);
    let mean = report.evaluation.expect("evaluated").native_mean();
    assert!((f64::from(*value) - mean).abs() < 1e-3);
}

#[test]
fn mixed_actions_are_learned_and_impossible_ones_refused() {
    let schema = |action: &str| {
        let text = format!(
            "name = \"Mix\"\n[state]\nx = {{ kind = \"continuous\" }}\n[action]\n{action}\n\
             [reward]\nr = \"x'\"\n"
        );
        Arc::new(Schema::parse(&text).expect("a schema"))
    };
    let mixed = schema(
        "c = { kind = \"categorical\", labels = [\"a\", \"b\", \"d\"] }\nf = { kind = \"boolean\" }\n\
         n = { kind = \"continuous\", low = 2.0, high = 6.0 }\n\
         w = { kind = \"integer\", low = -1.0, high = 2.0 }",
    );
    let mut stream = Stream::new(1);
    let agent = becausal_learn::ActorCritic::new(&mixed, &[8], &mut stream).expect("an agent");
    for _ in 0..200 {
        let action = agent.sample(&[0.3], &mut stream);
        for (slot, value) in mixed.action_slots().zip(&action) {
            assert_eq!(mixed.variable_of(slot).kind.objection(*value), None);
        }
    }
    let endless = schema("n = { kind = \"continuous\" }");
    let refused = becausal_learn::ActorCritic::new(&endless, &[8], &mut stream);
    assert!(refused.expect_err("no bounds").to_string().contains("low and high"));
}

/// An environment that stands still and never ends; its state is `value`.
#[derive(Clone)]
struct Still {
    schema: Arc<Schema>,
    value: f64,
}

impl Environment for Still {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, _seed: u64) {}

    fn state(&self) -> &[f64] {
        std::slice::from_ref(&self.value)
    }

    fn step(&mut self, _action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let state = std::slice::from_ref(&self.value);
        Ok(StepResult { state, outcomes: &[], reward: 0.0, terminated: false, truncated: false })
    }
}

#[test]
fn an_endless_episode_and_a_reward_that_is_no_number_are_told_in_words() {
    let schema = Schema::parse(
        "name = \"Still\"\n[state]\nx = { kind = \"continuous\" }\n\
         [action]\na = { kind = \"boolean\" }\n[reward]\nr = \"log(x')\"\n",
    );
    let schema = Arc::new(schema.expect("a schema"));
    let learn = |value: f64, cap: Option<usize>| {
        let still = Still { schema: Arc::clone(&schema), value };
        let environment = match cap {
            Some(cap) => AnyEnvironment::new(TimeLimit::new(still, cap)),
            None => AnyEnvironment::new(still),
        };
        let mut settings = small("none");
        settings
            .change("policy_widths = [2]\nevaluation_episodes = 1\nfinal_episodes = 1", "test")
            .expect("settings");
        let mut training = Training::new(&environment, &settings, 0).expect("a training");
        training.run_epoch().map(|report| report.real_steps)
    };
    assert!(learn(1.0, Some(20)).is_ok());
    let error = learn(1.0, None).expect_err("it never ends");
    assert!(matches!(error, LearningError::Endless { .. }));
    assert!(error.to_string().contains("max_episode_steps"), "{error}");
    let error = learn(-1.0, Some(20)).expect_err("log(-1)");
    assert!(error.to_string().contains("a reward is NaN"), "{error}");
}

/// An environment whose episodes last 20 steps, until some steps are made in all its copies: then
/// it has no more ends, or its rewards are NaN.
#[derive(Clone)]
struct Failing {
    schema: Arc<Schema>,
    state: [f64; 1],
    steps: usize,
    sound: Arc<AtomicUsize>,
    endless: bool,
}

impl Environment for Failing {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        self.steps = 0;
        self.state = [Stream::new(seed).uniform(1.0, 2.0)];
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, _action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let left = |left: usize| left.checked_sub(1);
        let sound = self.sound.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok();
        self.steps += 1;
        if !sound && !self.endless {
            self.state = [-1.0];
        }
        let truncated = self.steps >= 20 && (sound || !self.endless);
        Ok(StepResult {
            state: &self.state,
            outcomes: &[],
            reward: 0.0,
            terminated: false,
            truncated,
        })
    }
}

#[test]
fn what_was_saved_before_an_environment_failed_is_whole() {
    let schema = Schema::parse(
        "name = \"Failing\"\n[state]\nx = { kind = \"continuous\" }\n\
         [action]\na = { kind = \"boolean\" }\n[reward]\nr = \"log(x')\"\n",
    );
    let schema = Arc::new(schema.expect("a schema"));
    for (model, endless, words) in
        [("causal", false, "a reward is NaN"), ("none", true, "did not end within 100,000 steps")]
    {
        let sound = Arc::new(AtomicUsize::new(usize::MAX));
        let (state, steps) = ([1.0], 0);
        let schema = Arc::clone(&schema);
        let failing = Failing { schema, state, steps, sound: Arc::clone(&sound), endless };
        let environment = AnyEnvironment::new(failing);
        let mut settings = small(model);
        settings
            .change("policy_widths = [2]\nevaluation_episodes = 1\nfinal_episodes = 1", "test")
            .expect("settings");
        let mut training = Training::new(&environment, &settings, 0).expect("a training");
        training.run_epoch().expect("a sound epoch");
        let folder = tempfile::tempdir().expect("a folder");
        training.save(folder.path()).expect("saved");
        let data = training.data.clone();
        sound.store(30, Ordering::SeqCst);
        let error = training.run_epoch().expect_err("it fails").to_string();
        assert!(error.contains(words), "{error}");
        sound.store(usize::MAX, Ordering::SeqCst);
        let resumed = Training::resume(folder.path(), &environment, &settings, 0, Some(&data));
        let mut resumed = resumed.expect("whole");
        assert_eq!(resumed.epoch, 1);
        assert_eq!(resumed.run_epoch().expect("a sound epoch").epoch, 2);
    }
}

#[test]
fn a_checkpoint_that_was_altered_is_refused() {
    let environment = find("CartPole-v1").expect("built in").make(&options()).expect("made");
    let mut settings = small("none");
    settings.change("policy_widths = [2]\ncopies = 2", "test").expect("settings");
    let mut training = Training::new(&environment, &settings, 0).expect("a training");
    training.run_epoch().expect("an epoch");
    let folder = tempfile::tempdir().expect("a folder");
    training.save(folder.path()).expect("saved");
    let resume = || Training::resume(folder.path(), &environment, &settings, 0, None);
    assert!(resume().is_ok());
    let path = folder.path().join("state.json");
    let whole: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).expect("a state")).expect("JSON");
    let cases = [
        // A training would add to these until they overflow.
        ("epoch", json!(u64::MAX)),
        ("real_steps", json!(u64::MAX)),
        ("optimiser_steps", json!(u64::MAX)),
        ("begun", json!(u64::MAX)),
        // Nobody would play, or others than before.
        ("playing", json!([])),
        ("playing", json!([[7, [1.0]]])),
        ("playing", json!([[7, [1.0]], [8, [1.0]], [9, []]])),
    ];
    for (key, value) in cases {
        let mut altered = whole.clone();
        altered[key] = value;
        fs::write(&path, altered.to_string()).expect("written");
        let error = resume().err().expect("refused");
        assert!(error.problem.contains(&format!("`{key}` is missing or wrong")), "{error}");
    }
    let mut altered = whole.clone();
    altered["has_graph"] = json!(true);
    fs::write(&path, altered.to_string()).expect("written");
    let graph = becausal::CausalGraph::new("auto", 0.05, &["apples"], &["pears'"]);
    fs::write(folder.path().join("graph.json"), graph.to_json()).expect("written");
    let error = resume().err().expect("the graph is of other variables").to_string();
    assert!(error.contains("apples"), "{error}");
}

#[test]
fn a_graph_that_is_never_found_again_does_not_overflow() {
    let environment = find("CartPole-v1").expect("built in").make(&options()).expect("made");
    let mut settings = small("causal");
    settings.change("graph_epochs = [1, 1e300]", "test").expect("settings");
    let mut training = Training::new(&environment, &settings, 0).expect("a training");
    for epoch in 1..=2 {
        assert_eq!(training.run_epoch().expect("an epoch").epoch, epoch);
    }
}

#[test]
fn a_training_without_a_model_ends_at_its_steps() {
    let environment = find("CartPole-v1").expect("built in").make(&options()).expect("made");
    let mut settings = small("none");
    settings.change("steps = 300\nsamples = 256\ncopies = 4", "test").expect("settings");
    let mut training = Training::new(&environment, &settings, 0).expect("a training");
    while !training.is_done() {
        training.run_epoch().expect("an epoch");
    }
    assert_eq!(training.real_steps, 300);
}

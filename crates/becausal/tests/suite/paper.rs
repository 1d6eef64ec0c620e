//! The paper's preset: its test, its networks, its chains, and a run that remembers all of it.

use becausal::data::Origin;
use becausal::env::{Options, find, record_at_random};
use becausal::explain::InfluenceBy;
use becausal::explain::chain::Way;
use becausal::{Answer, Ask, FitParams, Log, Method, Preset, Record, Run, TrainParams};

fn log(id: &str, rows: usize) -> Log {
    let environment = find(id).and_then(|entry| entry.make(&Options::default())).expect("built in");
    let data = record_at_random(&environment, rows, 4).expect("recorded");
    let origin = Origin { environment: id.to_owned(), seed: Some(4), ..Origin::default() };
    Log::new(data, Some(origin))
}

fn paper() -> FitParams {
    FitParams::default().preset(Preset::Paper).members(2).steps(40)
}

#[test]
fn a_fit_in_the_papers_way_reads_its_edges_and_nothing_else() {
    let run = becausal::fit(&log("AimTest-v0", 800), &paper()).expect("a run");
    let graph = run.graph().get().expect("a graph");
    assert_eq!((graph.method.as_str(), graph.eta), ("fcit", 0.05));
    assert_eq!(run.model().structure().edges(), graph.edges().count());
    // Nothing goes around the weights, and nothing is pruned: the weights of all parents and of the action
    // make 1, and no parent has none.
    let weights = run.model().influence_by_weight(&[1.0]).expect("weights");
    for effect in 0..weights.effects() {
        let parents = run.model().structure().state_parents(effect);
        let sum: f64 = parents.iter().map(|&state| weights.weight(effect, state)).sum();
        assert!(sum < 1.0, "the action has a weight, too: {sum}");
        assert!(parents.iter().all(|&state| weights.weight(effect, state) > 0.0));
    }
    let folder = tempfile::tempdir().expect("a folder");
    run.save(folder.path().join("run")).expect("written");
    let again = Run::open(folder.path().join("run")).expect("a run");
    assert_eq!((again.preset(), again.record()), (Preset::Paper, run.record()));
}

#[test]
fn the_test_can_be_chosen_by_itself() {
    let log = log("Vacuum-v0", 400);
    let params = FitParams::default().method(Method::Fcit).members(1).steps(40);
    let run = becausal::fit(&log, &params).expect("a run");
    assert_eq!(run.graph().get().expect("a graph").method, "fcit");
    let Record::Fit(record) = run.record() else { panic!("a fit") };
    assert_eq!((record.preset, record.method), (Preset::Default, Method::Fcit));
}

fn influences(answer: &Answer) -> Vec<f64> {
    let Answer::Why(why) = answer else { panic!("a why") };
    let edges = why.chain.edges().filter(|edge| edge.way == Way::Influence);
    edges.map(|edge| edge.weight).collect()
}

#[test]
fn a_run_of_the_paper_is_explained_by_attention() {
    let run = becausal::fit(&log("AimTest-v0", 800), &paper()).expect("a run");
    let moment = run.recorded(1, 3).expect("a moment");
    let ask = Ask::default().horizon(1).tau(0.0);
    let weights = run.model().influence_by_weight(moment.action()).expect("weights");
    let found = influences(&run.why(&moment, &ask).expect("an answer"));
    assert!(!found.is_empty());
    let known: Vec<f64> = (0..weights.effects())
        .flat_map(|effect| (0..weights.states()).map(move |state| (effect, state)))
        .map(|(effect, state)| weights.weight(effect, state))
        .collect();
    assert!(found.iter().all(|weight| known.contains(weight)), "{found:?}");
    for by in [InfluenceBy::State, InfluenceBy::Effect] {
        let other = influences(&run.why(&moment, &ask.clone().influence(by)).expect("an answer"));
        assert_ne!(other, found, "{by}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_in_words() {
    let dense = FitParams::default().model(becausal::model::ModelKind::Mlp).members(1).steps(40);
    let run = becausal::fit(&log("AimTest-v0", 400), &dense).expect("a run");
    let moment = run.recorded(0, 0).expect("a moment");
    let refused = |run: &Run, by| {
        let moment = run.recorded(0, 0).expect("a moment");
        run.why(&moment, &Ask::default().influence(by)).expect_err("refused").to_string()
    };
    let words = refused(&run, InfluenceBy::Attention);
    assert!(words.contains("have no attention weights"), "{words}");
    assert!(run.why(&moment, &Ask::default()).is_ok());
    // Continuous actions are hardly ever the same twice.
    let landers = log("LunarLanderContinuous-v3", 600);
    let run = becausal::fit(&landers, &paper()).expect("a run");
    let words = refused(&run, InfluenceBy::Effect);
    assert!(words.contains("fewer than ten recorded steps have exactly this action"), "{words}");
}

#[test]
fn the_model_that_trained_explains() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let small = "steps = 200\nwarm_up = 100\nepoch_steps = 50\nrounds = 1\nsamples = 128\nmembers = 1\n\
                 model_width = 16\nhidden_width = 16\nfit_steps_first = 20\nfit_steps_graph = 10\n\
                 fit_steps = 10\nfit_batch = 64\nevaluation_episodes = 2\nfinal_episodes = 2";
    let params = TrainParams::default().preset("paper").change(small, "test").seed(3);
    let run = becausal::train("CartPole-v1", &path, &params).expect("a run");
    assert_eq!(run.preset(), Preset::Paper);
    assert_eq!(run.graph().get().expect("a graph").method, "fcit");
    let summary = run.train_summary().expect("a summary");
    assert_eq!(summary.recorded_steps, 0, "nothing is recorded or fitted afterwards");
    assert_eq!(run.data().len(), summary.real_steps);
    let text = std::fs::read_to_string(path.join("config.toml")).expect("a record");
    assert!(text.contains("preset = \"paper\"") && text.contains("method = \"fcit\""), "{text}");
    let kept = |folder: &str| std::fs::read(path.join(folder).join("manifest.json")).expect("it");
    let saved: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path.join("checkpoint.json")).expect("a checkpoint"))
            .expect("JSON");
    let last = format!("checkpoints/{}/world-model", saved["folder"].as_str().expect("a name"));
    assert_eq!(kept("world-model"), kept(&last), "the very weights of the last epoch");
    // A chain of the paper does not lead through what the agent does later.
    let moment = run.recorded(0, 0).expect("a moment");
    let Answer::Why(why) = run.why(&moment, &Ask::default()).expect("an answer") else { panic!() };
    assert!(why.rather.is_none() && why.chain.edges().all(|edge| edge.way != Way::Policy));
}

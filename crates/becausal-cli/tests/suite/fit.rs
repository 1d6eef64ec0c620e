//! `becausal fit`, and what is made of its runs: `explain` and `audit`.

use std::fs;
use std::path::Path;

use crate::common::{done, refused};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with 600 transitions of an environment and a small run made from them.
fn fitted(id: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", id, "-n", "600", "-o", "data.parquet", "-q"]);
    small_fit(at, &["fit", "data.parquet", "-o", "run"]);
    folder
}

fn small_fit(at: &Path, arguments: &[&str]) -> String {
    let all = [arguments, &["--members", "2", "--steps", "60", "-q"]].concat();
    done(at, &all)
}

#[test]
fn a_run_has_all_that_explaining_needs() {
    let folder = fitted("AimTest-v0");
    let at = folder.path();
    let files =
        ["config.toml", "schema.toml", "data.parquet", "graph.json", "world-model/manifest.json"];
    for file in files {
        assert!(at.join("run").join(file).is_file(), "{file}");
    }
    let text = done(at, &["explain", "run", "--step", "3"]);
    assert!(text.starts_with("Why a = "), "{text}");
    let text = done(at, &["explain", "run", "--step", "3", "--why-not", "2", "--brief"]);
    assert!(text.contains("a = 2") && text.contains("over the next"), "{text}");
    done(at, &["explain", "run", "--step", "3", "--why-not", "2", "-o", "chain.svg"]);
    assert!(fs::read_to_string(at.join("chain.svg")).expect("a picture").starts_with("<svg"));
    let audit = done(at, &["audit", "run", "--policy", "random", "--states", "5", "--json"]);
    let audit: Value = serde_json::from_str(&audit).expect("JSON");
    for key in ["cases", "precision", "recall", "sign", "better_action", "trivial"] {
        assert!(audit.get(key).is_some(), "{key}: {audit}");
    }
}

#[test]
fn the_papers_method_is_one_flag_and_the_run_remembers_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "600", "-o", "data.parquet", "-q"]);
    let text = small_fit(at, &["fit", "data.parquet", "-o", "run", "--preset", "paper"]);
    assert!(
        text.contains("made by the paper's method: edges by fcit with p at most 0.05"),
        "{text}"
    );
    let config = fs::read_to_string(at.join("run/config.toml")).expect("a record");
    assert!(
        config.contains("preset = \"paper\"") && config.contains("method = \"fcit\""),
        "{config}"
    );
    let ask =
        |more: &[&str]| done(at, &[&["explain", "run", "--step", "3", "--json"], more].concat());
    let attention = ask(&[]);
    assert_eq!(ask(&["--influence", "attention", "--preset", "paper"]), attention);
    assert_ne!(ask(&["--influence", "effect"]), attention);
    assert_ne!(ask(&["--preset", "default"]), attention);
    let words = refused(at, &["explain", "run", "--step", "3", "--influence", "magic"], 2);
    assert!(words.contains("influence cannot be measured by `magic`"), "{words}");
    let text = small_fit(at, &["fit", "data.parquet", "-o", "run", "--method", "fcit", "--json"]);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&value["preset"], &value["method"]), (&"default".into(), &"fcit".into()));
}

#[test]
fn the_same_seed_gives_the_same_run_on_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "CartPole-v1", "-n", "400", "-o", "data.parquet", "-q"]);
    let mut manifests = Vec::new();
    for threads in ["1", "2"] {
        let run = format!("run{threads}");
        small_fit(at, &["fit", "data.parquet", "-o", &run, "--threads", threads]);
        manifests.push(fs::read(at.join(run).join("world-model/manifest.json")).expect("it"));
    }
    assert!(manifests[0] == manifests[1], "the checksum of the weights is in the manifest");
}

#[test]
fn scores_are_given_as_json_with_the_baselines_beside() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "500", "-o", "data.parquet", "-q"]);
    let text = small_fit(at, &["fit", "data.parquet", "-o", "run", "--json", "--compare"]);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["model"], "causal");
    assert_eq!(value["scores"]["variables"][0]["name"], "x1'");
    for kind in ["causal", "full", "mlp", "action_blind", "identity"] {
        assert!(value["compared"][kind]["mean_error"].as_f64().is_some_and(|e| e > 0.0), "{kind}");
    }
    // The table for people, with a graph that is given.
    done(at, &["discover", "data.parquet", "-o", "graph.json", "-q"]);
    let text = small_fit(at, &["fit", "data.parquet", "-o", "run", "--graph", "graph.json"]);
    assert!(text.contains("one step ahead") && text.contains("becausal explain run"), "{text}");
}

#[test]
fn another_recording_can_be_scored_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "500", "-o", "data.parquet", "-q"]);
    done(at, &["collect", "AimTest-v0", "-n", "700", "--seed", "1", "-o", "new.parquet", "-q"]);
    let fit = ["fit", "data.parquet", "-o", "run", "--json"];
    let scores = |extra: &[&str]| -> Value {
        let text = small_fit(at, &[&fit, extra].concat());
        serde_json::from_str::<Value>(&text).expect("JSON")["scores"].clone()
    };
    let (own, new) = (scores(&[]), scores(&["--test", "new.parquet"]));
    assert_eq!(new["rows"], 700);
    assert_ne!(own["rows"], new["rows"]);
    done(at, &["collect", "CartPole-v1", "-n", "300", "-o", "other.parquet", "-q"]);
    let text =
        refused(at, &["fit", "data.parquet", "-o", "run", "--test", "other.parquet", "-q"], 1);
    assert!(text.contains("other.parquet"), "{text}");
}

#[test]
fn what_cannot_be_fitted_or_opened_is_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "300", "-o", "data.parquet", "-q"]);
    done(at, &["collect", "CartPole-v1", "-n", "300", "-o", "other.parquet", "-q"]);
    done(at, &["discover", "other.parquet", "-o", "other.json", "-q"]);
    let text = refused(at, &["fit", "data.parquet", "-o", "run", "--graph", "other.json", "-q"], 1);
    assert!(text.contains("made from other data"), "{text}");
    fs::create_dir(at.join("full")).expect("a folder");
    fs::write(at.join("full/letter.txt"), "dear").expect("a file");
    let text = refused(at, &["fit", "data.parquet", "-o", "full", "-q"], 1);
    assert!(text.contains("something else in it"), "{text}");
    assert!(at.join("full/letter.txt").is_file());
    let text = refused(at, &["explain", "nowhere", "--step", "1"], 1);
    assert!(text.contains("not a run directory"), "{text}");
    let text = refused(at, &["fit", "data.parquet", "-o", "run", "--eta", "2"], 2);
    assert!(text.contains("from 0 to 1"), "{text}");
    done(at, &["collect", "AimTest-v0", "-n", "12", "-o", "few.parquet", "-q"]);
    let graph = ["fit", "few.parquet", "-o", "run", "--members", "1", "--steps", "5", "-q"];
    let text = refused(at, &graph, 1);
    assert!(text.contains("too few"), "{text}");
}

#[test]
fn the_options_of_a_recorded_environment_are_kept_for_the_audit() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for file in ["data.parquet", "data.csv", "data.npz"] {
        let collect = ["collect", "CartPole-v1", "-n", "400", "-o", file, "-q"];
        done(at, &[&collect[..], &["--env-option", "max_episode_steps=7"]].concat());
        small_fit(at, &["fit", file, "-o", "run"]);
        let config = fs::read_to_string(at.join("run/config.toml")).expect("a record");
        assert!(config.contains("max_episode_steps = \"7\""), "{file}: {config}");
        let run = becausal::Run::open(at.join("run")).expect("a run");
        let mut environment = run.environment().expect("a built-in one").clone();
        let mut actor = |step: usize, _: &[f64]| Some(vec![(step % 2) as f64]);
        let played = becausal::env::play_episode(&mut environment, 1, 100, &mut actor);
        assert_eq!(played.expect("an episode").len(), 7, "{file}: the run lost its options");
    }
}

#[test]
fn the_run_of_a_fit_says_what_it_was_scored_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "500", "-o", "data.parquet", "-q"]);
    let scored = |extra: &[&str]| -> Value {
        let text =
            small_fit(at, &[&["fit", "data.parquet", "-o", "run", "--json"], extra].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let own = scored(&[]);
    assert!(
        own["scored_on"].as_str().is_some_and(|on| on.contains("neither discovery nor")),
        "{own}"
    );
    let run = becausal::Run::open(at.join("run")).expect("a run");
    let graph = run.graph().get().expect("a graph").clone();
    let held_out = own["scores"]["rows"].as_u64().expect("rows");
    assert!(held_out > 0);
    assert_eq!(graph.rows as u64 + held_out, 500, "discovery saw no held-out row");
    done(at, &["discover", "data.parquet", "-o", "graph.json", "-q"]);
    let given = scored(&["--graph", "graph.json"]);
    assert!(
        given["scored_on"].as_str().is_some_and(|on| on.contains("the graph may have been")),
        "{given}"
    );
}

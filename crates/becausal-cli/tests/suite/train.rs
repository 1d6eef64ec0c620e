//! `becausal train`: what it writes, and that a kill loses at most the current epoch.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{done, folder, refused};

/// A small training.
const SMALL: [&str; 19] = [
    "train",
    "CartPole-v1",
    "--env-option=max_episode_steps=60",
    "--seed=4",
    "--steps=600",
    "--quiet",
    "--json",
    "--set=warm_up=150",
    "--set=epoch_steps=50",
    "--set=members=2",
    "--set=model_width=8",
    "--set=fit_steps_first=20",
    "--set=fit_steps=20",
    "--set=rounds=2",
    "--set=samples=256",
    "--set=evaluation_episodes=3",
    "--set=final_episodes=3",
    "--set=final_fit_steps=20",
    "--set=final_rows=200",
];

fn small<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], rest].concat()
}

fn curves(folder: &std::path::Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("metrics.csv")).expect("metrics");
    text.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_owned()).collect()
}

#[test]
fn a_killed_training_resumes_to_the_same_end() {
    let folder = folder();
    let whole = done(folder.path(), &small(&["-o", "whole"]));
    let whole: serde_json::Value = serde_json::from_str(&whole).expect("one line of JSON");
    for key in ["real_steps", "eval_mean", "eval_std", "native_eval_mean", "seconds", "edges"] {
        assert!(whole[key].is_number(), "{key}: {whole}");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_becausal"))
        .current_dir(folder.path())
        .args(small(&["-o", "killed"]))
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    let run = folder.path().join("killed");
    let patience = Instant::now() + Duration::from_mins(2);
    loop {
        assert!(Instant::now() < patience, "no epoch was saved");
        assert!(child.try_wait().expect("known").is_none(), "it ended before it was killed");
        let saved = fs::read_to_string(run.join("checkpoint.json")).unwrap_or_default();
        if saved.contains("epoch-000002") || saved.contains("epoch-000003") {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    assert_eq!(child.wait().expect("gone").code(), None, "ended by the kill, not by itself");
    let resumed = done(
        folder.path(),
        &["train", "CartPole-v1", "-o", "killed", "--resume", "--json", "--quiet"],
    );
    let resumed: serde_json::Value = serde_json::from_str(&resumed).expect("one line of JSON");
    for key in ["real_steps", "eval_mean", "eval_std", "native_eval_mean", "edges", "epochs"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    assert_eq!(curves(&run), curves(&folder.path().join("whole")));
    for name in ["data.parquet", "graph.json", "world-model/manifest.json", "policy/manifest.json"]
    {
        let [one, other] = ["whole", "killed"].map(|run| folder.path().join(run).join(name));
        assert_eq!(fs::read(one).expect(name), fs::read(other).expect(name), "{name}");
    }
    let explained =
        done(folder.path(), &["explain", "killed", "--episode-seed", "1", "--step", "2"]);
    assert!(explained.starts_with("Why push = "), "{explained}");
    done(
        folder.path(),
        &["collect", "CartPole-v1", "-n", "50", "-o", "c.csv", "--policy", "killed"],
    );
}

#[test]
fn mistakes_are_told_before_anything_is_learned() {
    let folder = folder();
    let path = folder.path();
    let wrong = refused(path, &["train", "CartPole-v1", "-o", "r", "--set", "stepz=3"], 2);
    assert!(wrong.contains("no setting `stepz` (did you mean `steps`?)"), "{wrong}");
    let wrong = refused(path, &["train", "CartPole-v1", "-o", "r", "--preset", "papr"], 2);
    assert!(wrong.contains("no preset `papr` (did you mean `paper`?)"), "{wrong}");
    let wrong = refused(path, &["train", "CartPole-v1", "-o", "r", "--resume"], 1);
    assert!(wrong.contains("is not a run directory"), "{wrong}");
    assert!(!path.join("r").exists());
    let wrong =
        refused(path, &["collect", "CartPole-v1", "-n", "5", "-o", "c.csv", "--policy", "r"], 1);
    assert!(wrong.contains("there is no such file or folder"), "{wrong}");
}

#[test]
fn until_stops_and_reports_the_steps() {
    let folder = folder();
    let output = done(folder.path(), &small(&["-o", "r", "--until", "1"]));
    let output: serde_json::Value = serde_json::from_str(&output).expect("one line of JSON");
    assert_eq!(output["reached_at"], output["real_steps"]);
    assert_eq!(output["epochs"], 1);
    assert_eq!(output["evaluation_episodes"], 6, "two evaluations of three episodes");
    assert!(output["evaluation_steps"].as_u64().is_some_and(|steps| steps >= 6), "{output}");
}

//! Trainings and discoveries that are stopped from outside: Ctrl-C, and a disk that is full.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{done, folder};

/// A training of short epochs.
const TRAIN: &str = "train CartPole-v1 --env-option=max_episode_steps=60 --seed=4 --steps=2000 \
    --set=warm_up=150 --set=epoch_steps=50 --set=members=2 --set=model_width=8 \
    --set=fit_steps_first=20 --set=fit_steps=20 --set=rounds=2 --set=samples=256 \
    --set=evaluation_episodes=3 --set=final_episodes=3 --set=final_fit_steps=20 --set=final_rows=200";

fn started(folder: &Path, rest: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_becausal"))
        .current_dir(folder)
        .args(TRAIN.split_whitespace())
        .args(rest)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs")
}

/// Sends the signal of Ctrl-C.
fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` is there").success());
}

/// Waits until an epoch is saved.
fn wait_for_an_epoch(run: &Path) {
    let patience = Instant::now() + Duration::from_mins(2);
    loop {
        let saved = fs::read_to_string(run.join("checkpoint.json")).unwrap_or_default();
        if !saved.is_empty() && !saved.contains("epoch-000000") {
            return;
        }
        assert!(Instant::now() < patience, "no epoch was saved");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn told(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn epochs(run: &Path) -> usize {
    fs::read_to_string(run.join("metrics.csv")).expect("metrics").lines().count() - 1
}

#[test]
fn ctrl_c_finishes_the_epoch_and_the_training_can_be_resumed() {
    let folder = folder();
    let run = folder.path().join("run");
    let child = started(folder.path(), &["-o", "run"]);
    wait_for_an_epoch(&run);
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let [text, errors] = told(&output);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("stopping after this epoch"), "{errors}");
    let epochs_before = epochs(&run);
    assert!(text.starts_with(&format!("run: stopped after epoch {epochs_before}, ")), "{text}");
    let command = "becausal train CartPole-v1 -o run --resume";
    assert!(text.ends_with(&format!("To resume: {command}\n")), "{text}");
    // What is said to do is done, to an end that is near.
    let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
    arguments.extend(["--steps", "900", "--quiet"]);
    let text = done(folder.path(), &arguments);
    assert!(text.contains("mean return of the best policy"), "{text}");
    assert!(epochs(&run) >= epochs_before);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_loses_one_epoch_at_most() {
    let folder = folder();
    let run = folder.path().join("run");
    // Epochs too long to wait for.
    let child = started(folder.path(), &["-o", "run", "--quiet", "--set=rounds=100000"]);
    let patience = Instant::now() + Duration::from_mins(2);
    while !run.join("checkpoint.json").exists() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
    // Signals of the same number that wait become one.
    let [asked, again] = [(); 2].map(|()| {
        std::thread::sleep(Duration::from_millis(300));
        interrupt(&child);
        Instant::now()
    });
    let output = child.wait_with_output().expect("it ends");
    assert!(again.elapsed() < Duration::from_secs(20) && asked < again);
    let [text, errors] = told(&output);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert_eq!(text, "", "no result");
    assert!(errors.contains("becausal train CartPole-v1 -o run --resume"), "{errors}");
    let saved = fs::read_to_string(run.join("checkpoint.json")).expect("the one it began with");
    assert!(saved.contains("epoch-000000"), "{saved}");
}

#[test]
fn a_full_disk_is_reported_and_the_training_resumes_when_there_is_room() {
    let folder = folder();
    // Files may have 40 kB: enough for the networks of the beginning, not for the data of some epochs.
    let limited = |command: &str| {
        let program = env!("CARGO_BIN_EXE_becausal");
        let script = format!("ulimit -f 40; trap '' XFSZ; exec '{program}' {command}");
        let mut shell = Command::new("bash");
        shell.current_dir(folder.path()).args(["-c", &script]).output().expect("a shell")
    };
    let output = limited(&format!("{TRAIN} --quiet -o run --set=policy_widths=[16]"));
    let [_, errors] = told(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: run/"), "{errors}");
    assert!(errors.contains("File too large") && !errors.contains("panicked"), "{errors}");
    assert!(errors.contains(") is saved. Once this is fixed, resume: "), "{errors}");
    let command = "becausal train CartPole-v1 -o run --resume";
    assert!(errors.trim_end().ends_with(command), "{errors}");
    let run = folder.path().join("run");
    let named = fs::read_to_string(run.join("checkpoint.json")).expect("a checkpoint");
    let kept: Vec<_> = fs::read_dir(run.join("checkpoints")).expect("a folder").flatten().collect();
    assert_eq!(kept.len(), 1, "half a checkpoint is in the way");
    assert!(named.contains(&*kept[0].file_name().to_string_lossy()), "{named}");
    done(
        folder.path(),
        &["train", "CartPole-v1", "-o", "run", "--resume", "--steps", "1400", "--quiet"],
    );
}

#[test]
fn a_run_that_could_not_even_begin_is_no_hindrance() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_becausal");
    let script = format!("ulimit -f 4; trap '' XFSZ; exec '{program}' {TRAIN} -o run");
    let output = Command::new("bash")
        .current_dir(folder.path())
        .args(["-c", &script])
        .output()
        .expect("a shell");
    let [_, errors] = told(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(folder.path().join("run/schema.toml").exists());
    let again: Vec<&str> =
        TRAIN.split_whitespace().chain(["-o", "run", "--steps=200", "--quiet"]).collect();
    let again: Vec<&str> = again.into_iter().filter(|word| *word != "--steps=2000").collect();
    done(folder.path(), &again);
}

#[test]
fn a_discovery_that_ctrl_c_ends_keeps_what_is_finished() {
    let folder = folder();
    done(folder.path(), &["collect", "Vacuum-v0", "-n", "900", "-o", "data.csv", "--seed", "5"]);
    let arguments = ["discover", "data.csv", "-o", "graph.json", "--bootstrap", "60", "--quiet"];
    let graph = folder.path().join("graph.json");
    // How long it takes until Ctrl-C is heard, and until all is done, is not known beforehand.
    let mut wait = Duration::from_millis(100);
    let output = loop {
        assert!(wait < Duration::from_mins(1), "it was never interrupted");
        let _ = fs::remove_file(&graph);
        let child = Command::new(env!("CARGO_BIN_EXE_becausal"))
            .current_dir(folder.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        std::thread::sleep(wait);
        interrupt(&child);
        let output = child.wait_with_output().expect("it ends");
        if graph.exists() && !output.status.success() {
            break output;
        }
        wait = if output.status.success() { wait * 2 / 3 } else { wait * 5 / 4 };
    };
    let [text, errors] = told(&output);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(text.contains(", INTERRUPTED\n"), "{text}");
    let text = fs::read_to_string(&graph).expect("a graph");
    assert_eq!(becausal::CausalGraph::from_json(&text).expect("a graph").pairs().len(), 16);
}

//! Agents that exist: a log of one, a model fitted afterwards, and answers about that agent's own choices.

use std::fs;
use std::path::Path;

use becausal::{Policy, PolicyOwner, Run};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{done, folder, refused};

/// A folder with an agent that learned CartPole without a model (and so has none), a log of it, and another agent.
fn agents() -> TempDir {
    let folder = folder();
    let at = folder.path();
    for (name, steps, seed) in [("agent", "10240", "3"), ("beginner", "256", "5")] {
        let train = ["train", "CartPole-v1", "--model=none", "--steps", steps, "--seed", seed];
        let rest = [
            "--set=final_fit_steps=0",
            "--set=evaluation_episodes=3",
            "--set=final_episodes=3",
            "-q",
            "-o",
            name,
        ];
        done(at, &[&train[..], &rest].concat());
    }
    let collect = ["collect", "CartPole-v1", "-n", "600", "--policy", "agent", "-o", "log.parquet"];
    done(at, &[&collect[..], &["--env-option=max_episode_steps=100", "-q"]].concat());
    folder
}

fn fit(at: &Path, rest: &[&str]) -> String {
    let all = ["fit", "log.parquet", "-o", "run", "--members", "1", "--steps", "60", "-q"];
    done(at, &[&all[..], rest].concat())
}

/// What the policy of a run would do in these states.
fn choices(run: &Run, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    run.policy().expect("a policy").modes(states)
}

#[test]
fn a_model_that_is_made_afterwards_explains_the_agent_that_was_there_before() {
    let folder = agents();
    let at = folder.path();
    let said = fit(at, &["--policy", "agent"]);
    assert!(said.contains("Answers are about the policy of agent; its most likely"), "{said}");
    let run = Run::open(at.join("run")).expect("a run");
    assert_eq!(run.policy_owner(), Some(PolicyOwner::Agent(Some("agent".to_owned()))));
    // The run has the policy itself: the agent may be gone.
    fs::rename(at.join("agent"), at.join("moved")).expect("renamed");
    let own = Run::open(at.join("run")).expect("a run");
    let agent = becausal::read_policy(at.join("moved"), own.schema()).expect("a policy");
    let states: Vec<Vec<f64>> =
        (0..40).map(|i| vec![0.0, 0.0, f64::from(i - 20) / 100.0, 0.1]).collect();
    assert_eq!(choices(&own, &states), agent.modes(&states));
    // What it plays is what the agent plays, and answers and audits are about that.
    let played = own.play(4).expect("an episode");
    for step in played.trajectory().steps().iter().take(20) {
        assert_eq!(step.action, agent.mode(&step.state));
    }
    let explained = done(at, &["explain", "run", "--episode-seed", "4", "--step", "3"]);
    let why: Vec<&str> = explained.lines().take(1).collect();
    assert!(why[0].starts_with("Why push = "), "{explained}");
    let audit = |extra: &[&str]| -> Value {
        let text = done(at, &[&["audit", "run", "--states", "4", "--json", "-q"], extra].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let (own, given, other) =
        (audit(&[]), audit(&["--policy", "moved"]), audit(&["--policy", "beginner/policy"]));
    assert_eq!(own, given, "its own policy is that of the agent");
    assert_ne!(own, other, "the audit is about the agent that is given");
}

#[test]
fn a_run_without_a_policy_can_be_asked_about_one() {
    let folder = agents();
    let at = folder.path();
    let said = fit(at, &[]);
    assert!(!said.contains("Answers are about"), "{said}");
    let play = ["explain", "run", "--episode-seed", "4", "--step", "3", "--json"];
    let none = refused(at, &play[..6], 2);
    assert!(none.contains("this run has no policy"), "{none}");
    let about = |agent: &str| done(at, &[&play[..], &["--policy", agent]].concat());
    assert_ne!(about("agent"), about("beginner"), "the answer is about the agent that is given");
    let file = about("agent/policy/manifest.json");
    assert_eq!(about("agent"), file, "by its run or by a file");
    let found =
        done(at, &["explain", "run", "--find", "close", "--count", "1", "--policy", "agent"]);
    let again = "becausal explain run --policy agent --episode-seed ";
    assert!(found.contains(again), "a command that asks about the same agent: {found}");
    // The run itself stays as it was.
    assert!(Run::open(at.join("run")).expect("a run").policy().is_none());
}

#[test]
fn an_agent_of_other_variables_is_refused_before_the_fit() {
    let folder = agents();
    let at = folder.path();
    done(at, &["collect", "BuildMarine-v0", "-n", "100", "-o", "other.parquet", "-q"]);
    let wrong = refused(at, &["fit", "other.parquet", "-o", "run", "--policy", "agent", "-q"], 1);
    assert!(wrong.contains("agent: the policy is for CartPole-v1 (states position,"), "{wrong}");
    assert!(wrong.contains("expected one for BuildMarine-v0"), "{wrong}");
    assert!(!at.join("run").exists());
    let wrong = refused(at, &["fit", "log.parquet", "-o", "run", "--policy", "log.parquet"], 1);
    assert!(wrong.contains("there is no policy (expected the folder of a trained run"), "{wrong}");
    let wrong = refused(at, &["fit", "log.parquet", "-o", "agent", "--policy", "agent", "-q"], 1);
    assert!(wrong.contains("agent"), "{wrong}");
    assert!(at.join("agent/policy/manifest.json").is_file(), "the agent is not replaced");
}

//! `becausal-paper curves`: four kinds of training with the same number of real steps.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{done, folder, refused};

#[test]
fn every_kind_of_training_gets_the_same_steps_and_a_row() {
    let folder = folder();
    let output = done(
        folder.path(),
        &["curves", "--quick", "--env=CartPole-v1", "--seeds=3", "-q", "-o", "c"],
    );
    for name in ["no model", "dense model", "full graph", "causal graph"] {
        assert!(output.lines().any(|line| line.starts_with(name)), "{name}\n{output}");
    }
    assert!(output.contains("over 5 new episodes"), "{output}");
    let file = |ending: &str| fs::read(folder.path().join(format!("c/CartPole-v1.{ending}")));
    assert!(file("png").expect("a picture").starts_with(b"\x89PNG"));
    let picture = String::from_utf8(file("svg").expect("a picture")).expect("text");
    assert!(picture.contains("mean and range of 1 seed"), "the title");
    let text = String::from_utf8(file("csv").expect("all evaluations")).expect("text");
    let mut last = BTreeMap::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        last.insert(columns[0].to_owned(), columns[2].to_owned());
    }
    assert_eq!(last.len(), 4);
    assert!(last.values().all(|steps| steps == "800"), "{last:?}");
    let edges = folder.path().join("c/CartPole-v1-edges.csv");
    let edges = fs::read_to_string(edges).expect("the pairs of every epoch");
    let of_full = |line: &str| line.starts_with("full,") && line.ends_with(",20,20");
    assert!(edges.lines().any(of_full), "the full graph uses all 20 pairs\n{edges}");
    assert!(!edges.contains("none,"), "no model, no edges");
    assert!(output.contains("Causal graph, each seed, of 20 pairs: "), "{output}");

    // What is done is not done again; other settings do not continue it.
    let quick = ["curves", "--quick", "--env=CartPole-v1", "--seeds=3", "-q", "-o", "c"];
    assert_eq!(done(folder.path(), &[&quick[..], &["--resume"]].concat()), output);
    let paper = [&quick[..], &["--resume", "--preset=paper"]].concat();
    let text = refused(folder.path(), &paper, 1);
    assert!(text.contains("was made with other settings"), "{text}");
}

#[test]
fn an_ablation_takes_one_setting_away_at_a_time() {
    let folder = folder();
    let quick = ["ablation", "--quick", "--env=CartPole-v1", "--seeds=3", "-q", "-o", "a"];
    let output = done(folder.path(), &quick);
    let lines: Vec<&str> = output.lines().collect();
    let change = "parents = \"edges\"";
    assert!(lines[1].starts_with("ours ") && lines[2].starts_with(change), "{output}");
    assert!(lines[3].starts_with("Return: "), "CartPole has no other such setting\n{output}");
    let csv =
        fs::read_to_string(folder.path().join("a/CartPole-v1-ablation.csv")).expect("a table");
    assert!(csv.lines().any(|line| line.starts_with(&format!("{change},3,800,"))), "{csv}");
}

#[test]
fn a_log_of_the_same_name_is_not_lost() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("CartPole-v1.csv"), "episode,x\n0,1\n").expect("written");
    let curves = ["curves", "--quick", "--env=CartPole-v1", "--seeds=3", "-q", "-o", "."];
    let text = refused(at, &curves, 1);
    assert!(text.contains("not a table of curves and would be lost"), "{text}");
    assert_eq!(fs::read(at.join("CartPole-v1.csv")).expect("kept"), b"episode,x\n0,1\n");
}

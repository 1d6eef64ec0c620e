//! `becausal-paper aim`: every method gets a row, and wrong usage is refused.

use crate::common::{done, folder, refused};
use serde_json::Value;

#[test]
fn every_method_gets_a_row_and_an_entry() {
    let folder = folder();
    let at = folder.path();
    let small = ["aim", "--rows=800", "--seeds=1,2", "--steps=30", "-q"];
    let text = done(at, &small);
    assert!(text.contains("100 edges to recover from 800 rows"), "{text}");
    for name in ["Direct", "Full graph", "Causal graph, attention", "Causal graph, by effect"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}\n{text}");
    }
    assert!(text.contains("99.3 %") && text.contains("74.0 %"), "{text}");
    let text = done(at, &[&small[..], &["--json", "--threads=1"]].concat());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["rows"], 800);
    let methods = &value["methods"];
    // What needs no learning is known beforehand.
    assert_eq!(methods["empty"]["accuracy"], 0.74);
    assert_eq!(methods["identity"]["accuracy"], 0.92);
    for method in ["direct", "full_attention", "causal_attention", "effect", "action_blind"] {
        let scores = &methods[method];
        let [accuracy, shd, f1] =
            ["accuracy", "shd", "f1"].map(|key| scores[key].as_f64().expect(key));
        // Of 100 edges, those that are wrong are the distance; the accuracy is the mean of the seeds.
        assert!((accuracy - (1.0 - shd / 100.0)).abs() < 1e-9, "{method}");
        let seeds = scores["per_seed"].as_array().expect("a list");
        let mean = seeds.iter().filter_map(Value::as_f64).sum::<f64>() / 2.0;
        assert!(seeds.len() == 2 && (accuracy - mean).abs() < 1e-9, "{method}");
        assert!(f1 > 0.0, "{method} recovers something");
    }
    let accuracy = |method: &str| methods[method]["accuracy"].as_f64().expect("a number");
    // Networks that were hardly trained: over the causes found they beat claiming nothing, over
    // everything they do not.
    for method in ["direct", "causal_attention", "effect"] {
        assert!(accuracy(method) > accuracy("empty"), "{method}");
    }
    assert!(accuracy("full_attention") < accuracy("empty"));
}

#[test]
fn the_papers_method_has_its_own_test_and_threshold() {
    let folder = folder();
    let small = ["aim", "--preset=paper", "--rows=600", "--seeds=1", "--steps=10", "-q", "--json"];
    let value: Value = serde_json::from_str(&done(folder.path(), &small)).expect("JSON");
    assert_eq!((&value["preset"], &value["method"]), (&"paper".into(), &"fcit".into()));
    assert_eq!(value["eta"], 0.2);
    // Weights that were hardly trained are alike for all parents: every parent is above the threshold.
    let methods = &value["methods"];
    assert_eq!(methods["causal_attention"]["accuracy"], methods["action_blind"]["accuracy"]);
}

#[test]
fn failures_and_wrong_usage_have_their_own_exit_codes() {
    let folder = folder();
    let at = folder.path();
    let words = refused(at, &["aim", "--rows=0", "-q"], 1);
    assert!(words.starts_with("error: "), "{words}");
    refused(at, &["aim", "--steps=0"], 2);
    refused(at, &["curves", "--env=Pong-v5", "-o", "c"], 2);
    refused(at, &["tables"], 2);
}

//! `becausal-paper tradeoff`: every threshold gets its rows, and a second call measures nothing again.

use std::fs;

use crate::common::{done, folder, refused};
use serde_json::Value;

const SMALL: [&str; 9] = [
    "tradeoff",
    "--rows=300",
    "--steps=10",
    "--members=1",
    "--training-steps=0",
    "--states=3",
    "--seeds=5",
    "-q",
    "-o=here",
];

#[test]
fn edges_grow_with_the_threshold_and_nothing_is_measured_twice() {
    let folder = folder();
    let at = folder.path();
    let text = done(at, &[&SMALL[..], &["--json"]].concat());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let thresholds = value["thresholds"].as_array().expect("a list");
    let edges: Vec<f64> = thresholds.iter().filter_map(|one| one["edges"].as_f64()).collect();
    assert_eq!(edges.len(), 9);
    assert!(edges.is_sorted(), "{edges:?}");
    assert_eq!(edges[8], 20.0, "with eta 1 all pairs of CartPole are edges");
    assert!(thresholds.iter().all(|one| one["error"].as_f64().is_some_and(|error| error > 0.0)));
    assert!(thresholds.iter().all(|one| one["policy_return"].is_null()), "no policy was trained");
    let file = at.join("here/tradeoff.csv");
    let first = fs::read_to_string(&file).expect("a table");
    assert_eq!(first.lines().count(), 1 + 9 * 5);
    let picture = fs::read_to_string(at.join("here/tradeoff-CartPole-v1-paper.svg"));
    assert!(picture.expect("a picture").contains("one-step error"));
    // Without its last rows it is continued, with the same numbers.
    let begun: Vec<&str> = first.lines().take(1 + 8 * 5).collect();
    fs::write(&file, format!("{}\n", begun.join("\n"))).expect("written");
    let text = done(at, &SMALL);
    assert!(
        text.contains("test fcit") && text.contains("tradeoff-CartPole-v1-paper.svg"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(&file).expect("a table"), first);
}

#[test]
fn another_table_of_the_same_name_is_not_lost() {
    let folder = folder();
    fs::create_dir(folder.path().join("here")).expect("a folder");
    fs::write(folder.path().join("here/tradeoff.csv"), "a,b\n1,2\n").expect("written");
    let words = refused(folder.path(), &SMALL, 1);
    assert!(words.contains("this is another table and would be lost"), "{words}");
}

//! `becausal-paper ladder`: every rung is measured once.

use std::fs;

use crate::common::{done, folder};
use serde_json::Value;

#[test]
fn every_rung_has_its_numbers_and_is_measured_once() {
    let folder = folder();
    let at = folder.path();
    let small = [
        "ladder",
        "--rows=600",
        "--marine-rows=300",
        "--steps=10",
        "--members=1",
        "--training-steps=0",
        "--states=2",
        "--seeds=5",
        "-q",
        "-o=here",
    ];
    let some = done(at, &[&small[..], &["--rung=paper,loop"]].concat());
    assert!(some.contains("the paper's method") && !some.contains("pruning"), "{some}");
    let file = at.join("here/ladder.csv");
    let first = fs::read_to_string(&file).expect("a table");
    let rows: Vec<&str> = first.lines().collect();
    assert_eq!(rows.len(), 3);
    let measured = |row: &str| row.split(',').skip(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(measured(rows[1]), measured(rows[2]), "the loop changes no model of a log");
    let text = done(at, &[&small[..], &["--rung=paper,loop,test,check", "--json"]].concat());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let rungs = value["rungs"].as_array().expect("a list");
    assert_eq!(rungs.len(), 4);
    for rung in rungs {
        for column in ["aim_attention", "aim_effect", "aim_error", "marine_error"] {
            let number = rung[column][0].as_f64().expect(column);
            assert!(number > 0.0, "{rung}");
        }
        assert_eq!(rung["cart_pole_return"], Value::Array(Vec::new()), "no policy was trained");
    }
    let again = fs::read_to_string(&file).expect("a table");
    assert!(again.starts_with(&first), "what was measured stays");
}

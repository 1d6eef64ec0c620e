//! `becausal discover`: the graph it prints, writes and draws, and what it refuses.

use std::fs;

use crate::common::{SCHEMA, assert_golden, done, folder, refused};

#[test]
fn a_graph_is_discovered_shown_and_written() {
    let folder = folder();
    done(folder.path(), &["collect", "Vacuum-v0", "-n", "1500", "-o", "data.csv", "--seed", "5"]);
    let arguments = ["discover", "data.csv", "-o", "graph.json", "--by-action"];
    assert_golden("discover.txt", &done(folder.path(), &arguments));
    let text = fs::read_to_string(folder.path().join("graph.json")).expect("a graph");
    assert_golden("graph.json", &text);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["method"], "auto");
    assert_eq!(value["rows"], 1500);
    assert_eq!(value["edges"].as_array().map(Vec::len), Some(16));
    assert_eq!(value["action_edges"].as_array().map(Vec::len), Some(36));
    let again =
        ["discover", "data.csv", "-o", "again.json", "--by-action", "--threads", "1", "--json"];
    let value: serde_json::Value =
        serde_json::from_str(&done(folder.path(), &again)).expect("JSON");
    assert_eq!(value["interrupted"], false);
    assert_eq!(text, fs::read_to_string(folder.path().join("again.json")).expect("a graph"));
}

#[test]
fn a_graph_takes_what_a_person_knows_and_says_how_sure_it_is() {
    let folder = folder();
    done(folder.path(), &["collect", "Vacuum-v0", "-n", "600", "-o", "data.csv", "--seed", "5"]);
    let arguments = [
        "discover",
        "data.csv",
        "-o",
        "graph.json",
        "--method",
        "fcit",
        "--eta",
        "0.1",
        "--correct",
        "bh",
        "--bootstrap",
        "2",
        "--require",
        "clean_2 -> clean_1'",
        "--forbid",
        "a->position'",
    ];
    let text = done(folder.path(), &arguments);
    assert!(text.contains("by fcit (eta 0.1)"), "{text}");
    assert!(text.contains("required") && text.contains("confidence"), "{text}");
    assert!(text.contains("adjusted"), "{text}");
    let graph = fs::read_to_string(folder.path().join("graph.json")).expect("a graph");
    let graph = becausal::CausalGraph::from_json(&graph).expect("a graph");
    assert!(graph.parents("clean_1'").contains(&"clean_2"));
    assert!(!graph.parents("position'").contains(&"a"));
}

#[test]
fn data_that_cannot_tell_is_named() {
    let folder = folder();
    fs::write(folder.path().join("schema.toml"), SCHEMA).expect("written");
    fs::write(folder.path().join("data.csv"), "height,engine,height'\n1,up,2\n").expect("written");
    let arguments =
        ["discover", "data.csv", "--schema", "schema.toml", "-o", "graph.json", "--method", "auto"];
    let text = done(folder.path(), &arguments);
    assert!(text.contains("no edges"), "{text}");
    assert!(text.contains("too few rows: 1 row in all"), "{text}");
}

#[test]
fn a_wrong_discovery_is_refused() {
    let folder = folder();
    done(folder.path(), &["collect", "Vacuum-v0", "-n", "60", "-o", "data.csv"]);
    let mut start = vec!["discover", "data.csv", "-o", "graph.json"];
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--method", "magic"], 2, "invalid value 'magic'"),
        (&["--eta", "2"], 2, "eta is 2, expected a number from 0 to 1"),
        (&["--require", "a"], 2, "expected CAUSE->EFFECT"),
        (&["--require", "positon->clean_1'"], 2, "did you mean `position`?"),
        (&["--forbid", "a->clean_1"], 2, "there is no effect `clean_1`"),
        (&["--require", "a->clean_1'", "--forbid", "a->clean_1'"], 2, "required and forbidden"),
        (&["--direct"], 2, "--by-action"),
        (&["--correct", "magic"], 2, "invalid value 'magic'"),
        (&["--schema", "CartPole-v1"], 1, "the columns do not fit the schema"),
    ];
    for (more, code, expected) in cases {
        let length = start.len();
        start.extend(more);
        let errors = refused(folder.path(), &start, code);
        assert!(errors.contains(expected), "{more:?}\n  expected: {expected}\n  got: {errors}");
        start.truncate(length);
    }
    let errors = refused(folder.path(), &["discover", "data.csv", "-o", "no/graph.json"], 1);
    assert!(errors.contains("no/graph.json: cannot write: the folder does not exist"), "{errors}");
    let errors = refused(folder.path(), &["discover", "none.csv", "-o", "graph.json"], 1);
    assert!(errors.contains("none.csv: cannot open"), "{errors}");
    assert!(!folder.path().join("graph.json").exists());
}

#[test]
fn a_discovered_graph_can_be_drawn() {
    let folder = folder();
    done(folder.path(), &["collect", "Vacuum-v0", "-n", "1500", "-o", "data.parquet"]);
    let draw = |name: &str| {
        let arguments = [
            "discover",
            "data.parquet",
            "-o",
            "graph.json",
            "--by-action",
            "--quiet",
            "--picture",
            name,
        ];
        done(folder.path(), &arguments);
        fs::read(folder.path().join(name)).expect("a picture")
    };
    assert!(draw("graph.svg").starts_with(b"<svg "));
    assert!(draw("graph.png").starts_with(b"\x89PNG"));
    assert!(draw("graph.dot").starts_with(b"digraph"));
    for action in ["left", "right", "suck"] {
        assert!(folder.path().join(format!("graph.{action}.svg")).exists(), "{action}");
    }
    let arguments = ["discover", "data.parquet", "-o", "graph.json", "--picture", "graph.gif"];
    let errors = refused(folder.path(), &arguments, 2);
    assert!(errors.contains("expected a name that ends in .svg, .png or .dot"), "{errors}");
}

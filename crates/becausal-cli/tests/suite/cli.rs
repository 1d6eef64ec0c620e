//! The program as a person meets it: what it prints, what it refuses, and its exit codes.

use std::fs;

use crate::common::{SCHEMA, assert_golden, done, folder, refused};

const IDS: [&str; 6] = [
    "AimTest-v0",
    "BuildMarine-v0",
    "CartPole-v1",
    "LunarLander-v3",
    "LunarLanderContinuous-v3",
    "Vacuum-v0",
];

// ---- what it prints -----------------------------------------------------------------------

#[test]
fn envs_lists_and_shows_environments() {
    let folder = folder();
    assert_golden("envs.txt", &done(folder.path(), &["envs"]));
    for id in IDS {
        assert_golden(&format!("envs-{id}.txt"), &done(folder.path(), &["envs", id]));
    }
    assert_golden("envs-Vacuum-v0.json", &done(folder.path(), &["envs", "Vacuum-v0", "--json"]));
}

#[test]
fn help_teaches_every_command() {
    let folder = folder();
    assert_golden("help.txt", &done(folder.path(), &["--help"]));
    for command in
        ["envs", "check", "collect", "replay", "discover", "fit", "train", "explain", "audit"]
    {
        let help = done(folder.path(), &[command, "--help"]);
        assert!(help.contains("Examples:"), "{command}");
        assert_golden(&format!("help-{command}.txt"), &help);
    }
}

#[test]
fn the_schema_of_an_environment_can_be_taken_as_a_start() {
    let folder = folder();
    for id in IDS {
        let schema = done(folder.path(), &["envs", id, "--schema"]);
        fs::write(folder.path().join("schema.toml"), &schema).expect("written");
        let text = done(folder.path(), &["check", "schema.toml"]);
        assert!(text.starts_with("schema.toml is right."), "{text}");
    }
}

#[test]
fn collected_data_is_checked_and_described() {
    let folder = folder();
    let arguments = ["collect", "Vacuum-v0", "-n", "300", "-o", "data.csv", "--seed", "5"];
    assert_golden("collect.txt", &done(folder.path(), &arguments));
    assert_golden("check.txt", &done(folder.path(), &["check", "Vacuum-v0", "data.csv"]));
    let json = done(folder.path(), &["check", "Vacuum-v0", "data.csv", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["data"]["rows"], 300);
    assert_eq!(value["data"]["rows_with_another_reward"], 0);
    assert_eq!(value["schema"]["name"], "Vacuum-v0");
    // The first line and row of the file are part of the contract.
    let text = fs::read_to_string(folder.path().join("data.csv")).expect("data");
    let first = text.lines().next().expect("a line");
    assert_eq!(
        first,
        "episode,position,clean_1,clean_2,a,failure,position',clean_1',clean_2',reward,terminated,truncated"
    );
}

#[test]
fn results_as_json_are_one_object() {
    let folder = folder();
    let arguments = ["collect", "CartPole-v1", "-n", "100", "-o", "data.npz", "--json", "--quiet"];
    let value: serde_json::Value =
        serde_json::from_str(&done(folder.path(), &arguments)).expect("JSON");
    assert_eq!(value["rows"], 100);
    assert_eq!(value["environment"], "CartPole-v1");
    let all: serde_json::Value =
        serde_json::from_str(&done(folder.path(), &["envs", "--json"])).expect("JSON");
    assert_eq!(all["environments"].as_array().map(Vec::len), Some(IDS.len()));
}

// ---- the same bytes -----------------------------------------------------------------------

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() {
    let folder = folder();
    for id in IDS {
        let rows = "2000";
        for ending in ["csv", "parquet", "npz"] {
            let mut files = Vec::new();
            for threads in ["1", "2", "3"] {
                let name = format!("data{threads}.{ending}");
                done(
                    folder.path(),
                    &["collect", id, "-n", rows, "-o", &name, "--seed", "9", "--threads", threads],
                );
                files.push(fs::read(folder.path().join(name)).expect("data"));
            }
            assert!(files[0] == files[1] && files[1] == files[2], "{id} as {ending}");
            done(folder.path(), &["collect", id, "-n", rows, "-o", "other.csv", "--seed", "10"]);
            assert_ne!(files[0], fs::read(folder.path().join("other.csv")).expect("data"));
        }
    }
}

#[test]
fn a_replay_takes_actions_in_many_forms() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("labels.txt"), "left\nright\n\n# a comment\nleft\n").expect("written");
    fs::write(path("indices.txt"), "0\n1\n0\n").expect("written");
    fs::write(path("named.txt"), "push=left\npush=right\npush=left\n").expect("written");
    fs::write(path("table.csv"), "step,push\n1,left\n2,right\n3,left\n").expect("written");
    let mut results = Vec::new();
    let mut replay = |actions: &str| {
        let arguments =
            ["replay", "CartPole-v1", "--seed", "42", "--actions", actions, "-o", "out.csv"];
        done(folder.path(), &arguments);
        results.push(fs::read_to_string(path("out.csv")).expect("data"));
    };
    for actions in ["labels.txt", "indices.txt", "named.txt", "table.csv"] {
        replay(actions);
    }
    // What was recorded can be replayed.
    for ending in ["csv", "parquet", "npz"] {
        let name = format!("record.{ending}");
        done(
            folder.path(),
            &["replay", "CartPole-v1", "--seed", "42", "--actions", "labels.txt", "-o", &name],
        );
        replay(&name);
    }
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    assert_eq!(results[0].lines().count(), 4);
}

#[test]
fn the_last_state_of_a_replay_can_be_drawn() {
    let folder = folder();
    fs::write(folder.path().join("actions.txt"), "main\nmain\n").expect("written");
    let replay = |id: &'static str| {
        ["replay", id, "--actions", "actions.txt", "-o", "out.csv", "--scene", "scene.svg"]
    };
    done(folder.path(), &replay("LunarLander-v3"));
    let scene = fs::read_to_string(folder.path().join("scene.svg")).expect("a scene");
    assert!(scene.starts_with("<svg") && scene.ends_with("</svg>\n"));
    fs::write(folder.path().join("actions.txt"), "left\n").expect("written");
    done(folder.path(), &replay("CartPole-v1"));
    let scene = fs::read_to_string(folder.path().join("scene.svg")).expect("a scene");
    assert!(scene.starts_with("<svg") && scene.ends_with("</svg>\n"));
    let errors = refused(folder.path(), &replay("Vacuum-v0"), 2);
    assert!(errors.contains("Vacuum-v0 cannot be drawn: leave out --scene"), "{errors}");
}

#[test]
fn a_replay_knows_no_time_limit_and_stops_at_the_end() {
    let folder = folder();
    let actions = folder.path().join("actions.txt");
    fs::write(&actions, "left\n".repeat(100)).expect("written");
    let arguments =
        ["replay", "CartPole-v1", "--seed", "1", "--actions", "actions.txt", "-o", "out.csv"];
    let text = done(folder.path(), &arguments);
    assert!(text.contains("the episode ended after"), "{text}");
    fs::write(&actions, "none\n".repeat(60)).expect("written");
    let arguments = [
        "replay",
        "BuildMarine-v0",
        "--actions",
        "actions.txt",
        "-o",
        "out.csv",
        "--env-option",
        "max_episode_steps=5",
    ];
    let text = done(folder.path(), &arguments);
    assert!(text.contains("the episode ended after 54 of 60 actions"), "{text}");
}

// ---- what it refuses ----------------------------------------------------------------------

#[test]
fn a_wrong_command_line_is_refused_with_2() {
    let folder = folder();
    let cases: [(&[&str], &str); 13] = [
        (&[], "Usage: becausal"),
        (&["colect"], "'collect'"),
        (&["envs", "cartpole"], "unknown environment `cartpole` (did you mean `CartPole-v1`?)"),
        (&["envs", "Banana"], "`becausal envs` lists all environments"),
        (
            &["collect", "CartPole", "-n", "5", "-o", "d.csv"],
            "unknown environment `CartPole` (did you mean `CartPole-v1`?)",
        ),
        (
            &["collect", "CartPole-v1", "-n", "0", "-o", "d.csv"],
            "invalid value '0' for '--rows <N>'",
        ),
        (&["collect", "CartPole-v1", "-n", "5"], "--output <DATA>"),
        (
            &["collect", "CartPole-v1", "-n", "5", "-o", "d.xlsx"],
            "d.xlsx: unknown format: expected a name that ends in .csv, .parquet or .npz",
        ),
        (
            &["collect", "CartPole-v1", "-n", "5", "-o", "d.csv", "--env-option", "wind"],
            "expected NAME=VALUE",
        ),
        (
            &["collect", "CartPole-v1", "-n", "5", "-o", "d.csv", "--env-option", "wind=1"],
            "option `wind`: there is no such option",
        ),
        (
            &[
                "collect",
                "CartPole-v1",
                "-n",
                "5",
                "-o",
                "d.csv",
                "--env-option",
                "max_episode_steps=-1",
            ],
            "expected a positive whole number, got `-1`",
        ),
        (&["collect", "CartPole-v1", "-n", "5", "-o", "d.csv", "--seed", "-1"], "--seed"),
        (&["envs", "--threads", "0"], "invalid value '0' for '--threads <N>'"),
    ];
    for (arguments, expected) in cases {
        let errors = refused(folder.path(), arguments, 2);
        assert!(
            errors.contains(expected),
            "{arguments:?}\n  expected: {expected}\n  got: {errors}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing was written");
}

#[test]
fn a_wrong_schema_is_refused_with_its_place() {
    let folder = folder();
    let cases = [
        (
            "kind = \"continuous\"",
            "kind = \"continous\"",
            "schema.toml:4:19: unknown kind `continous`",
        ),
        (
            "kind = \"continuous\"",
            "knid = \"continuous\"",
            "schema.toml:4:12: unknown key `knid` of a variable",
        ),
        ("height' - height", "height' - heigth", "schema.toml:10:21: unknown variable `heigth`"),
        ("height' - height", "height' - (engine == up)", "expected a number, got a boolean"),
        ("[action]", "[acton]", "schema.toml:6:2: unknown key `acton` in a schema"),
        ("[action]", "[action", "not TOML"),
    ];
    for (from, to, expected) in cases {
        fs::write(folder.path().join("schema.toml"), SCHEMA.replacen(from, to, 1))
            .expect("written");
        let errors = refused(folder.path(), &["check", "schema.toml"], 1);
        assert!(errors.contains(expected), "expected: {expected}\n  got: {errors}");
        assert!(errors.contains("schema.toml:"), "the place is shown: {errors}");
    }
    let broken = SCHEMA
        .replace("continuous", "continous")
        .replace("- height", "- heigth")
        .replace("labels", "label");
    fs::write(folder.path().join("schema.toml"), broken).expect("written");
    assert_golden("mistakes.txt", &refused(folder.path(), &["check", "schema.toml"], 1));
    let errors = refused(folder.path(), &["check", "nowhere.toml"], 1);
    assert!(errors.contains("nowhere.toml: cannot read the schema: No such file"), "{errors}");
    fs::write(folder.path().join("schema.toml"), [0xff, 0xfe, 0x00]).expect("written");
    refused(folder.path(), &["check", "schema.toml"], 1);
}

#[test]
fn wrong_data_is_refused_with_row_and_column() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("schema.toml"), SCHEMA).expect("written");
    let cases: [(&str, &str); 13] = [
        ("", "the file is empty"),
        ("height,engine,height'\n", "the file has no rows of data"),
        ("height,height'\n1,2\n", "column `engine` is missing (categorical action)"),
        (
            "height,engine,height',hieght\n1,up,2,3\n",
            "column `hieght` is not in the schema (did you mean `height`?)",
        ),
        (
            "height,engine,height',height\n1,up,2,3\n",
            "column `height` appears twice (columns 1 and 4)",
        ),
        (
            "height,engine,height'\n1,up,2\nlow,up,2\n",
            "row 2 (line 3), column `height`: expected a number, got the text \"low\"",
        ),
        (
            "height,engine,height'\n1,down,2\n",
            "row 1 (line 2), column `engine`: unknown label \"down\" (expected one of `off`, `up`)",
        ),
        (
            "height,engine,height'\n1,up,nan\n",
            "cells are empty or NaN, the first in row 1 (index 0); by column: height' 1",
        ),
        (
            "height,engine,height'\n1,up,inf\n",
            "row 1 (line 2), column `height'`: inf is not a finite number",
        ),
        (
            "height,engine,height'\n1,up,1e999\n",
            "row 1 (line 2), column `height'`: inf is not a finite number",
        ),
        ("height,engine,height'\n1,up\n", "line 2 has 2 fields, expected 3"),
        ("height,engine,height'\n1,,2\n", "the first in row 1 (index 0); by column: engine 1"),
        ("height,engine\n1,up\n2,up\n", "cannot tell which rows follow each other"),
    ];
    for (text, expected) in cases {
        fs::write(path("data.csv"), text).expect("written");
        let errors = refused(folder.path(), &["check", "schema.toml", "data.csv"], 1);
        assert!(
            errors.contains("data.csv") && errors.contains(expected),
            "expected: {expected}\n  got: {errors}"
        );
    }
    let errors = refused(folder.path(), &["check", "schema.toml", "none.csv"], 1);
    assert!(errors.contains("none.csv: cannot open: No such file"), "{errors}");

    for ending in ["parquet", "npz"] {
        let name = format!("data.{ending}");
        done(folder.path(), &["collect", "CartPole-v1", "-n", "50", "-o", &name]);
        let bytes = fs::read(path(&name)).expect("data");
        fs::write(path(&name), &bytes[..bytes.len() / 2]).expect("cut");
        let errors = refused(folder.path(), &["check", "CartPole-v1", &name], 1);
        assert!(errors.contains(&format!("{name}: damaged or not a")), "{errors}");
        fs::write(path(&name), b"").expect("emptied");
        let errors = refused(folder.path(), &["check", "CartPole-v1", &name], 1);
        assert!(errors.contains("damaged or not a"), "{errors}");
    }
}

#[test]
fn a_reward_that_is_not_finite_is_named() {
    let folder = folder();
    let schema = SCHEMA.replace("height' - height", "log(height)");
    fs::write(folder.path().join("schema.toml"), schema).expect("written");
    fs::write(folder.path().join("data.csv"), "height,engine,height'\n1,up,0\n0,up,1\n")
        .expect("written");
    let errors = refused(folder.path(), &["check", "schema.toml", "data.csv"], 1);
    assert!(
        errors.contains("the reward \"rise\" is -inf in row 2 (index 1): log(height)"),
        "{errors}"
    );
}

#[test]
fn wrong_actions_are_refused_with_their_line() {
    let folder = folder();
    let cases = [
        (
            "left\nrigth\n",
            "row 2 (line 2), column `push`: \"rigth\" is not an action: `push`: unknown label \"rigth\" (did you mean `right`?)",
        ),
        ("push\nleft\n7\n", "row 2 (line 3), column `push`: 7 is not the index of a label"),
        ("", "the file has no rows of data"),
        ("left,right\n", "too many values, expected 1 (push)"),
    ];
    for (text, expected) in cases {
        fs::write(folder.path().join("actions.txt"), text).expect("written");
        let arguments = ["replay", "CartPole-v1", "--actions", "actions.txt", "-o", "out.csv"];
        let errors = refused(folder.path(), &arguments, 1);
        assert!(errors.contains(expected), "expected: {expected}\n  got: {errors}");
    }
    let arguments = ["replay", "CartPole-v1", "--actions", "none.txt", "-o", "out.csv"];
    assert!(refused(folder.path(), &arguments, 1).contains("none.txt: cannot open"));
    assert!(!folder.path().join("out.csv").exists());
}

#[test]
fn an_unwritable_output_is_refused_before_any_work() {
    let folder = folder();
    fs::create_dir(folder.path().join("taken.csv")).expect("a folder");
    let cases = [
        (
            "/no/such/folder/data.csv",
            "/no/such/folder/data.csv: cannot write: the folder does not exist",
        ),
        ("taken.csv", "taken.csv: cannot write: there is a folder of this name"),
        ("/proc/data.csv", "/proc/data.csv: cannot write"),
    ];
    for (output, expected) in cases {
        // So many rows that the test would not end if they were collected first.
        let arguments = ["collect", "BuildMarine-v0", "-n", "1000000000", "-o", output];
        let errors = refused(folder.path(), &arguments, 1);
        assert!(errors.contains(expected), "expected: {expected}\n  got: {errors}");
    }
}

#[test]
fn an_older_file_is_replaced_whole_or_not_at_all() {
    let folder = folder();
    let path = folder.path().join("data.csv");
    fs::write(&path, "old").expect("written");
    // The process dies in the middle of the work.
    let program = assert_cmd::cargo::cargo_bin("becausal");
    let mut child = std::process::Command::new(program)
        .current_dir(folder.path())
        .args(["collect", "BuildMarine-v0", "-n", "100000000", "-o", "data.csv", "--quiet"])
        .spawn()
        .expect("it runs");
    let part = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".part");
    let begun = || fs::read_dir(folder.path()).expect("a folder").flatten().any(part);
    while !begun() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_eq!(fs::read_to_string(&path).expect("still there"), "old");
    done(folder.path(), &["collect", "BuildMarine-v0", "-n", "10", "-o", "data.csv"]);
    assert!(fs::read_to_string(&path).expect("there").starts_with("episode,workers"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let program = assert_cmd::cargo::cargo_bin("becausal");
    let mut child = std::process::Command::new(program)
        .args(["envs"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

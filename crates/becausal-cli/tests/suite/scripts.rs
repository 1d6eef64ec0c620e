//! What a script can rely on: JSON, exit codes, and nothing lost in silence.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{done, folder, refused, run};
use crate::limits::{hover, hover_run};

/// The one JSON object that a failed command prints, and nothing else.
fn failed(at: &Path, arguments: &[&str], code: i32) -> Value {
    let output = run(at, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(value["error"]["exit_code"], code, "{value}");
    value["error"].clone()
}

fn object(at: &Path, arguments: &[&str]) -> Value {
    let value: Value = serde_json::from_str(&done(at, arguments)).expect("one JSON object");
    assert!(value.is_object(), "{value}");
    value
}

#[test]
fn a_failure_is_one_json_object_on_standard_output() {
    let folder = hover();
    let at = folder.path();
    let error = failed(at, &["check", "nothing.toml", "--json"], 1);
    assert_eq!(error["kind"], "failed");
    assert!(error["message"].as_str().is_some_and(|text| text.starts_with("nothing.toml: cannot")));
    let error = failed(at, &["--json", "explain", "run", "--stepp", "3"], 2);
    assert_eq!(error["kind"], "usage");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("--stepp")), "{error}");
    failed(at, &["explain", "run", "--json"], 2);
    failed(at, &["collect", "CartPole-v1", "-n", "0", "-o", "x.csv", "--json"], 2);
    failed(at, &["discover", "log.csv", "--json", "-o", "nowhere/graph.json"], 1);
    // People still get words on standard error.
    assert!(refused(at, &["check", "nothing.toml"], 1).starts_with("error: nothing.toml: cannot"));
}

#[test]
fn json_is_printed_whatever_else_is_written_or_drawn() {
    let folder = hover_run();
    let at = folder.path();
    let ask = ["explain", "run", "--step", "3", "--json", "--what-if", "height=2"];
    let plain = object(at, &ask);
    let drawn = object(at, &[&ask[..], &["-o", "why.svg"]].concat());
    assert_eq!(drawn["sentence"], plain["sentence"]);
    assert_eq!((&drawn["file"], &drawn["format"]), (&"why.svg".into(), &"svg".into()));
    assert!(fs::read_to_string(at.join("why.svg")).expect("a picture").starts_with("<svg"));
    let shown = object(at, &[&ask[..], &["--format", "dot"]].concat());
    assert!(shown["content"].as_str().is_some_and(|text| text.starts_with("digraph")), "{shown}");
    let written = object(at, &[&ask[..], &["-o", "why.json"]].concat());
    let file: Value =
        serde_json::from_str(&fs::read_to_string(at.join("why.json")).expect("a file"))
            .expect("JSON");
    assert_eq!((&file, &written["file"]), (&plain, &"why.json".into()));
    let schema = object(at, &["envs", "Vacuum-v0", "--schema", "--json"]);
    assert!(schema["schema"].as_str().is_some_and(|text| text.starts_with("name = \"Vacuum-v0\"")));
    assert!(object(at, &["envs", "--json"])["environments"].is_array());
}

#[test]
fn the_caveats_of_a_contrast_are_in_its_json() {
    let folder = hover_run();
    let at = folder.path();
    let ask = ["explain", "run", "--step", "3", "--what-if", "height=200"];
    let text = done(at, &ask);
    let value = object(at, &[&ask[..], &["--json"]].concat());
    let caveats = value["against"].as_array().expect("caveats");
    for words in ["outside the data", "the policy is not known"] {
        assert!(text.contains(words), "{text}");
        let has = caveats.iter().any(|caveat| caveat.as_str().is_some_and(|c| c.contains(words)));
        assert!(has, "{words}: {caveats:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_a_failure() {
    use std::process::Command;
    let program = assert_cmd::cargo::cargo_bin(crate::PROGRAM);
    for arguments in
        [&["envs"][..], &["envs", "--json"], &["envs", "Nothing", "--json"], &["--help"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = Command::new(&program).args(arguments).stdout(full).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        // A pipe that nobody reads.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            Command::new(&program).args(arguments).stdout(writer).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.is_empty(), "{errors}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let output = Command::new(&program).arg("envs").stdout(full).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("error: cannot write the result to standard output: "), "{errors}");
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_has_to_listen_to_the_progress() {
    use std::process::Command;
    let folder = hover_run();
    let program = assert_cmd::cargo::cargo_bin(crate::PROGRAM);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(program)
        .current_dir(folder.path())
        .args(["report", "run", "-o", "report.html", "--steps", "2", "--json"])
        .stderr(writer)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
}

#[test]
fn usage_mistakes_say_what_was_expected() {
    let folder = hover_run();
    let at = folder.path();
    let explain = ["explain", "run", "--step", "3"];
    let with = |more: &[&'static str]| [&explain[..], more].concat();
    let errors = refused(at, &with(&["--what-if", "height"]), 2);
    assert!(errors.contains("`height` is a state variable, expected height=VALUE"), "{errors}");
    let errors = refused(at, &with(&["--what-if", "banana"]), 2);
    assert!(errors.contains("is not an action"), "{errors}");
    let value = object(at, &with(&["--json"]));
    let taken = value["trajectory"][0]["action"]["engine"].as_str().expect("a label").to_owned();
    let errors = refused(at, &["explain", "run", "--step", "3", "--why-not", &taken], 2);
    assert!(
        errors.contains(&format!("the action taken is {taken}: there is nothing to compare")),
        "{errors}"
    );
    let train = ["train", "CartPole-v1", "-o", "t", "--config", "run/config.toml"];
    let errors = refused(at, &train, 2);
    assert!(
        errors.contains("run/config.toml: is the record of a run, expected settings"),
        "{errors}"
    );
    for more in [["--seed", "3"], ["--env-option", "max_episode_steps=9"]] {
        let errors =
            refused(at, &[&["train", "CartPole-v1", "-o", "t", "--resume"][..], &more].concat(), 2);
        assert!(
            errors.contains("'--resume' cannot be used with") && errors.contains(more[0]),
            "{errors}"
        );
    }
}

#[test]
fn a_training_without_a_last_fit_has_no_model_and_says_so() {
    let folder = folder();
    let at = folder.path();
    let train = ["train", "CartPole-v1", "-o", "run", "--model", "none", "--steps", "400", "-q"];
    let settings = [
        "--set",
        "final_fit_steps=0",
        "--set",
        "samples=200",
        "--set",
        "evaluation_episodes=1",
        "--set",
        "final_episodes=1",
    ];
    let text = done(at, &[&train[..], &settings].concat());
    assert!(text.contains("there is no world model to explain it with"), "{text}");
    assert!(text.contains("in 1 new episode:"), "{text}");
    for command in [
        &["explain", "run", "--step", "0"][..],
        &["audit", "run"],
        &["report", "run", "-o", "r.html"],
    ] {
        let errors = refused(at, command, 1);
        assert!(
            errors.contains("this run has no world model: its training fitted none"),
            "{errors}"
        );
    }
    // What the text says next can be done.
    let next =
        text.lines().find_map(|line| line.strip_prefix("Next: becausal ")).expect("a command");
    assert_eq!(next, "collect CartPole-v1 -n 10000 -o played.parquet --policy run");
}

#[test]
fn one_is_not_many() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("actions.txt"), "left\n").expect("written");
    let replay =
        ["replay", "CartPole-v1", "--seed", "1", "--actions", "actions.txt", "-o", "one.csv"];
    assert!(done(at, &replay).contains("1 transition of CartPole-v1 in 1 episode"));
    let text = done(at, &["check", "CartPole-v1", "one.csv"]);
    assert!(text.contains("1 transition in 1 episode") && !text.contains("1 rows"), "{text}");
    let errors = refused(at, &["fit", "one.csv", "-o", "run"], 1);
    assert!(errors.contains("got 1 row in 1 episode") || errors.contains("1 row"), "{errors}");
    assert!(!errors.contains("1 rows"), "{errors}");
}

#[test]
fn the_line_of_a_mistake_is_right_in_files_of_windows() {
    let folder = hover();
    let at = folder.path();
    let cases = [
        ("a.csv", "episode,height,engine\r\n0,1,up\r\n0,x,up\r\n", "row 2 (line 3)"),
        ("b.csv", "episode,height,engine\n0,1,up\n0,x,up\n", "row 2 (line 3)"),
        (
            "c.csv",
            "\u{feff}episode,height,engine\r\n\r\n0,1,up\r\n\r\n0,x,up\r\n",
            "row 2 (line 5)",
        ),
        ("d.csv", "episode,height,engine\r\n\"0\",1,\"up\"\r\n0,1\r\n", "line 3 has 2 fields"),
        ("e.csv", "episode,height,engine\r\n0\r\n", "line 2 has 1 field,"),
    ];
    for (name, text, place) in cases {
        fs::write(at.join(name), text).expect("written");
        let errors = refused(at, &["check", "schema.toml", name], 1);
        assert!(errors.contains(place), "{name}: {errors}");
    }
}

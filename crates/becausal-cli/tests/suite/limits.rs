//! Files and settings that are too large, never end, or hold what cannot be: a message within seconds.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{SCHEMA, done, folder, refused};

/// A folder with the schema, and a log of a few episodes.
pub fn hover() -> tempfile::TempDir {
    hover_of(SCHEMA)
}

/// The same with another schema of the same variables.
fn hover_of(schema: &str) -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("schema.toml"), schema).expect("written");
    let mut log = String::from("episode,height,engine\n");
    for episode in 0..12 {
        let mut height = f64::from(episode % 3);
        for step in 0..25 {
            let up = (7 * step + 3 * episode + step * step) % 5 < 2;
            let engine = if up { "up" } else { "off" };
            let _ = writeln!(log, "{episode},{height},{engine}");
            height += if up { 1.0 } else { -0.5 } + 0.01 * f64::from((step * episode) % 7);
        }
    }
    fs::write(folder.path().join("log.csv"), log).expect("written");
    folder
}

/// The same with a small run.
pub fn hover_run() -> tempfile::TempDir {
    let folder = hover();
    fit(folder.path());
    folder
}

fn fit(at: &Path) {
    let log = ["fit", "log.csv", "--schema", "schema.toml", "-o", "run", "-q"];
    done(at, &[&log[..], &["--members", "1", "--steps", "20"]].concat());
}

// ---- numbers that cannot be ----------------------------------------------------------------------

#[test]
fn a_reward_that_overflows_is_named_instead_of_a_difference_of_nan() {
    let folder = hover_of(&SCHEMA.replace("height' - height", "exp(1000 * abs(height')) - height"));
    let at = folder.path();
    fit(at);
    for question in [&["--why-not", "up"][..], &["--what-if", "height=3"], &[]] {
        let ask = [&["explain", "run", "--episode", "1", "--step", "9"][..], question].concat();
        let errors = refused(at, &ask, 1);
        assert!(
            errors.contains("the reward \"rise\" (exp(1000 * abs(height')) - height) is inf"),
            "{errors}"
        );
        assert!(!errors.contains("NaN"), "{errors}");
    }
}

#[test]
fn a_change_that_no_model_knows_is_refused() {
    let folder = hover_run();
    let ask = ["explain", "run", "--step", "3", "--what-if", "height=1e300"];
    let errors = refused(folder.path(), &ask, 2);
    assert!(
        errors.contains("`height` = 1e300 is ") && errors.contains("outside the data"),
        "{errors}"
    );
    for number in ["nan", "inf"] {
        let change = format!("height={number}");
        refused(folder.path(), &["explain", "run", "--step", "3", "--what-if", &change], 2);
    }
}

#[test]
fn edited_numbers_of_a_model_are_refused_and_a_model_without_a_seal_is_read() {
    let folder = hover_run();
    let at = folder.path();
    let file = at.join("run/world-model/manifest.json");
    let text = fs::read_to_string(&file).expect("a manifest");
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mean = manifest["normalisation"]["inputs"][0][0].as_f64().expect("a mean");
    manifest["normalisation"]["inputs"][0][0] = (mean + 1.0).into();
    fs::write(&file, manifest.to_string()).expect("written");
    let errors = refused(at, &["explain", "run", "--step", "3"], 1);
    assert!(errors.contains("has numbers that do not belong to its weights"), "{errors}");
    // As a program wrote it that did not seal its numbers yet.
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest.as_object_mut().expect("an object").remove("fields_checksum").expect("a seal");
    fs::write(&file, manifest.to_string()).expect("written");
    done(at, &["explain", "run", "--step", "3"]);
}

#[test]
fn an_edited_verdict_and_a_graph_of_other_variables_are_refused() {
    let folder = hover_run();
    let at = folder.path();
    let file = at.join("run/graph.json");
    let text = fs::read_to_string(&file).expect("a graph");
    let edited = text.replacen("\"verdict\":\"edge\"", "\"verdict\":\"none\"", 1);
    assert_ne!(edited, text);
    fs::write(&file, edited).expect("written");
    let errors = refused(at, &["explain", "run", "--step", "3"], 1);
    assert!(errors.contains("has the verdict `none`, but its evidence"), "{errors}");
    fs::write(at.join("other.json"), text.replace("height", "depth")).expect("written");
    let log = ["fit", "log.csv", "--schema", "schema.toml", "--graph", "other.json", "-o", "new"];
    let errors = refused(at, &log, 1);
    assert!(errors.contains("the graph names `depth`"), "{errors}");
}

// ---- limits ----------------------------------------------------------------------------------------

#[test]
fn what_does_not_fit_into_the_memory_is_refused_before_it_is_read() {
    let folder = folder();
    let at = folder.path();
    for ending in ["csv", "parquet", "npz"] {
        let name = format!("data.{ending}");
        done(at, &["collect", "CartPole-v1", "-n", "20000", "-o", &name, "-q"]);
        let errors = refused(at, &["check", "CartPole-v1", &name, "--memory", "500k"], 1);
        assert!(
            errors.contains("of memory are needed, but at most 500 kB may be used"),
            "{errors}"
        );
        assert!(errors.contains("--memory SIZE"), "{errors}");
    }
    let errors = refused(at, &["discover", "data.npz", "-o", "g.json", "--memory", "2600k"], 1);
    assert!(errors.contains("the discovery: about "), "{errors}");
    let fit = ["fit", "data.npz", "-o", "run", "--memory", "20M", "--members", "1000"];
    assert!(refused(at, &fit, 1).contains("the fit: about "));
    let train =
        ["train", "CartPole-v1", "-o", "run", "--memory", "1G", "--set", "samples=90000000"];
    assert!(refused(at, &train, 1).contains("the training: about "));
    assert!(
        refused(at, &["envs", "--memory", "much"], 2).contains("expected for instance 500M or 4G")
    );
}

#[test]
fn settings_and_threads_beyond_all_measure_are_refused() {
    let folder = hover();
    let at = folder.path();
    let cases: [(&[&str], &str); 5] = [
        (
            &["train", "CartPole-v1", "-o", "r", "--set", "samples=1000000000000"],
            "`samples` is 1000000000000, expected at most",
        ),
        (
            &["train", "CartPole-v1", "-o", "r", "--set", "members=1000000"],
            "`members` is 1000000, expected at most 1000",
        ),
        (
            &["fit", "log.csv", "--schema", "schema.toml", "-o", "r", "--members", "1000000"],
            "`members` is 1000000",
        ),
        (&["envs", "--threads", "100000"], "--threads is 100000, expected at most 1024"),
        (&["train", "CartPole-v1", "-o", "r", "--until", "nan"], "expected a finite number"),
    ];
    for (arguments, words) in cases {
        let errors = refused(at, arguments, 2);
        assert!(errors.contains(words), "{errors}");
    }
    assert!(!at.join("r").exists());
}

#[cfg(unix)]
#[test]
fn a_file_that_never_ends_is_refused() {
    let folder = hover();
    let at = folder.path();
    for name in ["endless.json", "endless.csv", "endless.toml"] {
        std::os::unix::fs::symlink("/dev/zero", at.join(name)).expect("a link");
    }
    let fit = ["fit", "log.csv", "--schema", "schema.toml", "--graph", "endless.json", "-o", "r"];
    assert!(refused(at, &fit, 1).contains("endless.json: cannot read the graph: it has more than"));
    let errors = refused(at, &["check", "schema.toml", "endless.csv"], 1);
    assert!(errors.contains("a row has more than 67 MB"), "{errors}");
    assert!(refused(at, &["check", "endless.toml"], 1).contains("it has more than 17 MB"));
    let train = ["train", "CartPole-v1", "-o", "r", "--config", "endless.toml"];
    assert!(refused(at, &train, 1).contains("it has more than 1 MB"));
}

#[test]
fn very_many_columns_and_very_long_names_are_refused_with_a_screenful() {
    let folder = hover();
    let at = folder.path();
    let mut wide = String::from("episode,height,engine");
    for column in 0..100_000 {
        let _ = write!(wide, ",c{column}");
    }
    fs::write(at.join("wide.csv"), wide).expect("written");
    let errors = refused(at, &["check", "schema.toml", "wide.csv"], 1);
    assert!(errors.contains("and 99,980 more") && errors.lines().count() < 45, "{errors}");
    let long = format!("episode,height,engine,{}\n0,1,up,2\n", "x".repeat(20_000_000));
    fs::write(at.join("long.csv"), long).expect("written");
    let errors = refused(at, &["check", "schema.toml", "long.csv"], 1);
    assert!(errors.contains("the name of column 4 is too long"), "{errors}");
    assert!(errors.len() < 1000, "{} bytes", errors.len());
    let mut many = String::from("name = \"Many\"\n[state]\n");
    for variable in 0..100_000 {
        let _ = writeln!(many, "v{variable} = {{ kind = \"continuous\" }}");
    }
    fs::write(at.join("many.toml"), &many).expect("written");
    let errors = refused(at, &["check", "many.toml"], 1);
    assert!(
        errors.contains("the schema has 100,000 variables, expected at most 5,000"),
        "{errors}"
    );
    let wrong: String =
        many.lines().take(3000).map(|line| line.replace("kind", "knd") + "\n").collect();
    fs::write(at.join("wrong.toml"), wrong).expect("written");
    let errors = refused(at, &["check", "wrong.toml"], 1);
    assert!(
        errors.contains("mistakes in the schema") && errors.contains(" more lines)"),
        "{errors}"
    );
    assert!(errors.lines().count() < 50, "{errors}");
}

#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let folder = folder();
    let at = folder.path();
    let schema = "name = \"Bell\\u0007\"\n[state]\nheight = { kind = \"continuous\", label = \"h\\u001b[31m\" }\n\
                  [action]\nengine = { kind = \"categorical\", labels = [\"of\\u001b[2Jf\", \"up\\u009b\"] }\n\
                  [reward]\n\"r\\u202e\" = \"height\"\n";
    fs::write(at.join("schema.toml"), schema).expect("written");
    let mut log = String::from("episode,height,engine\n");
    for row in 0..60 {
        let engine = if row % 3 == 0 { "of\u{1b}[2Jf" } else { "up\u{9b}" };
        let _ = writeln!(log, "{},{},{engine}", row / 10, (row * row) % 17);
    }
    fs::write(at.join("log.csv"), &log).expect("written");
    fs::write(at.join("wrong.csv"), log.replace("\n0,0,", "\n0,\u{1b}]0;x\u{7},"))
        .expect("written");
    fs::write(at.join("columns.csv"), "episode,height,engine,\u{1b}[31mred\n").expect("written");
    let is_clean =
        |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}');
    let text = done(at, &["check", "schema.toml"]);
    assert!(is_clean(&text) && text.contains("of\\u{1b}[2Jf"), "{text:?}");
    let text = done(at, &["check", "schema.toml", "log.csv"]);
    assert!(is_clean(&text), "{text:?}");
    let json = done(at, &["check", "schema.toml", "log.csv", "--json"]);
    assert!(is_clean(&json), "{json:?}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["schema"]["actions"][0]["labels"][1], "up\u{9b}");
    for file in ["wrong.csv", "columns.csv"] {
        let errors = refused(at, &["check", "schema.toml", file], 1);
        assert!(is_clean(&errors) && errors.contains("\\u{1b}"), "{errors:?}");
    }
}

#[test]
fn suggested_commands_are_quoted_and_run() {
    let folder = hover();
    let at = folder.path();
    let log = ["fit", "log.csv", "--schema", "schema.toml", "-o", "it's my run", "-q"];
    let text = done(at, &[&log[..], &["--members", "1", "--steps", "20"]].concat());
    let next =
        text.lines().find_map(|line| line.strip_prefix("Next: becausal ")).expect("a command");
    assert_eq!(next, "explain 'it'\\''s my run' --step 0");
    done(at, &["explain", "it's my run", "--step", "0"]);
    // A name that begins with a dash would be taken for an option.
    let log = ["fit", "log.csv", "--schema", "schema.toml", "--output=-run", "-q"];
    let text = done(at, &[&log[..], &["--members", "1", "--steps", "20"]].concat());
    let next = text.lines().find_map(|line| line.strip_prefix("Next: becausal ")).expect("one");
    done(at, &next.split(' ').collect::<Vec<_>>());
}

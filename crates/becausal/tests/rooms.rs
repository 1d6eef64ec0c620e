//! The house has one way through it: no room uses a room to its right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room and the rooms it may use. `random` is the cellar: everyone may draw from it.
const ROOMS: [(&str, &[&str]); 12] = [
    ("random", &[]),
    ("schema", &[]),
    ("data", &["random", "schema"]),
    ("env", &["random", "schema", "data"]),
    ("discovery", &["random", "schema", "data"]),
    ("nn", &["random"]),
    ("model", &["random", "schema", "data", "discovery", "nn"]),
    ("policy", &["random", "schema", "data", "env", "discovery", "nn", "model"]),
    ("chain", &["random", "schema", "data", "discovery", "model", "policy"]),
    ("explain", &["random", "schema", "data", "env", "discovery", "model", "policy", "chain"]),
    ("render", &["schema", "data", "discovery", "model", "chain", "explain"]),
    ("run", &["random", "schema", "data", "env", "discovery", "nn", "model", "policy"]),
];

/// The rooms that a piece of source mentions with `crate::…`, with the line.
fn uses(source: &str) -> Vec<(usize, String)> {
    // Comments may mention any room.
    let lines: Vec<&str> =
        source.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let code = lines.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or("").split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            let name = name.trim().split(word).next().unwrap_or("");
            if !name.is_empty() {
                found.push((line, name.to_owned()));
            }
        }
    }
    found
}

/// What the root of the library gives out again, and whose it is.
fn home(name: &str) -> &str {
    match name {
        "Schema" => "schema",
        "Transitions" => "data",
        "Environment" => "env",
        "CausalGraph" => "discovery",
        "Stream" | "normal_quantile" => "random",
        room => room,
    }
}

/// What is wrong with a file of a room.
fn violations(room: &str, source: &str) -> Vec<String> {
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let allowed = rooms.get(room).unwrap_or_else(|| panic!("the room `{room}` is not in the plan"));
    uses(source)
        .into_iter()
        .filter(|(_, used)| home(used) != room && !allowed.contains(&home(used)))
        .map(|(line, used)| format!("line {line}: `{room}` uses `{used}`"))
        .collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_room_uses_a_room_to_its_right() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&source, &mut paths);
    assert!(paths.len() > 20, "the sources were found");
    let mut wrong = Vec::new();
    for path in paths {
        let inside = path.strip_prefix(&source).expect("inside");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let room = first.trim_end_matches(".rs").to_owned();
        if room == "lib" {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        wrong.extend(
            violations(&room, &text).into_iter().map(|v| format!("{}: {v}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_wrong_way_is_found() {
    assert_eq!(violations("data", "use crate::schema::Schema;"), [""; 0]);
    assert_eq!(violations("data", "use crate::env::find;"), ["line 1: `data` uses `env`"]);
    assert_eq!(violations("data", "\nlet x = crate::env::find;"), ["line 2: `data` uses `env`"]);
    assert_eq!(
        violations("data", "use crate::{schema, env::find};"),
        ["line 1: `data` uses `env`"]
    );
    assert_eq!(violations("data", "use crate::{\n  env,\n};"), ["line 1: `data` uses `env`"]);
    assert_eq!(
        violations("data", "use crate::Environment;"),
        ["line 1: `data` uses `Environment`"]
    );
    assert_eq!(violations("schema", "use crate::data;"), ["line 1: `schema` uses `data`"]);
    assert_eq!(violations("schema", "// crate::env is to the right"), [""; 0]);
}

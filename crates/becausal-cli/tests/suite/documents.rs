//! The documents tell the truth: commands and options exist, and what README shows is what is printed.

#[path = "../../../becausal/examples/greenhouse.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod greenhouse;

use std::fs;
use std::path::PathBuf;

use crate::common::{done, folder};

fn document(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("Commands:\n").expect("a list of commands").1;
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Every `--option` in a text.
fn options(text: &str) -> Vec<String> {
    let letter = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = text.split(|c: char| !letter(c));
    let found = words.filter(|word| word.starts_with("--") && !word.trim_matches('-').is_empty());
    found.map(str::to_owned).collect()
}

#[test]
fn every_command_has_its_section_and_every_option_there_exists() {
    let folder = folder();
    let guide = document("docs/commands.md");
    let commands = subcommands(&done(folder.path(), &["--help"]));
    assert!(commands.len() > 10, "{commands:?}");
    // `reproduce` hands over to another program, which has its own section.
    let own = |command: &&String| *command != "help" && *command != "reproduce";
    assert!(guide.contains("\n## becausal-paper\n"));
    for command in commands.iter().filter(own) {
        let title = format!("\n## becausal {command}\n");
        let section =
            guide.split_once(&title).unwrap_or_else(|| panic!("no section of {command}")).1;
        let section = section.split("\n## ").next().unwrap_or_default();
        let help = done(folder.path(), &[command, "--help"]);
        let example = format!("    $ becausal {command}");
        assert!(section.contains(&example), "no example of {command}");
        // What an example prints may mention the options of other commands.
        let told =
            section.lines().filter(|line| !line.starts_with("    ") || line.starts_with(&example));
        for option in told.flat_map(options) {
            assert!(help.contains(&option), "{command} has no {option}");
        }
    }
}

/// The examples of a text: each command with what it prints.
fn examples(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("    $ becausal ") {
            found.push((command.to_owned(), String::new()));
            open = true;
        } else if let Some((_, printed)) = found.last_mut().filter(|_| open) {
            match line.strip_prefix("    ") {
                Some(rest) => printed.push_str(rest),
                None if line.is_empty() => {}
                None => {
                    open = false;
                    continue;
                }
            }
            printed.push('\n');
        }
    }
    found
}

/// The same words, and numbers that differ by a few per cent at most: processors multiply matrices in
/// different orders.
fn alike(shown: &str, printed: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (shown, printed) = (words(shown), words(printed));
    let bare =
        |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_owned();
    let same = |(a, b): (&String, &String)| match (bare(a).parse::<f64>(), bare(b).parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 0.01 + 0.05 * a.abs().max(b.abs()),
        _ => a == b,
    };
    shown.len() == printed.len() && shown.iter().zip(&printed).all(same)
}

/// A folder with the log and the schema of the greenhouse.
fn greenhouse_folder() -> tempfile::TempDir {
    let folder = folder();
    for name in ["schema.toml", "log.csv"] {
        let text = document(&format!("examples/greenhouse/{name}"));
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// Runs the examples of a text in a folder, and compares what they print where the text shows it.
fn run_examples(at: &std::path::Path, text: &str) -> Vec<String> {
    let all = examples(text);
    for (command, shown) in &all {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let printed = done(at, &[&arguments[..], &["-q"]].concat());
        let silent = shown.trim().is_empty();
        assert!(
            silent || alike(shown, &printed),
            "{command}\nshown:\n{shown}\nprinted:\n{printed}"
        );
    }
    all.into_iter().map(|(command, _)| command).collect()
}

#[test]
fn the_worked_example_shows_what_its_commands_print() {
    let guide = document("docs/your-own-log.md");
    let folder = greenhouse_folder();
    let schema = document("examples/greenhouse/schema.toml");
    let readme = document("README.md");
    for line in schema.lines().filter(|line| !line.is_empty()) {
        for (name, text) in [("README", &readme), ("the guide", &guide)] {
            assert!(text.contains(line), "{name} does not show `{line}`");
        }
    }
    let commands = run_examples(folder.path(), &guide);
    for command in ["check", "discover", "fit", "explain", "report"] {
        assert!(commands.iter().any(|line| line.starts_with(command)), "{command} is missing");
    }
    assert!(folder.path().join("report.html").is_file());
}

#[test]
fn the_commands_of_the_readme_run_and_its_answer_is_the_one_they_give() {
    let readme = document("README.md");
    assert!(readme.lines().count() <= 150, "README is too long");
    let section = readme.split_once("\n## Your own log").expect("the worked example").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let folder = greenhouse_folder();
    let commands = run_examples(folder.path(), section);
    assert_eq!(commands.len(), 4, "{commands:?}");
    let answer = readme.lines().find_map(|line| line.strip_prefix("> ")).expect("an answer");
    let ask = ["explain", "run", "--episode", "26", "--step", "20", "--why-not", "off", "--brief"];
    let printed = done(folder.path(), &ask);
    assert!(alike(answer, &printed), "README:\n{answer}\nprinted:\n{printed}");
    // The others take minutes: their options exist.
    for (command, _) in examples(&readme) {
        let name = command.split_whitespace().next().expect("a command");
        let help = done(folder.path(), &[name, "--help"]);
        for option in options(&command) {
            assert!(help.contains(&option), "{name} has no {option}");
        }
    }
}

#[test]
fn the_lines_of_rust_in_the_readme_are_those_of_the_doctest() {
    let readme = document("README.md");
    let library = document("crates/becausal/src/lib.rs");
    let block = readme.split_once("```rust\n").expect("a block of Rust").1;
    let block = block.split("```").next().unwrap_or_default();
    assert!(block.lines().count() >= 8);
    for line in block.lines().filter(|line| !line.is_empty()) {
        assert!(library.contains(&format!("//! {line}\n")), "not in the doctest: {line}");
    }
}

#[test]
fn the_log_of_the_greenhouse_is_that_of_its_rules() {
    assert!(document("examples/greenhouse/log.csv") == greenhouse::log(), "another log");
}

//! `becausal report` and `becausal demo`: pages that are whole, safe and the same every time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{done, folder, refused};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

/// Text that would do harm if it ever became markup.
const HOSTILE: &str = r#"</template></script><img src=x onerror="alert('x')">{{script}}"#;

/// The page as a tree. Its own style and script are no XML and are left out.
fn parsed(page: &str) -> String {
    let mut rest = page.to_owned();
    for tag in ["style", "script"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        assert_eq!(rest.matches(&open).count(), 1, "one {tag} in the page");
        let (before, after) = rest.split_once(&open).expect("it begins");
        let (_, after) = after.split_once(&close).expect("it ends");
        rest = format!("{before}{after}");
    }
    rest
}

fn document(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}"))
}

fn with<'a>(document: &'a Document<'_>, attribute: &str) -> Vec<(String, Node<'a, 'a>)> {
    let nodes = document.descendants().filter(|node| node.has_attribute(attribute));
    nodes.map(|node| (node.attribute(attribute).unwrap_or_default().to_owned(), node)).collect()
}

/// A small run of an environment, and a report on some of its steps.
fn reported(at: &Path, id: &str, steps: &str) -> String {
    done(at, &["collect", id, "-n", "400", "-o", "data.parquet", "-q"]);
    done(at, &["fit", "data.parquet", "-o", "run", "--members", "2", "--steps", "40", "-q"]);
    done(at, &["report", "run", "-o", "report.html", "--steps", steps, "--states", "4", "-q"])
}

#[test]
fn a_page_has_every_step_every_question_and_the_figures() {
    let folder = folder();
    let at = folder.path();
    let told = reported(at, "AimTest-v0", "5");
    assert!(told.starts_with("report.html: 5 steps of episode "), "{told}");
    let page = fs::read_to_string(at.join("report.html")).expect("a page");
    let text = parsed(&page);
    let document = document(&text);
    let steps = with(&document, "data-go");
    assert_eq!(steps.len(), 5);
    for (step, button) in &steps {
        let unseen = button.children().find(|part| part.attribute("class") == Some("unseen"));
        let label = unseen.and_then(|part| part.text()).expect("for screen readers");
        assert!(label.starts_with(&format!("Step {step}: a = ")), "{label}");
        let answers = with(&document, "data-step").iter().filter(|(s, _)| s == step).count();
        assert_eq!(answers, 4, "why, and why not each of three others");
    }
    let ids: Vec<String> = with(&document, "id").into_iter().map(|(id, _)| id).collect();
    for section in ["episode", "causes", "trust", "again", "moment", "answer", "told"] {
        assert_eq!(ids.iter().filter(|id| *id == section).count(), 1, "{section}");
    }
    for words in ["12 cases", "of the changes claimed", "x3&#39;"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("becausal fit data.parquet --members 2 --steps 40 -o run"));
    let outside = ["http://", "https://", "@import", "url("];
    let local = page.replace("http://www.w3.org/2000/svg", "");
    for word in outside {
        assert!(!local.contains(word), "the page reaches outside by {word}");
    }
}

#[test]
fn a_log_with_hostile_names_becomes_a_harmless_page() {
    let folder = folder();
    let at = folder.path();
    let label = HOSTILE.replace('"', ""); // a schema allows no quotes there
    let schema = format!(
        "name = {HOSTILE:?}\ndescription = {HOSTILE:?}\n[state]\n\
         height = {{ kind = \"continuous\", unit = {HOSTILE:?}, label = {HOSTILE:?} }}\n\
         [action]\nengine = {{ kind = \"categorical\", labels = [\"off\", {label:?}] }}\n\
         [reward]\n{HOSTILE:?} = \"height' - height\"\n"
    );
    fs::write(at.join("schema.toml"), schema).expect("a schema");
    let mut log = String::from("episode,height,engine,height'\n");
    for row in 0..240_u32 {
        let (height, engine) = (f64::from(row * 7 % 13), row * row / 3 % 2);
        let noise = f64::from(row * 31 % 17) / 17.0;
        let next = height * 0.5 + f64::from(engine) * 3.0 + noise;
        let _ = writeln!(log, "{},{height},{engine},{next}", row / 8);
    }
    fs::write(at.join("log.csv"), log).expect("a log");
    done(at, &["check", "schema.toml", "log.csv"]);
    let fit = ["fit", "log.csv", "--schema", "schema.toml", "-o", "run", "--members", "1"];
    done(at, &[&fit[..], &["--steps", "30", "-q"]].concat());
    done(at, &["report", "run", "-o", "report.html", "--steps", "3", "-q"]);
    let page = fs::read_to_string(at.join("report.html")).expect("a page");
    let text = parsed(&page);
    let document = document(&text);
    let forbidden = ["img", "script", "iframe", "object", "link"];
    for node in document.descendants().filter(Node::is_element) {
        assert!(!forbidden.contains(&node.tag_name().name()), "{:?}", node.tag_name());
        let handler = node.attributes().find(|attribute| attribute.name().starts_with("on"));
        assert!(handler.is_none(), "{handler:?}");
    }
    let shown = |node: &Node<'_, '_>| node.text().is_some_and(|text| text.contains(HOSTILE));
    assert!(document.descendants().filter(shown).count() > 5, "it is shown as the text that it is");
    assert!(page.contains("There is no audit: this run has no environment"));
    commands_run(at, &page);
}

/// Every command that a page shows can be run as it stands.
fn commands_run(at: &Path, page: &str) {
    let text = parsed(page);
    let document = document(&text);
    let commands: Vec<String> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "code")
        .filter_map(|node| node.text().map(str::to_owned))
        .filter(|text| text.starts_with("becausal "))
        .collect();
    assert!(commands.len() >= 3, "{commands:?}");
    let program = Path::new(env!("CARGO_BIN_EXE_becausal")).parent().expect("its folder");
    for command in commands {
        let script = format!("PATH='{}':$PATH; {command} --quiet", program.display());
        let output = std::process::Command::new("bash")
            .current_dir(at)
            .args(["-c", &script])
            .output()
            .expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{errors}");
    }
}

#[test]
fn every_command_of_a_page_runs_for_a_log_of_ones_own() {
    let folder = folder();
    let at = folder.path();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/greenhouse");
    let log = fs::read_to_string(root.join("log.csv")).expect("a log");
    // A name with a space, a column that is not in the schema, and a graph that is given.
    fs::write(at.join("my log.csv"), log).expect("a log");
    fs::copy(root.join("schema.toml"), at.join("my schema.toml")).expect("a schema");
    let own = ["--schema", "my schema.toml", "--ignore", "timestamp", "-q"];
    done(at, &[&["discover", "my log.csv", "-o", "graph.json"][..], &own].concat());
    let fit = ["fit", "my log.csv", "--graph", "graph.json", "-o", "my run"];
    done(at, &[&fit[..], &["--members", "1", "--steps", "30"], &own].concat());
    done(at, &["report", "my run", "-o", "my report.html", "--steps", "3", "-q"]);
    let page = fs::read_to_string(at.join("my report.html")).expect("a page");
    assert!(page.contains("becausal fit &#39;my log.csv&#39; --schema"), "the fit is shown");
    commands_run(at, &page);
}

#[test]
fn the_same_run_gives_the_same_page_on_any_number_of_threads() {
    let folder = folder();
    let at = folder.path();
    reported(at, "Vacuum-v0", "4");
    let first = fs::read(at.join("report.html")).expect("a page");
    let again =
        ["report", "run", "-o", "report.html", "--steps", "4", "--states", "4", "-q", "--threads"];
    for threads in ["1", "2"] {
        done(at, &[&again[..], &[threads]].concat());
        assert!(fs::read(at.join("report.html")).expect("a page") == first, "{threads} threads");
    }
    let text = done(at, &[&again[..again.len() - 1], &["--json", "--episode", "2"]].concat());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["episode"], 2);
    assert!(value["audit"]["precision"].is_number());
}

#[test]
fn a_trained_run_is_shown_in_new_episodes_with_its_curves_and_drawings() {
    let folder = folder();
    let at = folder.path();
    let settings = [
        "steps=300",
        "warm_up=100",
        "epoch_steps=100",
        "rounds=2",
        "samples=256",
        "members=1",
        "fit_steps_first=20",
        "fit_steps_graph=10",
        "fit_steps=10",
        "final_fit_steps=20",
        "final_rows=200",
    ];
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let train: Vec<&str> =
        ["train", "CartPole-v1", "-o", "run", "-q"].into_iter().chain(set).collect();
    done(at, &train);
    let report = ["report", "run", "-o", "report.html", "--steps", "3", "--states", "3", "-q"];
    let told = done(at, &report);
    assert!(told.starts_with("report.html: 3 steps of a new episode from seed "), "{told}");
    let page = fs::read_to_string(at.join("report.html")).expect("a page");
    for words in [
        "How it learned",
        "The best evaluation was ",
        "An episode that the trained policy played from seed ",
        "10 episodes that the policy played after the training",
        "becausal explain run --episode-seed ",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    assert_eq!(page.matches("class=\"scene\"").count(), 3, "every step is drawn");
    document(&parsed(&page));
    let seeded = [&report[..], &["--episode-seed", "7", "--json"]].concat();
    let value: Value = serde_json::from_str(&done(at, &seeded)).expect("JSON");
    assert_eq!(value["episode_seed"], 7);
    let recorded = done(at, &[&report[..], &["--episode", "1"]].concat());
    assert!(recorded.contains("3 steps of episode 1 explained"), "{recorded}");
}

#[test]
fn what_cannot_be_reported_is_said() {
    let folder = folder();
    let at = folder.path();
    reported(at, "AimTest-v0", "2");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["report", "run", "-o", "a.html", "--episode-seed", "1"], 2, "this run has no policy"),
        (&["report", "nowhere", "-o", "a.html"], 1, "not a run directory"),
        (&["report", "run", "-o", "a.html", "--episode", "999"], 2, "there is no episode 999"),
        (&["report", "run", "-o", "a.html", "--steps", "41"], 2, "41 is not in 1..=40"),
        (&["report", "run", "-o", "a.html", "--horizon", "0"], 2, "a horizon of 0 steps"),
        (&["report", "run", "-o", "run"], 1, "there is a folder of this name"),
        (&["report", "run", "-o", "no/a.html"], 1, "the folder does not exist"),
    ];
    for (arguments, code, words) in cases {
        let text = refused(at, arguments, code);
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    // Without its options the environment of a training is another one.
    fs::write(at.join("run/config.toml"), "command = \"train\"\n").expect("a damaged file");
    for command in [&["report", "run", "-o", "a.html"][..], &["explain", "run", "--step", "0"]] {
        let text = refused(at, command, 1);
        assert!(text.contains("run/config.toml: cannot tell how the run was made"), "{text}");
        assert!(text.contains("`seed` is missing"), "{text}");
    }
    assert!(!at.join("a.html").exists());
}

#[test]
fn the_demo_goes_all_the_way() {
    let folder = folder();
    let at = folder.path();
    let text = done(at, &["demo", "--quick", "-q"]);
    for words in
        ["Why build = ", " and not build = ", "Checked in the environment itself", "Audited in "]
    {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    let next = text.split_once("Next:\n").expect("what to try next").1;
    assert_eq!(next.lines().count(), 4, "{next}");
    assert!(next.trim_start().starts_with("becausal view becausal-demo/run "), "{next}");
    assert!(at.join("becausal-demo/report.html").is_file());
    // It writes over what it wrote, and over nothing else.
    let text = done(at, &["demo", "Vacuum-v0", "--quick", "-q", "--json", "-o", "other"]);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert!(value["lead"].is_number() && value["lead_in_the_environment"].is_number(), "{value}");
    fs::create_dir(at.join("mine")).expect("a folder");
    fs::write(at.join("mine/letter.txt"), "dear").expect("a file");
    let text = refused(at, &["demo", "--quick", "-o", "mine"], 1);
    assert!(text.contains("something else in it"), "{text}");
    let text = refused(at, &["demo", "BuildMarines", "--quick"], 2);
    assert!(text.contains("unknown environment"), "{text}");
}

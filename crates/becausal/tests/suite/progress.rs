//! Every phase of a fit says that it begins, how far it is, and that it is done.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use becausal::progress::{Advance, Listener};
use becausal::{Error, FitParams, OpenParams, ReadParams, Run, Stream, fit, read};

/// One report: the task with its unit, how many are done, of how many.
type Report = (String, usize, usize);

const SCHEMA: &str = "name = \"Tank\"\n[state]\nlevel = { kind = \"continuous\" }\n\
                      heat = { kind = \"continuous\" }\n[action]\nvalve = { kind = \"boolean\" }\n\
                      [reward]\nlevel = \"level'\"\n";

const ROWS: usize = 3000;

fn log() -> String {
    let mut stream = Stream::new(3);
    let mut text = String::from("episode,level,heat,valve\n");
    let (mut level, mut heat) = (0.0, 0.0);
    for row in 0..ROWS {
        let valve = stream.below(2);
        let _ = writeln!(text, "{},{level},{heat},{valve}", row / 20);
        heat = 0.8 * heat + stream.normal();
        level = 0.9 * level + valve as f64 + 0.3 * heat + 0.1 * stream.normal();
    }
    text
}

/// A listener that keeps all reports.
fn kept() -> (Listener, Arc<Mutex<Vec<Report>>>) {
    let reports: Arc<Mutex<Vec<Report>>> = Arc::default();
    let list = Arc::clone(&reports);
    let listener = Listener::new(move |at: &Advance<'_>| {
        let phase = format!("{} of {}", at.unit, at.task);
        list.lock().expect("no panic").push((phase, at.done, at.total));
        ControlFlow::Continue(())
    });
    (listener, reports)
}

#[test]
fn every_phase_of_a_fit_is_heard_of_from_its_beginning_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("log.csv"), log()).expect("written");
    std::fs::write(path("schema.toml"), SCHEMA).expect("written");
    let (listener, reports) = kept();
    let reading = ReadParams::default().schema_file(path("schema.toml")).expect("a schema");
    let log = read(path("log.csv"), &reading.progress(listener.clone())).expect("a log");
    let params = FitParams::default().members(1).steps(40).progress(listener.clone());
    let run = fit(&log, &params).expect("a run");
    let _ = run.scores();
    run.save(path("run")).expect("saved");
    let opening = OpenParams::default().progress(listener);
    let _ = Run::open_with(path("run"), &opening).expect("opened");

    let reports = reports.lock().expect("no panic");
    let phases: Vec<&[Report]> =
        reports.chunk_by(|a, b| a.0 == b.0 && a.2 == b.2 && a.1 <= b.1).collect();
    let names: Vec<&str> = phases.iter().map(|phase| phase[0].0.as_str()).collect();
    let expected = [
        "kB of log.csv",
        "rows of discover",
        "causes of discover",
        "pairs of discover",
        "values of prepare",
        "effects of prepare",
        "pairs of prepare",
        "steps of fit",
        "rows of predict",
        "effects of score",
        "effects of compare",
        "values written of data.parquet",
        "values of data.parquet",
    ];
    let mut names_left = names.iter();
    for phase in expected {
        assert!(names_left.any(|name| *name == phase), "{phase}, in this order, of {names:?}");
    }
    for phase in &phases {
        let (name, first, total) = &phase[0];
        let (_, last, _) = phase[phase.len() - 1];
        // What was done of the pairs before is counted on after the causes.
        assert!(*first == 0 || name.starts_with("pairs of discover"), "{name} begins with {first}");
        assert_eq!(last, *total, "{name} ends");
        // The last report of an estimate makes up for what was estimated.
        let within = &phase[..phase.len() - 1];
        let most = within.windows(2).map(|pair| pair[1].1 - pair[0].1).max().unwrap_or(0);
        let allowed = match name.as_str() {
            "rows of discover" => 128,
            "rows of predict" => 1024,
            "pairs of discover" => 3,
            name if name.starts_with("values") => 65_536.max(3 * ROWS),
            _ => 1,
        };
        assert!(most <= allowed, "{name}: {most} at once, expected at most {allowed}");
    }
}

#[test]
fn a_listener_stops_the_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("log.csv"), log()).expect("written");
    std::fs::write(path("schema.toml"), SCHEMA).expect("written");
    let reading = ReadParams::default().schema_file(path("schema.toml")).expect("a schema");
    let reading = reading.progress(|_: &Advance<'_>| ControlFlow::Break(()));
    let error = read(path("log.csv"), &reading).expect_err("stopped");
    assert!(matches!(error, Error::Data(_)), "{error}");
    assert!(error.to_string().ends_with("log.csv: reading was stopped"), "{error}");
}

//! The front door: parameters that check themselves, runs that remember, scores that say what they are on.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use becausal::data::Origin;
use becausal::env::{Options, action_text, find, record_at_random};
use becausal::explain::{AuditParams, Calibration, Track};
use becausal::progress::Advance;
use becausal::{
    Answer, Ask, Audit, Error, FitParams, Log, RandomPolicy, ReadParams, ReportParams, Run,
    ScoredOn,
};

/// Random transitions of an environment, with where they come from.
fn log(id: &str, rows: usize, seed: u64) -> Log {
    let environment = find(id).and_then(|entry| entry.make(&Options::default())).expect("built in");
    let data = record_at_random(&environment, rows, seed).expect("recorded");
    let origin = Origin {
        environment: id.to_owned(),
        seed: Some(seed),
        policy: "random".to_owned(),
        ..Origin::default()
    };
    Log::new(data, Some(origin))
}

fn small() -> FitParams {
    FitParams::default().members(1).steps(40)
}

#[test]
fn a_run_that_is_saved_and_opened_gives_the_same_answers() {
    let run = becausal::fit(&log("Vacuum-v0", 600, 3), &small()).expect("a run");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run.save(&path).expect("written");
    let again = Run::open(&path).expect("a run");
    let ask = Ask::default().horizon(3);
    let moment = run.recorded(2, 1).expect("a moment");
    let mut same = 0;
    for other in ["left", "right", "suck"] {
        if action_text(run.schema(), moment.action()) == other {
            let error = run.why_not(&moment, other, &ask).expect_err("nothing to compare");
            assert!(error.to_string().contains("there is nothing to compare"), "{error}");
            same += 1;
            continue;
        }
        let answers =
            [&run, &again].map(|run| run.why_not(&moment, other, &ask).expect("an answer"));
        assert_eq!(answers[0], answers[1], "{other}");
        assert_eq!(answers[0].to_string(), answers[0].text());
        assert!(answers[0].svg().expect("a picture").starts_with("<svg "));
    }
    assert_eq!(same, 1);
    assert_eq!(run.record(), again.record());
    assert_eq!(run.scores(), again.scores());
    assert_eq!(run.graph().to_string(), again.graph().to_string());
}

#[test]
fn a_run_keeps_its_audit_and_its_answers_tell_it() {
    let run = becausal::fit(&log("Vacuum-v0", 600, 3), &small().steps(200)).expect("a run");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run.save(&path).expect("written");
    let track_of = |run: &Run| {
        let moment = run.recorded(2, 1).expect("a moment");
        let taken = action_text(run.schema(), moment.action());
        let other = ["left", "suck"].into_iter().find(|other| *other != taken).expect("another");
        let ask = Ask::default().horizon(3);
        let tried = run.why_not(&moment, other, &ask).expect("an answer");
        assert_eq!(tried.contrast().and_then(|tried| tried.track), None, "audits ask the model");
        match run.why_not(&moment, other, &ask.model_only(true)).expect("an answer") {
            Answer::Contrast(contrast) => contrast.track,
            Answer::Why(_) => panic!("a contrast"),
        }
    };
    let mut run = Run::open(&path).expect("a run");
    assert_eq!(track_of(&run), None, "not audited yet");
    let params = AuditParams { states: 20, ..AuditParams::default() };
    let audit = run.audit_at_random(&params).expect("an audit");
    run.keep_audit(&audit).expect("written");
    let kept = track_of(&run).expect("audited");
    assert_eq!((kept, kept.horizon()), (Track::of(&audit), audit.horizon));
    assert_eq!(track_of(&Run::open(&path).expect("a run")), Some(kept), "also when opened again");
    let agent = RandomPolicy::new(Arc::clone(run.schema())).expect("a policy");
    let other = Run::open(&path).and_then(|run| run.with_policy(Arc::new(agent)));
    assert_eq!(track_of(&other.expect("a run")), None, "it was the audit of another agent");
    std::fs::write(path.join("audit.json"), "{}").expect("written");
    let error = Run::open(&path).err().expect("damaged").to_string();
    assert!(error.contains("audit.json: is not an audit: `horizon` is missing"), "{error}");
}

#[test]
fn a_kept_audit_makes_intervals_as_wide_as_they_must_be_and_a_damaged_one_is_refused() {
    let run = becausal::fit(&log("AimTest-v0", 600, 3), &small().steps(200)).expect("a run");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run.save(&path).expect("written");
    let mut run = Run::open(&path).expect("a run");
    let answer = |run: &Run| {
        let moment = run.recorded(2, 1).expect("a moment");
        let taken = action_text(run.schema(), moment.action());
        let other = ["0", "1"].into_iter().find(|other| *other != taken).expect("another");
        let ask = Ask::default().horizon(3).model_only(true);
        run.why_not(&moment, other, &ask).expect("an answer")
    };
    let width = |answer: &Answer| {
        let interval = answer.contrast().and_then(|contrast| contrast.worth(None));
        interval.map(|[low, high]| high - low).expect("an interval")
    };
    let before = answer(&run);
    let mut audit = run.audit_at_random(&AuditParams { states: 4, ..AuditParams::default() });
    let audit = audit.as_mut().expect("an audit");
    let factors = Calibration::new(Some(3.0), vec![Some(3.0); 5]).expect("factors");
    // Over more than five steps it is another one.
    let far = Calibration::new(Some(4.5), Vec::new()).expect("factors");
    audit.far = Some(Box::new(Audit { horizon: 100, calibration: far, ..audit.clone() }));
    audit.calibration = factors.beyond(audit.horizon, Some(4.5)).expect("a factor");
    run.keep_audit(audit).expect("written");
    let after = answer(&run);
    let factor = width(&after) / width(&before);
    assert!((2.0..3.01).contains(&factor), "the estimate may lie outside of the draws: {factor}");
    let says = "ntervals are as wide as";
    assert!(!before.text().contains(says) && after.text().contains(says), "{after}");
    assert_eq!(answer(&Run::open(&path).expect("a run")), after, "also when opened again");
    // An audit tries no other states.
    let moment = run.recorded(2, 1).expect("a moment");
    let other_state = run.what_if(&moment, "x1=11", &Ask::default().horizon(3)).expect("an answer");
    assert!(!other_state.text().contains("In the audit of this run"), "{other_state}");
    let kept = std::fs::read_to_string(path.join("audit.json")).expect("kept");
    let changes = [
        ("3.0", "-3.0", "`calibration` has something that is not a factor"),
        ("3.0", "\"wide\"", "`calibration` has something that is not a factor"),
        ("4.5", "4500", "`far` has a factor that is not from 0.1 to 10"),
        ("\"horizon\": 100", "\"horizon\": \"far\"", "in `far`, `horizon` is missing"),
        ("\"x2'\"", "\"money'\"", "it is the audit of another run: it has `money'`"),
    ];
    for (sound, wrong, says) in changes {
        let damaged = kept.replace(sound, wrong);
        assert_ne!(damaged, kept);
        std::fs::write(path.join("audit.json"), damaged).expect("written");
        let error = Run::open(&path).err().expect("damaged").to_string();
        assert!(error.contains(&format!("audit.json: is not an audit: {says}")), "{error}");
    }
    let mut few: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    for word in ["sure", "likely", "a guess"] {
        few["certainty"][word] = serde_json::json!({ "sign": 0.5, "cases": 4 });
    }
    std::fs::write(path.join("audit.json"), few.to_string()).expect("written");
    let told = answer(&Run::open(&path).expect("a run")).text();
    assert!(
        told.contains("over 5 steps, there were only 4 such answers, 2 of them right"),
        "{told}"
    );
    let mut earlier: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    for key in ["calibration", "far"] {
        earlier.as_object_mut().expect("an object").remove(key);
    }
    std::fs::write(path.join("audit.json"), earlier.to_string()).expect("written");
    assert_eq!(width(&answer(&Run::open(&path).expect("a run"))), width(&before));
}

#[test]
fn discovery_and_the_fit_do_not_see_what_is_held_out() {
    let log = log("AimTest-v0", 600, 1);
    let run = becausal::fit(&log, &small()).expect("a run");
    let scored = run.scores();
    assert_eq!(scored.on, ScoredOn::HeldOut);
    let graph = run.graph().get().expect("a graph");
    assert_eq!(graph.rows + scored.scores.rows, 600);
    let whole = becausal::fit(&log, &small().held_out(0.0)).expect("a run");
    assert_eq!(whole.scores().on, ScoredOn::Training);
    assert_eq!(whole.graph().get().expect("a graph").rows, 600);
}

#[test]
fn another_log_takes_the_place_of_what_is_held_out() {
    let (learned, other) = (log("AimTest-v0", 400, 1), log("AimTest-v0", 300, 2));
    let run = becausal::fit(&learned, &small().test(other)).expect("a run");
    assert_eq!((run.scores().on, run.scores().scores.rows), (ScoredOn::Test, 300));
    assert_eq!(run.graph().get().expect("a graph").rows, 400, "all rows are learned from");
    let folder = tempfile::tempdir().expect("a folder");
    run.save(folder.path().join("run")).expect("written");
    let again = Run::open(folder.path().join("run")).expect("a run");
    assert_eq!(again.scores().on, ScoredOn::TestIsGone);
    let strange = small().test(log("CartPole-v1", 100, 1));
    let error = becausal::fit(&learned, &strange).err().expect("other variables");
    assert_eq!(
        error.to_string(),
        "`test` is one of `CartPole-v1`, expected a log of the same variables"
    );
}

#[test]
fn a_graph_from_memory_may_have_seen_the_held_out_rows_and_the_scores_say_so() {
    let log = log("AimTest-v0", 400, 1);
    let first = becausal::fit(&log, &small()).expect("a run");
    let graph = first.graph().get().expect("a graph").clone();
    let run = becausal::fit(&log, &small().graph(graph)).expect("a run");
    assert_eq!(run.scores().on, ScoredOn::HeldOutOfFit);
}

#[test]
fn a_listener_stops_a_fit_in_every_stage() {
    for task in ["discover", "fit"] {
        let stop = move |at: &Advance<'_>| {
            if at.task == task { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = becausal::fit(&log("Vacuum-v0", 300, 1), &small().progress(stop));
        assert!(stopped.is_err_and(|error| error.to_string() == "the fit was stopped"), "{task}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    let cases: [(FitParams, &str); 4] = [
        (FitParams::default().members(0), "`members` is 0, expected at least 1"),
        (FitParams::default().steps(0), "`steps` is 0, expected at least 1"),
        (FitParams::default().eta(2.0), "`eta` is 2, expected a number from 0 to 1"),
        (
            FitParams::default().held_out(f64::NAN),
            "`held_out` is NaN, expected a share from 0 to below 1",
        ),
    ];
    let log = log("Vacuum-v0", 60, 1);
    for (params, words) in cases {
        assert_eq!(becausal::fit(&log, &params).err().expect("refused").to_string(), words);
    }
    let run = becausal::fit(&log, &small()).expect("a run");
    let moment = run.recorded(0, 0).expect("a moment");
    let refused = |ask: Ask| run.why(&moment, &ask).expect_err("refused").to_string();
    assert!(refused(Ask::default().horizon(0)).contains("a horizon of 0 steps"));
    assert!(refused(Ask::default().tau(7.0)).contains("tau is 7"));
    assert!(refused(Ask::default().reward("fame")).contains("there is no reward `fame`"));
    let missing = run.play(1).expect_err("refused");
    assert!(matches!(missing, Error::Missing { part: "policy", .. }), "{missing}");
    let steps = run.report(&ReportParams { steps: 0, ..ReportParams::default() });
    assert_eq!(steps.expect_err("refused").to_string(), "`steps` is 0, expected 1 to 40");
}

#[test]
fn a_recorded_step_is_replayed_for_real_with_the_same_noise() {
    let run = becausal::fit(&log("BuildMarine-v0", 400, 5), &small()).expect("a run");
    let (place, horizon) = ((1, 3), 4);
    let moment = run.recorded(place.0, place.1).expect("a moment");
    let same = run.replay(place, moment.action(), horizon).expect("a replay");
    assert_eq!(
        same.steps(),
        &moment.record().steps()[..horizon],
        "the same action: what was recorded"
    );
    let other = [(moment.action()[0] + 1.0) % 5.0];
    let another = run.replay(place, &other, horizon).expect("a replay");
    assert_eq!(another.steps()[0].state, same.steps()[0].state);
    assert_ne!(another.steps()[0].action, same.steps()[0].action);
    // Without the seed of the recording nothing can be replayed.
    let data = log("BuildMarine-v0", 400, 5).transitions().clone();
    let run = becausal::fit(&Log::from(data), &small()).expect("a run");
    let error = run.replay(place, &other, horizon).expect_err("no seed");
    assert!(error.to_string().contains("no seed"), "{error}");
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = folder.path().join("schema.toml");
    std::fs::write(&schema, "name = \"x\"\n[state]\nx = { kind = \"real\" }\n").expect("written");
    let error = ReadParams::default().schema_file(&schema).expect_err("refused");
    assert!(matches!(error, Error::Schema { .. }), "{error}");
    assert!(
        Run::open(Path::new("/no/such/run"))
            .err()
            .expect("refused")
            .to_string()
            .contains("not a run directory")
    );
}

//! Agents, environments and data that come from elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becausal::data::Values;
use becausal::env::{EnvironmentError, Options, find, record_at_random};
use becausal::explain::Measure;
use becausal::{
    Ask, AuditParams, FitParams, OpenParams, Policy, ReadParams, Run, Schema, Stream, TryParams,
    assemble,
};

/// Always goes left; fails once it was asked too often.
struct Left {
    schema: Arc<Schema>,
    asked: AtomicUsize,
    patience: usize,
}

impl Left {
    fn new(run: &Run, patience: usize) -> Arc<Self> {
        Arc::new(Self { schema: Arc::clone(run.schema()), asked: AtomicUsize::new(0), patience })
    }
}

impl Policy for Left {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, _: &[f64]) -> Vec<f64> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        vec![0.0]
    }

    fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }

    fn check(&self) -> Result<(), EnvironmentError> {
        if self.asked.load(Ordering::SeqCst) <= self.patience {
            return Ok(());
        }
        let (environment, message) = ("the policy".to_owned(), "lost its patience".to_owned());
        Err(EnvironmentError::Failed { environment, message })
    }
}

fn cart() -> Run {
    let entry = find("CartPole-v1").expect("built in");
    let environment = entry.make(&Options::default()).expect("built in");
    let data = record_at_random(&environment, 400, 1).expect("recorded");
    becausal::fit(&data.into(), &FitParams::default().members(1).steps(20)).expect("a run")
}

#[test]
fn an_agent_from_elsewhere_is_played_asked_and_audited() {
    let run = cart();
    assert!(run.policy().is_none());
    let patient = Left::new(&run, usize::MAX);
    let run = run.with_policy(patient).expect("the same variables");
    let episode = run.play(3).expect("played");
    assert!(episode.trajectory().steps().iter().all(|step| step.action == [0.0]));
    let moment = episode.at(2).expect("a step");
    assert!(run.why_not(&moment, "right", &Ask::default()).is_ok());
    let audit = run.audit(&AuditParams { states: 4, horizon: 2, ..AuditParams::default() });
    assert_eq!(audit.expect("an audit").cases, 4);
}

#[test]
fn what_an_agent_could_not_answer_is_no_answer() {
    let run = cart();
    let hasty = Left::new(&run, 0);
    let moment = run.recorded(0, 2).expect("a step");
    let run = run.with_policy(hasty).expect("the same variables");
    let errors = [
        run.play(3).map(|_| ()),
        run.why(&moment, &Ask::default()).map(|_| ()),
        run.audit(&AuditParams { states: 2, ..AuditParams::default() }).map(|_| ()),
    ];
    for error in errors {
        let words = error.expect_err("it failed").to_string();
        assert_eq!(words, "the policy: lost its patience");
    }
}

#[test]
fn other_actions_are_tried_in_copies_of_the_environment() {
    let run = cart();
    let missing = run.clone().try_others(&TryParams::default()).map(|_| ());
    let words = missing.expect_err("no policy").to_string();
    assert!(words.starts_with("this run has no policy"), "{words}");
    let hasty = run.clone().with_policy(Left::new(&run, 10)).expect("the same variables");
    let failed = hasty.try_others(&TryParams::default().states(24)).map(|_| ());
    assert_eq!(failed.expect_err("it failed").to_string(), "the policy: lost its patience");
    let few = run.clone().with_policy(Left::new(&run, 10)).expect("the same variables");
    let few = few.try_others(&TryParams::default().states(23)).map(|_| ());
    let words = few.expect_err("too few").to_string();
    assert!(words.starts_with("`states` is 23, expected at least 24"), "{words}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run.save(&path).expect("written");
    let run = Run::open(&path).expect("a run");
    let patient = run.clone().with_policy(Left::new(&run, usize::MAX)).expect("a run");
    let tried = patient.clone().try_others(&TryParams::default().states(40)).expect("tried");
    assert!(patient.path().is_some() && tried.path().is_none());
    // Nothing in CartPole is random: what the model gets wrong is all that there is to learn.
    let error = |run: &Run| {
        let params = AuditParams { states: 40, horizon: 3, seed: 9, ..AuditParams::default() };
        let audit = run.audit(&params).expect("an audit");
        audit.explanations.by_kind.value(Measure::ChangeError).expect("changes")
    };
    let (before, after) = (error(&patient), error(&tried));
    assert!(after < 0.8 * before, "{before:?} {after:?}");
}

#[test]
fn an_agent_or_an_environment_of_other_variables_is_refused() {
    let entry = find("Vacuum-v0").expect("built in");
    let vacuum = entry.make(&Options::default()).expect("built in");
    let error = cart().with_environment(vacuum).map(|_| ()).expect_err("another one").to_string();
    assert!(error.starts_with("`environment` is one of position, clean_1"), "{error}");
}

#[test]
fn what_the_folder_of_a_run_lacks_is_added_when_it_is_opened() {
    let run = cart();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run.save(&path).expect("written");
    let params = OpenParams::default().complete(Arc::new(|run: Run| {
        let left = Left::new(&run, usize::MAX);
        run.with_policy(left)
    }));
    assert!(Run::open_with(&path, &params).expect("a run").policy().is_some());
}

#[test]
fn columns_in_memory_follow_the_rules_of_files() {
    let schema = cart().schema().clone();
    let numbers = |name: &str, values: &[f64]| (name.to_owned(), Values::Numbers(values.to_vec()));
    let mut columns = vec![
        numbers("position", &[0.0, 0.1, 0.2]),
        numbers("velocity", &[0.0; 3]),
        numbers("angle", &[0.0; 3]),
        numbers("angle_velocity", &[0.0; 3]),
        ("push".to_owned(), Values::Texts(["left", "right", "left"].map(str::to_owned).to_vec())),
        ("terminated".to_owned(), Values::Flags(vec![false, false, true])),
    ];
    let params = ReadParams::default().schema(schema);
    let log = assemble(&columns, &params).expect("a log");
    assert_eq!(log.transitions().len(), 2, "the last row has no next state");
    let error = assemble(&columns, &ReadParams::default()).expect_err("no schema").to_string();
    assert!(error.ends_with("carry no schema: give one"), "{error}");
    columns[0] = numbers("position", &[0.0, f64::INFINITY, 0.2]);
    let error = assemble(&columns, &params).expect_err("not finite").to_string();
    assert!(error.contains("row 2 (index 1), column `position`"), "{error}");
    columns[0] = numbers("position", &[0.0]);
    let error = assemble(&columns, &params).expect_err("too short").to_string();
    assert!(error.contains("column `position` has 1 row"), "{error}");
}

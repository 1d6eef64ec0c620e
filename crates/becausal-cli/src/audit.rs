//! `becausal audit`: how often do the explanations of a run hold in its environment?

use std::fmt::Write;
use std::path::Path;

use becausal::progress::Listener;
use becausal::render::AuditText;
use becausal::{AuditParams, Error, Horizon, Run};

use crate::arguments::{Audit, Common};
use crate::describe;
use crate::failure::Failure;
use crate::progress::{Shown, opening};

pub fn run(common: &Common, arguments: &Audit) -> Result<String, Failure> {
    let mut run = Run::open_with(&arguments.run, &opening(common))?;
    let is_random = arguments.policy.as_deref() == Some(Path::new("random"));
    let params = AuditParams {
        states: arguments.states,
        horizon: arguments.horizon,
        // Random actions have no long run that anybody would ask about.
        far: (!is_random).then(|| Horizon::default().most()),
        discount: arguments.discount,
        seed: arguments.seed,
        progress: Listener::new(Shown::new(common.quiet)),
        ..AuditParams::default()
    };
    let found = match arguments.policy.as_deref() {
        _ if is_random => run.audit_at_random(&params),
        Some(folder) => run.audit_of(folder, &params),
        None => run.audit(&params),
    };
    let found = found.map_err(|error| match error {
        Error::Missing { part: "policy", .. } => {
            Failure::usage(format!("{error} (--policy random, or the folder of a trained run)"))
        }
        error => Failure::from(error),
    })?;
    let kept = match arguments.policy {
        None => run.keep_audit(&found).err(),
        Some(_) => None,
    };
    if common.json {
        return Ok(describe::line(&found.json()));
    }
    let mut text = found.text();
    match (kept, &arguments.policy) {
        (Some(problem), _) => {
            let _ = writeln!(text, "\nNot kept in the run: {problem}");
        }
        (None, None) => {
            let _ = writeln!(
                text,
                "\nKept in the run as audit.json, in place of any earlier one: answers now say how often such answers were right."
            );
        }
        (None, Some(_)) => {}
    }
    Ok(text)
}

//! `becausal audit`: how often do the explanations of a run hold in its environment?

use becausal::render::AuditText;
use std::sync::Arc;

use becausal::explain::{AuditOptions, audit};
use becausal::{Policy, RandomPolicy};

use crate::arguments::{Audit, Common};
use crate::describe;
use crate::failure::Failure;
use crate::opened::Opened;

/// Examines an opened run.
pub fn run(common: &Common, arguments: &Audit, opened: &Opened) -> Result<String, Failure> {
    let Some(environment) = &opened.environment else {
        return Err(Failure::failed(
            "this run has no environment: its transitions come from a file, and counterfactuals \
             cannot be replayed in a file (an audit needs a run of a built-in environment)",
        ));
    };
    let random;
    let policy: &dyn Policy = match (&arguments.policy, &opened.policy) {
        (Some(_), _) => {
            random = RandomPolicy::new(Arc::clone(&opened.schema))?;
            &random
        }
        (None, Some(policy)) => policy.as_ref(),
        (None, None) => {
            return Err(Failure::usage(
                "this run has no policy, as runs made by `becausal fit` have none: add \
                 --policy random to audit it under random actions",
            ));
        }
    };
    let options = AuditOptions {
        states: arguments.states,
        horizon: arguments.horizon,
        discount: arguments.discount,
        seed: arguments.seed,
        ..AuditOptions::default()
    };
    let found = audit(environment, opened.dynamics.as_ref(), policy, &opened.data, &options)?;
    Ok(if common.json { describe::line(&found.json()) } else { found.text() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{aim_test, common, refused};

    fn arguments() -> Audit {
        Audit {
            run: "run".into(),
            policy: Some("random".to_owned()),
            states: 6,
            horizon: 3,
            discount: 1.0,
            seed: 0,
        }
    }

    #[test]
    fn an_audit_prints_one_json_object() {
        let text = run(&common(true), &arguments(), &aim_test()).expect("an audit");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["cases"], 18);
        assert_eq!(value["precision"], 1.0);
        assert_eq!(value["recall"], 1.0);
        assert_eq!(value["sign"], 1.0);
        assert!(value["trivial"]["everything"]["precision"].is_number());
        let text = run(&common(false), &arguments(), &aim_test()).expect("an audit");
        assert!(text.starts_with("18 cases from 6 states."), "{text}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let text =
            refused(run(&common(false), &Audit { policy: None, ..arguments() }, &aim_test()));
        assert!(text.contains("has no policy") && text.contains("--policy random"), "{text}");
        let foreign = Opened { environment: None, ..aim_test() };
        let text = refused(run(&common(false), &arguments(), &foreign));
        assert!(text.contains("has no environment"), "{text}");
        let none = Audit { horizon: 0, ..arguments() };
        let text = refused(run(&common(false), &none, &aim_test()));
        assert!(text.contains("a horizon of 0 steps, expected 1 to 1000"), "{text}");
    }
}

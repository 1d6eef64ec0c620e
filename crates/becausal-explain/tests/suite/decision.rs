//! Decisions worth explaining, and the actions to ask about.

use std::sync::Arc;

use crate::exact::Exact;
use becausal_core::env::Options as EnvironmentOptions;
use becausal_core::env::typical_actions;
use becausal_core::env::{EnvironmentError, collect, random_action};
use becausal_core::{Schema, Transitions};
use becausal_envs::find;
use becausal_explain::{Ask, Explainer, Moment, Worth, find as find_decisions};
use becausal_model::Dynamics;

fn recorded(id: &str, schema: &Arc<Schema>) -> Transitions {
    let environment = find(id).expect("known").make(&EnvironmentOptions::default()).expect("made");
    let mut data = Transitions::new(Arc::clone(schema));
    collect::<_, EnvironmentError>(
        &environment,
        200,
        3,
        |_, stream, action| random_action(schema, stream, action),
        |part| {
            data.append(part);
            Ok(())
        },
    )
    .expect("recorded");
    data
}

#[test]
fn the_clearest_decision_comes_first_and_leads_match_the_contrasts() {
    let model = Exact::build_marine();
    let data = recorded("BuildMarine-v0", model.schema());
    let options = Ask::default().horizon(4);
    let explainer = Explainer::new(&model, None, None, options).expect("an explainer");
    let actions = typical_actions(model.schema(), 16);
    assert_eq!(actions, [[0.0], [1.0], [2.0], [3.0], [4.0]]);
    let places: Vec<(usize, usize)> = (0..data.episode(0).len()).map(|step| (0, step)).collect();
    for worth in [Worth::Costly, Worth::Mistakes] {
        let found = find_decisions(&explainer, &data, &actions, &places, worth);
        let found = found.expect("decisions");
        assert!(found.windows(2).all(|pair| pair[0].amount >= pair[1].amount));
        assert!(found.len() > 1 && found[0].amount > 0.0, "{worth:?}: {found:?}");
        for decision in &found {
            let moment = Moment::recorded(&data, 0, decision.step).expect("a moment");
            let others = actions.iter().filter(|action| *action != moment.action());
            let differences = others.map(|action| {
                explainer.why_not(&moment, action).expect("a contrast").credit.difference()
            });
            let lead = differences.fold(f64::INFINITY, f64::min);
            let amount = if worth == Worth::Costly { lead } else { -lead };
            assert!((decision.amount - amount).abs() < 1e-9, "{decision:?}, not {amount}");
        }
    }
}

#[test]
fn continuous_actions_are_tried_at_their_bounds_and_in_between() {
    let schema = find("LunarLanderContinuous-v3").expect("known").schema();
    let actions = typical_actions(&schema, 16);
    assert_eq!(actions.len(), 9);
    assert!(actions.contains(&vec![-1.0, 0.0]) && actions.contains(&vec![1.0, 1.0]));
    assert!(typical_actions(&schema, 8).is_empty(), "too many");
    let text = "name = \"Free\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
                push = { kind = \"continuous\" }\n[reward]\n\"x\" = \"x'\"\n";
    let free = Schema::parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert!(typical_actions(&free, 16).is_empty(), "a number without bounds");
}

//! Intervals beyond the record, in worlds whose noise is known.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{Row, Transitions};
use becausal_core::schema::Schema;
use becausal_explain::{Ask, Change, Explainer, Moment};
use becausal_model::{ModelKind, ModelParams, Sizes, Structure, WorldModel};

/// A world in which the next x is noise with a deviation for each action, and nothing else.
fn world(deviations: [f64; 3]) -> WorldModel {
    let text = "name = \"Engines\"\n[state]\nx = { kind = \"continuous\" }\n\
                [action]\nengine = { kind = \"categorical\", labels = [\"none\", \"left\", \"right\"] }\n\
                [reward]\nr = \"x'\"\n";
    let schema = Arc::new(Schema::parse(text).expect("a schema"));
    let mut data = Transitions::new(Arc::clone(&schema));
    let mut stream = Stream::new(2);
    for _ in 0..100 {
        data.begin_episode();
        let mut state = [0.0];
        for step in 0..30 {
            let engine = stream.below(3);
            let next = [deviations[engine] * stream.normal()];
            data.push(&Row {
                state: &state,
                action: &[engine as f64],
                outcomes: &[],
                next: &next,
                reward: next[0],
                terminated: false,
                truncated: step == 29,
            });
            state = next;
        }
    }
    let sizes = Sizes { encoder: 16, hidden: 16, action: 8, key: 8 };
    let params = ModelParams { members: 3, sizes, steps: 400, ..ModelParams::default() };
    let structure = Structure::full(&schema);
    WorldModel::fit(&data, ModelKind::Causal, &structure, &params).expect("a model").0
}

/// The interval of how much more the left engine earns than the right one in a step that was not recorded.
fn left_rather_than_right(model: &WorldModel) -> [f64; 2] {
    let explainer =
        Explainer::new(model, None, None, Ask::default().horizon(1)).expect("an explainer");
    let moment = Moment::imagined(model.schema(), vec![0.0], vec![1.0]).expect("a moment");
    let comparison = explainer.compare(&moment, &Change::action(&[2.0])).expect("a comparison");
    comparison.worth(None).expect("an interval")
}

#[test]
fn engines_have_noise_of_their_own() {
    let [low, high] = left_rather_than_right(&world([0.05, 1.0, 1.0]));
    let mut stream = Stream::new(3);
    let held = (0..1000).filter(|_| {
        let difference = stream.normal() - stream.normal();
        low <= difference && difference <= high
    });
    // The ends of an interval from some forty draws are off by a fifth of a deviation.
    let held = held.count();
    assert!((800..=970).contains(&held), "{held} of 1000 within {low} to {high}");
}

#[test]
fn noise_that_every_action_has_is_the_same_in_both_courses() {
    let [low, high] = left_rather_than_right(&world([1.0, 1.0, 1.0]));
    assert!(high - low < 1.0, "{low} to {high}, where independent noise gives -2.3 to 2.3");
}

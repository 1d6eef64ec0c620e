//! Tests of the gradients of whole networks: against finite differences, and on several threads.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::data::{Row, Transitions};
use becausal_core::progress::Tracker;
use becausal_core::schema::Schema;
use becausal_nn::{Gradients, Likelihood, Pool, Tape};

use super::encoding::Encoding;
use super::inputs::Encoded;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::persistence::Persistence;
use super::structure::Structure;

/// Every kind of variable, a vector, two actions.
fn data() -> Transitions {
    let schema = Schema::parse(
        r#"
        name = "All"
        [state]
        x = { kind = "continuous" }
        n = { kind = "integer" }
        b = { kind = "boolean" }
        c = { kind = "categorical", labels = ["r", "g", "b"] }
        v = { kind = "continuous", size = 2 }
        [action]
        a = { kind = "categorical", labels = ["0", "1"] }
        u = { kind = "continuous", low = -1.0, high = 1.0 }
        [outcome]
        o = { kind = "boolean" }
        [reward]
        "x" = "x'"
        "#,
    );
    let schema = Arc::new(schema.expect("a schema"));
    let mut data = Transitions::new(Arc::clone(&schema));
    let mut stream = Stream::new(9);
    for row in 0..40 {
        if row % 10 == 0 {
            data.begin_episode();
        }
        let mut state = || {
            let numbers = [stream.normal(), stream.below(5) as f64, stream.below(2) as f64];
            let rest = [stream.below(3) as f64, stream.normal(), stream.normal()];
            [&numbers[..], &rest[..]].concat()
        };
        let (before, after) = (state(), state());
        data.push(&Row {
            state: &before,
            action: &[stream.below(2) as f64, stream.uniform(-1.0, 1.0)],
            outcomes: &[stream.below(2) as f64],
            next: &after,
            reward: 0.0,
            terminated: false,
            truncated: row % 10 == 9,
        });
    }
    data
}

struct Case {
    structure: Arc<Structure>,
    encoded: Encoded,
    likelihood: Likelihood,
}

impl Case {
    fn new(data: &Transitions, encoding: &Encoding) -> Self {
        let parents =
            vec![vec![0, 1, 5, 6], vec![1, 2, 5], vec![3, 4, 6], vec![], vec![0, 4], vec![2, 5, 6]];
        Self {
            structure: Arc::new(Structure::new(5, 2, parents)),
            encoded: encoding.encode_all(data, &Tracker::unheard()),
            likelihood: Likelihood::new(encoding.heads()),
        }
    }

    fn loss(&self, member: &Member, gradients: Option<&mut Gradients>) -> f64 {
        let mut tape = Tape::recording(&member.parameters, Pool::default());
        let inputs = self.encoded.inputs.clone();
        let (outputs, _) = member.forward(&mut tape, inputs, &self.structure);
        let targets = tape.input(self.encoded.targets.clone());
        let loss = self.likelihood.loss(&mut tape, outputs, targets);
        if let Some(gradients) = gradients {
            tape.backward(loss, gradients);
        }
        // Summed in double precision; the loss itself is too coarse for differences.
        let rows = self.likelihood.rows(tape.value(outputs), tape.value(targets));
        -rows.iter().flatten().sum::<f64>() / 40.0
    }
}

fn member(kind: ModelKind, encoding: &Arc<Encoding>, case: &Case, seed: u64) -> Member {
    let sizes = Sizes { encoder: 6, hidden: 5, action: 4, key: 3 };
    let persistence = Persistence::of_all(6);
    let mut stream = Stream::new(seed);
    let mut member = Member::new(kind, encoding, &case.structure, &persistence, sizes, &mut stream);
    // Keys and biases start at zero. They are moved so that every path has a gradient.
    for (_, block) in member.parameters.iter_mut() {
        for weight in &mut block.values {
            *weight += (stream.below(81) as f32 - 40.0) / 100.0;
        }
    }
    member
}

#[test]
fn gradients_agree_with_finite_differences() {
    let data = data();
    let encoding = Arc::new(Encoding::of(&data, false, &Tracker::unheard()));
    let case = Case::new(&data, &encoding);
    for kind in ModelKind::ALL {
        let mut member = member(kind, &encoding, &case, 3);
        let mut gradients = member.parameters.gradients();
        case.loss(&member, Some(&mut gradients));
        let names: Vec<(String, usize)> = member
            .parameters
            .iter()
            .map(|(name, block)| (name.to_owned(), block.values.len()))
            .collect();
        let mut stream = Stream::new(1);
        for (at, (name, count)) in names.iter().enumerate() {
            for _ in 0..4 {
                let place = stream.below(*count);
                let step = 2e-3;
                let mut near = |step: f32| {
                    let (_, block) = member.parameters.iter_mut().nth(at).expect("a block");
                    let kept = block.values[place];
                    block.values[place] = kept + step;
                    let loss = case.loss(&member, None);
                    let (_, block) = member.parameters.iter_mut().nth(at).expect("a block");
                    block.values[place] = kept;
                    loss
                };
                let difference = (near(step) - near(-step)) / f64::from(2.0 * step);
                let found = f64::from(gradients.blocks()[at][place]);
                assert!(
                    (difference - found).abs() < 2e-3 + 0.02 * difference.abs(),
                    "{} {name}[{place}]: {found}, by differences {difference}",
                    kind.name()
                );
            }
        }
    }
}

#[test]
fn gradients_do_not_depend_on_the_number_of_threads() {
    let data = data();
    let encoding = Arc::new(Encoding::of(&data, false, &Tracker::unheard()));
    let case = Case::new(&data, &encoding);
    let gradients = |seed: u64| {
        let member = member(ModelKind::Causal, &encoding, &case, seed);
        let mut gradients = member.parameters.gradients();
        case.loss(&member, Some(&mut gradients));
        gradients
    };
    let alone: Vec<Gradients> = (0..16).map(gradients).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
    let together: Vec<Gradients> =
        pool.install(|| (0..16_u64).into_par_iter().map(gradients).collect());
    assert_eq!(alone, together);
}

//! The influence weights alpha of the paper.

use becausal_nn::{
    Backward, Operation, Parameter, Shape, Tape, Transposed, Variable, add_product, product,
};

use super::structure::Structure;

/// `alpha_i` = exp(`k_i` . q) / (1 + sum over the parents of exp(k . q)), and
/// `alpha_a` = 1 / (1 + the same sum).
///
/// `query` is `[effects, actions, key]`, `keys` is `[1, states, key]`, the result is
/// `[effects, actions, states + 1]`: the weights of the states, then that of the action. A state
/// that is not a parent, or is `pruned` `[effects, actions, states]`, has weight 0.
pub(super) fn attention(
    tape: &mut Tape<'_>,
    query: Variable,
    keys: Parameter,
    structure: &Structure,
    pruned: Option<&[bool]>,
) -> Variable {
    let Shape { groups, rows, columns: width } = tape.value(query).shape;
    let states = structure.states();
    let mut scores = vec![0.0; groups * rows * states];
    product(
        (&tape.value(query).values, groups * rows, width, Transposed::No),
        (&tape.parameters().of(keys).values, states, width, Transposed::Yes),
        &mut scores,
    );
    let mut alpha = tape.scratch(Shape::new(groups, rows, states + 1));
    alpha.values.fill(0.0);
    for effect in 0..groups {
        let parents = structure.state_parents(effect);
        for row in 0..rows {
            let at = effect * rows + row;
            let scores = &scores[at * states..][..states];
            let pruned = pruned.map(|pruned| &pruned[at * states..][..states]);
            let parents = parents.iter().filter(|&&parent| !pruned.is_some_and(|p| p[parent]));
            // All terms are divided by the largest one to avoid overflow.
            let top = parents.clone().fold(0.0_f32, |top, &parent| top.max(scores[parent]));
            let alpha = &mut alpha.values[at * (states + 1)..][..=states];
            let mut total = (-top).exp();
            alpha[states] = total;
            for &parent in parents {
                alpha[parent] = (scores[parent] - top).exp();
                total += alpha[parent];
            }
            for weight in alpha {
                *weight /= total;
            }
        }
    }
    tape.push(alpha, Attention { query, keys })
}

struct Attention {
    query: Variable,
    keys: Parameter,
}

impl Operation for Attention {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let alpha = back.value(result);
        let query = back.value(self.query);
        let keys = back.parameters.of(self.keys);
        let (states, width) = (keys.shape.rows, keys.shape.columns);
        let rows = alpha.shape.groups * alpha.shape.rows;
        let mut scores = vec![0.0; rows * states];
        for row in 0..rows {
            let alpha = &alpha.values[row * (states + 1)..][..=states];
            let gradient = &gradient[row * (states + 1)..][..=states];
            let mean: f32 = alpha.iter().zip(gradient).map(|(a, g)| a * g).sum();
            for state in 0..states {
                scores[row * states + state] = alpha[state] * (gradient[state] - mean);
            }
        }
        add_product(
            (&scores, rows, states, Transposed::Yes),
            (&query.values, rows, width, Transposed::No),
            back.learned.of_mut(self.keys),
        );
        add_product(
            (&scores, rows, states, Transposed::No),
            (&keys.values, states, width, Transposed::No),
            back.gradient(self.query),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;
    use becausal_nn::{Block, Parameters, Pool};

    /// The paper's formulas, term by term, in double precision.
    #[test]
    fn weights_follow_the_formulas_of_the_paper() {
        let (states, actions, width) = (3, 2, 4);
        let structure = Structure::new(states, 1, vec![vec![0, 2, 3], vec![1], vec![]]);
        let mut stream = Stream::new(5);
        let mut parameters = Parameters::default();
        let keys = parameters.add_uniform("keys", Shape::new(1, states, width), 2.0, &mut stream);
        let shape = Shape::new(3, actions, width);
        let query: Vec<f32> = (0..shape.len()).map(|at| (at as f32 * 0.7).sin() * 2.0).collect();
        let mut tape = Tape::computing(&parameters, Pool::default());
        let q = tape.input(Block::new(shape, query.clone()));
        let alpha = attention(&mut tape, q, keys, &structure, None);
        for effect in 0..3 {
            for action in 0..actions {
                let q = &query[(effect * actions + action) * width..][..width];
                let score = |state: usize| -> f64 {
                    let key = parameters.of(keys).row(0, state);
                    key.iter().zip(q).map(|(k, q)| f64::from(*k) * f64::from(*q)).sum::<f64>().exp()
                };
                let parents = structure.state_parents(effect);
                let total = 1.0 + parents.iter().map(|&parent| score(parent)).sum::<f64>();
                let found = tape.value(alpha).row(effect, action);
                for (state, &found) in found[..states].iter().enumerate() {
                    let expected =
                        if parents.contains(&state) { score(state) / total } else { 0.0 };
                    assert!((f64::from(found) - expected).abs() < 1e-6);
                }
                assert!((f64::from(found[states]) - 1.0 / total).abs() < 1e-6, "the action's");
            }
        }
    }

    #[test]
    fn a_pruned_parent_has_weight_0_and_the_others_still_sum_to_1() {
        let structure = Structure::new(2, 1, vec![vec![0, 1, 2]]);
        let mut parameters = Parameters::default();
        let keys = parameters.add("keys", Block::zeros(Shape::new(1, 2, 1)));
        let mut tape = Tape::computing(&parameters, Pool::default());
        let q = tape.input(Block::zeros(Shape::new(1, 1, 1)));
        let alpha = attention(&mut tape, q, keys, &structure, Some(&[true, false]));
        assert_eq!(tape.value(alpha).values, [0.0, 0.5, 0.5]);
    }
}

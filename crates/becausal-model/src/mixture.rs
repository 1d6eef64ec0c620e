//! The weighted sum of the contributions of the states and the action.

use std::sync::Arc;

use becausal_nn::{
    Backward, Layer, Operation, Shape, Source, Tape, Variable, add_scaled, dot, simd,
};

use super::structure::Structure;

/// The weights of the sums, and the action of each row.
#[derive(Clone)]
pub(super) struct Weights {
    /// `[effects, actions, states + 1]`
    pub alpha: Variable,
    /// `[rows]`
    pub action_of: Arc<[u32]>,
    pub structure: Arc<Structure>,
}

impl Weights {
    /// The offset of the weights of a row and an effect.
    fn at(&self, effect: usize, row: usize, actions: usize) -> usize {
        let action = self.action_of[row] as usize;
        (effect * actions + action) * (self.structure.states() + 1)
    }

    /// h = sum of `alpha_i` `c_i` over the parents, plus `alpha_a` `c_a`: `[effects, rows, width]`.
    ///
    /// The contributions are `c_i` = W `s_i` + b. By linearity, the encodings
    /// `[states, rows, encoding]` are summed first and mapped once:
    /// W (sum of `alpha_i` `s_i`) + b (sum of `alpha_i`).
    pub fn hidden(
        &self,
        tape: &mut Tape<'_>,
        encodings: Variable,
        contribution: Layer,
        bias: becausal_nn::Parameter,
        action_contribution: Variable,
    ) -> Variable {
        let sum = self.sum(tape, encodings);
        let mapped = contribution.forward(tape, sum, Source::Each);
        self.combine(tape, mapped, bias, action_contribution)
    }

    fn sum(&self, tape: &mut Tape<'_>, encodings: Variable) -> Variable {
        let Shape { rows, columns, .. } = tape.value(encodings).shape;
        let effects = self.structure.effects();
        let mut sum = tape.scratch(Shape::new(effects, rows, columns));
        let (from, alpha) = (tape.value(encodings), tape.value(self.alpha));
        simd(
            #[inline(always)]
            || {
                for effect in 0..effects {
                    let parents = self.structure.state_parents(effect);
                    for (row, into) in sum.group_mut(effect).chunks_exact_mut(columns).enumerate() {
                        let alpha = &alpha.values[self.at(effect, row, alpha.shape.rows)..];
                        into.fill(0.0);
                        for &parent in parents {
                            add_scaled(into, alpha[parent], from.row(parent, row));
                        }
                    }
                }
            },
        );
        tape.push(sum, Sum { weights: self.clone(), encodings })
    }

    fn combine(
        &self,
        tape: &mut Tape<'_>,
        mapped: Variable,
        bias: becausal_nn::Parameter,
        action: Variable,
    ) -> Variable {
        let shape = tape.value(mapped).shape;
        let mut hidden = tape.scratch(shape);
        let (from, alpha) = (tape.value(mapped), tape.value(self.alpha));
        let (action_rows, bias_rows) = (tape.value(action), tape.parameters().of(bias));
        simd(
            #[inline(always)]
            || {
                for effect in 0..shape.groups {
                    let bias = bias_rows.group(effect);
                    for (row, into) in
                        hidden.group_mut(effect).chunks_exact_mut(shape.columns).enumerate()
                    {
                        let at = self.at(effect, row, alpha.shape.rows) + self.structure.states();
                        let weight = alpha.values[at];
                        let action = action_rows.row(effect, self.action_of[row] as usize);
                        let from = from.row(effect, row);
                        for column in 0..into.len() {
                            into[column] = from[column]
                                + (1.0 - weight) * bias[column]
                                + weight * action[column];
                        }
                    }
                }
            },
        );
        tape.push(hidden, Combine { weights: self.clone(), mapped, bias, action })
    }
}

/// The sum of `alpha_i` `s_i` over the parents.
struct Sum {
    weights: Weights,
    encodings: Variable,
}

impl Operation for Sum {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let Shape { groups, rows, columns } = back.value(result).shape;
        let (from, alpha) = (back.value(self.encodings), back.value(self.weights.alpha));
        let structure = &self.weights.structure;
        let at = |effect, row| self.weights.at(effect, row, alpha.shape.rows);
        if back.wants(self.weights.alpha) {
            let weights = back.gradient(self.weights.alpha);
            simd(
                #[inline(always)]
                || {
                    for effect in 0..groups {
                        for row in 0..rows {
                            let gradient = &gradient[(effect * rows + row) * columns..][..columns];
                            let weights = &mut weights[at(effect, row)..];
                            for &parent in structure.state_parents(effect) {
                                weights[parent] += dot(gradient, from.row(parent, row));
                            }
                        }
                    }
                },
            );
        }
        let encodings = back.gradient(self.encodings);
        simd(
            #[inline(always)]
            || {
                for effect in 0..groups {
                    for row in 0..rows {
                        let gradient = &gradient[(effect * rows + row) * columns..][..columns];
                        let alpha = &alpha.values[at(effect, row)..];
                        for &parent in structure.state_parents(effect) {
                            let into = &mut encodings[(parent * rows + row) * columns..][..columns];
                            add_scaled(into, alpha[parent], gradient);
                        }
                    }
                }
            },
        );
    }
}

/// The mapped sum, plus the bias times the total weight of the states, plus the action's
/// contribution.
struct Combine {
    weights: Weights,
    mapped: Variable,
    bias: becausal_nn::Parameter,
    action: Variable,
}

impl Operation for Combine {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let Shape { groups, rows, columns } = back.value(result).shape;
        let (alpha, action) = (back.value(self.weights.alpha), back.value(self.action));
        let bias = back.parameters.of(self.bias);
        let states = self.weights.structure.states();
        let at = |effect, row| self.weights.at(effect, row, alpha.shape.rows) + states;
        let action_of = |row: usize| self.weights.action_of[row] as usize;
        back.pass_on(self.mapped);
        if back.wants(self.weights.alpha) {
            let weights = back.gradient(self.weights.alpha);
            simd(
                #[inline(always)]
                || {
                    for effect in 0..groups {
                        let bias = bias.group(effect);
                        for row in 0..rows {
                            let gradient = &gradient[(effect * rows + row) * columns..][..columns];
                            let action = action.row(effect, action_of(row));
                            weights[at(effect, row)] += dot(gradient, action) - dot(gradient, bias);
                        }
                    }
                },
            );
        }
        let actions = back.gradient(self.action);
        let action_rows = action.shape.rows;
        simd(
            #[inline(always)]
            || {
                for effect in 0..groups {
                    for row in 0..rows {
                        let gradient = &gradient[(effect * rows + row) * columns..][..columns];
                        let weight = alpha.values[at(effect, row)];
                        let into = (effect * action_rows + action_of(row)) * columns;
                        add_scaled(&mut actions[into..][..columns], weight, gradient);
                    }
                }
            },
        );
        let biases = back.learned.of_mut(self.bias);
        simd(
            #[inline(always)]
            || {
                for effect in 0..groups {
                    let into = &mut biases[effect * columns..][..columns];
                    for row in 0..rows {
                        let gradient = &gradient[(effect * rows + row) * columns..][..columns];
                        add_scaled(into, 1.0 - alpha.values[at(effect, row)], gradient);
                    }
                }
            },
        );
    }
}

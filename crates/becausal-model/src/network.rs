//! The inference networks: the paper's structural equations.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::schema::Role;
use becausal_nn::{
    Activation, Block, Gru, Layer, Parameter, Parameters, Perceptron, Shape, Source, Tape,
    VARIANCE_PRESERVING_GAIN, Variable, add_scaled, simd,
};

use super::attention::attention;
use super::encoding::Encoding;
use super::inputs::Inputs;
use super::mixture::Weights;
use super::persistence::{Persistence, persist};
use super::structure::Structure;
use super::target::Target;

/// The widths of the parts of the networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Width of the encoders and of their encodings.
    pub encoder: usize,
    /// Width of the contribution vectors and of the decoders' hidden layers.
    pub hidden: usize,
    /// Width of the hidden state of the action's recurrent unit.
    pub action: usize,
    /// Width of keys and queries.
    pub key: usize,
}

impl Sizes {
    /// Those of the paper's published program: encodings of 64 (128 for the landers), contributions of 128,
    /// actions and keys of 64.
    pub const PAPER: Self = Self { encoder: 64, hidden: 128, action: 64, key: 64 };
}

impl Default for Sizes {
    fn default() -> Self {
        Self { encoder: 64, hidden: 64, action: 32, key: 32 }
    }
}

/// The inference networks `f^j` of all effects.
///
/// | paper | here |
/// |---|---|
/// | variable encoders, shared by all effects | `state_encoders`, `action_encoders` |
/// | `e^j` = GRU(the action variables among the parents) | `embedding` |
/// | `q^j` = `W_q` `e^j` + `b_q` | `query` |
/// | `c_a^j` = `W_a` `e^j` + `b_a` | `action_contribution` |
/// | `c_i^j` = `W_s` `s_i` + `b_s` | `contribution`, `contribution_bias` |
/// | keys `k_i`, shared by all effects | `keys` |
/// | alpha, h | [`attention`], [`Weights::hidden`] |
/// | decoder `D^j` | `decoder` |
#[derive(Debug, Clone)]
pub(super) struct CausalNetwork {
    state_encoders: Perceptron,
    action_encoders: Perceptron,
    embedding: Gru,
    query: Layer,
    action_contribution: Layer,
    contribution: Layer,
    contribution_bias: Parameter,
    keys: Parameter,
    decoder: Perceptron,
    persistence: Persistence,
    targets: Arc<[Target]>,
}

/// The outputs of the networks for some rows.
pub(super) struct Outputs {
    /// The parameters of the distributions: `[effects, rows, columns]`.
    pub distributions: Variable,
    /// The influence weights: `[effects, distinct actions, states + 1]`.
    pub alpha: Variable,
}

/// What depends on the action alone, under each of some actions.
#[derive(Debug, Clone)]
pub(super) struct ActionPart {
    /// The influence weights: `[effects, distinct actions, states + 1]`.
    pub alpha: Block,
    /// The contributions `c_a`: `[effects, distinct actions, hidden]`.
    contribution: Block,
}

/// The same on a tape.
#[derive(Clone, Copy)]
struct UnderActions {
    alpha: Variable,
    contribution: Variable,
}

/// Other values of a state variable, already encoded.
pub(super) struct Replacement<'a, Place: Fn(usize) -> (usize, usize)> {
    /// The variable.
    pub state: usize,
    /// `[values, encoding]`
    pub encodings: &'a [f32],
    /// The rows that are asked about.
    pub rows: usize,
    /// For each of them, the row with the rest of the state and the action, and the value that replaces the variable.
    pub place: Place,
}

/// What the questions about single effects of the same rows have in common.
pub(super) struct Common {
    /// The encodings of the states: `[states, rows, encoding]`.
    encodings: Block,
    /// The influence weights: `[effects, distinct actions, states + 1]`.
    pub alpha: Block,
    /// The weighted sum of the contributions, h: `[effects, rows, hidden]`.
    hidden: Block,
}

impl CausalNetwork {
    pub fn new(
        encoding: &Encoding,
        structure: &Structure,
        persistence: &Persistence,
        sizes: Sizes,
        parameters: &mut Parameters,
        stream: &mut Stream,
    ) -> Self {
        let (states, actions, effects) =
            (structure.states(), structure.actions(), structure.effects());
        let Sizes { encoder, hidden, action, key } = sizes;
        let mut encoders = |name: &str, role, groups| {
            let widths = [encoding.features(role), encoder, encoder, encoder];
            Perceptron::new(parameters, name, groups, &widths, Activation::Silu, stream)
        };
        let state_encoders = encoders("state_encoders", Role::State, states);
        let action_encoders = encoders("action_encoders", Role::Action, actions);
        let embedding = Gru::new(parameters, "embedding", effects, (encoder, action), stream);
        let mut layer = |name: &str, extent| {
            Layer::new(parameters, name, effects, extent, VARIANCE_PRESERVING_GAIN, stream)
        };
        let query = layer("query", (action, key));
        let action_contribution = layer("action_contribution", (action, hidden));
        let contribution = Layer::without_bias(
            parameters,
            "contribution",
            effects,
            (encoder, hidden),
            VARIANCE_PRESERVING_GAIN,
            stream,
        );
        let contribution_bias =
            parameters.add("contribution.bias", Block::zeros(Shape::new(effects, 1, hidden)));
        let keys = parameters.add("keys", Block::zeros(Shape::new(1, states, key)));
        let widths = [hidden, hidden, hidden, encoding.output_columns()];
        let decoder =
            Perceptron::new(parameters, "decoder", effects, &widths, Activation::Silu, stream)
                .with_small_output(parameters, 0.1);
        Self {
            state_encoders,
            action_encoders,
            embedding,
            query,
            action_contribution,
            contribution,
            contribution_bias,
            keys,
            decoder,
            persistence: persistence.clone(),
            targets: encoding.targets().into(),
        }
    }

    /// Changes which values are persistent.
    pub fn set_persistence(&mut self, persistence: &Persistence) {
        self.persistence = persistence.clone();
    }

    /// The structural equations of all effects.
    pub fn forward(
        &self,
        tape: &mut Tape<'_>,
        inputs: Inputs,
        structure: &Arc<Structure>,
        pruned: Option<&[bool]>,
    ) -> Outputs {
        let under = self.under_actions(tape, inputs.actions.clone(), structure, pruned);
        let distributions = self.distributions(tape, inputs, structure, under);
        Outputs { distributions, alpha: under.alpha }
    }

    /// The parameters of the distributions, `[effects, rows, columns]`, given what depends on the action alone.
    pub fn predict(
        &self,
        tape: &mut Tape<'_>,
        inputs: Inputs,
        structure: &Arc<Structure>,
        part: &ActionPart,
    ) -> Variable {
        let under = part.on(tape);
        self.distributions(tape, inputs, structure, under)
    }

    fn distributions(
        &self,
        tape: &mut Tape<'_>,
        inputs: Inputs,
        structure: &Arc<Structure>,
        under: UnderActions,
    ) -> Variable {
        let starts = self.persistence.starts(&inputs, &self.targets);
        let Inputs { states, action_of, .. } = inputs;
        let states = tape.input(states);
        let encodings = self.state_encoders.forward(tape, states, Source::Each);
        let hidden = self.hidden(tape, encodings, under, &action_of, structure);
        let hidden = Activation::Silu.forward(tape, hidden);
        let decoded = self.decoder.forward(tape, hidden, Source::Each);
        persist(tape, decoded, &starts, &self.targets)
    }

    /// What depends on the action alone, under each of some actions.
    pub fn action_part(
        &self,
        tape: &mut Tape<'_>,
        actions: Block,
        structure: &Structure,
        pruned: Option<&[bool]>,
    ) -> ActionPart {
        let UnderActions { alpha, contribution } =
            self.under_actions(tape, actions, structure, pruned);
        let [alpha, contribution] =
            [alpha, contribution].map(|variable| tape.value(variable).clone());
        ActionPart { alpha, contribution }
    }

    /// What the questions about single effects of the same rows have in common.
    pub fn common(
        &self,
        tape: &mut Tape<'_>,
        inputs: &Inputs,
        structure: &Arc<Structure>,
        pruned: Option<&[bool]>,
    ) -> Common {
        let part = self.action_part(tape, inputs.actions.clone(), structure, pruned);
        self.common_under(tape, inputs, structure, part)
    }

    /// The same, given what depends on the action alone.
    pub fn common_under(
        &self,
        tape: &mut Tape<'_>,
        inputs: &Inputs,
        structure: &Arc<Structure>,
        part: ActionPart,
    ) -> Common {
        let states = tape.input(inputs.states.clone());
        let encodings = self.state_encoders.forward(tape, states, Source::Each);
        let under = part.on(tape);
        let hidden = self.hidden(tape, encodings, under, &inputs.action_of, structure);
        let [encodings, hidden] = [encodings, hidden].map(|variable| tape.value(variable).clone());
        Common { encodings, alpha: part.alpha, hidden }
    }

    /// The weighted sum h: `[effects, rows, hidden]`.
    fn hidden(
        &self,
        tape: &mut Tape<'_>,
        encodings: Variable,
        under: UnderActions,
        action_of: &Arc<[u32]>,
        structure: &Arc<Structure>,
    ) -> Variable {
        let UnderActions { alpha, contribution: action } = under;
        let weights =
            Weights { alpha, action_of: Arc::clone(action_of), structure: Arc::clone(structure) };
        weights.hidden(tape, encodings, self.contribution, self.contribution_bias, action)
    }

    /// Whether an effect reads a state under one of the distinct actions: as a parent that is not pruned, or because it
    /// persists.
    pub fn reads_under(&self, alpha: &Block, action: u32, (effect, state): (usize, usize)) -> bool {
        let action = action as usize;
        alpha.row(effect, action)[state] != 0.0 || self.persistence.reads(effect, action, state)
    }

    /// The encodings `[rows, encoding]` of the features `[rows, features]` of a state variable.
    pub fn encode(
        &self,
        parameters: &Parameters,
        state: usize,
        features: &[f32],
        rows: usize,
    ) -> Vec<f32> {
        self.state_encoders.of_group(parameters, state, features, rows)
    }

    /// The structural equation of one effect, with other values of one state: the parameters of its distributions,
    /// `[1, rows, columns]`. The values before the step are not added to what persists.
    ///
    /// h is linear in the encodings, so only the contribution of this state is exchanged.
    pub fn with_other_state(
        &self,
        parameters: &Parameters,
        common: &Common,
        action_of: &[u32],
        effect: usize,
        replacement: &Replacement<'_, impl Fn(usize) -> (usize, usize)>,
    ) -> Block {
        let Common { encodings, alpha, hidden } = common;
        let &Replacement { state, encodings: replaced, rows, ref place } = replacement;
        let Shape { rows: known, columns: width, .. } = encodings.shape;
        let contributed = |encodings: &[f32], rows: usize| {
            self.contribution.of_group(parameters, effect, encodings, rows)
        };
        let now = contributed(encodings.group(state), known);
        let instead = contributed(replaced, replaced.len() / width.max(1));
        let width = hidden.shape.columns;
        let decoded = self.decoder.of_rows(parameters, effect, rows, |first, block| {
            simd(
                #[inline(always)]
                || {
                    for (row, into) in block.chunks_exact_mut(width).enumerate() {
                        let (row, value) = place(first + row);
                        let weight = alpha.row(effect, action_of[row] as usize)[state];
                        into.copy_from_slice(hidden.row(effect, row));
                        add_scaled(into, weight, &instead[value * width..][..width]);
                        add_scaled(into, -weight, &now[row * width..][..width]);
                    }
                },
            );
            Activation::Silu.apply(block);
        });
        Block::new(Shape::new(1, rows, decoded.len() / rows.max(1)), decoded)
    }

    /// The parameters of the distributions of one effect for the rows as they are, `[rows, columns]`. The values before the
    /// step are not added to what persists.
    pub fn as_it_is(&self, parameters: &Parameters, common: &Common, effect: usize) -> Vec<f32> {
        let hidden = common.hidden.group(effect);
        let Shape { rows, columns: width, .. } = common.hidden.shape;
        self.decoder.of_rows(parameters, effect, rows, |first, block| {
            block.copy_from_slice(&hidden[first * width..][..block.len()]);
            Activation::Silu.apply(block);
        })
    }

    /// What the decoder starts from.
    pub fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    /// What depends on the action alone: the influence weights and the action's contribution.
    fn under_actions(
        &self,
        tape: &mut Tape<'_>,
        actions: Block,
        structure: &Structure,
        pruned: Option<&[bool]>,
    ) -> UnderActions {
        let actions = tape.input(actions);
        let encodings = self.action_encoders.forward(tape, actions, Source::Each);
        let reads: Vec<Vec<bool>> =
            (0..structure.effects()).map(|effect| structure.reads_actions(effect)).collect();
        let embedding = self.embedding.forward(tape, encodings, &reads);
        let query = self.query.forward(tape, embedding, Source::Each);
        let alpha = attention(tape, query, self.keys, structure, pruned);
        let contribution = self.action_contribution.forward(tape, embedding, Source::Each);
        UnderActions { alpha, contribution }
    }
}

impl ActionPart {
    /// The same as inputs of a tape.
    fn on(&self, tape: &mut Tape<'_>) -> UnderActions {
        let [alpha, contribution] =
            [&self.alpha, &self.contribution].map(|block| tape.input(block.clone()));
        UnderActions { alpha, contribution }
    }
}

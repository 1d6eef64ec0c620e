//! A member of a world model: one network with its parameters.

use std::cell::RefCell;
use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::progress::Tracker;
use becausal_nn::{Block, Parameter, Parameters, Pool, Shape, Tape, Variable};

use super::dense::DenseNetwork;
use super::encoding::Encoding;
use super::inputs::Inputs;
use super::network::{ActionPart, CausalNetwork, Outputs, Sizes};
use super::persistence::{Persistence, persist};
use super::structure::Structure;

/// Maximum number of rows predicted at a time.
pub(super) const CHUNK_ROWS: usize = 1024;

/// The kind of the networks of a world model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// The paper's networks over the discovered graph.
    Causal,
    /// The same networks over the full graph.
    Full,
    /// One dense network that reads all inputs.
    Mlp,
    /// A baseline: the paper's networks over the discovered graph without its action edges.
    ActionBlind,
    /// A baseline: every number changes by a constant; flags and categories have their frequencies.
    Identity,
}

impl ModelKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Causal, Self::Full, Self::Mlp, Self::ActionBlind, Self::Identity];

    /// Its name on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Causal => "causal",
            Self::Full => "full",
            Self::Mlp => "mlp",
            Self::ActionBlind => "action_blind",
            Self::Identity => "identity",
        }
    }

    /// Whether its networks have influence weights.
    pub(super) fn has_weights(self) -> bool {
        matches!(self, Self::Causal | Self::Full | Self::ActionBlind)
    }

    /// The kind with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

thread_local! {
    /// Memory for predictions. Allocating it for every chunk would cost a third of the time.
    static POOL: RefCell<Pool> = RefCell::default();
}

#[derive(Debug, Clone)]
enum Network {
    Causal(Box<CausalNetwork>),
    Dense(DenseNetwork),
    /// `[effects, 1, columns]`
    Constant(Parameter),
}

/// A network, its parameters and its pruned parents.
#[derive(Debug, Clone)]
pub(super) struct Member {
    network: Network,
    pub parameters: Parameters,
    /// Parents that do not matter under an action: `[effects, distinct actions, states]`.
    pub pruned: Option<Arc<[bool]>>,
    encoding: Arc<Encoding>,
}

impl Member {
    /// A member with random parameters.
    pub fn new(
        kind: ModelKind,
        encoding: &Arc<Encoding>,
        structure: &Structure,
        persistence: &Persistence,
        sizes: Sizes,
        stream: &mut Stream,
    ) -> Self {
        let mut parameters = Parameters::default();
        let effects = structure.effects();
        let network = match kind {
            ModelKind::Causal | ModelKind::Full | ModelKind::ActionBlind => {
                Network::Causal(Box::new(CausalNetwork::new(
                    encoding,
                    structure,
                    persistence,
                    sizes,
                    &mut parameters,
                    stream,
                )))
            }
            ModelKind::Mlp => Network::Dense(DenseNetwork::new(
                encoding,
                effects,
                4 * sizes.hidden,
                &mut parameters,
                stream,
            )),
            ModelKind::Identity => {
                let shape = Shape::new(effects, 1, encoding.output_columns());
                Network::Constant(parameters.add("constant", Block::zeros(shape)))
            }
        };
        Self { network, parameters, pruned: None, encoding: Arc::clone(encoding) }
    }

    /// The parameters of the distributions, `[effects, rows, columns]`, and for the paper's networks
    /// their influence weights.
    pub fn forward(
        &self,
        tape: &mut Tape<'_>,
        inputs: Inputs,
        structure: &Arc<Structure>,
    ) -> (Variable, Option<Variable>) {
        match &self.network {
            Network::Causal(network) => {
                let pruned = self.pruned.as_deref();
                let Outputs { distributions, alpha } =
                    network.forward(tape, inputs, structure, pruned);
                (distributions, Some(alpha))
            }
            Network::Dense(network) => (network.forward(tape, inputs), None),
            Network::Constant(constant) => (self.constant(tape, *constant, &inputs), None),
        }
    }

    /// What depends on the action alone, under some actions; `None` if the network has no such part.
    pub fn action_part(&self, actions: Block, structure: &Structure) -> Option<ActionPart> {
        let network = self.causal()?;
        let mut tape = Tape::computing(&self.parameters, Pool::default());
        Some(network.action_part(&mut tape, actions, structure, self.pruned.as_deref()))
    }

    /// The network, if it has influence weights.
    pub fn causal(&self) -> Option<&CausalNetwork> {
        match &self.network {
            Network::Causal(network) => Some(network),
            Network::Dense(_) | Network::Constant(_) => None,
        }
    }

    /// Changes which values are persistent.
    pub fn set_persistence(&mut self, persistence: &Persistence) {
        if let Network::Causal(network) = &mut self.network {
            network.set_persistence(persistence);
        }
    }

    /// The outputs for some rows, computed in chunks: `[effects, rows, columns]`.
    pub fn predict(&self, inputs: &Inputs, structure: &Arc<Structure>) -> Block {
        self.predict_watched(inputs, structure, &Tracker::unheard())
    }

    /// The same; `watch` hears of every row.
    pub fn predict_watched(
        &self,
        inputs: &Inputs,
        structure: &Arc<Structure>,
        watch: &Tracker<'_>,
    ) -> Block {
        self.predict_under(inputs, structure, None, watch)
    }

    /// The same, given what depends on the action alone, if it is known.
    pub fn predict_under(
        &self,
        inputs: &Inputs,
        structure: &Arc<Structure>,
        part: Option<&ActionPart>,
        watch: &Tracker<'_>,
    ) -> Block {
        let rows = inputs.rows();
        if rows <= CHUNK_ROWS {
            let outputs = self.predict_chunk(inputs.clone(), structure, part);
            watch.advance(rows as f64, "");
            return outputs;
        }
        let mut all =
            Block::zeros(Shape::new(structure.effects(), rows, self.encoding.output_columns()));
        let columns = all.shape.columns;
        let mut from = 0;
        while from < rows {
            let to = rows.min(from + CHUNK_ROWS);
            let chunk: Vec<usize> = (from..to).collect();
            let outputs = self.predict_chunk(inputs.select(&chunk), structure, part);
            for group in 0..outputs.shape.groups {
                all.group_mut(group)[from * columns..to * columns]
                    .copy_from_slice(outputs.group(group));
            }
            watch.advance((to - from) as f64, "");
            from = to;
        }
        all
    }

    fn predict_chunk(
        &self,
        inputs: Inputs,
        structure: &Arc<Structure>,
        part: Option<&ActionPart>,
    ) -> Block {
        let mut tape = Tape::computing(&self.parameters, POOL.take());
        let outputs = match (self.causal(), part) {
            (Some(network), Some(part)) => network.predict(&mut tape, inputs, structure, part),
            _ => self.forward(&mut tape, inputs, structure).0,
        };
        let outputs = tape.value(outputs).clone();
        POOL.set(tape.finish());
        outputs
    }

    fn constant(&self, tape: &mut Tape<'_>, constant: Parameter, inputs: &Inputs) -> Variable {
        let Shape { groups, columns, .. } = tape.parameters().of(constant).shape;
        let rows = inputs.rows();
        let mut outputs = tape.scratch(Shape::new(groups, rows, columns));
        for group in 0..groups {
            let from = tape.parameters().of(constant).group(group);
            outputs
                .group_mut(group)
                .chunks_exact_mut(columns)
                .for_each(|row| row.copy_from_slice(from));
        }
        let outputs = tape.push(outputs, Repeat(constant));
        let targets = self.encoding.targets();
        let starts = Persistence::of_all(groups).starts(inputs, targets);
        persist(tape, outputs, &starts, targets)
    }
}

/// Repeats one row of parameters.
struct Repeat(Parameter);

impl becausal_nn::Operation for Repeat {
    fn backward(
        &self,
        result: Variable,
        gradient: &mut [f32],
        back: &mut becausal_nn::Backward<'_>,
    ) {
        let Shape { groups, rows, columns } = back.value(result).shape;
        let into = back.learned.of_mut(self.0);
        for group in 0..groups {
            for row in 0..rows {
                let gradient = &gradient[(group * rows + row) * columns..][..columns];
                becausal_nn::add_scaled(&mut into[group * columns..][..columns], 1.0, gradient);
            }
        }
    }
}

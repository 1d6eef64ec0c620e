//! Data made ready for fits: split, scaled and encoded once.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{EpisodeSplit, Transitions};

use super::encoding::Encoding;
use super::error::FitError;
use super::inputs::Encoded;
use super::train::ModelParams;
use super::world_model::check;

/// Episodes to learn from and held-out episodes, as all fits of one kind or another read them.
pub struct FitData {
    pub(super) split: EpisodeSplit,
    /// The episodes to learn from.
    pub(super) train: Transitions,
    /// The held-out episodes.
    pub(super) held_out: Transitions,
    pub(super) encoding: Arc<Encoding>,
    /// Encoded rows of `train`.
    pub(super) train_rows: Encoded,
    /// Encoded rows of `held_out`.
    pub(super) held_out_rows: Encoded,
}

impl FitData {
    /// Holds some episodes out, measures the scales of the others, and encodes all rows.
    ///
    /// # Errors
    /// When there are too few data, or a value is not finite.
    pub fn new(data: &Transitions, params: &ModelParams) -> Result<Self, FitError> {
        check(data)?;
        let split = data.split_episodes(params.held_out, &mut Stream::keyed(params.seed, &[0]));
        let train = data.select_episodes(&split.train);
        let held_out = data.select_episodes(&split.held_out);
        let encoding = Arc::new(Encoding::of(&train));
        let train_rows = encoding.encode_all(&train);
        let held_out_rows = encoding.encode_all(&held_out);
        Ok(Self { split, train, held_out, encoding, train_rows, held_out_rows })
    }
}

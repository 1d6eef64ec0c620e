//! Data made ready for fits: split, scaled and encoded once.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{EpisodeSplit, Transitions};
use becausal_core::progress::Tracker;

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
    /// When there are too few data, a value is not finite, or the listener stops the work.
    pub fn new(data: &Transitions, params: &ModelParams) -> Result<Self, FitError> {
        // Every value is checked, measured and encoded.
        let values = 3 * data.len() * data.schema().slots().len();
        let watch = Tracker::begin(&params.progress, "prepare", "values", values);
        check(data, &watch)?;
        let split = data.split_episodes(params.held_out, &mut Stream::keyed(params.seed, &[0]));
        let train = data.select_episodes(&split.train);
        let held_out = data.select_episodes(&split.held_out);
        let encoding = Encoding::of(&train, params.plain, &watch);
        let encoding = Arc::new(if params.plain { encoding } else { encoding.with_cuts(&train) });
        let mut train_rows = encoding.encode_all(&train, &watch);
        let mut held_out_rows = encoding.encode_all(&held_out, &watch);
        encoding.leave_out_stops(&mut train_rows.targets);
        encoding.leave_out_stops(&mut held_out_rows.targets);
        if watch.is_stopped() {
            return Err(FitError::Stopped);
        }
        // Rounding aside, and the held-out rows were not measured.
        watch.advance(values as f64, "");
        Ok(Self { split, train, held_out, encoding, train_rows, held_out_rows })
    }
}

//! Work that needs more memory than it may take is refused before it begins.

use std::mem::size_of;

use becausal_core::schema::{Role, Schema};
use becausal_core::{MemoryLimit, Transitions};
use becausal_discovery::Pair;
use becausal_learn::{Imagination, Settings};
use becausal_model::ModelParams;

use crate::error::Error;

/// Refuses a discovery that needs more memory than it may take: it compares every cause with every
/// effect.
///
/// # Errors
/// With what is needed and what may be used.
pub fn check_discovery(data: &Transitions, limit: MemoryLimit) -> Result<(), Error> {
    let schema = data.schema();
    let causes = schema.causes().len() as u64;
    let pairs = causes.saturating_mul(schema.effects().len() as u64);
    let kept = pairs.saturating_mul(2 * size_of::<Pair>() as u64);
    let columns = (schema.slots().len() as u64).saturating_mul(8);
    // The rows are copied once for the tests, and ranked.
    let rows = (data.len() as u64).saturating_mul(columns).saturating_mul(2);
    check("the discovery", kept.saturating_add(rows), limit)
}

/// Refuses a fit that needs more memory than it may take.
pub(crate) fn check_fit(
    params: &ModelParams,
    schema: &Schema,
    rows: usize,
    limit: MemoryLimit,
) -> Result<(), Error> {
    check("the fit", params.memory(schema, rows), limit)
}

/// Refuses a training that needs more memory than it may take.
pub(crate) fn check_training(
    settings: &Settings,
    schema: &Schema,
    limit: MemoryLimit,
) -> Result<(), Error> {
    let numbers = schema.slots().len() + schema.of_role(Role::Action).count();
    // A sample is kept in double precision with its advantage, value and probability, and again in
    // single precision for the networks.
    let sample = 12 * (numbers as u64 + 16);
    let samples = (settings.samples as u64).saturating_mul(sample);
    let recorded = if settings.final_fit_steps > 0 { settings.explaining_rows() } else { 0 };
    let rows = settings.warm_up.saturating_add(settings.epoch_steps).saturating_add(recorded);
    let model = ModelParams {
        members: settings.members,
        batch: settings.fit_batch,
        sizes: settings.sizes(),
        ..ModelParams::default()
    };
    let is_fitted = settings.model != Imagination::None || settings.final_fit_steps > 0;
    let model = if is_fitted { model.memory(schema, rows) } else { 0 };
    check("the training", samples.saturating_add(model), limit)
}

fn check(work: &'static str, needed: u64, limit: MemoryLimit) -> Result<(), Error> {
    limit.check(needed).map_err(|error| Error::Memory { work, error })
}

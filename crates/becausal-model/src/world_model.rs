//! The world model: an ensemble of networks trained on different samples of the episodes.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::data::Transitions;
use becausal_core::progress::Tracker;
use becausal_core::schema::Schema;

use super::descent::Lessons;
use super::encoding::Encoding;
use super::error::FitError;
use super::fit_data::FitData;
use super::kept::Kept;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::persistence::Persistence;
use super::probe::Probe;
use super::refit::structure_of;
use super::shared_noise::SharedNoise;
use super::structure::Structure;
use super::train::{MemberReport, ModelParams, Training};

/// Maximum number of held-out rows for evaluations during training.
const MAX_VALIDATION_ROWS: usize = 4096;

/// Maximum number of held-out rows for measuring which parents matter under an action.
const MAX_PROBE_ROWS: usize = 4096;

/// Maximum number of rows times parents for the same: with a thousand parents a few hundred rows each.
const MAX_PROBES: usize = 1 << 20;

/// A model of what follows from a state and an action, fitted to data.
#[derive(Debug, Clone)]
pub struct WorldModel {
    pub(super) kind: ModelKind,
    pub(super) encoding: Arc<Encoding>,
    pub(super) structure: Arc<Structure>,
    pub(super) persistence: Persistence,
    pub(super) sizes: Sizes,
    pub(super) members: Vec<Member>,
    pub(super) kept: Kept,
    /// What the noise of one step says about another, where copies of the environment showed it.
    pub(super) shared_noise: Option<Arc<SharedNoise>>,
}

/// The report of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitReport {
    /// The report of each member.
    pub members: Vec<MemberReport>,
    /// The held-out episodes.
    pub held_out: Vec<usize>,
}

impl WorldModel {
    /// Measures by these rows what a noticeable change is, which values a variable usually has, and what is beyond
    /// the data: rows that were only made to learn from should not decide that.
    pub fn describe(&mut self, data: &Transitions) {
        Arc::make_mut(&mut self.encoding).describe(data);
    }

    /// Fits a world model to data.
    ///
    /// Some episodes are held out. Each member is trained on its own bootstrap sample of the
    /// others, in parallel, and stops when the held-out likelihood no longer improves.
    ///
    /// # Errors
    /// When there are too few data, a value is not finite, the fit breaks down, or the listener stops it.
    pub fn fit(
        data: &Transitions,
        kind: ModelKind,
        structure: &Structure,
        params: &ModelParams,
    ) -> Result<(Self, FitReport), FitError> {
        Self::fit_to(&FitData::new(data, params)?, kind, structure, params)
    }

    /// The same with data that were made ready before: several fits share them.
    ///
    /// # Errors
    /// When the fit breaks down, or the listener stops it.
    pub fn fit_to(
        data: &FitData,
        kind: ModelKind,
        structure: &Structure,
        params: &ModelParams,
    ) -> Result<(Self, FitReport), FitError> {
        Self::fit_members(data, kind, structure, params, 0..params.members)
            .map(|(model, report)| (model.narrowed(), report))
    }

    /// Some of the members of a model. They are the same as in a fit of all members.
    pub(super) fn fit_members(
        data: &FitData,
        kind: ModelKind,
        structure: &Structure,
        params: &ModelParams,
        members: Range<usize>,
    ) -> Result<(Self, FitReport), FitError> {
        let FitData { train, encoding, train_rows, held_out_rows, .. } = data;
        let structure = Arc::new(structure_of(train, kind, structure));
        let listener = &params.progress;
        let mut persistence =
            Persistence::asked(params.persist, train, encoding, &structure, listener);
        if params.persist && !params.plain && kind.has_weights() {
            persistence = persistence.with_laws(train, encoding, &structure);
        }
        let looked_at: Vec<usize> =
            evenly(held_out_rows.inputs.rows(), MAX_VALIDATION_ROWS).collect();
        let held_out = held_out_rows.select(&looked_at);
        let prunes = kind.has_weights() && params.prune < 1.0;
        let probe = (prunes && held_out.inputs.table).then(|| {
            let most = (MAX_PROBES / structure.edges().max(1)).clamp(1, MAX_PROBE_ROWS);
            let probed: Vec<usize> = evenly(looked_at.len(), most).collect();
            let rows = held_out.select(&probed);
            Probe::new(encoding, &structure, rows, params.seed, kind, listener)
        });
        let training = Training {
            kind,
            options: params,
            lessons: Lessons { encoding, structure: &structure, rows: train_rows },
            held_out: &held_out,
            prunes,
            probe: probe.as_ref(),
        };
        let tracker = Tracker::begin(listener, "fit", "steps", members.len() * params.steps);
        let fitted: Result<Vec<(Member, MemberReport)>, FitError> = members
            .into_par_iter()
            .with_max_len(1)
            .map(|at| {
                let mut stream = Stream::keyed(params.seed, &[1, index(at)]);
                let mut member = Member::new(
                    kind,
                    encoding,
                    &structure,
                    &persistence,
                    params.sizes,
                    &mut stream,
                );
                let sample = bootstrap(train, params.members > 1, &mut stream);
                let report = training.run(at, &mut member, sample, stream, &tracker)?;
                Ok((member, report))
            })
            .collect();
        let (members, reports) = fitted?.into_iter().unzip();
        let (sizes, encoding) = (params.sizes, Arc::clone(encoding));
        let kept = Kept::default();
        let shared_noise = None;
        let model =
            Self { kind, encoding, structure, persistence, sizes, members, kept, shared_noise };
        Ok((model, FitReport { members: reports, held_out: data.split.held_out.clone() }))
    }

    /// The kind of its networks.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        self.kind
    }

    /// The schema of its variables.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.encoding.schema()
    }

    /// The inputs that each effect reads.
    #[must_use]
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The number of networks.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// The number of parameters of a member.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.members.first().map_or(0, |member| member.parameters.count())
    }
}

/// A bootstrap sample: the rows of as many recordings as there are, drawn with replacement.
fn bootstrap(data: &Transitions, draw: bool, stream: &mut Stream) -> Vec<usize> {
    if !draw {
        return (0..data.len()).collect();
    }
    // Of a single recording, its parts are all there is to draw.
    let of = |episode| if data.recordings() < 2 { episode } else { data.recording_of(episode) };
    let mut units: Vec<Vec<usize>> = vec![Vec::new(); data.recordings().max(data.episodes())];
    for episode in 0..data.episodes() {
        units[of(episode)].push(episode);
    }
    units.retain(|episodes| !episodes.is_empty());
    let drawn = (0..units.len()).flat_map(|_| units[stream.below(units.len())].iter().copied());
    data.rows_of(&drawn.collect::<Vec<usize>>())
}

/// At most `count` of `total` indices, evenly spaced.
pub(super) fn evenly(total: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(total);
    (0..count).map(move |at| at * total / count)
}

pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("there are fewer than 2^32 members and episodes")
}

pub(super) fn check(data: &Transitions, watch: &Tracker<'_>) -> Result<(), FitError> {
    if data.len() < 20 || data.episodes() < 2 {
        return Err(FitError::TooFew { rows: data.len(), episodes: data.episodes() });
    }
    for (slot, described) in data.schema().slots().iter().enumerate() {
        let values = data.column(slot).to_numbers();
        if let Some(row) = values.iter().position(|value| !value.is_finite()) {
            let (column, value) = (described.name.clone(), values[row].to_string());
            return Err(FitError::NotFinite { column, value, row: row + 1 });
        }
        watch.advance(values.len() as f64, "");
        if watch.is_stopped() {
            return Err(FitError::Stopped);
        }
    }
    Ok(())
}

//! Continues the training of a world model while its data grow and its graph changes.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_nn::Schedule;

use super::descent::{Descent, Lessons};
use super::encoding::Encoding;
use super::error::FitError;
use super::kept::Kept;
use super::member::{Member, ModelKind};
use super::persistence::Persistence;
use super::structure::Structure;
use super::train::{ModelParams, constant};
use super::world_model::{WorldModel, check, index};

/// The learning rate at the end of a refit, as a share of the maximum.
const END_RATE_SHARE: f64 = 0.05;

impl WorldModel {
    /// An untrained model with the scales of these data.
    ///
    /// # Errors
    /// When there are too few data, or a value is not finite.
    pub fn begin(
        data: &Transitions,
        kind: ModelKind,
        structure: &Structure,
        options: &ModelParams,
    ) -> Result<Self, FitError> {
        check(data, &Tracker::unheard())?;
        let structure = Arc::new(structure_of(data, kind, structure));
        let encoding = Arc::new(Encoding::of(data, options.plain, &Tracker::unheard()));
        let persistence =
            Persistence::asked(options.persist, data, &encoding, &structure, &Listener::NOBODY);
        let member = |at| {
            let mut stream = Stream::keyed(options.seed, &[1, index(at)]);
            Member::new(kind, &encoding, &structure, &persistence, options.sizes, &mut stream)
        };
        let members = (0..options.members).map(member).collect();
        Ok(Self {
            kind,
            encoding,
            structure,
            persistence,
            sizes: options.sizes,
            members,
            kept: Kept::default(),
            shared_noise: None,
        })
    }

    /// Continues the training on data that have grown, for `options.steps` steps per member.
    ///
    /// Parameters and scales are kept; another structure only changes the mask. Each member has its
    /// own sample of the episodes: the number of times that an episode counts depends only on the
    /// seed, the member and the episode, so it does not change when episodes are added. Nothing is
    /// held out and nothing is pruned. `round` distinguishes one refit from the next.
    ///
    /// # Errors
    /// When a value is not finite, or the fit fails.
    pub fn refit(
        &mut self,
        data: &Transitions,
        structure: &Structure,
        options: &ModelParams,
        round: u32,
    ) -> Result<(), FitError> {
        check(data, &Tracker::unheard())?;
        self.kept = Kept::default();
        self.shared_noise = None;
        self.restructure(data, structure, options.persist);
        let rows = self.encoding.encode_all(data, &Tracker::unheard());
        let lessons = Lessons { encoding: &self.encoding, structure: &self.structure, rows: &rows };
        let warm_up = (options.steps / 10).clamp(1, 100);
        let schedule =
            Schedule { peak: options.rate, end: END_RATE_SHARE, warm_up, steps: options.steps };
        let schedule = if options.annealed { schedule } else { constant(schedule) };
        let total = self.members.len() * options.steps;
        let watch = Tracker::new(&options.progress, "fit", "steps", total);
        self.members
            .par_iter_mut()
            .with_max_len(1)
            .enumerate()
            .map(|(at, member)| {
                member.pruned = None;
                let sample = sample(data, options, at);
                let stream = Stream::keyed(options.seed, &[2, index(at), round]);
                let mut descent =
                    Descent::new(lessons, options, schedule, (at, &*member), sample, stream);
                (0..options.steps).try_for_each(|_| {
                    watch.advance(1.0, "");
                    descent.step(member, false)
                })
            })
            .collect()
    }

    /// Changes the structure. An effect that keeps its own value among its parents also keeps its
    /// persistence.
    fn restructure(&mut self, data: &Transitions, structure: &Structure, persist: bool) {
        let structure = structure_of(data, self.kind, structure);
        if structure == *self.structure {
            return;
        }
        let mut persistence =
            Persistence::asked(persist, data, &self.encoding, &structure, &Listener::NOBODY);
        for effect in 0..structure.effects() {
            // The factor of a law means nothing without its other terms.
            let is_kept = structure.persists(effect) && self.structure.persists(effect);
            if is_kept && self.persistence.laws.is_none() {
                let before = self.persistence.stays.group(effect);
                persistence.stays.group_mut(effect).copy_from_slice(before);
            }
        }
        self.members.iter_mut().for_each(|member| member.set_persistence(&persistence));
        self.persistence = persistence;
        self.structure = Arc::new(structure);
    }
}

/// The structure of networks of a kind, given the discovered one.
pub(super) fn structure_of(
    data: &Transitions,
    kind: ModelKind,
    structure: &Structure,
) -> Structure {
    match kind {
        ModelKind::Full | ModelKind::Mlp => Structure::full(data.schema()),
        ModelKind::Causal => structure.clone(),
        ModelKind::ActionBlind => structure.without_actions(),
        ModelKind::Identity => structure.persistence(),
    }
}

/// The rows a member learns from: each episode as often as a Poisson number with mean 1 says.
fn sample(data: &Transitions, options: &ModelParams, member: usize) -> Vec<usize> {
    if options.members == 1 {
        return (0..data.len()).collect();
    }
    let episodes = (0..data.episodes()).flat_map(|episode| {
        let mut stream = Stream::keyed(options.seed, &[3, index(member), index(episode)]);
        let (mut times, mut product) = (0, stream.unit());
        while product > (-1.0_f64).exp() {
            times += 1;
            product *= stream.unit();
        }
        std::iter::repeat_n(episode, times)
    });
    let rows = data.rows_of(&episodes.collect::<Vec<usize>>());
    if rows.is_empty() { (0..data.len()).collect() } else { rows }
}

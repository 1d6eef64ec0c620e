//! Transitions in columns, divided into episodes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::column::Column;
use super::statistics::Spread;
use crate::Stream;
use crate::schema::{Columns, Expression, Schema};

/// Transitions (s, a, o, s') in time order, one column per [`Slot`](crate::schema::Slot).
#[derive(Debug, Clone, PartialEq)]
pub struct Transitions {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    /// The first row of each episode.
    starts: Vec<usize>,
    /// The recording that each episode is part of, counted from 0. Only where rows were left out is a
    /// recording several episodes.
    recordings: Recordings,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    /// The environment's own reward, if it was recorded.
    reward: Option<Vec<f64>>,
}

/// One transition, as an environment produces it.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// s, in the order of the schema's state slots.
    pub state: &'a [f64],
    /// a, in the order of the action slots.
    pub action: &'a [f64],
    /// o, in the order of the outcome slots.
    pub outcomes: &'a [f64],
    /// s'.
    pub next: &'a [f64],
    /// The environment's own reward.
    pub reward: f64,
    /// Whether the episode ended by the environment's rules.
    pub terminated: bool,
    /// Whether the episode was cut short from outside, for instance by a time limit.
    pub truncated: bool,
}

/// Training episodes and held-out episodes, by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeSplit {
    /// Episodes to train on, ascending.
    pub train: Vec<usize>,
    /// Episodes to evaluate on, ascending.
    pub held_out: Vec<usize>,
}

/// The parts of complete transitions, as `assemble` creates them.
pub(super) struct Parts {
    pub(super) columns: Vec<Column>,
    pub(super) starts: Vec<usize>,
    pub(super) recordings: Vec<usize>,
    pub(super) terminated: Vec<bool>,
    pub(super) truncated: Vec<bool>,
    pub(super) reward: Option<Vec<f64>>,
}

impl Transitions {
    /// No transitions yet, with a column for the environment's own reward.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        let columns = (0..schema.slots().len())
            .map(|slot| Column::new(&schema.variable_of(slot).kind))
            .collect();
        Self {
            schema,
            columns,
            starts: Vec::new(),
            recordings: Recordings::default(),
            terminated: Vec::new(),
            truncated: Vec::new(),
            reward: Some(Vec::new()),
        }
    }

    pub(super) fn from_parts(schema: Arc<Schema>, parts: Parts) -> Self {
        let Parts { columns, starts, recordings, terminated, truncated, reward } = parts;
        let recordings = Recordings::numbered(recordings);
        Self { schema, columns, starts, recordings, terminated, truncated, reward }
    }

    /// Sets `terminated` of the last row of every episode to what `ended` returns for that row.
    pub(super) fn mark_terminated(&mut self, ended: impl Fn(usize) -> bool) {
        for episode in 0..self.episodes() {
            let last = self.episode(episode).end - 1;
            self.terminated[last] = ended(last);
        }
    }

    /// Marks the last row of every episode that did not terminate as truncated.
    pub(crate) fn cut_short(&mut self) {
        for episode in 0..self.episodes() {
            // An episode may have no rows yet.
            if let Some(last) = self.episode(episode).last() {
                self.truncated[last] |= !self.terminated[last];
            }
        }
    }

    /// The schema that describes the columns.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of transitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.terminated.len()
    }

    /// Whether there are no transitions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terminated.is_empty()
    }

    /// The values of a slot.
    #[must_use]
    pub fn column(&self, slot: usize) -> &Column {
        &self.columns[slot]
    }

    /// The statistics of a slot, along the circle where its values lie on one; `None` without rows.
    #[must_use]
    pub fn spread(&self, slot: usize) -> Option<Spread> {
        match self.schema.variable_of(slot).kind.circle() {
            Some(circle) => Spread::on_circle(self.column(slot), circle),
            None => Spread::of(self.column(slot)),
        }
    }

    /// The index of a category in a row.
    ///
    /// # Panics
    /// When the slot is not categorical or there is no such row.
    #[must_use]
    pub fn code(&self, slot: usize, row: usize) -> usize {
        match &self.columns[slot] {
            Column::Codes(codes) => codes[row] as usize,
            _ => panic!("`{}` is not categorical", self.schema.slots()[slot].name),
        }
    }

    /// Whether each transition ended its episode by the environment's rules.
    #[must_use]
    pub fn terminated(&self) -> &[bool] {
        &self.terminated
    }

    /// Whether the episode was cut short after each transition.
    #[must_use]
    pub fn truncated(&self) -> &[bool] {
        &self.truncated
    }

    /// The environment's own reward for each transition, if it was recorded.
    #[must_use]
    pub fn reward(&self) -> Option<&[f64]> {
        self.reward.as_deref()
    }

    /// Number of episodes.
    #[must_use]
    pub fn episodes(&self) -> usize {
        self.starts.len()
    }

    /// The rows of an episode.
    ///
    /// # Panics
    /// When there is no such episode.
    #[must_use]
    pub fn episode(&self, episode: usize) -> Range<usize> {
        let end = self.starts.get(episode + 1).copied().unwrap_or(self.len());
        self.starts[episode]..end
    }

    /// The episode that a row belongs to.
    #[must_use]
    pub fn episode_of(&self, row: usize) -> usize {
        self.starts.partition_point(|&start| start <= row).saturating_sub(1)
    }

    /// Number of recordings: what was recorded in one go. Episodes of one recording are not independent
    /// of each other.
    #[must_use]
    pub fn recordings(&self) -> usize {
        self.recordings.count
    }

    /// The recording that an episode is part of. It is the whole of it, unless rows in between were
    /// left out ([`Missing::Drop`](super::Missing::Drop)).
    ///
    /// # Panics
    /// When there is no such episode.
    #[must_use]
    pub fn recording_of(&self, episode: usize) -> usize {
        self.recordings.of_episode[episode]
    }

    /// The rows of these episodes, one episode after the other.
    #[must_use]
    pub fn rows_of(&self, episodes: &[usize]) -> Vec<usize> {
        episodes.iter().flat_map(|&episode| self.episode(episode)).collect()
    }

    /// Makes the next row that is pushed the first of an episode, which is a recording of its own.
    pub fn begin_episode(&mut self) {
        if self.starts.last() != Some(&self.len()) {
            self.recordings.begin();
            self.starts.push(self.len());
        }
    }

    /// Makes the next row that is pushed the first of an episode, which is of the same recording as the one before.
    pub fn begin_stretch(&mut self) {
        if self.starts.is_empty() {
            self.begin_episode();
        } else if self.starts.last() != Some(&self.len()) {
            self.recordings.continued();
            self.starts.push(self.len());
        }
    }

    /// Adds a transition to the current episode. Circular values are put on their circle.
    ///
    /// # Panics
    /// When the row does not have as many numbers as the schema has slots.
    pub fn push(&mut self, row: &Row<'_>) {
        if self.starts.is_empty() {
            self.begin_episode();
        }
        let parts = [row.state, row.action, row.outcomes, row.next];
        let count: usize = parts.iter().map(|part| part.len()).sum();
        let name = self.schema.name();
        assert_eq!(count, self.columns.len(), "a transition of {name} has one number per slot");
        let values = parts.into_iter().flatten();
        for (slot, (column, &value)) in self.columns.iter_mut().zip(values).enumerate() {
            column.push(self.schema.variable_of(slot).kind.written(value));
        }
        self.terminated.push(row.terminated);
        self.truncated.push(row.truncated);
        if let Some(reward) = &mut self.reward {
            reward.push(row.reward);
        }
    }

    /// Adds all rows of `other`, whose first row starts an episode.
    ///
    /// # Panics
    /// When the schemas differ.
    pub fn append(&mut self, other: &Self) {
        assert_eq!(self.schema, other.schema, "both must have the same schema");
        if self.is_empty() {
            self.reward = other.reward.is_some().then(Vec::new);
        }
        let offset = self.len();
        self.recordings.append(&other.recordings);
        self.starts.extend(other.starts.iter().map(|start| start + offset));
        self.extend(other, 0..other.len());
    }

    /// Adds rows without starting an episode.
    fn extend(&mut self, other: &Self, range: Range<usize>) {
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            mine.extend(theirs, range.clone());
        }
        self.terminated.extend_from_slice(&other.terminated[range.clone()]);
        self.truncated.extend_from_slice(&other.truncated[range.clone()]);
        match (&mut self.reward, &other.reward) {
            (Some(mine), Some(theirs)) => mine.extend_from_slice(&theirs[range]),
            (mine, _) => *mine = None,
        }
    }

    /// A copy of consecutive rows. An episode that is cut starts or ends there.
    ///
    /// # Panics
    /// When the range exceeds the rows.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let mut part = Self::new(Arc::clone(&self.schema));
        if self.reward.is_none() {
            part.reward = None;
        }
        part.extend(self, range.clone());
        if !range.is_empty() {
            let episodes = self.episode_of(range.start)..=self.episode_of(range.end - 1);
            let starts = self.starts[episodes.clone()].iter();
            part.starts = starts.map(|start| start.saturating_sub(range.start)).collect();
            part.recordings = Recordings::numbered(self.recordings.of_episode[episodes].to_vec());
        }
        part
    }

    /// A copy of some episodes, in the order given.
    ///
    /// # Panics
    /// When there is no such episode.
    #[must_use]
    pub fn select_episodes(&self, episodes: &[usize]) -> Self {
        let mut part = self.slice(0..0);
        for &episode in episodes {
            part.begin_episode();
            part.extend(self, self.episode(episode));
        }
        part.recordings = self.recordings.of(episodes);
        part
    }

    /// The same rows, with long episodes cut into stretches of about `rows` rows. No transition is lost:
    /// each has its own next state. Each stretch counts as a recording.
    #[must_use]
    pub fn in_stretches(&self, rows: usize) -> Self {
        let mut cut = self.clone();
        cut.starts.clear();
        for episode in 0..self.episodes() {
            let range = self.episode(episode);
            let parts = (range.len() / rows.max(1)).max(1);
            cut.starts.extend((0..parts).map(|part| range.start + part * range.len() / parts));
        }
        cut.recordings = Recordings::numbered((0..cut.starts.len()).collect());
        cut
    }

    /// A copy of some rows, in ascending order. Each row stays in its episode.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let mut part = self.slice(0..0);
        let mut episodes: Vec<usize> = Vec::new();
        for run in rows.chunk_by(|row, next| row + 1 == *next) {
            let (mut from, end) = (run[0], run[0] + run.len());
            while from < end {
                let episode = self.episode_of(from);
                if episodes.last() != Some(&episode) {
                    part.begin_episode();
                    episodes.push(episode);
                }
                let to = end.min(self.episode(episode).end);
                part.extend(self, from..to);
                from = to;
            }
        }
        part.recordings = self.recordings.of(&episodes);
        part
    }

    /// Splits the episodes at random; about a share `held_out` of the rows is held out.
    ///
    /// An episode is never split: consecutive rows are too similar to evaluate on one what was
    /// trained on the other. For the same reason the episodes of one recording stay together, unless
    /// there is only one. With two or more episodes neither side is empty.
    #[must_use]
    pub fn split_episodes(&self, held_out: f64, stream: &mut Stream) -> EpisodeSplit {
        let is_one = self.recordings() < 2;
        let mut units: Vec<Vec<usize>> = Vec::new();
        for episode in 0..self.episodes() {
            let unit = if is_one { episode } else { self.recording_of(episode) };
            units.resize(units.len().max(unit + 1), Vec::new());
            units[unit].push(episode);
        }
        let order = stream.permutation(units.len());
        let wanted = held_out.clamp(0.0, 1.0) * self.len() as f64;
        let mut split = EpisodeSplit { train: Vec::new(), held_out: Vec::new() };
        let mut rows = 0;
        for (index, &unit) in order.iter().enumerate() {
            let unit = &units[unit];
            let length: usize = unit.iter().map(|&episode| self.episode(episode).len()).sum();
            // Whether holding these episodes out brings the share closer to `held_out`.
            let closer = (rows as f64 + length as f64 / 2.0) <= wanted;
            let first = index == 0 && held_out > 0.0;
            let last = index + 1 == order.len() && split.train.is_empty() && held_out < 1.0;
            if (closer || first) && !last {
                rows += length;
                split.held_out.extend(unit);
            } else {
                split.train.extend(unit);
            }
        }
        split.train.sort_unstable();
        split.held_out.sort_unstable();
        split
    }

    /// `count` rows drawn with replacement.
    ///
    /// # Panics
    /// When there are no rows to draw from, or more than 2^32.
    #[must_use]
    pub fn sample(&self, count: usize, stream: &mut Stream) -> Vec<usize> {
        (0..count).map(|_| stream.below(self.len())).collect()
    }

    /// A transition as one row: states, actions, outcomes, next states.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column.get(row)).collect()
    }

    /// The value of an expression in every row.
    #[must_use]
    pub fn evaluate(&self, expression: &Expression) -> Vec<f64> {
        const CHUNK_ROWS: usize = 1 << 15;
        let mut values = vec![0.0; self.len()];
        values
            .par_chunks_mut(CHUNK_ROWS)
            .enumerate()
            .for_each(|(chunk, into)| expression.evaluate(self, chunk * CHUNK_ROWS, into));
        values
    }

    /// The sum of the schema's reward terms in every row.
    #[must_use]
    pub fn total_reward(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.len()];
        for reward in self.schema.rewards() {
            for (sum, term) in total.iter_mut().zip(self.evaluate(&reward.expression)) {
                *sum += term;
            }
        }
        total
    }
}

/// Which episodes were recorded in one go.
#[derive(Debug, Clone, PartialEq, Default)]
struct Recordings {
    /// The recording of each episode.
    of_episode: Vec<usize>,
    /// How many there are.
    count: usize,
}

impl Recordings {
    /// Counts recordings from 0, in the order in which they appear.
    fn numbered(of_episode: Vec<usize>) -> Self {
        let mut numbers = BTreeMap::new();
        let number = |recording| {
            let next = numbers.len();
            *numbers.entry(recording).or_insert(next)
        };
        let of_episode = of_episode.into_iter().map(number).collect();
        Self { of_episode, count: numbers.len() }
    }

    /// Those of some episodes.
    fn of(&self, episodes: &[usize]) -> Self {
        Self::numbered(episodes.iter().map(|&episode| self.of_episode[episode]).collect())
    }

    /// The next episode is a recording of its own.
    fn begin(&mut self) {
        self.of_episode.push(self.count);
        self.count += 1;
    }

    /// The next episode is of the same recording as the last.
    fn continued(&mut self) {
        self.of_episode.push(self.count.saturating_sub(1));
    }

    fn append(&mut self, other: &Self) {
        self.of_episode.extend(other.of_episode.iter().map(|recording| recording + self.count));
        self.count += other.count;
    }
}

impl Columns for Transitions {
    fn load(&self, slot: usize, from: usize, into: &mut [f64]) {
        self.columns[slot].load(from, into);
    }
}

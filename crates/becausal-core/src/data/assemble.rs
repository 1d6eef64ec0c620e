//! Assembles the cells of a file into transitions and episodes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::cell::{self, Cell};
use super::column::Column;
use super::error::Problem;
use super::header::{Header, Place};
use super::missing::{Gaps, Missing, in_words, stretches};
use super::read::Recording;
use super::transitions::{Parts, Transitions};
use crate::schema::{Bounds, Kind, Schema};
use crate::text::{counted, shown, thousands};

/// Maximum number of empty cells: each takes some memory of its own.
const MAX_GAPS: usize = 10_000_000;

/// Collects the cells of a file. Columns may come in any order, the rows of a column in sequence.
pub(super) struct Assembly {
    schema: Arc<Schema>,
    header: Header,
    slots: Vec<Column>,
    episodes: Episodes,
    terminated: Column,
    truncated: Column,
    reward: Column,
    missing: Missing,
    gaps: Gaps,
    any_number: Kind,
    /// The first episode of each recording, where the file says so.
    first_of_recordings: Option<Vec<usize>>,
}

impl Assembly {
    pub(super) fn new(schema: Arc<Schema>, header: Header, missing: Missing) -> Self {
        let any_number = Kind::Continuous(Bounds::default());
        let slots = (0..schema.slots().len())
            .map(|slot| Column::new(&schema.variable_of(slot).kind))
            .collect();
        Self {
            schema,
            header,
            slots,
            episodes: Episodes::default(),
            terminated: Column::new(&Kind::Boolean),
            truncated: Column::new(&Kind::Boolean),
            reward: Column::new(&any_number),
            missing,
            gaps: Gaps::default(),
            any_number,
            first_of_recordings: None,
        }
    }

    /// The file says with which of its episodes each recording begins.
    #[cfg(feature = "parquet")]
    pub(super) fn set_recordings(&mut self, first: Vec<usize>) {
        self.first_of_recordings = Some(first);
    }

    /// Adds a cell to a column of the file. The error says what is wrong with the cell.
    pub(super) fn put(&mut self, index: usize, cell: Cell<'_>) -> Result<(), String> {
        let place = self.header.places[index];
        let (kind, column) = match place {
            Place::Ignored => return Ok(()),
            Place::Episode => return self.episodes.put(cell),
            Place::Slot(slot) => (&self.schema.variable_of(slot).kind, &mut self.slots[slot]),
            Place::Terminated => (&Kind::Boolean, &mut self.terminated),
            Place::Truncated => (&Kind::Boolean, &mut self.truncated),
            Place::Reward => (&self.any_number, &mut self.reward),
        };
        if cell.is_blank() && !cell.is_label_of(kind) {
            if self.gaps.len() == MAX_GAPS {
                return Err(format!("more than {} cells are empty or NaN", thousands(MAX_GAPS)));
            }
            self.gaps.add(column.len(), index);
            column.push(0.0);
            return Ok(());
        }
        column.push(cell::value(kind, cell)?);
        Ok(())
    }

    /// The number of rows that a column of the file has so far.
    pub(super) fn rows(&self, index: usize) -> usize {
        match self.header.places[index] {
            Place::Ignored => 0,
            Place::Episode => self.episodes.rows,
            Place::Slot(slot) => self.slots[slot].len(),
            Place::Terminated => self.terminated.len(),
            Place::Truncated => self.truncated.len(),
            Place::Reward => self.reward.len(),
        }
    }

    /// The memory that a row takes while it is assembled, in bytes.
    pub(super) fn row_bytes(&self) -> u64 {
        let packed = |slot: usize| match self.schema.variable_of(slot).kind {
            Kind::Continuous(_) | Kind::Integer(_) | Kind::Circular(_) => 8,
            Kind::Categorical(_) => 4,
            Kind::Boolean => 1,
        };
        let row: u64 = (0..self.schema.slots().len()).map(packed).sum();
        // Columns grow, and those of a sequential log are copied: measured up to 1.3 times.
        (row + 10) * 3 / 2
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the transitions once all columns are complete.
    pub(super) fn finish(mut self) -> Result<Recording, Problem> {
        let used = (0..self.header.places.len())
            .filter(|&index| self.header.places[index] != Place::Ignored);
        let rows = used.clone().map(|index| self.rows(index)).max().unwrap_or(0);
        for index in used {
            if self.rows(index) != rows {
                return Err(Problem::Columns(vec![format!(
                    "column `{}` has {}, others have {rows}",
                    shown(&self.header.names[index]),
                    counted(self.rows(index), "row")
                )]));
            }
        }
        if rows == 0 {
            return Err(Problem::Empty);
        }
        for column in &mut self.slots {
            column.shrink();
        }
        let mut notes = Vec::new();
        let starts = self.starts(rows, &mut notes);
        self.check_ends(rows, &starts)?;
        let recordings = self.recordings(&starts, &mut notes);
        let stretches = self.stretches(rows, &starts, &mut notes)?;
        let parts = if self.header.sequence {
            notes.push(format!(
                "no next states in the file: each row's next state is taken from the row after it; \
                 the last row of each of {} gives none and was left out",
                counted(starts.len(), "episode")
            ));
            self.take_next_states(&stretches)
        } else {
            self.take(&stretches)
        };
        let parts = Parts {
            recordings: stretches.iter().map(|stretch| recordings[stretch.episode]).collect(),
            ..parts
        };
        let has = |place| self.header.places.contains(&place);
        Ok(complete(&self.schema, &has, parts, notes))
    }

    /// The first row of each episode.
    fn starts(&self, rows: usize, notes: &mut Vec<String>) -> Vec<usize> {
        if self.header.has(Place::Episode) {
            return self.episodes.starts.clone();
        }
        let index_of = self.columns_of_slots();
        // What is not known does not show that the episode continues.
        let begins = |row: &usize| {
            self.is_end(row - 1)
                || (!self.header.sequence && !self.is_continued(row - 1, &index_of, false))
        };
        let starts: Vec<usize> = std::iter::once(0).chain((1..rows).filter(begins)).collect();
        notes.push(format!(
            "no column `episode`: found {}, each ending at a row that {}",
            counted(starts.len(), "episode"),
            if self.header.sequence {
                "is marked as the last"
            } else {
                "is marked as the last or whose next state is not the state of the next row"
            }
        ));
        starts
    }

    /// The recording that each episode of the file is part of.
    ///
    /// Without a column `episode`, an episode also ends where an empty cell hides whether it continues.
    /// What follows is then part of the same recording.
    fn recordings(&self, starts: &[usize], notes: &mut Vec<String>) -> Vec<usize> {
        let fits = |first: &&Vec<usize>| {
            first.first() == Some(&0)
                && first.windows(2).all(|pair| pair[0] < pair[1])
                && first.last().is_some_and(|&last| last < starts.len())
        };
        if self.first_of_recordings.as_ref().is_some_and(|first| !fits(&first)) {
            // Another program may have left rows out, and kept what ours had written.
            notes.push(
                "what the file says about its recordings does not fit its episodes and is ignored: \
                 each episode counts as independent of the others"
                    .to_owned(),
            );
        }
        let begins: Vec<bool> = if let Some(first) = self.first_of_recordings.as_ref().filter(fits)
        {
            (0..starts.len()).map(|episode| first.binary_search(&episode).is_ok()).collect()
        } else if self.header.has(Place::Episode) || self.header.sequence {
            vec![true; starts.len()]
        } else {
            let index_of = self.columns_of_slots();
            let is_new = |&start: &usize| {
                start == 0
                    || self.is_end(start - 1)
                    || !self.is_continued(start - 1, &index_of, true)
            };
            starts.iter().map(is_new).collect()
        };
        let number = |recordings: &mut usize, begins: bool| {
            *recordings += usize::from(begins);
            Some(*recordings)
        };
        begins.into_iter().scan(0, number).collect()
    }

    /// Whether a row is marked as the last of an episode.
    fn is_end(&self, row: usize) -> bool {
        let flagged = |column: &Column| !column.is_empty() && column.get(row) != 0.0;
        flagged(&self.terminated) || flagged(&self.truncated)
    }

    /// Whether the next state of a row is the state of the row after; `unknown` is the answer for a
    /// value that is not known. `index_of` is the column of each slot.
    fn is_continued(&self, row: usize, index_of: &[Option<usize>], unknown: bool) -> bool {
        let is_known = |row: usize, slot: usize| {
            index_of[slot].is_some_and(|index| !self.gaps.contains(row, index))
        };
        self.schema.state_slots().zip(self.schema.next_slots()).all(|(now, next)| {
            if is_known(row, next) && is_known(row + 1, now) {
                let kind = &self.schema.variable_of(now).kind;
                kind.same(self.slots[next].get(row), self.slots[now].get(row + 1))
            } else {
                unknown
            }
        })
    }

    /// Checks that `terminated` and `truncated` are set only in the last row of an episode.
    fn check_ends(&self, rows: usize, starts: &[usize]) -> Result<(), Problem> {
        for (name, column) in [("terminated", &self.terminated), ("truncated", &self.truncated)] {
            if column.is_empty() {
                continue;
            }
            let mut boundaries = starts[1..].iter().copied().chain([rows]);
            let mut end = boundaries.next().unwrap_or(rows);
            for row in 0..rows {
                if row == end {
                    end = boundaries.next().unwrap_or(rows);
                }
                if row + 1 != end && column.get(row) != 0.0 {
                    return Err(Problem::Episode {
                        row,
                        message: format!(
                            "`{name}` is set, but the episode continues: \
                             expected it only in the last row of an episode"
                        ),
                    });
                }
            }
        }
        Ok(())
    }

    /// The stretches of transitions that are whole, by their rows in the file; all of an episode
    /// where no cell is empty.
    fn stretches(
        &mut self,
        rows: usize,
        starts: &[usize],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Stretch>, Problem> {
        let sequence = self.header.sequence;
        let ends: Vec<usize> = starts[1..].iter().copied().chain([rows]).collect();
        // In a sequential log, the last row of an episode may contain only a state.
        let last: BTreeSet<usize> = ends.iter().map(|end| end - 1).collect();
        let states = self.schema.state_slots();
        let is_state = |place: Place| matches!(place, Place::Slot(slot) if states.contains(&slot));
        let places = &self.header.places;
        let state_only: BTreeSet<usize> = (self.gaps.cells())
            .filter(|&(row, index)| sequence && last.contains(&row) && !is_state(places[index]))
            .map(|(row, _)| row)
            .collect();
        self.gaps.retain(|row, index| !state_only.contains(&row) || is_state(places[index]));
        let counts = self.gaps.counts(&self.header.names);
        let cells = self.gaps.len();
        if cells > 0 && self.missing == Missing::Refuse {
            let row = self.gaps.cells().next().map_or(0, |(row, _)| row);
            return Err(Problem::Missing { row, counts });
        }
        if self.missing == Missing::Hold {
            self.hold(rows, starts);
        }
        let broken: BTreeSet<usize> = self.gaps.cells().map(|(row, _)| row).collect();
        let no_state: BTreeSet<usize> = (self.gaps.cells())
            .filter(|&(_, index)| is_state(self.header.places[index]))
            .map(|(row, _)| row)
            .collect();
        let is_whole =
            |row: usize| !(broken.contains(&row) || sequence && no_state.contains(&(row + 1)));
        let mut found = Vec::new();
        let mut all = 0;
        for (episode, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
            let last = if sequence { end - 1 } else { end };
            all += last - start;
            for rows in stretches(start..last, is_whole, self.missing) {
                let flags_from =
                    (rows.end == last && state_only.contains(&(end - 1))).then_some(end - 1);
                found.push(Stretch { episode, rows, flags_from });
            }
        }
        let kept: usize = found.iter().map(|stretch| stretch.rows.len()).sum();
        if kept == 0 {
            let message = if all == 0 {
                "there are no next states: every episode has a single row, and no column has a prime"
            } else {
                "nothing is left: every transition needs a cell that is empty"
            };
            return Err(Problem::Episode { row: 0, message: message.into() });
        }
        if cells > 0 {
            notes.push(self.about_gaps(cells, &in_words(&counts), all - kept));
        }
        Ok(found)
    }

    /// What was done with empty cells.
    fn about_gaps(&self, cells: usize, by_column: &str, left_out: usize) -> String {
        let left_out = counted(left_out, "transition");
        let done = match self.missing {
            Missing::Hold => format!(
                "the last value before it in the episode is used; {left_out} without one left out"
            ),
            Missing::Episode => {
                format!("an episode ends before its first empty cell; {left_out} left out")
            }
            Missing::Refuse | Missing::Drop => {
                format!("{left_out} left out, and what comes after is an episode of its own")
            }
        };
        format!("{} empty or NaN ({by_column}): {done}", counted(cells, "cell"))
    }

    /// Fills each gap with the last value of its column in the same episode, where there is one.
    ///
    /// What the file says elsewhere comes first: the next state of a row is the state of the row after,
    /// and the other way round. The last value of a next state is the state before the step; of a flag,
    /// false.
    fn hold(&mut self, rows: usize, starts: &[usize]) {
        let index_of = self.columns_of_slots();
        let (states, next) = (self.schema.state_slots(), self.schema.next_slots());
        let begins = |row: usize| starts.binary_search(&row).is_ok();
        let numbered = self.header.has(Place::Episode);
        let order: Vec<(usize, usize)> = self.gaps.cells().collect();
        for (row, index) in order {
            let place = self.header.places[index];
            // The cells that hold the value, the best first: row and column.
            let mut sources: Vec<(usize, usize)> = Vec::new();
            let last = row.checked_sub(1).filter(|_| !begins(row));
            match place {
                Place::Slot(slot) if next.contains(&slot) => {
                    let state = index_of[slot - next.start + states.start];
                    let after = (row + 1 < rows && !begins(row + 1)).then_some(row + 1);
                    sources.extend(after.zip(state).into_iter().chain(state.map(|s| (row, s))));
                }
                Place::Slot(slot) if states.contains(&slot) && !self.header.sequence => {
                    let foretold = index_of[slot - states.start + next.start];
                    sources.extend(last.zip(foretold).into_iter().chain(last.map(|r| (r, index))));
                }
                _ => sources.extend(last.map(|row| (row, index))),
            }
            let known = sources.into_iter().find(|&(row, index)| !self.gaps.contains(row, index));
            let held = match (place, known) {
                // Without numbered episodes an unknown flag may be an end.
                (Place::Terminated | Place::Truncated, _) => numbered.then_some(0.0),
                (_, Some((row, index))) => self.column(index).map(|column| column.get(row)),
                (_, None) => None,
            };
            if let Some((value, into)) = held.zip(self.column_mut(place)) {
                into.set(row, value);
                self.gaps.remove(row, index);
            }
        }
    }

    /// The column of the file that each slot is read from.
    fn columns_of_slots(&self) -> Vec<Option<usize>> {
        let mut columns = vec![None; self.slots.len()];
        for (index, place) in self.header.places.iter().enumerate() {
            if let Place::Slot(slot) = place {
                columns[*slot] = Some(index);
            }
        }
        columns
    }

    fn column(&self, index: usize) -> Option<&Column> {
        match self.header.places[index] {
            Place::Slot(slot) => Some(&self.slots[slot]),
            Place::Terminated => Some(&self.terminated),
            Place::Truncated => Some(&self.truncated),
            Place::Reward => Some(&self.reward),
            Place::Episode | Place::Ignored => None,
        }
    }

    fn column_mut(&mut self, place: Place) -> Option<&mut Column> {
        match place {
            Place::Slot(slot) => Some(&mut self.slots[slot]),
            Place::Terminated => Some(&mut self.terminated),
            Place::Truncated => Some(&mut self.truncated),
            Place::Reward => Some(&mut self.reward),
            Place::Episode | Place::Ignored => None,
        }
    }

    /// The transitions of these stretches, each of which is an episode.
    fn take(&mut self, stretches: &[Stretch]) -> Parts {
        let everything: usize = self.slots.first().map_or(0, Column::len);
        if stretches.iter().map(|stretch| stretch.rows.len()).sum::<usize>() < everything {
            for column in &mut self.slots {
                *column = column.of(stretches, 0);
            }
            for column in [&mut self.terminated, &mut self.truncated, &mut self.reward] {
                *column = column.of(stretches, 0);
            }
        }
        Parts {
            columns: std::mem::take(&mut self.slots),
            starts: starts_of(stretches),
            recordings: Vec::new(),
            terminated: flags(std::mem::replace(&mut self.terminated, Column::Flags(Vec::new()))),
            truncated: flags(std::mem::replace(&mut self.truncated, Column::Flags(Vec::new()))),
            reward: Some(numbers(std::mem::replace(&mut self.reward, Column::Numbers(Vec::new())))),
        }
    }

    /// The same for a sequential log: each next state is that of the row after.
    fn take_next_states(&mut self, stretches: &[Stretch]) -> Parts {
        let states = self.schema.state_slots();
        let next: Vec<Column> =
            states.clone().map(|slot| self.slots[slot].of(stretches, 1)).collect();
        self.slots.truncate(self.schema.next_slots().start);
        for column in &mut self.slots {
            *column = column.of(stretches, 0);
        }
        let mut columns = std::mem::take(&mut self.slots);
        columns.extend(next);
        let [terminated, truncated] = [&self.terminated, &self.truncated].map(|column| {
            let mut kept = flags(column.of(stretches, 0));
            // A last row with only a state may carry the flag; it belongs to the step into that state.
            let mut row = 0;
            for stretch in stretches {
                row += stretch.rows.len();
                if let Some(from) = stretch.flags_from.filter(|_| !column.is_empty()) {
                    kept[row - 1] |= column.get(from) != 0.0;
                }
            }
            kept
        });
        let reward = numbers(self.reward.of(stretches, 0));
        let (starts, recordings) = (starts_of(stretches), Vec::new());
        Parts { columns, starts, recordings, terminated, truncated, reward: Some(reward) }
    }
}

/// Transitions that follow each other.
struct Stretch {
    /// Their episode in the file.
    episode: usize,
    /// Their rows in the file.
    rows: Range<usize>,
    /// The row with only a state after them, whose flags are those of the last transition.
    flags_from: Option<usize>,
}

impl Column {
    /// The values of these stretches, `shift` rows later. Nothing of an empty column.
    fn of(&self, stretches: &[Stretch], shift: usize) -> Self {
        let mut kept = self.emptied();
        if !self.is_empty() {
            for Stretch { rows, .. } in stretches {
                kept.extend(self, rows.start + shift..rows.end + shift);
            }
        }
        kept
    }
}

/// The first row of each stretch when only they are kept.
fn starts_of(stretches: &[Stretch]) -> Vec<usize> {
    let begin = |sum: &mut usize, stretch: &Stretch| {
        let start = *sum;
        *sum += stretch.rows.len();
        Some(start)
    };
    stretches.iter().scan(0, begin).collect()
}

/// Fills in how episodes ended, if the file does not say.
fn complete(
    schema: &Arc<Schema>,
    has: &dyn Fn(Place) -> bool,
    mut parts: Parts,
    mut notes: Vec<String>,
) -> Recording {
    let rows = parts.columns.first().map_or(0, Column::len);
    if !has(Place::Reward) {
        parts.reward = None;
    }
    for (place, flags) in
        [(Place::Terminated, &mut parts.terminated), (Place::Truncated, &mut parts.truncated)]
    {
        if !has(place) {
            *flags = vec![false; rows];
        }
    }
    let derive = !has(Place::Terminated);
    let mut transitions = Transitions::from_parts(Arc::clone(schema), parts);
    if derive && let Some(when) = schema.termination() {
        let ended = transitions.evaluate(when);
        transitions.mark_terminated(|row| ended[row] != 0.0);
        notes.push("no column `terminated`: taken from the schema's termination".into());
    }
    transitions.cut_short();
    Recording { transitions, notes, origin: None }
}

fn flags(column: Column) -> Vec<bool> {
    match column {
        Column::Flags(values) => values,
        _ => unreachable!("flags are stored as booleans"),
    }
}

fn numbers(column: Column) -> Vec<f64> {
    match column {
        Column::Numbers(values) => values,
        _ => unreachable!("rewards are stored as numbers"),
    }
}

/// The column `episode`: any number or text, the same in all rows of an episode.
#[derive(Default)]
struct Episodes {
    rows: usize,
    starts: Vec<usize>,
    current: String,
    seen: BTreeSet<String>,
}

impl Episodes {
    fn put(&mut self, cell: Cell<'_>) -> Result<(), String> {
        let buffer;
        let name: &str = match cell {
            _ if cell.is_blank() => return Err("the cell is empty".into()),
            Cell::Text(text) => text,
            Cell::Whole(number) => {
                buffer = number.to_string();
                &buffer
            }
            Cell::Number(number) => {
                buffer = number.to_string();
                &buffer
            }
            Cell::Flag(_) | Cell::Blank => {
                return Err("expected the number or name of an episode".into());
            }
        };
        if self.rows == 0 || name != self.current {
            if !self.seen.insert(name.to_owned()) {
                return Err(format!(
                    "the rows of episode {} are not contiguous: \
                     expected the rows of an episode together, in time order",
                    shown(name)
                ));
            }
            name.clone_into(&mut self.current);
            self.starts.push(self.rows);
        }
        self.rows += 1;
        Ok(())
    }
}

//! Assembles the cells of a file into transitions and episodes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::cell::{self, Cell};
use super::column::Column;
use super::error::Problem;
use super::header::{Header, Place};
use super::read::Recording;
use super::transitions::{Parts, Transitions};
use crate::schema::{Bounds, Kind, Schema};
use crate::text::shown;

/// Collects the cells of a file. Columns may come in any order, the rows of a column in sequence.
pub(super) struct Assembly {
    schema: Arc<Schema>,
    header: Header,
    slots: Vec<Column>,
    episodes: Episodes,
    terminated: Column,
    truncated: Column,
    reward: Column,
    /// Row and column of each empty action, outcome or reward in a sequential log.
    blanks: Vec<(usize, usize)>,
    any_number: Kind,
}

impl Assembly {
    pub(super) fn new(schema: Arc<Schema>, header: Header) -> Self {
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
            blanks: Vec::new(),
            any_number,
        }
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
        // In a sequential log, the last row of an episode may contain only a state.
        let optional = match place {
            Place::Slot(slot) => slot >= self.schema.state_slots().end,
            _ => true,
        };
        if self.header.sequence && optional && cell.is_blank() {
            self.blanks.push((column.len(), index));
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
            Kind::Continuous(_) | Kind::Integer(_) => 8,
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
                    count(self.rows(index), "row")
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
        let parts = if self.header.sequence {
            self.take_next_states(rows, &starts, &mut notes)?
        } else {
            let terminated = flags(self.terminated);
            let truncated = flags(self.truncated);
            let reward = numbers(self.reward);
            Parts { columns: self.slots, starts, terminated, truncated, reward: Some(reward) }
        };
        let has = |place| self.header.places.contains(&place);
        Ok(complete(&self.schema, &has, parts, notes))
    }

    /// The first row of each episode.
    fn starts(&self, rows: usize, notes: &mut Vec<String>) -> Vec<usize> {
        if self.header.has(Place::Episode) {
            return self.episodes.starts.clone();
        }
        let ends = |row: usize| {
            let flagged = |column: &Column| !column.is_empty() && column.get(row) != 0.0;
            flagged(&self.terminated) || flagged(&self.truncated)
        };
        let continues = |row: usize| {
            let next = self.schema.next_slots();
            self.schema
                .state_slots()
                .zip(next)
                .all(|(now, next)| self.slots[next].get(row) == self.slots[now].get(row + 1))
        };
        let begins = |row: &usize| ends(row - 1) || (!self.header.sequence && !continues(row - 1));
        let starts: Vec<usize> = std::iter::once(0).chain((1..rows).filter(begins)).collect();
        notes.push(format!(
            "no column `episode`: found {}, each ending at a row that {}",
            count(starts.len(), "episode"),
            if self.header.sequence {
                "is marked as the last"
            } else {
                "is marked as the last or whose next state is not the state of the next row"
            }
        ));
        starts
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

    /// Takes each next state of a sequential log from the next row.
    fn take_next_states(
        &mut self,
        rows: usize,
        starts: &[usize],
        notes: &mut Vec<String>,
    ) -> Result<Parts, Problem> {
        let blank_rows: BTreeSet<usize> = self.blanks.iter().map(|&(row, _)| row).collect();
        let ends: Vec<usize> = starts[1..].iter().copied().chain([rows]).collect();
        let last: BTreeSet<usize> = ends.iter().map(|end| end - 1).collect();
        if let Some(&(row, index)) = self.blanks.iter().find(|(row, _)| !last.contains(row)) {
            return Err(Problem::Cell {
                row,
                line: None,
                column: self.header.names[index].clone(),
                message: "the cell is empty (only the last row of an episode may have none)".into(),
            });
        }
        let ranges: Vec<Range<usize>> =
            starts.iter().zip(&ends).map(|(&start, &end)| start..end - 1).collect();
        let kept: usize = ranges.iter().map(Range::len).sum();
        if kept == 0 {
            return Err(Problem::Episode {
                row: 0,
                message: "there are no next states: every episode has a single row, \
                          and no column has a prime"
                    .into(),
            });
        }
        let next_columns: Vec<Column> = self
            .schema
            .state_slots()
            .map(|slot| {
                let column = std::mem::replace(&mut self.slots[slot], Column::Flags(Vec::new()));
                let mut now = Column::new(&self.schema.variable_of(slot).kind);
                let mut next = now.clone();
                for range in &ranges {
                    now.extend(&column, range.clone());
                    next.extend(&column, range.start + 1..range.end + 1);
                }
                self.slots[slot] = now;
                next
            })
            .collect();
        let keep = |column: &Column, kind: &Kind| {
            let mut kept = Column::new(kind);
            if !column.is_empty() {
                for range in &ranges {
                    kept.extend(column, range.clone());
                }
            }
            kept
        };
        for slot in self.schema.state_slots().end..self.schema.next_slots().start {
            self.slots[slot] = keep(&self.slots[slot], &self.schema.variable_of(slot).kind);
        }
        self.slots.truncate(self.schema.next_slots().start);
        let mut columns = std::mem::take(&mut self.slots);
        columns.extend(next_columns);

        let mut terminated = flags(keep(&self.terminated, &Kind::Boolean));
        let mut truncated = flags(keep(&self.truncated, &Kind::Boolean));
        let reward = numbers(keep(&self.reward, &self.any_number));
        // A last row with only a state may carry the flag; it belongs to the step into that state.
        let mut kept_starts = Vec::new();
        let mut row = 0;
        for (range, end) in ranges.iter().zip(&ends).filter(|(range, _)| !range.is_empty()) {
            kept_starts.push(row);
            row += range.len();
            if blank_rows.contains(&(end - 1)) {
                for (from, to) in
                    [(&self.terminated, &mut terminated), (&self.truncated, &mut truncated)]
                {
                    if !from.is_empty() && from.get(end - 1) != 0.0 {
                        to[row - 1] = true;
                    }
                }
            }
        }
        notes.push(format!(
            "no next states in the file: each row's next state is taken from the row after it; \
             the last row of each of {} gives none and was left out",
            count(starts.len(), "episode")
        ));
        Ok(Parts { columns, starts: kept_starts, terminated, truncated, reward: Some(reward) })
    }
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

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
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

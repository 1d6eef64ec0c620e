//! Which states are common in a buffer, and which are rare.

use std::collections::BTreeMap;

use super::transitions::Transitions;
use crate::random::Stream;
use crate::schema::Kind;

/// The rows of a buffer, grouped into cells of similar states.
///
/// A policy that has learned one behaviour fills its buffer with the states of that behaviour. States
/// that matter elsewhere (the ground, for a lander that has learned to hover) become rare. Sampling
/// cell by cell gives rare states the same weight as common ones. Rows are selected by their states
/// alone, so the distribution of the next state given a state and an action does not change, nor does
/// the answer to whether an effect depends on a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// The rows of each cell.
    cells: Vec<Vec<usize>>,
}

impl Coverage {
    /// The cells of a buffer: one standard deviation wide for numbers, one for each other value.
    #[must_use]
    pub fn of(buffer: &Transitions) -> Self {
        let schema = buffer.schema();
        let columns: Vec<Vec<i64>> = schema
            .state_slots()
            .map(|slot| {
                let mut values = buffer.column(slot).to_numbers();
                let width = match &schema.variable_of(slot).kind {
                    Kind::Continuous(_) | Kind::Integer(_) => deviation(&values),
                    Kind::Circular(circle) => {
                        for value in &mut values {
                            *value = circle.wrap(*value);
                        }
                        let (_, width) = circle.spread(values.iter().copied());
                        if width > 0.0 { width } else { 1.0 }
                    }
                    Kind::Boolean | Kind::Categorical(_) => 1.0,
                };
                #[expect(clippy::cast_possible_truncation, reason = "the number of a cell")]
                let cell = |value: &f64| (value / width).floor() as i64;
                values.iter().map(cell).collect()
            })
            .collect();
        let mut cells: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        for row in 0..buffer.len() {
            let cell = columns.iter().map(|column| column[row]).collect();
            cells.entry(cell).or_default().push(row);
        }
        Self { cells: cells.into_values().collect() }
    }

    /// Draws a row: first a cell, all equally likely, then a row of it.
    ///
    /// # Panics
    /// When there are no rows.
    #[must_use]
    pub fn draw(&self, stream: &mut Stream) -> usize {
        let cell = &self.cells[stream.below(self.cells.len())];
        cell[stream.below(cell.len())]
    }

    /// About `count` distinct rows in ascending order, spread evenly over the cells. A cell with too
    /// few rows gives all it has.
    #[must_use]
    pub fn spread(&self, count: usize, stream: &mut Stream) -> Vec<usize> {
        let max_rows = self.max_rows_per_cell(count);
        let mut rows = Vec::with_capacity(count);
        for cell in &self.cells {
            if cell.len() <= max_rows {
                rows.extend_from_slice(cell);
            } else {
                let order = stream.permutation(cell.len());
                rows.extend(order[..max_rows].iter().map(|&at| cell[at]));
            }
        }
        rows.sort_unstable();
        rows
    }

    /// The most rows to take from a cell so that they add up to at most `count`; at least 1.
    fn max_rows_per_cell(&self, count: usize) -> usize {
        let mut sizes: Vec<usize> = self.cells.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        let mut left = count;
        for (at, &size) in sizes.iter().enumerate() {
            let share = left / (sizes.len() - at);
            if size > share {
                return share.max(1);
            }
            left -= size;
        }
        usize::MAX
    }
}

/// The standard deviation, or 1 for constant values.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let deviation = (squares / count).sqrt();
    if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::Row;
    use crate::schema::Schema;

    /// 990 rows with x = 0.1 and 10 with x = 50.
    fn hovering() -> Transitions {
        let schema = Schema::parse(
            "name = \"One\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
             a = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x\"\n",
        );
        let mut data = Transitions::new(Arc::new(schema.expect("a schema")));
        for row in 0..1000 {
            let x = if row % 100 == 0 { 50.0 } else { 0.1 };
            data.push(&Row {
                state: &[x],
                action: &[0.0],
                outcomes: &[],
                next: &[x],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        data
    }

    #[test]
    fn rare_states_are_drawn_as_often_as_common_ones() {
        let coverage = Coverage::of(&hovering());
        let mut stream = Stream::new(1);
        let rare = (0..1000).filter(|_| coverage.draw(&mut stream).is_multiple_of(100)).count();
        assert!((400..600).contains(&rare), "{rare}");
    }

    #[test]
    fn rows_are_spread_over_the_cells_without_repetition() {
        let coverage = Coverage::of(&hovering());
        let rows = coverage.spread(100, &mut Stream::new(1));
        assert_eq!(rows.len(), 100);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(rows.iter().filter(|row| row.is_multiple_of(100)).count(), 10, "all rare rows");
        assert_eq!(
            coverage.spread(5000, &mut Stream::new(1)).len(),
            1000,
            "no more rows than the buffer has"
        );
    }
}

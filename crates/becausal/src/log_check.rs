//! What is worth knowing about a log that fits its schema.

use std::fmt::Write;

use becausal_core::Transitions;
use becausal_core::data::{Column, Spread};
use becausal_core::schema::Kind;
use becausal_render::number::{brief, count, counted};
use becausal_render::{Alignment, Table};
use serde_json::{Value, json};

use crate::error::Error;
use crate::log::Log;

/// What is worth knowing about a log that fits its schema: the range of every column and reward term,
/// and where the log contradicts the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct LogCheck<'a> {
    log: &'a Log,
    spreads: Vec<Spread>,
    /// Reward terms: smallest, largest and mean value.
    rewards: Vec<Spread>,
    /// Rows in which the reward recorded is not the sum of the terms, where one was recorded.
    other_rewards: Option<Rows>,
    /// Last rows of episodes whose `terminated` the schema does not predict, where it predicts.
    other_ends: Option<Rows>,
    /// Rows whose next state is not the state of the row after them in the same episode.
    breaks: Rows,
}

/// A number of rows, and the first of them.
#[derive(Debug, Clone, Default, PartialEq)]
struct Rows {
    count: usize,
    first: usize,
}

impl Rows {
    fn of(rows: impl Iterator<Item = usize>) -> Self {
        let mut rows = rows.peekable();
        let first = rows.peek().copied().unwrap_or(0);
        Self { count: rows.count(), first }
    }
}

impl Log {
    /// Compares the log with its schema.
    ///
    /// # Errors
    /// When a reward term is NaN or infinite, with its row.
    pub fn check(&self) -> Result<LogCheck<'_>, Error> {
        let transitions = self.transitions();
        let schema = transitions.schema();
        let spreads =
            (0..schema.slots().len()).filter_map(|slot| transitions.spread(slot)).collect();
        let mut rewards = Vec::new();
        for reward in schema.rewards() {
            let values = transitions.evaluate(&reward.expression);
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                return Err(Error::File(format!(
                    "the reward \"{}\" is {} in row {} (index {row}): {}",
                    reward.name,
                    values[row],
                    row + 1,
                    reward.expression.source()
                )));
            }
            rewards.extend(Spread::of(&Column::Numbers(values)));
        }
        let total = transitions.total_reward();
        // States are often logged in single precision, which rewards computed from them show.
        let differs = |(one, other): (&f64, &f64)| {
            (one - other).abs() > 1e-4 * (1.0 + one.abs().max(other.abs()))
        };
        let other_rewards = transitions.reward().filter(|_| !rewards.is_empty()).map(|recorded| {
            let pairs = recorded.iter().zip(&total).enumerate();
            Rows::of(pairs.filter(|(_, pair)| differs(*pair)).map(|(row, _)| row))
        });
        let other_ends = schema.termination().map(|when| {
            let predicted = transitions.evaluate(when);
            let recorded = transitions.terminated().iter().enumerate();
            Rows::of(
                recorded.filter(|(row, end)| (predicted[*row] != 0.0) != **end).map(|(row, _)| row),
            )
        });
        let breaks = breaks(transitions);
        Ok(LogCheck { log: self, spreads, rewards, other_rewards, other_ends, breaks })
    }
}

impl LogCheck<'_> {
    /// Rows in which the reward recorded is not the sum of the schema's terms.
    #[must_use]
    pub fn other_rewards(&self) -> usize {
        self.other_rewards.as_ref().map_or(0, |rows| rows.count)
    }

    /// Rows in which the schema's termination is not what was recorded.
    #[must_use]
    pub fn other_ends(&self) -> usize {
        self.other_ends.as_ref().map_or(0, |rows| rows.count)
    }

    /// Everything, for other programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let transitions = self.log.transitions();
        let schema = transitions.schema();
        let spread = |spread: &Spread| {
            json!({
                "minimum": spread.minimum,
                "maximum": spread.maximum,
                "mean": spread.mean,
                "deviation": spread.deviation,
            })
        };
        let named = |name: &str, one: &Spread| {
            let mut value = json!({ "name": name });
            value
                .as_object_mut()
                .zip(spread(one).as_object())
                .into_iter()
                .for_each(|(value, more)| value.extend(more.clone()));
            value
        };
        let columns: Vec<Value> = schema
            .slots()
            .iter()
            .zip(&self.spreads)
            .map(|(slot, spread)| named(&slot.name, spread))
            .collect();
        let rewards: Vec<Value> = schema
            .rewards()
            .iter()
            .zip(&self.rewards)
            .map(|(reward, spread)| named(&reward.name, spread))
            .collect();
        json!({
            "rows": transitions.len(),
            "episodes": transitions.episodes(),
            "columns": columns,
            "rewards": rewards,
            "rows_with_another_reward": self.other_rewards.as_ref().map(|rows| rows.count),
            "rows_with_another_end": self.other_ends.as_ref().map(|rows| rows.count),
            "rows_not_followed": self.breaks.count,
            "notes": self.log.notes(),
        })
    }

    /// Tables of all columns and reward terms, and the remarks. `name` is what the log is called.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        let transitions = self.log.transitions();
        let schema = transitions.schema();
        let mut text = format!(
            "{} fits the schema {}: {} in {}\n\n",
            name,
            schema.name(),
            counted(transitions.len(), "transition"),
            counted(transitions.episodes(), "episode"),
        );
        let mut columns = numbers_table("column");
        for (index, slot) in schema.slots().iter().enumerate() {
            match &schema.variables()[slot.variable].kind {
                Kind::Categorical(labels) => {
                    columns.note(slot.name.clone(), shares(transitions, index, labels));
                }
                Kind::Boolean => {
                    let share = format!("true {:.1} %", 100.0 * self.spreads[index].mean);
                    columns.note(slot.name.clone(), share);
                }
                _ => columns.push(numbers(&slot.name, &self.spreads[index])),
            }
        }
        text.push_str(&columns.lines());
        if !self.rewards.is_empty() {
            let mut rewards = numbers_table("reward");
            for (reward, spread) in schema.rewards().iter().zip(&self.rewards) {
                rewards.push(numbers(&reward.name, spread));
            }
            let _ = write!(text, "\n{}", rewards.lines());
        }
        let remarks = self.remarks();
        if !remarks.is_empty() {
            text.push_str("\nremarks\n");
            for remark in remarks {
                let _ = writeln!(text, "- {remark}");
            }
        }
        text
    }

    /// What had to be inferred, and where the log contradicts the schema, in sentences.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let transitions = self.log.transitions();
        let schema = transitions.schema();
        let mut remarks = self.log.notes().to_vec();
        let constant: Vec<&str> = schema
            .slots()
            .iter()
            .zip(&self.spreads)
            .filter(|(_, spread)| spread.is_constant())
            .map(|(slot, _)| slot.name.as_str())
            .collect();
        if !constant.is_empty() && transitions.len() > 1 {
            remarks.push(format!(
                "never changes: {}; what it causes, or what causes it, cannot be told from this data",
                constant.join(", ")
            ));
        }
        let all = counted(transitions.len(), "row");
        match &self.other_rewards {
            Some(Rows { count: 0, .. }) => {
                remarks.push("the reward terms sum to the recorded reward in every row".into());
            }
            Some(rows) => {
                let total = transitions.total_reward()[rows.first];
                let recorded = transitions.reward().map_or(0.0, |reward| reward[rows.first]);
                remarks.push(format!(
                    "the reward terms do not sum to the recorded reward in {} of {all}: first in \
                     row {} (index {}), {} instead of {}",
                    count(rows.count),
                    rows.first + 1,
                    rows.first,
                    brief(total),
                    brief(recorded),
                ));
            }
            None => {}
        }
        if let Some(rows) = self.other_ends.as_ref().filter(|rows| rows.count > 0) {
            remarks.push(format!(
                "the schema's termination disagrees with `terminated` in {} of {all}: first in \
                 row {} (index {})",
                count(rows.count),
                rows.first + 1,
                rows.first,
            ));
        }
        if self.breaks.count > 0 {
            remarks.push(format!(
                "the next state is not the state of the row after it, within an episode, in {} of \
                 {all}: first in row {} (index {})",
                count(self.breaks.count),
                self.breaks.first + 1,
                self.breaks.first,
            ));
        }
        remarks
    }
}

fn breaks(transitions: &Transitions) -> Rows {
    let schema = transitions.schema();
    let broken = |row: &usize| {
        schema.state_slots().zip(schema.next_slots()).any(|(now, next)| {
            let [after, before] =
                [transitions.column(next).get(*row), transitions.column(now).get(row + 1)];
            !schema.variable_of(now).kind.same(after, before)
        })
    };
    let inner = (0..transitions.episodes()).flat_map(|episode| {
        let rows = transitions.episode(episode);
        rows.start..rows.end - 1
    });
    Rows::of(inner.filter(broken))
}

fn numbers_table(noun: &str) -> Table {
    let figures = ["smallest", "mean", "largest", "deviation"];
    let figures = figures.map(|heading| (heading.to_owned(), Alignment::Right));
    Table::new(std::iter::once((noun.to_owned(), Alignment::Left)).chain(figures))
}

fn numbers(name: &str, spread: &Spread) -> Vec<String> {
    let figures = [spread.minimum, spread.mean, spread.maximum, spread.deviation];
    std::iter::once(name.to_owned()).chain(figures.map(brief)).collect()
}

/// How often each label occurs.
fn shares(transitions: &Transitions, slot: usize, labels: &[String]) -> String {
    let mut counts = vec![0_usize; labels.len()];
    for row in 0..transitions.len() {
        counts[transitions.code(slot, row)] += 1;
    }
    let share = |count: usize| 100.0 * count as f64 / transitions.len() as f64;
    let parts: Vec<String> = labels
        .iter()
        .zip(counts)
        .map(|(label, count)| format!("{label} {:.1} %", share(count)))
        .collect();
    parts.join(", ")
}

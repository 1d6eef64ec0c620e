//! Transitions as discovery uses them: inputs, outputs, and their columns as numbers.

use super::thresholds::Thresholds;
use super::units::Units;
use becausal_core::data::{Column, LabelGroup, Spread, Transitions};
use becausal_core::schema::{Bounds, Circle, Kind, Role};

/// A variable as a cause or as an effect. A vector is one factor with several columns.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    /// `x` as a cause, `x'` as an effect.
    pub name: String,
    /// Its columns in the frame.
    pub columns: Vec<usize>,
    /// That of its columns: a circular variable is a vector of two numbers, its sine and its cosine.
    pub kind: Kind,
    pub role: Role,
}

/// A column of numbers and its statistics.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub values: Vec<f64>,
    pub mean: f64,
    /// The standard deviation; 1 for a constant.
    pub scale: f64,
    pub constant: bool,
    /// The variance due to rounding alone, as a share of the column's variance.
    pub rounding: f64,
}

/// Inputs, outputs and units of some rows.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub inputs: Vec<Factor>,
    pub outputs: Vec<Factor>,
    /// Columns of the inputs.
    pub u: Vec<Series>,
    /// Columns of the outputs.
    pub v: Vec<Series>,
    pub units: Units,
    /// Of each row: those with the same flags and labels of the state have the same number.
    pub group: Vec<u8>,
    /// How many numbers there are; 1 if all rows are alike, or if there are too many kinds.
    pub groups: usize,
    pub thresholds: Thresholds,
}

impl Frame {
    /// Causes are states and actions, effects next states and outcomes, in the schema's order.
    pub(super) fn of(transitions: &Transitions, seed: u64, thresholds: Thresholds) -> Self {
        let schema = transitions.schema();
        let groups = LabelGroup::of(transitions);
        let mut group = vec![0; transitions.len()];
        for (number, LabelGroup { rows, .. }) in (0_u8..).zip(&groups) {
            for &row in rows {
                group[row] = number;
            }
        }
        let mut frame = Self {
            inputs: Vec::new(),
            outputs: Vec::new(),
            u: Vec::new(),
            v: Vec::new(),
            units: Units::of(transitions, seed, &thresholds),
            group,
            groups: groups.len().max(1),
            thresholds,
        };
        let inputs = schema.state_slots().start..schema.action_slots().end;
        let outputs = schema.next_slots().chain(schema.outcome_slots());
        for slot in inputs {
            for series in series_of(transitions, slot) {
                add(&mut frame.inputs, transitions, slot, frame.u.len());
                frame.u.push(series);
            }
        }
        for slot in outputs {
            for series in series_of(transitions, slot) {
                add(&mut frame.outputs, transitions, slot, frame.v.len());
                frame.v.push(series);
            }
        }
        frame
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.units.of_row.len()
    }

    /// A selection of rows in the given order; rows may be repeated.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        let pick = |series: &Series| {
            Series::new(rows.iter().map(|&row| series.values[row as usize]).collect())
        };
        Self {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            u: self.u.iter().map(pick).collect(),
            v: self.v.iter().map(pick).collect(),
            units: self.units.select(rows),
            group: rows.iter().map(|&row| self.group[row as usize]).collect(),
            groups: self.groups,
            thresholds: self.thresholds,
        }
    }

    /// Whole units, evenly spread, with about `max_rows` rows; `None` if there are not more. Where units
    /// are stretches of episodes, the beginning of each.
    pub(super) fn sample(&self, max_rows: usize) -> Option<Self> {
        if self.rows() <= max_rows {
            return None;
        }
        let share = max_rows as f64 / self.rows() as f64;
        let sizes = self.units.sizes();
        let mut seen = vec![0.0; sizes.len()];
        let mut rows = Vec::with_capacity(max_rows);
        for (row, &unit) in (0_u32..).zip(&self.units.of_row) {
            let place = unit as usize;
            seen[place] += 1.0;
            let kept = if self.units.stretches {
                seen[place] <= share * sizes[place]
            } else {
                (f64::from(unit + 1) * share).floor() > (f64::from(unit) * share).floor()
            };
            if kept {
                rows.push(row);
            }
        }
        Some(self.select(&rows))
    }

    /// Whether all columns of an input are constant.
    pub(super) fn input_is_constant(&self, input: usize) -> bool {
        self.inputs[input].columns.iter().all(|&column| self.u[column].constant)
    }

    /// Whether all columns of an output are constant.
    pub(super) fn output_is_constant(&self, output: usize) -> bool {
        self.outputs[output].columns.iter().all(|&column| self.v[column].constant)
    }
}

/// The columns of a slot: its values, or their sines and cosines on a circle.
fn series_of(transitions: &Transitions, slot: usize) -> Vec<Series> {
    let values = transitions.column(slot).to_numbers();
    match transitions.schema().variable_of(slot).kind.circle() {
        Some(circle) => on_circle(circle, &values).map(Series::new).into(),
        None => vec![Series::new(values)],
    }
}

/// The sines and the cosines of values on a circle, no more precise than the values.
fn on_circle(circle: Circle, values: &[f64]) -> [Vec<f64>; 2] {
    let single = values.iter().all(|&value| is_single(value));
    #[expect(clippy::cast_possible_truncation, reason = "as the values were")]
    let rounded = |value: f64| if single { f64::from(value as f32) } else { value };
    let angles = values.iter().map(|&value| circle.angle(value, 0.0));
    [
        angles.clone().map(|angle| rounded(angle.sin())).collect(),
        angles.map(|angle| rounded(angle.cos())).collect(),
    ]
}

/// Whether a value was recorded in single precision.
fn is_single(value: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the test is whether precision is lost")]
    let single = value as f32;
    f64::from(single) == value
}

/// Adds a column of a slot to the factor of its variable; an earlier column may have created it.
fn add(factors: &mut Vec<Factor>, transitions: &Transitions, slot: usize, column: usize) {
    let schema = transitions.schema();
    let variable = schema.variable_of(slot);
    let prime = if schema.slots()[slot].next { "'" } else { "" };
    let name = format!("{}{prime}", variable.name);
    if let Some(last) = factors.last_mut().filter(|last| last.name == name) {
        last.columns.push(column);
        return;
    }
    let kind = match &variable.kind {
        Kind::Circular(_) => Kind::Continuous(Bounds::default()),
        kind => kind.clone(),
    };
    factors.push(Factor { name, columns: vec![column], kind, role: variable.role });
}

impl Series {
    fn new(values: Vec<f64>) -> Self {
        // Larger values could overflow when they are squared.
        const MAX_MAGNITUDE: f64 = 1e100;
        let values: Vec<f64> =
            values.into_iter().map(|value| value.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE)).collect();
        let spread = Spread::of(&Column::Numbers(values.clone()));
        let constant = spread.is_none_or(|spread| spread.is_constant() || spread.deviation == 0.0);
        let mean = spread.map_or(0.0, |spread| spread.mean);
        let scale = spread.filter(|_| !constant).map_or(1.0, |spread| spread.deviation);
        // A value recorded in single precision has a relative error of up to 2^-25.
        let single = values.iter().all(|&value| is_single(value));
        let whole = values.iter().all(|value| value.fract() == 0.0);
        let precision = match (whole, single) {
            (true, _) => 0.0,
            (false, true) => f64::from(f32::EPSILON) / 2.0,
            (false, false) => f64::EPSILON / 2.0,
        };
        let relative = precision * (1.0 + mean.abs() / scale);
        Self { values, mean, scale, constant, rounding: relative * relative }
    }

    /// The value of a row, standardised.
    pub(super) fn standard(&self, row: usize) -> f64 {
        (self.values[row] - self.mean) / self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::data::Row;
    use becausal_core::schema::Schema;

    #[test]
    fn a_sample_has_whole_units_from_all_over_the_log() {
        let schema = Schema::parse(
            "name = \"Small\"\n[state]\nx = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n",
        );
        let mut data = Transitions::new(std::sync::Arc::new(schema.expect("a schema")));
        for row in 0..3000 {
            if row % 10 == 0 {
                data.begin_episode();
            }
            let state = [f64::from(row)];
            data.push(&Row {
                state: &state,
                action: &[0.0],
                outcomes: &[],
                next: &state,
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        let frame = Frame::of(&data, 0, Thresholds::default());
        assert!(frame.sample(3000).is_none());
        let sample = frame.sample(1000).expect("fewer rows");
        assert_eq!(sample.rows(), 1000);
        assert!(sample.units.sizes().iter().all(|&size| size == 0.0 || size == 10.0));
        let late = sample.u[0].values.iter().filter(|&&row| row >= 1500.0).count();
        assert_eq!(late, 500);
    }

    #[test]
    fn rounding_is_detected_from_the_values() {
        assert_eq!(Series::new(vec![1.0, 2.0, 5.0]).rounding, 0.0);
        let single = Series::new(vec![f64::from(0.1_f32), f64::from(0.7_f32)]);
        assert!(single.rounding > 1e-15 && single.rounding < 1e-13);
        assert!(Series::new(vec![0.1, 0.7]).rounding < 1e-30);
        let constant = Series::new(vec![3.0; 4]);
        assert!(constant.constant && constant.scale == 1.0);
        let huge = Series::new(vec![1.7e308, -1.7e308, 0.0]);
        assert!(huge.scale.is_finite() && !huge.constant);
    }
}

//! A number to predict: a column of an output or of an input, or an indicator of one of its labels.

use super::frame::Frame;
use becausal_core::schema::Kind;

/// A number to predict.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// A column of an output, standardised.
    Output(usize),
    /// Whether a column of an output has this label.
    OutputLabel(usize, f64),
    /// A column of an input, predicted from the other inputs.
    Input { input: usize, column: usize },
    /// Whether a column of an input has this label.
    InputLabel { input: usize, column: usize, label: f64 },
}

impl Target {
    /// The targets of an output: one for each column, or for each label of a category.
    pub(super) fn of_output(frame: &Frame, output: usize) -> Vec<Self> {
        let factor = &frame.outputs[output];
        let mut targets = Vec::new();
        for &column in factor.columns.iter().filter(|&&column| !frame.v[column].constant) {
            match &factor.kind {
                Kind::Categorical(labels) => {
                    let labels = occurring(&frame.v[column].values, labels.len());
                    targets
                        .extend(labels.into_iter().map(|label| Self::OutputLabel(column, label)));
                }
                _ => targets.push(Self::Output(column)),
            }
        }
        targets
    }

    /// The targets of an input.
    pub(super) fn of_input(frame: &Frame, input: usize) -> Vec<Self> {
        let factor = &frame.inputs[input];
        let mut targets = Vec::new();
        for &column in factor.columns.iter().filter(|&&column| !frame.u[column].constant) {
            match &factor.kind {
                Kind::Categorical(labels) => {
                    let labels = occurring(&frame.u[column].values, labels.len());
                    let target = |label| Self::InputLabel { input, column, label };
                    targets.extend(labels.into_iter().map(target));
                }
                _ => targets.push(Self::Input { input, column }),
            }
        }
        targets
    }

    /// Its value in a row.
    pub(super) fn value(&self, frame: &Frame, row: usize) -> f64 {
        let (series, label) = match *self {
            Self::Output(column) => (&frame.v[column], None),
            Self::Input { column, .. } => (&frame.u[column], None),
            Self::OutputLabel(column, label) => (&frame.v[column], Some(label)),
            Self::InputLabel { column, label, .. } => (&frame.u[column], Some(label)),
        };
        match label {
            None => series.standard(row),
            Some(label) => f64::from(u8::from(series.values[row] == label)),
        }
    }

    /// The range to which predictions are clamped: that of the target, and 10 % more on both sides.
    /// Polynomials can go far beyond it outside the training data.
    pub(super) fn range(&self, frame: &Frame) -> (f64, f64) {
        let values = (0..frame.rows()).map(|row| self.value(frame, row));
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
        let slack = 0.1 * (high - low).max(0.0);
        (low - slack, high + slack)
    }

    /// Whether it is a column of a continuous output.
    pub(super) fn is_number(&self, frame: &Frame) -> bool {
        let Self::Output(column) = *self else { return false };
        let output = frame.outputs.iter().find(|output| output.columns.contains(&column));
        output.is_some_and(|output| matches!(output.kind, Kind::Continuous(_)))
    }

    /// The standard deviation below which noise cannot be told from a model's own error.
    pub(super) fn least_deviation(&self, frame: &Frame) -> f64 {
        (frame.thresholds.model_error * self.usual_change(frame)).sqrt()
    }

    /// Its variance.
    pub(super) fn variance(&self, frame: &Frame) -> f64 {
        let rows = frame.rows().max(1) as f64;
        let values = (0..frame.rows()).map(|row| self.value(frame, row));
        let mean = values.clone().sum::<f64>() / rows;
        values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / rows
    }

    /// The variance of its usual change: from the state to the next state, if that is less than its
    /// variance. A state that changes slowly is predicted well by itself, and that says nothing.
    pub(super) fn usual_change(&self, frame: &Frame) -> f64 {
        let variance = self.variance(frame);
        let Self::Output(column) = *self else { return variance };
        let before = frame.outputs.iter().find_map(|output| {
            let element = output.columns.iter().position(|&other| other == column)?;
            let name = output.name.strip_suffix('\'')?;
            let input = frame.inputs.iter().find(|input| input.name == name)?;
            input.columns.get(element).copied()
        });
        let Some(before) = before else { return variance };
        let rows = frame.rows().max(1) as f64;
        let (after, before) = (&frame.v[column], &frame.u[before]);
        let changes = after.values.iter().zip(&before.values);
        let changes = changes.map(|(after_value, before)| (after_value - before) / after.scale);
        let mean = changes.clone().sum::<f64>() / rows;
        let change = changes.map(|change| (change - mean) * (change - mean)).sum::<f64>() / rows;
        if change > 0.0 { change.min(variance) } else { variance }
    }

    /// The input that it belongs to, if it is the target of an input.
    pub(super) fn own_input(&self) -> Option<usize> {
        match *self {
            Self::Input { input, .. } | Self::InputLabel { input, .. } => Some(input),
            Self::Output(_) | Self::OutputLabel(..) => None,
        }
    }

    /// The variance due to rounding alone.
    pub(super) fn rounding(&self, frame: &Frame) -> f64 {
        match *self {
            Self::Output(column) => frame.v[column].rounding,
            Self::Input { column, .. } => frame.u[column].rounding,
            _ => 0.0,
        }
    }
}

/// The labels that occur in a column. If there are two, one is enough.
fn occurring(values: &[f64], labels: usize) -> Vec<f64> {
    let mut counts = vec![0_usize; labels];
    for &value in values {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        if let Some(count) = counts.get_mut(value as usize) {
            *count += 1;
        }
    }
    let mut occurring: Vec<f64> =
        (0..labels).filter(|&label| counts[label] > 0).map(|label| label as f64).collect();
    if occurring.len() == 2 {
        occurring.pop();
    }
    occurring
}

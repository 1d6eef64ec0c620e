//! The residuals of a target, and in how many rows they lie.
//!
//! An influence that was not found would explain some of the residuals. If these lie in few rows, or
//! in few rows of a label under which alone the influence may act, the influence could not have been
//! found, and we cannot rule out an edge.

use super::frame::Frame;
use super::reason::{Reason, RowGroup};
use becausal_core::schema::Kind;

/// A label whose rows have less than this share of the squared residuals is not considered.
const MIN_LABEL_SHARE: f64 = 0.05;

/// The fewest rows where there are no residuals: this many rows without an exception rule out that more than
/// one row in a hundred is an exception. Chosen on BuildMarine with 1,000 rows, seeds 100 to 105.
const MIN_EXACT_ROWS: f64 = 300.0;

/// The rows in which an influence on an effect could show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Remainder {
    /// The effective number of rows: of equal residuals with the same sums of powers.
    rows: f64,
    /// Which rows these are.
    group: RowGroup,
    /// The mean squared residual of all rows; 0 if it is no more than rounding.
    loss: f64,
}

/// Sums of squares and of fourth powers.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    squares: f64,
    fourths: f64,
}

impl Moments {
    fn add(&mut self, square: f64) {
        self.squares += square;
        self.fourths += square * square;
    }

    /// The number of equal values that have these sums.
    fn count(self) -> f64 {
        if self.fourths > 0.0 { self.squares * self.squares / self.fourths } else { 0.0 }
    }
}

/// All rows, or those with a label of an input.
#[derive(Debug, Clone)]
struct Part {
    input: Option<usize>,
    rows: f64,
    group: RowGroup,
}

/// The residuals of a target in all rows and in those of every label.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    loss: f64,
    parts: Vec<Part>,
}

impl Parts {
    /// From the residual of each row. Residuals are clipped at `clip`. A mean square of at most `floor`
    /// counts as 0; then all rows count equally.
    pub(super) fn of(frame: &Frame, residuals: &[f64], clip: Option<f64>, floor: f64) -> Self {
        let clip = clip.unwrap_or(f64::INFINITY);
        let mut squares: Vec<f64> =
            residuals.iter().map(|residual| residual.abs().min(clip).powi(2)).collect();
        let mut loss = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        if loss <= floor {
            squares.fill(1.0);
            loss = 0.0;
        }
        let mut all = Moments::default();
        for &square in &squares {
            all.add(square);
        }
        let mut parts = vec![Part { input: None, rows: all.count(), group: RowGroup::All }];
        for (input, factor) in frame.inputs.iter().enumerate() {
            let labels = match &factor.kind {
                Kind::Categorical(labels) => labels.len(),
                Kind::Boolean => 2,
                _ => continue,
            };
            for &column in &factor.columns {
                let moments = by_label(&frame.u[column].values, labels, &squares);
                let notable =
                    |(_, part): &(usize, Moments)| part.squares >= MIN_LABEL_SHARE * all.squares;
                for (label, part) in moments.into_iter().enumerate().filter(notable) {
                    let value = factor.kind.show(label as f64);
                    let group = RowGroup::Value { of: factor.name.clone(), value };
                    parts.push(Part { input: Some(input), rows: part.count(), group });
                }
            }
        }
        Self { loss, parts }
    }

    /// The part with the fewest rows: of all rows, and of the labels of the inputs for which `gate`
    /// holds.
    pub(super) fn least(&self, gate: impl Fn(usize) -> bool) -> Option<Remainder> {
        let parts = self.parts.iter().filter(|part| part.input.is_none_or(&gate));
        let least = parts.min_by(|one, other| one.rows.total_cmp(&other.rows))?;
        Some(Remainder { rows: least.rows, group: least.group.clone(), loss: self.loss })
    }
}

impl Remainder {
    /// Combines the elements or labels of one effect: the mean of the rows, weighted by the loss.
    pub(super) fn with(self, other: Self) -> Self {
        let loss = self.loss + other.loss;
        let share = if loss > 0.0 { self.loss / loss } else { 0.5 };
        let rows = share * self.rows + (1.0 - share) * other.rows;
        let group = if other.rows < self.rows { other.group } else { self.group };
        Self { rows, group, loss }
    }

    /// Why we cannot rule out an influence on `effect`, if we cannot.
    pub(super) fn reason(&self, effect: &str, min_rows: f64) -> Option<Reason> {
        if self.rows >= if self.loss > 0.0 { min_rows } else { MIN_EXACT_ROWS } {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let rows = self.rows.max(1.0).round_ties_even() as usize;
        let unexplained = (self.loss > 0.0).then(|| effect.to_owned());
        Some(Reason::FewDecide { rows, group: self.group.clone(), unexplained })
    }
}

/// The moments of the squared residuals in the rows of each label.
fn by_label(values: &[f64], labels: usize, squares: &[f64]) -> Vec<Moments> {
    let mut parts = vec![Moments::default(); labels];
    for (&label, &square) in values.iter().zip(squares) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        if let Some(part) = parts.get_mut(label as usize) {
            part.add(square);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::thresholds::Thresholds;
    use super::*;
    use becausal_core::Stream;
    use becausal_core::data::{Row, Transitions};
    use becausal_core::schema::Schema;

    /// A frame with a flag that is set in every fourth row.
    fn frame(rows: usize) -> Frame {
        let text = "name = \"Small\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
                    a = { kind = \"boolean\" }\n";
        let mut data = Transitions::new(std::sync::Arc::new(Schema::parse(text).expect("it")));
        data.begin_episode();
        for row in 0..rows {
            data.push(&Row {
                state: &[row as f64],
                action: &[f64::from(u8::from(row % 4 == 0))],
                outcomes: &[],
                next: &[0.0],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        Frame::of(&data, 0, Thresholds::default())
    }

    /// The rows in which the flag is up.
    fn with_a() -> RowGroup {
        RowGroup::Value { of: "a".to_owned(), value: "true".to_owned() }
    }

    fn least(frame: &Frame, residuals: &[f64]) -> Remainder {
        Parts::of(frame, residuals, None, 1e-9).least(|_| true).expect("all rows at least")
    }

    #[test]
    fn residuals_in_few_rows_are_too_few() {
        let frame = frame(4000);
        let few: Vec<f64> = (0..4000).map(|row| f64::from(u8::from(row % 1000 == 2))).collect();
        let reason = least(&frame, &few).reason("y'", 120.0);
        let unexplained = Some("y'".to_owned());
        let expected = Reason::FewDecide { rows: 4, group: RowGroup::All, unexplained };
        assert_eq!(reason, Some(expected));
        assert_eq!(least(&frame, &vec![1.0; 4000]).reason("y'", 120.0), None);
    }

    #[test]
    fn noise_in_all_rows_is_counted_for_each_label() {
        let mut stream = Stream::new(3);
        let noise: Vec<f64> = (0..1200).map(|_| stream.normal()).collect();
        let reason = least(&frame(1200), &noise).reason("y'", 120.0);
        assert!(matches!(reason, Some(Reason::FewDecide { group, .. }) if group == with_a()));
        let parts = Parts::of(&frame(1200), &noise, None, 1e-9);
        let ungated = parts.least(|_| false).expect("all rows");
        assert_eq!(ungated.reason("y'", 120.0), None);
        let noise: Vec<f64> = (0..6000).map(|_| stream.normal()).collect();
        assert_eq!(least(&frame(6000), &noise).reason("y'", 120.0), None);
    }

    #[test]
    fn without_residuals_all_rows_count() {
        let rounding = vec![1e-9; 800];
        let reason = least(&frame(800), &rounding).reason("y'", 120.0);
        let expected = Reason::FewDecide { rows: 200, group: with_a(), unexplained: None };
        assert_eq!(reason, Some(expected));
        let rounding = vec![1e-9; 1200];
        assert_eq!(least(&frame(1200), &rounding).reason("y'", 120.0), None);
    }

    #[test]
    fn elements_are_weighted_by_their_loss() {
        let of = |rows: f64, loss: f64| Remainder { rows, group: RowGroup::All, loss };
        assert!((of(30.0, 3.0).with(of(130.0, 1.0)).rows - 55.0).abs() < 1e-12);
        assert!((of(30.0, 0.0).with(of(130.0, 0.0)).rows - 80.0).abs() < 1e-12);
    }
}

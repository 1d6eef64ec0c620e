//! The residuals of a target, and in how many rows they lie.
//!
//! An influence that was not found would explain some of the residuals. If these lie in few rows, or
//! in few rows of a label under which alone the influence may act, the influence could not have been
//! found, and we cannot rule out an edge.

use super::frame::Frame;
use super::reason::{Reason, RowGroup};
use becausal_core::schema::Kind;

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

impl Remainder {
    /// From the residual of each row: the part with the fewest rows, of all rows and of those of every label that
    /// holds a notable share of the squared residuals. Residuals are clipped at `clip`. A mean square of at most
    /// `floor` counts as 0; then all rows count equally.
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
        let notable = frame.thresholds.min_special_strength * all.squares;
        let mut least = Self { rows: all.count(), group: RowGroup::All, loss };
        for factor in &frame.inputs {
            let labels = match &factor.kind {
                Kind::Categorical(labels) => labels.len(),
                Kind::Boolean => 2,
                _ => continue,
            };
            for &column in &factor.columns {
                let moments = by_label(&frame.u[column].values, labels, &squares);
                for (label, part) in moments.into_iter().enumerate() {
                    if part.squares >= notable && part.count() < least.rows {
                        let value = factor.kind.show(label as f64);
                        let group = RowGroup::Value { of: factor.name.clone(), value };
                        least = Self { rows: part.count(), group, loss };
                    }
                }
            }
        }
        least
    }

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
        if self.rows >= min_rows {
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
        Remainder::of(frame, residuals, None, 1e-9)
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
        let noise: Vec<f64> = (0..6000).map(|_| stream.normal()).collect();
        assert_eq!(least(&frame(6000), &noise).reason("y'", 120.0), None);
    }

    #[test]
    fn without_residuals_all_rows_count() {
        let rounding = vec![1e-9; 400];
        let reason = least(&frame(400), &rounding).reason("y'", 120.0);
        let expected = Reason::FewDecide { rows: 100, group: with_a(), unexplained: None };
        assert_eq!(reason, Some(expected));
        let rounding = vec![1e-9; 500];
        assert_eq!(least(&frame(500), &rounding).reason("y'", 120.0), None);
    }

    #[test]
    fn elements_are_weighted_by_their_loss() {
        let of = |rows: f64, loss: f64| Remainder { rows, group: RowGroup::All, loss };
        assert!((of(30.0, 3.0).with(of(130.0, 1.0)).rows - 55.0).abs() < 1e-12);
        assert!((of(30.0, 0.0).with(of(130.0, 0.0)).rows - 80.0).abs() < 1e-12);
    }
}

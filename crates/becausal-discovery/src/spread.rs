//! Whether the size of the residual depends on an input.

use std::borrow::Cow;

use super::question::{Answer, Gain, Question};
use super::ridge::Solver;
use super::target::Target;
use becausal_core::schema::Kind;

/// A gain below this share of the loss does not count: an imperfect model of the mean changes the size
/// of the residual.
const MARGIN: f64 = 0.01;

impl Question<'_> {
    /// The gains of each drop in predicting the size of the residual.
    ///
    /// `None` for labels and booleans, whose variance follows from their mean, and for targets that are
    /// predicted so well that the residual is the model's own error.
    pub(super) fn spread(&self, answer: &Answer) -> Option<Vec<Gain>> {
        let frame = self.frame;
        if crate::rules::off(4) { return None; }
        let Target::Output(column) = *self.target else { return None };
        let boolean = frame
            .outputs
            .iter()
            .any(|output| output.columns.contains(&column) && output.kind == Kind::Boolean);
        if boolean || answer.is_own_error() {
            return None;
        }
        let size = |row: usize| answer.residuals[row].abs();
        let mut sums = vec![vec![0.0; frame.units.count()]; self.drops.len()];
        let mut loss = 0.0;
        let mut sizes = vec![0.0; frame.units.count()];
        for fold in self.folds {
            let values: Vec<f64> = fold.tree_rows.iter().map(|&row| size(row as usize)).collect();
            let of_size = self.heard(fold.sums(frame, &fold.tree_rows, &[values]));
            let of_size = of_size.column(0).to_owned();
            let mains =
                |feature: usize| fold.basis.is_main(feature) && self.is_allowed(fold, feature);
            let solver = if self.has_all() {
                Cow::Borrowed(&fold.mains)
            } else {
                Cow::Owned(Solver::new(fold.tree_gram(), mains))
            };
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&of_size, self.drops.len(), dropped);
            let max_rows = fold.held_out.len().min(fold.tree_rows.len().max(4096) * 2);
            fold.predict(frame, &fold.held_out[..max_rows], &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let value = size(row as usize);
                    let with = (value - predicted[0]) * (value - predicted[0]);
                    loss += with;
                    let unit = frame.units.of_row[row as usize] as usize;
                    sizes[unit] += 1.0;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        sums[unit] += (value - predicted) * (value - predicted) - with;
                    }
                }
            });
        }
        loss /= sizes.iter().sum::<f64>().max(1.0);
        Some(sums.iter().map(|sums| self.gain(sums, &sizes, loss, if crate::rules::off(25) { 0.0 } else { MARGIN })).collect())
    }
}

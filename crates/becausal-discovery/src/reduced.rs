//! Models trained without some inputs, and what those inputs add to their predictions.

use ndarray::{Array1, Array2, Axis};

use super::boost::Ensemble;
use super::model::Model;
use super::question::{Question, Sums, add};

/// The models of one fold without the inputs of each of some drops.
pub(super) struct Reduced {
    /// A column for each of the drops.
    coefficients: Array2<f64>,
    trees: Vec<Ensemble>,
}

impl Question<'_> {
    /// For each fold, the models without each of some drops, at the given level of features for each.
    pub(super) fn reduced(
        &self,
        models: &[Model<'_>; 2],
        drops: &[usize],
        level: usize,
        levels: &[usize],
    ) -> [Reduced; 2] {
        models.each_ref().map(|model| {
            let fold = model.fold;
            let columns: Vec<usize> = drops.iter().map(|drop| drop + 1).collect();
            let mut coefficients = model.coefficients.select(Axis(1), &columns);
            for (place, &drop) in drops.iter().enumerate().filter(|(p, _)| levels[*p] != level) {
                let solver = self.solver(fold, &fold.gram, &fold.solvers, levels[place]);
                let dropped = |_: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
                let both = solver.coefficients(&fold.gram.target(self.index), 1, dropped);
                coefficients.column_mut(place).assign(&both.column(1));
            }
            let residuals = self.residuals(fold, &fold.tree_rows, &coefficients);
            let grow = |(&drop, mut residuals): (&usize, Vec<f64>)| {
                self.trees(&fold.tree_rows, &mut residuals, &self.drops[drop], &self.growth)
            };
            let trees = drops.iter().zip(residuals).map(grow).collect();
            Reduced { coefficients, trees }
        })
    }

    /// For each drop of the reduced models, the sums of the losses without its inputs minus the losses
    /// with them. Calls `keep` with each residual: the drop's place, the row, the residual.
    pub(super) fn losses_without(
        &self,
        models: &[Model<'_>; 2],
        reduced: &[Reduced; 2],
        residuals: &[f64],
        mut keep: impl FnMut(usize, usize, f64),
    ) -> Sums {
        let (frame, (low, high)) = (self.frame, self.range);
        let mut losses = self.no_sums(reduced[0].trees.len());
        for (model, reduced) in models.iter().zip(reduced) {
            let held_out = &model.fold.held_out;
            model.fold.predict(frame, held_out, &reduced.coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let with = model.losses(residuals[row]);
                    for (place, trees) in reduced.trees.iter().enumerate() {
                        let predicted = predicted[place] + trees.predict(self.bins.row(row));
                        let residual = value - predicted.clamp(low, high);
                        keep(place, row, residual);
                        add(&mut losses[place][unit], model.losses(residual), with);
                    }
                }
            });
        }
        losses
    }

    /// Sums of the products of the reduced model's residuals with the *innovation*: the part that the
    /// dropped inputs add to the prediction, minus what the other inputs predict of that part (a
    /// projected covariance, as in PCM). It estimates the same gain as the difference of the losses.
    /// Where an imperfect model of the others lets a bystander help, the difference of the losses is
    /// biased. This sum is not, unless the model of the bystander's part has the same error.
    ///
    /// `found` are places among `drops`, the drops of the reduced models; `levels` are their levels.
    pub(super) fn innovations(
        &self,
        models: &[Model<'_>; 2],
        reduced: &[Reduced; 2],
        drops: &[usize],
        found: &[usize],
        levels: &[usize],
    ) -> Sums {
        let (frame, (low, high)) = (self.frame, self.range);
        let mut sums = self.no_sums(found.len());
        for (model, reduced) in models.iter().zip(reduced) {
            let fold = model.fold;
            let (terms, expected) = self.expected(model, reduced, drops, found, levels);
            let mut coefficients = Array2::zeros((fold.basis.width(), 1 + 2 * found.len()));
            coefficients.column_mut(0).assign(&model.coefficients.column(0));
            for (index, &place) in found.iter().enumerate() {
                let column = 1 + 2 * index;
                coefficients.column_mut(column).assign(&reduced.coefficients.column(place));
                coefficients.column_mut(column + 1).assign(&terms.column(index));
            }
            fold.predict(frame, &fold.held_out, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let bins = self.bins.row(row);
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let full = (predicted[0] + model.trees.predict(bins)).clamp(low, high);
                    for (index, &place) in found.iter().enumerate() {
                        let column = 1 + 2 * index;
                        let partial = (predicted[column] + reduced.trees[place].predict(bins))
                            .clamp(low, high);
                        let part = predicted[column + 1] + expected[index].predict(bins);
                        let (error, innovation) = (value - partial, full - partial - part);
                        let clipped = model.clip.map_or(0.0, |clip| error.clamp(-clip, clip));
                        let products = [error * innovation, clipped * innovation];
                        add(&mut sums[index][unit], products, [0.0; 2]);
                    }
                }
            });
        }
        sums
    }

    /// Models that predict, from the other inputs, what the dropped inputs add to the prediction: a
    /// column of coefficients and trees for each drop in `found`.
    fn expected(
        &self,
        model: &Model<'_>,
        reduced: &Reduced,
        drops: &[usize],
        found: &[usize],
        levels: &[usize],
    ) -> (Array2<f64>, Vec<Ensemble>) {
        let fold = model.fold;
        let added = self.added(model, reduced, found);
        let mut terms = Array2::zeros((fold.basis.width(), found.len()));
        let all = fold.sums(self.frame, &fold.tree_rows, &added);
        for (index, &place) in found.iter().enumerate() {
            let inputs = &self.drops[drops[place]];
            let dropped = |_: usize, feature: usize| fold.touches(feature, inputs);
            let solver = self.solver(fold, fold.tree_gram(), fold.tree_solvers(), levels[place]);
            let sums: Array1<f64> = all.column(index).to_owned();
            terms.column_mut(index).assign(&solver.coefficients(&sums, 1, dropped).column(1));
        }
        let mut residuals = added;
        let mut from = 0;
        fold.predict(self.frame, &fold.tree_rows, &terms, |rows, expected| {
            for (index, residuals) in residuals.iter_mut().enumerate() {
                let residuals = &mut residuals[from..from + rows.len()];
                let pairs = residuals.iter_mut().zip(expected.column(index));
                pairs.for_each(|(residual, expected)| *residual -= expected);
            }
            from += rows.len();
        });
        let grow = |(&place, mut residuals): (&usize, Vec<f64>)| {
            self.trees(&fold.tree_rows, &mut residuals, &self.drops[drops[place]], &self.growth)
        };
        (terms, found.iter().zip(residuals).map(grow).collect())
    }

    /// What the dropped inputs add to the prediction, for each drop in `found` and each of the
    /// `tree_rows`.
    fn added(&self, model: &Model<'_>, reduced: &Reduced, found: &[usize]) -> Vec<Vec<f64>> {
        let fold = model.fold;
        let mut coefficients = Array2::zeros((fold.basis.width(), 1 + found.len()));
        coefficients.column_mut(0).assign(&model.coefficients.column(0));
        for (index, &place) in found.iter().enumerate() {
            coefficients.column_mut(1 + index).assign(&reduced.coefficients.column(place));
        }
        let mut added = vec![Vec::with_capacity(fold.tree_rows.len()); found.len()];
        fold.predict(self.frame, &fold.tree_rows, &coefficients, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                let bins = self.bins.row(row as usize);
                let full = predicted[0] + model.trees.predict(bins);
                for (index, added) in added.iter_mut().enumerate() {
                    let partial = predicted[1 + index] + reduced.trees[found[index]].predict(bins);
                    added.push(full - partial);
                }
            }
        });
        added
    }
}

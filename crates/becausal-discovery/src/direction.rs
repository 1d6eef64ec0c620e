//! What an input adds to the prediction of a target, beyond what the other inputs say about it.

use ndarray::{Array2, Axis};

use super::boost::Ensemble;
use super::fold::Level;
use super::model::Model;
use super::question::Question;
use super::ridge::TargetSums;
use super::target::Target;
use becausal_core::schema::Kind;

/// The models that the direction of a drop needs where the full model has trees, or the reduced one other
/// features.
///
/// Elsewhere the difference of the regressions with and without the inputs is already uncorrelated with
/// all other features.
pub(super) struct Direction {
    pub reduced_trees: Ensemble,
    /// One column: the regression of `full - reduced` on the other inputs.
    pub expected: Array2<f64>,
    /// Trees on its residual.
    pub expected_trees: Ensemble,
}

impl Question<'_> {
    /// The direction of a drop.
    pub(super) fn direction(&self, model: &Model<'_>, drop: usize) -> Option<Direction> {
        let (fold, inputs) = (model.fold, &self.drops[drop]);
        let (level, has_own_trees) = model.levels[drop];
        if !has_own_trees {
            return None;
        }
        let rows = &fold.tree_rows;
        let (reduced_trees, of_reduced) = self.reduced_trees(model, drop);
        // full - reduced is the residual of reduced minus the residual of full.
        let mut added: Vec<f64> = rows
            .iter()
            .zip(of_reduced.iter().zip(&model.residuals))
            .map(|(&row, (reduced, full))| {
                let deviation = model.scale.deviation(self.bins.row(row as usize));
                model.scale.standard(reduced - full, deviation)
            })
            .collect();
        let products = fold.sums(self.frame, rows, &[added.clone()]).column(0).to_owned();
        let square = added.iter().map(|added| added * added).sum();
        let sums = TargetSums { products, square };
        let drops = &self.drops[drop..=drop];
        let expected = self.coefficients(fold, fold.on_tree_rows(), &sums, level, drops);
        let expected = expected.select(Axis(1), &[1]);
        let mut from = 0;
        fold.predict(self.frame, rows, &expected, |rows, expected| {
            let part = added[from..from + rows.len()].iter_mut();
            part.zip(expected.column(0)).for_each(|(added, expected)| *added -= expected);
            from += rows.len();
        });
        let expected_trees = self.trees(rows, &mut added, inputs, &self.growth);
        Some(Direction { reduced_trees, expected, expected_trees })
    }

    /// Trees on the residuals of the regression without a drop, and what they leave of these.
    pub(super) fn reduced_trees(&self, model: &Model<'_>, drop: usize) -> (Ensemble, Vec<f64>) {
        let rows = &model.fold.tree_rows;
        let coefficients = model.coefficients.select(Axis(1), &[1 + drop]);
        let mut residuals =
            self.residuals(model.fold, rows, &coefficients).pop().unwrap_or_default();
        let trees = self.trees(rows, &mut residuals, &self.drops[drop], &self.growth);
        (trees, residuals)
    }

    /// Regressions of the size of the residual: a column with all inputs, then one without each drop.
    ///
    /// The residuals are those of the training rows. `None` for labels and booleans, whose variance
    /// follows from their mean.
    pub(super) fn spread(&self, model: &Model<'_>) -> Option<Array2<f64>> {
        let Target::Output(column) = *self.target else { return None };
        let output = self.frame.outputs.iter().find(|output| output.columns.contains(&column))?;
        if output.kind == Kind::Boolean {
            return None;
        }
        let fold = model.fold;
        let sizes = model.residuals.iter().map(|&residual| model.clipped(residual).abs()).collect();
        let sums = fold.sums(self.frame, &fold.tree_rows, &[sizes]).column(0).to_owned();
        let solver = self.solver(fold, fold.on_tree_rows(), Level::All);
        let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
        Some(solver.coefficients(&sums, self.drops.len(), dropped))
    }
}

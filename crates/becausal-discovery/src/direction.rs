//! What an input adds to the prediction of a target, beyond what the other inputs say about it.

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use super::bins::Bins;
use super::boost::{Ensemble, TREES};
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
    reduced_trees: Ensemble,
    /// One column: the regression of `full - reduced` on the other inputs.
    pub expected: Array2<f64>,
    /// Trees on its residual.
    expected_trees: Ensemble,
}

impl Direction {
    /// What the trees of `reduced` and of `expected` add in some rows.
    pub(super) fn trees(&self, bins: &Bins, rows: &[u32]) -> [Vec<f64>; 2] {
        [&self.reduced_trees, &self.expected_trees].map(|trees| trees.predict(bins, rows))
    }
}

impl Question<'_> {
    /// The direction of each drop, where it needs models of its own. The rows are read once for all drops.
    pub(super) fn directions(&self, model: &Model<'_>) -> Vec<Option<Direction>> {
        let (fold, rows) = (model.fold, &model.fold.tree_rows);
        let own: Vec<usize> = (0..self.drops.len()).filter(|&drop| model.levels[drop].1).collect();
        let mut directions: Vec<Option<Direction>> = Vec::new();
        directions.resize_with(self.drops.len(), || None);
        if own.is_empty() {
            return directions;
        }
        let columns: Vec<usize> = own.iter().map(|&drop| 1 + drop).collect();
        let coefficients = model.coefficients.select(Axis(1), &columns);
        let mut residuals = self.residuals(fold, rows, &coefficients);
        let grow = |residuals: &mut [Vec<f64>]| -> Vec<Ensemble> {
            let each = own.par_iter().zip(residuals);
            each.map(|(&drop, residuals)| {
                self.heard(self.trees(rows, residuals, &self.drops[drop], TREES))
            })
            .collect()
        };
        let reduced_trees = grow(&mut residuals);
        // full - reduced is the residual of reduced minus the residual of full.
        let deviations = model.scale.deviations(self.bins, rows);
        for reduced in &mut residuals {
            for ((reduced, full), &deviation) in
                reduced.iter_mut().zip(&model.residuals).zip(&deviations)
            {
                *reduced = model.scale.standard(*reduced - full, deviation);
            }
        }
        let mut added = residuals;
        let products = self.heard(fold.sums(self.frame, rows, &added));
        let mut expected = Array2::zeros((fold.basis.width(), own.len()));
        for (place, (&drop, added)) in own.iter().zip(&added).enumerate() {
            let square = added.iter().map(|added| added * added).sum();
            let sums = TargetSums { products: products.column(place).to_owned(), square };
            let drops = &self.drops[drop..=drop];
            let level = model.levels[drop].0;
            let found = self.coefficients(fold, fold.on_tree_rows(), &sums, level, drops);
            expected.column_mut(place).assign(&found.column(1));
        }
        let mut from = 0;
        fold.predict(self.frame, rows, &expected, |rows, expected| {
            for (added, expected) in added.iter_mut().zip(expected.columns()) {
                let part = added[from..from + rows.len()].iter_mut();
                part.zip(expected).for_each(|(added, expected)| *added -= expected);
            }
            from += rows.len();
        });
        let expected_trees = grow(&mut added);
        let trees = reduced_trees.into_iter().zip(expected_trees);
        for (place, (drop, (reduced_trees, expected_trees))) in
            own.into_iter().zip(trees).enumerate()
        {
            let expected = expected.select(Axis(1), &[place]);
            directions[drop] = Some(Direction { reduced_trees, expected, expected_trees });
        }
        directions
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

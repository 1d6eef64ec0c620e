//! The features of up to 128 rows, as one matrix.

use ndarray::{ArrayView2, ShapeBuilder};

use super::basis::Basis;
use super::frame::Frame;

/// The most rows of a block.
pub(super) const BLOCK: usize = 128;

/// Some features of a basis for some rows, feature by feature: each is computed for all rows in one
/// pass.
pub(super) struct Block<'a> {
    basis: &'a Basis,
    /// The features to compute.
    wanted: Vec<usize>,
    /// The atoms that they need, and the values of all atoms, `BLOCK` rows each.
    needed: Vec<usize>,
    atoms: Vec<f64>,
    values: Vec<f64>,
}

impl<'a> Block<'a> {
    /// For all features.
    pub(super) fn all(basis: &'a Basis) -> Self {
        Self::of(basis, (0..basis.width()).collect())
    }

    /// For the wanted features only.
    pub(super) fn of(basis: &'a Basis, wanted: Vec<usize>) -> Self {
        let values = vec![0.0; BLOCK * wanted.len().max(1)];
        let (needed, count) = basis.atoms_of(&wanted);
        Self { basis, wanted, needed, atoms: vec![0.0; BLOCK * count], values }
    }

    /// The features of at most `BLOCK` rows, `[rows, wanted features]`.
    pub(super) fn fill(&mut self, frame: &Frame, rows: &[u32]) -> ArrayView2<'_, f64> {
        for &atom in &self.needed {
            let into = &mut self.atoms[atom * BLOCK..][..rows.len()];
            self.basis.write_atom(atom, frame, rows, into);
        }
        for (&feature, into) in self.wanted.iter().zip(self.values.chunks_exact_mut(BLOCK)) {
            let into = &mut into[..rows.len()];
            let mut factors = self.basis.factors(feature);
            let Some(first) = factors.next() else {
                into.fill(1.0);
                continue;
            };
            into.copy_from_slice(&self.atoms[first * BLOCK..][..rows.len()]);
            for factor in factors {
                let factor = &self.atoms[factor * BLOCK..][..rows.len()];
                into.iter_mut().zip(factor).for_each(|(value, factor)| *value *= factor);
            }
        }
        let shape = (rows.len(), self.wanted.len()).strides((1, BLOCK));
        ArrayView2::from_shape(shape, &self.values).expect("room for a block")
    }
}

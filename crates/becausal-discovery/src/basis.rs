//! Basis functions of the inputs, with which a linear regression fits most dynamics.

use super::atom::{Atom, Shape, thresholds};
use super::candidates::Candidates;
use super::frame::Frame;
use becausal_core::schema::Kind;

/// The most labels of a category that get an indicator, besides the most frequent one.
const MAX_LABELS: usize = 12;

/// Products with step functions are tried if the inputs have at most this many columns.
const MAX_STEP_COLUMNS: usize = 16;

/// The product of one, two or three atoms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Feature {
    pub first: usize,
    pub second: Option<usize>,
    pub third: Option<usize>,
}

/// The features of a regression; the first is constant.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub atoms: Vec<Atom>,
    pub features: Vec<Feature>,
}

impl Basis {
    /// The functions of single columns: linear, square, cube and absolute value of numbers, and an
    /// indicator for each label.
    pub(super) fn mains(frame: &Frame) -> Self {
        let mut atoms = Vec::new();
        let mut features = Vec::new();
        let mut used = |atom: Atom, atoms: &mut Vec<Atom>| {
            features.push(Feature { first: atoms.len(), second: None, third: None });
            atoms.push(atom);
        };
        for (input, factor) in frame.inputs.iter().enumerate() {
            for &column in &factor.columns {
                let series = &frame.u[column];
                if series.constant {
                    continue;
                }
                let atom = |shape| Atom { input, column, shape };
                if let Kind::Categorical(labels) = &factor.kind {
                    let mut counts: Vec<(usize, f64)> = Vec::new();
                    for label in 0..labels.len() {
                        let code = label as f64;
                        let count = series.values.iter().filter(|&&value| value == code).count();
                        if count > 0 {
                            counts.push((count, code));
                        }
                    }
                    // The constant stands for the most frequent label.
                    counts.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
                    for (_, code) in counts.into_iter().skip(1).take(MAX_LABELS) {
                        used(atom(Shape::Indicator(code)), &mut atoms);
                    }
                    continue;
                }
                used(atom(Shape::Linear), &mut atoms);
                let two_valued = matches!(factor.kind, Kind::Boolean)
                    || series.values.iter().all(|&v| {
                        v == series.values[0]
                            || (v - series.mean).abs() == (series.values[0] - series.mean).abs()
                    });
                if !two_valued {
                    for shape in [Shape::Square, Shape::Cube, Shape::Absolute] {
                        used(atom(shape), &mut atoms);
                    }
                    if frame.u.len() <= MAX_STEP_COLUMNS {
                        let thresholds = thresholds(&series.values);
                        atoms.extend(thresholds.into_iter().map(|t| atom(Shape::Above(t))));
                    }
                    atoms.push(atom(Shape::Clipped));
                }
            }
        }
        Self { atoms, features }
    }

    /// Removes the atoms that no feature uses.
    pub(super) fn compact(&mut self) {
        let mut used = vec![false; self.atoms.len()];
        for feature in &self.features {
            let parts = [Some(feature.first), feature.second, feature.third];
            parts.into_iter().flatten().for_each(|atom| used[atom] = true);
        }
        let mut index = vec![0; self.atoms.len()];
        let mut kept = Vec::new();
        for (atom, value) in self.atoms.iter().enumerate() {
            index[atom] = kept.len();
            if used[atom] {
                kept.push(*value);
            }
        }
        self.atoms = kept;
        for feature in &mut self.features {
            feature.first = index[feature.first];
            feature.second = feature.second.map(|atom| index[atom]);
            feature.third = feature.third.map(|atom| index[atom]);
        }
    }

    /// Adds some of the candidates.
    pub(super) fn add(&mut self, candidates: &Candidates, chosen: &[usize]) {
        self.features.extend(chosen.iter().map(|&index| candidates.basis().features[index]));
    }

    /// The number of features, including the constant.
    pub(super) fn width(&self) -> usize {
        self.features.len() + 1
    }

    /// The inputs that a feature depends on; none for the constant.
    pub(super) fn inputs_of(&self, feature: usize) -> [Option<usize>; 3] {
        if feature == 0 {
            return [None; 3];
        }
        let feature = self.features[feature - 1];
        let input = |atom: usize| self.atoms[atom].input;
        [Some(input(feature.first)), feature.second.map(input), feature.third.map(input)]
    }

    /// The level of a feature: 0 for the constant, linear terms and indicators, 1 for all others.
    pub(super) fn level(&self, feature: usize) -> usize {
        let Some(feature) = feature.checked_sub(1).map(|index| self.features[index]) else {
            return 0;
        };
        match (feature.second, self.atoms[feature.first].shape) {
            (None, Shape::Linear | Shape::Indicator(_)) => 0,
            _ => 1,
        }
    }

    /// Whether a feature depends on this input.
    pub(super) fn touches(&self, feature: usize, input: Option<usize>) -> bool {
        input.is_some() && self.inputs_of(feature).contains(&input)
    }

    /// The atoms whose product is the feature; none for the constant.
    pub(super) fn factors(&self, feature: usize) -> impl Iterator<Item = usize> {
        let feature = feature.checked_sub(1).map(|index| self.features[index]);
        feature.into_iter().flat_map(|feature| {
            [Some(feature.first), feature.second, feature.third].into_iter().flatten()
        })
    }

    /// The atoms that some features need, and the number of all atoms.
    pub(super) fn atoms_of(&self, features: &[usize]) -> (Vec<usize>, usize) {
        let mut used = vec![false; self.atoms.len()];
        for &feature in features {
            self.factors(feature).for_each(|atom| used[atom] = true);
        }
        ((0..used.len()).filter(|&atom| used[atom]).collect(), used.len())
    }

    /// Writes the values of an atom for some rows.
    pub(super) fn write_atom(&self, atom: usize, frame: &Frame, rows: &[u32], into: &mut [f64]) {
        let atom = self.atoms[atom];
        atom.write(&frame.u[atom.column], rows, into);
    }
}

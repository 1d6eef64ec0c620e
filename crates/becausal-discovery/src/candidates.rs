//! Features that might be added to a basis: products of its atoms.

use super::atom::{Atom, Form, Shape};
use super::basis::{Basis, Feature};

/// Waves are tried with 1 to this many half periods; see [`Shape::Sine`].
const MAX_HALF_PERIODS: u8 = 3;

/// Features that might be added.
pub(super) struct Candidates {
    basis: Basis,
}

impl Candidates {
    /// The number of candidates.
    pub(super) fn len(&self) -> usize {
        self.basis.features.len()
    }

    /// The candidates as a basis.
    pub(super) fn basis(&self) -> &Basis {
        &self.basis
    }
}

impl Basis {
    /// Products of two columns, a gate and another gate or a number: what acts under one label only.
    pub(super) fn gated_candidates(&self) -> Candidates {
        self.pairs(|one, other, ordered| match (one, other) {
            (Form::Gate, Form::Gate) => ordered,
            (Form::Gate, Form::Number) => true,
            _ => false,
        })
    }

    /// Products of two columns: gates with squares, numbers with numbers, and, if `cubic`, squares with
    /// numbers. The columns may belong to one input.
    pub(super) fn candidates(&self, cubic: bool) -> Candidates {
        self.pairs(|one, other, ordered| match (one, other) {
            (Form::Number, Form::Number) => ordered,
            (Form::Gate, Form::Square) => true,
            (Form::Square, Form::Number) => cubic,
            _ => false,
        })
    }

    /// The products of two columns whose forms are `wanted`.
    fn pairs(&self, wanted: impl Fn(Form, Form, bool) -> bool) -> Candidates {
        let mut features = Vec::new();
        for (first, one) in self.atoms.iter().enumerate() {
            for (second, other) in self.atoms.iter().enumerate() {
                if one.column == other.column {
                    continue;
                }
                let ordered = one.column < other.column;
                if wanted(self.form(one), self.form(other), ordered) {
                    features.push(Feature { first, second: Some(second), third: None });
                }
            }
        }
        Candidates { basis: Self { atoms: self.atoms.clone(), features } }
    }

    /// Products of three atoms, or of higher powers of two: smooth dynamics need them in addition to
    /// the products of two.
    pub(super) fn further_candidates(&self) -> Candidates {
        let mut found = self.pairs(|one, other, ordered| match (one, other) {
            (Form::Square, Form::Square) => ordered,
            (Form::Cube, Form::Number | Form::Square) | (Form::Gate, Form::Cube) => true,
            _ => false,
        });
        let forms: Vec<Form> = self.atoms.iter().map(|atom| self.form(atom)).collect();
        let numbers = || (0..forms.len()).filter(|&atom| forms[atom] == Form::Number);
        let column = |atom: usize| self.atoms[atom].column;
        for first in 0..forms.len() {
            for second in 0..forms.len() {
                for third in numbers() {
                    let [one, other, last] = [first, second, third].map(column);
                    let ordered = match (forms[first], forms[second]) {
                        (Form::Number, Form::Number) => one < other && other < last,
                        (Form::Gate | Form::Square, Form::Number) => other < last,
                        (Form::Gate, Form::Square) => true,
                        _ => false,
                    };
                    if ordered && one != other && one != last && other != last {
                        let features = &mut found.basis.features;
                        features.push(Feature { first, second: Some(second), third: Some(third) });
                    }
                }
            }
        }
        found
    }

    /// Products of a step function of one column with another column, for influences that act only
    /// beyond a threshold.
    pub(super) fn step_candidates(&self) -> Candidates {
        self.pairs(|one, other, _| (one, other) == (Form::Step, Form::Number))
    }

    /// Waves of one column, alone and times another column or a wave of it, for smooth functions that
    /// are not polynomials. The atoms are added to the basis, the features are candidates.
    pub(super) fn wave_candidates(&mut self) -> Candidates {
        let number = |atom: &usize| self.form(&self.atoms[*atom]) == Form::Number;
        let numbers: Vec<usize> = (0..self.atoms.len()).filter(number).collect();
        let mut features = Vec::new();
        let mut waves = Vec::new();
        for &number in &numbers {
            let Atom { input, column, .. } = self.atoms[number];
            for half in 1..=MAX_HALF_PERIODS {
                for shape in [Shape::Sine(half), Shape::Cosine(half)] {
                    waves.push(self.atoms.len());
                    self.atoms.push(Atom { input, column, shape });
                }
            }
        }
        let column = |atom: usize| self.atoms[atom].column;
        for (place, &wave) in waves.iter().enumerate() {
            features.push(Feature { first: wave, second: None, third: None });
            let others = numbers.iter().chain(&waves[place + 1..]);
            for &other in others.filter(|&&other| column(other) != column(wave)) {
                features.push(Feature { first: wave, second: Some(other), third: None });
            }
        }
        Candidates { basis: Self { atoms: self.atoms.clone(), features } }
    }

    /// The role of an atom in products.
    fn form(&self, atom: &Atom) -> Form {
        match atom.shape {
            Shape::Indicator(_) => Form::Gate,
            Shape::Above(_) => Form::Step,
            Shape::Clipped => Form::Number,
            Shape::Square => Form::Square,
            Shape::Cube => Form::Cube,
            // A column with two values is a gate, and its linear term is the indicator.
            Shape::Linear
                if !self
                    .atoms
                    .iter()
                    .any(|a| a.column == atom.column && a.shape == Shape::Clipped) =>
            {
                Form::Gate
            }
            _ => Form::Other,
        }
    }
}

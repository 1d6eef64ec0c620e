//! Basis functions of the inputs: what a linear regression needs to follow most dynamics.

use super::frame::{Frame, Series};
use crate::schema::Kind;

/// Standardised values beyond this are cut off before they are squared or multiplied.
const CUT: f64 = 6.0;

/// The most labels of a category that get an indicator.
const LABELS: usize = 12;

/// Products with steps are tried up to this many columns.
const STEPPED: usize = 16;

/// Waves are tried up to this many times half a wave in the range.
const WAVES: u8 = 3;

/// Where steps of a column are tried: zero, the median, and towards both ends.
fn thresholds(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(50_000).max(1);
    let mut sorted: Vec<f64> = values.iter().copied().step_by(step).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let mut thresholds: Vec<f64> = [1, 10, 50, 90, 99].map(quantile).into();
    thresholds.push(0.0);
    let (low, high) = (quantile(0), quantile(100));
    thresholds.retain(|&threshold| threshold >= low && threshold < high);
    thresholds.sort_unstable_by(f64::total_cmp);
    thresholds.dedup();
    thresholds
}

/// A function of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Linear,
    Cut,
    Square,
    Cube,
    Absolute,
    Indicator(f64),
    /// Whether the value exceeds a threshold.
    Above(f64),
    /// Waves that fit so many half times between three deviations on either side of the mean.
    Sine(u8),
    Cosine(u8),
}

#[derive(Debug, Clone, Copy)]
struct Atom {
    /// The input that the column belongs to.
    input: usize,
    column: usize,
    shape: Shape,
}

/// The product of one, two or three atoms.
#[derive(Debug, Clone, Copy)]
struct Feature {
    first: usize,
    second: Option<usize>,
    third: Option<usize>,
}

/// The functions by which a regression predicts; the first is constant.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    atoms: Vec<Atom>,
    features: Vec<Feature>,
}

/// Features that might be added.
pub(super) struct Candidates {
    basis: Basis,
}

impl Basis {
    /// The functions of single inputs: linear, square, cube and absolute value of numbers, and an
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
                    // The most frequent label is what the constant stands for.
                    counts.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
                    for (_, code) in counts.into_iter().skip(1).take(LABELS) {
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
                    if frame.u.len() <= STEPPED {
                        let thresholds = thresholds(&series.values);
                        atoms.extend(thresholds.into_iter().map(|t| atom(Shape::Above(t))));
                    }
                    if series.has_outliers() {
                        used(atom(Shape::Cut), &mut atoms);
                    } else {
                        atoms.push(atom(Shape::Cut));
                    }
                }
            }
        }
        Self { atoms, features }
    }

    /// The products of two inputs: gates with linear and square terms, numbers with numbers, and,
    /// when `cubic`, squares with numbers. Pairs within one input count as well.
    pub(super) fn candidates(&self, cubic: bool) -> Candidates {
        let mut features = Vec::new();
        for (first, one) in self.atoms.iter().enumerate() {
            for (second, other) in self.atoms.iter().enumerate() {
                if one.column == other.column {
                    continue;
                }
                let ordered = one.column < other.column;
                let wanted = match (self.form(one), self.form(other)) {
                    (Form::Gate, Form::Gate) | (Form::Number, Form::Number) => ordered,
                    (Form::Gate, Form::Number | Form::Square) => true,
                    (Form::Square, Form::Number) => cubic,
                    _ => false,
                };
                if wanted {
                    features.push(Feature { first, second: Some(second), third: None });
                }
            }
        }
        Candidates { basis: Self { atoms: self.atoms.clone(), features } }
    }

    /// The products of three atoms, or of higher powers of two: what smooth dynamics still need
    /// when the products of two are known.
    pub(super) fn further_candidates(&self) -> Candidates {
        let of_form = |form: Form| -> Vec<usize> {
            (0..self.atoms.len()).filter(|&atom| self.form(&self.atoms[atom]) == form).collect()
        };
        let (gates, numbers) = (of_form(Form::Gate), of_form(Form::Number));
        let (squares, cubes) = (of_form(Form::Square), of_form(Form::Cube));
        let mut features = Vec::new();
        let column = |atom: usize| self.atoms[atom].column;
        let mut add = |first: usize, second: usize, third: Option<usize>| {
            let third_column = third.map(column);
            let repeated = column(first) == column(second)
                || third_column == Some(column(first))
                || third_column == Some(column(second));
            if !repeated {
                features.push(Feature { first, second: Some(second), third });
            }
        };
        for (place, &one) in numbers.iter().enumerate() {
            for &other in &numbers[place + 1..] {
                for &gate in &gates {
                    add(gate, one, Some(other));
                }
                let after = numbers.iter().filter(|&&last| last > other);
                after.for_each(|&last| add(one, other, Some(last)));
                for &square in &squares {
                    add(square, one, Some(other));
                }
            }
            for &square in &squares {
                for &gate in &gates {
                    add(gate, square, Some(one));
                }
            }
            for &cube in &cubes {
                add(cube, one, None);
            }
        }
        for (place, &one) in squares.iter().enumerate() {
            squares[place + 1..].iter().for_each(|&other| add(one, other, None));
            for &cube in &cubes {
                add(cube, one, None);
            }
        }
        for &gate in &gates {
            for &cube in &cubes {
                add(gate, cube, None);
            }
        }
        Candidates { basis: Self { atoms: self.atoms.clone(), features } }
    }

    /// The products of a step of one column with another column: what matters only beyond a
    /// threshold.
    pub(super) fn step_candidates(&self) -> Candidates {
        let mut features = Vec::new();
        for (first, one) in self.atoms.iter().enumerate() {
            for (second, other) in self.atoms.iter().enumerate() {
                let forms = (self.form(one), self.form(other));
                if one.column != other.column && forms == (Form::Step, Form::Number) {
                    features.push(Feature { first, second: Some(second), third: None });
                }
            }
        }
        Candidates { basis: Self { atoms: self.atoms.clone(), features } }
    }

    /// Waves of one column, alone and times another column or a wave of it: what is smooth but no
    /// polynomial. The atoms are added, the features are candidates.
    pub(super) fn wave_candidates(&mut self) -> Candidates {
        let number = |atom: &usize| self.form(&self.atoms[*atom]) == Form::Number;
        let numbers: Vec<usize> = (0..self.atoms.len()).filter(number).collect();
        let mut features = Vec::new();
        let mut waves = Vec::new();
        for &number in &numbers {
            let Atom { input, column, .. } = self.atoms[number];
            for half in 1..=WAVES {
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

    /// Forgets the atoms that no feature uses.
    pub(super) fn compact(&mut self) {
        let mut used = vec![false; self.atoms.len()];
        for feature in &self.features {
            let parts = [Some(feature.first), feature.second, feature.third];
            parts.into_iter().flatten().for_each(|atom| used[atom] = true);
        }
        let mut place = vec![0; self.atoms.len()];
        let mut kept = Vec::new();
        for (atom, value) in self.atoms.iter().enumerate() {
            place[atom] = kept.len();
            if used[atom] {
                kept.push(*value);
            }
        }
        self.atoms = kept;
        for feature in &mut self.features {
            feature.first = place[feature.first];
            feature.second = feature.second.map(|atom| place[atom]);
            feature.third = feature.third.map(|atom| place[atom]);
        }
    }

    /// How an atom takes part in products.
    fn form(&self, atom: &Atom) -> Form {
        match atom.shape {
            Shape::Indicator(_) => Form::Gate,
            Shape::Above(_) => Form::Step,
            Shape::Cut => Form::Number,
            Shape::Square => Form::Square,
            Shape::Cube => Form::Cube,
            // A column with two values only is a gate, its linear term the indicator.
            Shape::Linear
                if !self.atoms.iter().any(|a| a.column == atom.column && a.shape == Shape::Cut) =>
            {
                Form::Gate
            }
            _ => Form::Other,
        }
    }

    /// Takes over some of the candidates.
    pub(super) fn add(&mut self, candidates: &Candidates, chosen: &[usize]) {
        self.features.extend(chosen.iter().map(|&index| candidates.basis.features[index]));
    }

    /// Number of features, the constant included.
    pub(super) fn width(&self) -> usize {
        self.features.len() + 1
    }

    /// The inputs that a feature is a function of; none for the constant.
    pub(super) fn inputs_of(&self, feature: usize) -> [Option<usize>; 3] {
        if feature == 0 {
            return [None; 3];
        }
        let feature = self.features[feature - 1];
        let input = |atom: usize| self.atoms[atom].input;
        [Some(input(feature.first)), feature.second.map(input), feature.third.map(input)]
    }

    /// How elaborate a feature is: 0 for linear terms and indicators, 1 for anything else.
    pub(super) fn level(&self, feature: usize) -> usize {
        let Some(feature) = feature.checked_sub(1).map(|index| self.features[index]) else {
            return 0;
        };
        match (feature.second, self.atoms[feature.first].shape) {
            (None, Shape::Linear | Shape::Cut | Shape::Indicator(_)) => 0,
            _ => 1,
        }
    }

    /// Whether a feature is a function of a single atom, or the constant.
    pub(super) fn is_main(&self, feature: usize) -> bool {
        self.inputs_of(feature)[1].is_none()
    }

    /// Whether a feature is a function of this input.
    pub(super) fn touches(&self, feature: usize, input: Option<usize>) -> bool {
        input.is_some() && self.inputs_of(feature).contains(&input)
    }

    /// The atoms whose product a feature is; none for the constant.
    pub(super) fn factors(&self, feature: usize) -> impl Iterator<Item = usize> {
        let feature = feature.checked_sub(1).map(|index| self.features[index]);
        feature.into_iter().flat_map(|feature| {
            [Some(feature.first), feature.second, feature.third].into_iter().flatten()
        })
    }

    /// The atoms that some features are made of, and the number of all atoms.
    pub(super) fn atoms_of(&self, features: &[usize]) -> (Vec<usize>, usize) {
        let mut used = vec![false; self.atoms.len()];
        for &feature in features {
            self.factors(feature).for_each(|atom| used[atom] = true);
        }
        ((0..used.len()).filter(|&atom| used[atom]).collect(), used.len())
    }

    /// Writes the values of an atom in some rows.
    pub(super) fn write_atom(&self, atom: usize, frame: &Frame, rows: &[u32], into: &mut [f64]) {
        let Atom { column, shape, .. } = self.atoms[atom];
        let series = &frame.u[column];
        let (low, high, mean, scale) = (series.low, series.high, series.mean, series.scale);
        let factor = 1.0 / scale;
        let plain = |value: f64| (value - mean) * factor;
        let cut = |value: f64| plain(value.clamp(low, high)).clamp(-CUT, CUT);
        match shape {
            Shape::Linear => sweep(series, rows, into, plain),
            Shape::Cut => sweep(series, rows, into, cut),
            Shape::Square => sweep(series, rows, into, |value| {
                let value = cut(value);
                value * value
            }),
            Shape::Cube => sweep(series, rows, into, |value| {
                let value = cut(value);
                value * value * value
            }),
            // Around zero itself, where dynamics have their kinks, not around the mean.
            Shape::Absolute => {
                sweep(series, rows, into, |value| (value.clamp(low, high) * factor).abs());
            }
            Shape::Indicator(code) => {
                sweep(series, rows, into, |value| f64::from(u8::from(value == code)));
            }
            Shape::Above(threshold) => {
                sweep(series, rows, into, |value| f64::from(u8::from(value > threshold)));
            }
            Shape::Sine(half) => {
                sweep(series, rows, into, |value| (cut(value) * angle(half)).sin());
            }
            Shape::Cosine(half) => {
                sweep(series, rows, into, |value| (cut(value) * angle(half)).cos());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Gate,
    Number,
    Square,
    Cube,
    Step,
    Other,
}

impl Candidates {
    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        self.basis.features.len()
    }

    /// As a basis of its own.
    pub(super) fn basis(&self) -> &Basis {
        &self.basis
    }
}

/// The angle that a deviation from the mean is, in a wave.
fn angle(half: u8) -> f64 {
    f64::from(half) * std::f64::consts::PI / 3.0
}

/// Writes a function of a column's values in some rows.
fn sweep(series: &Series, rows: &[u32], into: &mut [f64], value: impl Fn(f64) -> f64) {
    for (into, &row) in into.iter_mut().zip(rows) {
        *into = value(series.values[row as usize]);
    }
}

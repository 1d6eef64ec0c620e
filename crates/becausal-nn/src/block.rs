//! Numbers in groups of rows.

/// The shape of a [`Block`]: `[groups, rows, columns]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of networks.
    pub groups: usize,
    /// Number of samples.
    pub rows: usize,
    /// Numbers per sample.
    pub columns: usize,
}

impl Shape {
    /// `[groups, rows, columns]`.
    #[must_use]
    pub fn new(groups: usize, rows: usize, columns: usize) -> Self {
        Self { groups, rows, columns }
    }

    /// The total number of numbers.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups * self.rows * self.columns
    }

    /// Whether it contains no numbers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of numbers in a group.
    #[inline]
    #[must_use]
    pub fn group(&self) -> usize {
        self.rows * self.columns
    }
}

/// Numbers `[groups, rows, columns]` in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its shape.
    pub shape: Shape,
    /// `groups * rows * columns` numbers.
    pub values: Vec<f32>,
}

impl Block {
    /// A block of zeros.
    #[must_use]
    pub fn zeros(shape: Shape) -> Self {
        Self { shape, values: vec![0.0; shape.len()] }
    }

    /// A block of these numbers.
    ///
    /// # Panics
    /// When their number does not match the shape.
    #[must_use]
    pub fn new(shape: Shape, values: Vec<f32>) -> Self {
        assert_eq!(shape.len(), values.len(), "the number of values must match {shape:?}");
        Self { shape, values }
    }

    /// The rows of a group, `[rows, columns]`.
    #[inline]
    #[must_use]
    pub fn group(&self, group: usize) -> &[f32] {
        &self.values[group * self.shape.group()..][..self.shape.group()]
    }

    /// The rows of a group, mutable.
    #[inline]
    pub fn group_mut(&mut self, group: usize) -> &mut [f32] {
        let size = self.shape.group();
        &mut self.values[group * size..][..size]
    }

    /// One row of a group.
    #[inline]
    #[must_use]
    pub fn row(&self, group: usize, row: usize) -> &[f32] {
        let columns = self.shape.columns;
        &self.values[(group * self.shape.rows + row) * columns..][..columns]
    }
}

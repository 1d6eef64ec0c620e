//! Numbers in groups of rows.

/// The extent of a [`Block`]: `[groups, rows, columns]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Networks side by side.
    pub groups: usize,
    /// Samples.
    pub rows: usize,
    /// Numbers a sample.
    pub columns: usize,
}

impl Shape {
    /// `[groups, rows, columns]`.
    #[must_use]
    pub fn new(groups: usize, rows: usize, columns: usize) -> Self {
        Self { groups, rows, columns }
    }

    /// How many numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups * self.rows * self.columns
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many numbers a group has.
    #[must_use]
    pub fn group(&self) -> usize {
        self.rows * self.columns
    }
}

/// Numbers `[groups, rows, columns]`, the columns of a row next to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its extent.
    pub shape: Shape,
    /// `groups * rows * columns` numbers.
    pub values: Vec<f32>,
}

impl Block {
    /// All zero.
    #[must_use]
    pub fn zeros(shape: Shape) -> Self {
        Self { shape, values: vec![0.0; shape.len()] }
    }

    /// These numbers.
    ///
    /// # Panics
    /// When there are not as many as the shape says.
    #[must_use]
    pub fn new(shape: Shape, values: Vec<f32>) -> Self {
        assert_eq!(shape.len(), values.len(), "a block of {shape:?}");
        Self { shape, values }
    }

    /// The rows of a group, `[rows, columns]`.
    #[must_use]
    pub fn group(&self, group: usize) -> &[f32] {
        &self.values[group * self.shape.group()..][..self.shape.group()]
    }

    /// The rows of a group, to write into.
    pub fn group_mut(&mut self, group: usize) -> &mut [f32] {
        let size = self.shape.group();
        &mut self.values[group * size..][..size]
    }

    /// One row of a group.
    #[must_use]
    pub fn row(&self, group: usize, row: usize) -> &[f32] {
        let columns = self.shape.columns;
        &self.values[(group * self.shape.rows + row) * columns..][..columns]
    }
}

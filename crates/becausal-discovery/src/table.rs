//! The data that exact trees are grown from.

/// The data of exact trees: columns in single precision, sorted once for all trees.
pub(super) struct Table {
    pub columns: Vec<Vec<f32>>,
    /// The rows, sorted by each column.
    pub orders: Vec<Vec<u32>>,
    /// The group, a variable, that each column belongs to.
    pub groups: Vec<usize>,
    /// The groups that may be left out.
    pub droppable: Vec<bool>,
    /// The targets, row by row, `outputs` numbers each.
    pub targets: Vec<f64>,
    pub outputs: usize,
}

impl Table {
    /// From `columns` and the group of each; `targets` are columns too.
    pub(super) fn new(
        columns: Vec<Vec<f32>>,
        groups: Vec<usize>,
        droppable: Vec<bool>,
        targets: &[Vec<f64>],
    ) -> Self {
        let orders = columns
            .iter()
            .map(|column| {
                let mut order: Vec<u32> =
                    (0..u32::try_from(column.len()).expect("rows fit 32 bits")).collect();
                order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
                order
            })
            .collect();
        let rows = targets.first().map_or(0, Vec::len);
        let targets_by_row =
            (0..rows).flat_map(|row| targets.iter().map(move |target| target[row])).collect();
        let outputs = targets.len();
        Self { columns, orders, groups, droppable, targets: targets_by_row, outputs }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The number of targets.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// One target of a row.
    pub(super) fn value(&self, row: usize, output: usize) -> f64 {
        self.targets[row * self.outputs + output]
    }

    /// All targets of a row.
    pub(super) fn target(&self, row: u32) -> &[f64] {
        &self.targets[row as usize * self.outputs..][..self.outputs]
    }
}

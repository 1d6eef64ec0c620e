//! The order of nodes in their columns, with slots for links that pass through.

use super::picture::Picture;

/// What takes up a slot in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A node, by its index in the column.
    Node(usize),
    /// A link that skips this column, by its index.
    Passing(usize),
}

/// The items of each column from top to bottom, and the links between them.
#[derive(Debug, Clone)]
pub struct Order {
    /// Items by column, from top to bottom.
    pub columns: Vec<Vec<Item>>,
    /// For each column, the pieces of links to the next one: both ends, as indices into `keys`.
    segments: Vec<Vec<(usize, usize)>>,
    /// For each column, its items in a fixed order, which `segments` refer to.
    keys: Vec<Vec<Item>>,
}

impl Order {
    /// The nodes in the order of the picture; passing links between the nodes nearest to their path.
    #[must_use]
    pub fn given(picture: &Picture) -> Self {
        let lengths: Vec<usize> = picture.columns().iter().map(|c| c.nodes.len()).collect();
        let share = |node: usize, column: usize| (node as f64 + 0.5) / lengths[column] as f64;
        let mut keys: Vec<Vec<Item>> =
            lengths.iter().map(|&length| (0..length).map(Item::Node).collect()).collect();
        let mut wishes: Vec<Vec<f64>> = lengths
            .iter()
            .enumerate()
            .map(|(column, &length)| (0..length).map(|node| share(node, column)).collect())
            .collect();
        let mut segments = vec![Vec::new(); lengths.len()];
        for (index, link) in picture.links().iter().enumerate() {
            let (from, to) = (link.from, link.to);
            let (start, end) = (share(from.node, from.column), share(to.node, to.column));
            let mut left = from.node;
            for column in from.column + 1..to.column {
                let part = (column - from.column) as f64 / (to.column - from.column) as f64;
                wishes[column].push(start + (end - start) * part);
                keys[column].push(Item::Passing(index));
                let right = keys[column].len() - 1;
                segments[column - 1].push((left, right));
                left = right;
            }
            if to.column > from.column {
                segments[to.column - 1].push((left, to.node));
            }
        }
        let columns = keys.iter().zip(&wishes).map(|(items, wish)| sorted(items, wish)).collect();
        Self { columns, segments, keys }
    }

    /// An order with fewer crossings, if the barycentre rule finds one: each item moves to the mean
    /// rank of its neighbours, in sweeps to the right and to the left; the best order is kept. Ties
    /// keep their order, so the result depends only on the picture.
    #[must_use]
    pub fn with_fewer_crossings(self) -> Self {
        const SWEEPS: usize = 12;
        let mut best = self.clone();
        let mut fewest = best.crossings();
        let mut current = self;
        for sweep in 0..SWEEPS {
            if fewest == 0 {
                break;
            }
            let count = current.columns.len();
            let visit: Vec<usize> =
                if sweep % 2 == 0 { (0..count).collect() } else { (0..count).rev().collect() };
            for column in visit {
                current.improve(column, sweep % 2 == 0);
            }
            let crossings = current.crossings();
            if crossings < fewest {
                fewest = crossings;
                best = current.clone();
            }
        }
        best
    }

    /// The number of crossings between link pieces.
    #[must_use]
    pub fn crossings(&self) -> usize {
        let mut count = 0;
        for (column, pairs) in self.segments.iter().enumerate() {
            if pairs.is_empty() {
                continue;
            }
            let (left, right) = (self.ranks(column), self.ranks(column + 1));
            for (index, &(a, b)) in pairs.iter().enumerate() {
                for &(c, d) in &pairs[index + 1..] {
                    let (from, to) = (left[a].cmp(&left[c]), right[b].cmp(&right[d]));
                    count += usize::from(from != to && from.is_ne() && to.is_ne());
                }
            }
        }
        count
    }

    /// The rank of each key of a column.
    fn ranks(&self, column: usize) -> Vec<usize> {
        let items = &self.columns[column];
        self.keys[column]
            .iter()
            .map(|key| items.iter().position(|item| item == key).expect("the same items"))
            .collect()
    }

    /// Moves the items of a column to the mean rank of their neighbours on one side.
    fn improve(&mut self, column: usize, by_left: bool) {
        let own = self.ranks(column);
        let mut sums = vec![(0.0, 0_usize); own.len()];
        let mut neighbours = 0;
        if by_left && column > 0 {
            let ranks = self.ranks(column - 1);
            neighbours = ranks.len();
            for &(left, right) in &self.segments[column - 1] {
                sums[right].0 += ranks[left] as f64;
                sums[right].1 += 1;
            }
        }
        if !by_left && column + 1 < self.columns.len() {
            let ranks = self.ranks(column + 1);
            neighbours = ranks.len();
            for &(left, right) in &self.segments[column] {
                sums[left].0 += ranks[right] as f64;
                sums[left].1 += 1;
            }
        }
        if neighbours == 0 {
            return;
        }
        // An item without neighbours keeps its relative rank.
        let scale = neighbours as f64 / own.len() as f64;
        let wishes: Vec<f64> = sums
            .iter()
            .zip(&own)
            .map(|(&(sum, count), &rank)| match count {
                0 => rank as f64 * scale,
                _ => sum / count as f64,
            })
            .collect();
        let by_rank: Vec<usize> = order_by(&own, |&rank| rank as f64);
        let items: Vec<Item> = by_rank.iter().map(|&key| self.keys[column][key]).collect();
        let wishes: Vec<f64> = by_rank.iter().map(|&key| wishes[key]).collect();
        self.columns[column] = sorted(&items, &wishes);
    }
}

/// The indices that sort values in ascending order; the sort is stable.
fn order_by<T>(values: &[T], of: impl Fn(&T) -> f64) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..values.len()).collect();
    indices.sort_by(|&a, &b| of(&values[a]).total_cmp(&of(&values[b])));
    indices
}

fn sorted(items: &[Item], wishes: &[f64]) -> Vec<Item> {
    order_by(wishes, |&wish| wish).into_iter().map(|index| items[index]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::picture::{Link, Node, NodeKind, PictureColumn, Place};
    use super::*;

    fn picture(sizes: &[usize], links: &[[usize; 4]]) -> Picture {
        let node =
            |column: usize, index: usize| Node::new(format!("{column} {index}"), NodeKind::State);
        let columns = sizes.iter().enumerate().map(|(column, &size)| {
            PictureColumn::new("", (0..size).map(|index| node(column, index)).collect())
        });
        let links = links.iter().map(|&[from_column, from, to_column, to]| {
            Link::new(Place::new(from_column, from), Place::new(to_column, to), 0.5)
        });
        Picture::new("", columns.collect(), links.collect()).expect("a picture")
    }

    #[test]
    fn crossed_links_are_untangled() {
        let order = Order::given(&picture(&[2, 2], &[[0, 0, 1, 1], [0, 1, 1, 0]]));
        assert_eq!(order.crossings(), 1);
        assert_eq!(order.with_fewer_crossings().crossings(), 0);
    }

    #[test]
    fn a_link_that_skips_a_column_has_a_slot_in_it() {
        let order = Order::given(&picture(&[2, 2, 2], &[[0, 0, 2, 0], [0, 1, 2, 1]]));
        let middle = &order.columns[1];
        assert_eq!(middle.len(), 4);
        assert_eq!(order.crossings(), 0);
        let nodes: Vec<&Item> = middle.iter().filter(|i| matches!(i, Item::Node(_))).collect();
        assert_eq!(nodes, [&Item::Node(0), &Item::Node(1)]);
    }
}

//! What is summed up over the rows of a fold that are held out.

/// Products with the direction of a drop, summed by unit.
#[derive(Debug, Clone)]
pub(super) struct Products {
    /// Of the residual without the inputs of the drop.
    pub reduced: Vec<f64>,
    /// Of the residual with all inputs.
    pub full: Vec<f64>,
}

/// Sums over the held-out rows of one fold, or those of a group.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// By unit: the number of rows.
    pub sizes: Vec<f64>,
    /// The target and its square.
    pub values: [f64; 2],
    /// By drop: the products for the mean, and for the spread.
    pub mean: Vec<Products>,
    pub spread: Vec<Products>,
    /// The losses with all inputs: plain, in units of the noise, and clipped.
    pub losses: [f64; 3],
    /// By unit: the loss in units of the noise, in rows whose noise cannot be told from the model's own
    /// error.
    pub own_losses: Vec<f64>,
    /// The losses without the inputs of each drop.
    pub without: Vec<[f64; 3]>,
    /// The loss of the size of the residual.
    pub spread_loss: f64,
}

impl Sums {
    pub(super) fn new(units: usize, drops: usize, has_spread: bool) -> Self {
        let products = Products { reduced: vec![0.0; units], full: vec![0.0; units] };
        Self {
            sizes: vec![0.0; units],
            values: [0.0; 2],
            mean: vec![products.clone(); drops],
            spread: vec![products; if has_spread { drops } else { 0 }],
            losses: [0.0; 3],
            own_losses: vec![0.0; units],
            without: vec![[0.0; 3]; drops],
            spread_loss: 0.0,
        }
    }

    /// The number of rows, at least 1.
    pub(super) fn rows(&self) -> f64 {
        self.sizes.iter().sum::<f64>().max(1.0)
    }

    /// The number of units that have rows.
    pub(super) fn units(&self) -> usize {
        self.sizes.iter().filter(|size| **size > 0.0).count()
    }

    /// Adds the sums of other rows.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.sizes, &other.sizes);
        add(&mut self.values, &other.values);
        add(&mut self.losses, &other.losses);
        add(&mut self.own_losses, &other.own_losses);
        let products = self.mean.iter_mut().chain(&mut self.spread);
        for (to, from) in products.zip(other.mean.iter().chain(&other.spread)) {
            add(&mut to.reduced, &from.reduced);
            add(&mut to.full, &from.full);
        }
        for (to, from) in self.without.iter_mut().zip(&other.without) {
            add(to, from);
        }
        self.spread_loss += other.spread_loss;
    }
}

//! Every number that decides what `auto` finds, but for the few that stand beside the one rule they belong to.

/// The thresholds of `auto`, with their units and where they were chosen.
///
/// "Development" are the development families of `benches/discovery/worlds.rs`; docs/notes/discovery.md has the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Units. Long episodes are divided so that a log has about this many, or more if it has more episodes. With 100, short
    /// logs have more false edges, and logs of trained landers show no more.
    pub max_stretches: usize,
    /// Independent pieces. With fewer units nothing is tested, and the stretches of a fold must be worth as many. A
    /// random walk seems to hold 4, and 10 in one of 70 cases, however long it is. Chosen on simulated walks.
    pub min_pieces: f64,
    /// Features of the regression that are products. More cost time and hardly help: development.
    pub max_products: usize,
    /// Standard errors. A product whose correlation with a residual is smaller is not a feature, and what is selected or
    /// split must remove more than its square in residual variances: chance exceeds it once in 15,000 times.
    pub min_screening_score: f64,
    /// Rows of a fold on which products are chosen and trees are grown. More cost time.
    pub max_tree_rows: usize,
    /// Rows. Of a longer log, whole units are used, evenly spread over it. More cost time.
    pub max_rows: usize,
    /// Standard deviations of the noise. A larger error, a larger effect of an input, or a larger sum of a
    /// unit counts as this: otherwise a few rows or episodes drown the evidence of all others. Chosen on development and
    /// logs of trained landers.
    pub max_deviations: f64,
    /// Share of a variance: of the usual change of an effect, or of a cause. What is less cannot be told from the
    /// model's own error, so an input of which the others leave less never varies on its own. Chosen on development.
    pub model_error: f64,
    /// Share of what may be the model's own error. A smaller gain does not count. Chosen on development.
    pub min_gain: f64,
    /// Share of the effect's variance that floating-point arithmetic leaves unexplained. Chosen on CartPole.
    pub arithmetic_error: f64,
    /// Share of the residual that a cause removes. With less a pair is not an edge, however small p is:
    /// an imperfect model of the other inputs lets a bystander remove as much. Chosen on development.
    pub min_strength: f64,
    /// Share of the residual. A weaker influence must be found again with thorough models, and does not count where it is one
    /// on the spread, in a group of rows only, or on an effect with signs of a hidden state. Chosen on development.
    pub min_special_strength: f64,
    /// p-value. Up to this, in all rows or in a few at the end of another input's range, `none` is not claimed. Chosen on
    /// the probes.
    pub max_unclear_p: f64,
    /// Rows. A variable that departs from its usual value in fewer shows nothing. Chosen on BuildMarine.
    pub min_departures: usize,
    /// Rows in which the residual must lie for `none`: 120 rows of equal size, as of 360 rows of normal
    /// noise, show an influence that explains a sixth of it. Chosen on AimTest.
    pub min_residual_rows: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            max_stretches: 50,
            min_pieces: 10.0,
            max_products: 200,
            min_screening_score: 4.0,
            max_tree_rows: 10_000,
            max_rows: 100_000,
            max_deviations: 3.0,
            model_error: 5e-4,
            min_gain: 0.5,
            arithmetic_error: 3e-10,
            min_strength: 0.005,
            min_special_strength: 0.05,
            max_unclear_p: 0.01,
            min_departures: 30,
            min_residual_rows: 120.0,
        }
    }
}

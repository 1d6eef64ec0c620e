//! Every number that decides what `auto` finds.

/// The thresholds of `auto`, with their units and where they were chosen.
///
/// Most were chosen on the development families of `benches/discovery/worlds.rs`, the probes of
/// `benches/discovery/probes.rs`, and seeds 0 to 9 of AimTest and CartPole. docs/notes/discovery.md has
/// the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Stretches. Episodes are divided so that a log has at most about this many, or more if it has more
    /// episodes.
    pub max_stretches: usize,
    /// Rows of a stretch. Shorter ones of series that change slowly seem to be related.
    pub stretch_rows: usize,
    /// Stretches. A short log is divided into about this many, because a t test needs units.
    pub min_stretches: usize,
    /// Units (episodes or stretches). With fewer nothing is tested.
    pub min_units: usize,
    /// Independent pieces that the stretches of a fold must be worth. A random walk seems to hold 4, and 10
    /// in one of 70 cases, however long it is.
    pub min_pieces: f64,
    /// Features of the regression that are products. More cost time and hardly help.
    pub max_products: usize,
    /// Standard errors. A product whose correlation with a residual is smaller is not a feature;
    /// chance exceeds it once in 15,000 times.
    pub min_screening_score: f64,
    /// Residual variances. A split of a tree must remove more than this from the sum of squares;
    /// chance hardly does.
    pub min_split_gain: f64,
    /// Rows of a fold on which trees are grown.
    pub max_tree_rows: usize,
    /// Rows. Of a longer log, whole units are used, evenly spread over it.
    pub max_rows: usize,
    /// Standard deviations of the noise. A larger error, a larger effect of an input, or a larger sum of a
    /// unit counts as this: otherwise a few rows or episodes drown the evidence of all others.
    pub max_deviations: f64,
    /// Share of the variance of the effect's usual change. Less noise cannot be told from the model's own
    /// error, which a bystander can reduce.
    pub model_error: f64,
    /// Share of what may be the model's own error. A smaller gain does not count.
    pub min_gain: f64,
    /// Share of the effect's variance that floating-point arithmetic leaves unexplained.
    pub arithmetic_error: f64,
    /// Rounding errors of a single-precision column that add up in a prediction.
    pub rounding_errors: f64,
    /// Share of the residual that a cause removes. With less a pair is not an edge, however small p is:
    /// an imperfect model of the other inputs lets a bystander remove as much.
    pub min_strength: f64,
    /// Share of what the other inputs leave. An influence on the spread, or one that only a group of rows shows, must
    /// explain more: an imperfect model of the mean changes the size of the residual too, and a model of all rows
    /// errs more in some groups than in others.
    pub min_special_strength: f64,
    /// p-value. Up to this, `none` is not claimed.
    pub max_unclear_p: f64,
    /// p-value of a few rows at the end of another input's range. Up to this, `none` is not claimed.
    pub max_hint_p: f64,
    /// Rows. A variable that departs from its usual value in fewer shows nothing.
    pub min_departures: usize,
    /// Share of an input's variance. An input of which the others leave less never varies on its own,
    /// and an input that another leaves less of is its copy.
    pub min_own_variance: f64,
    /// Rows in which the residual must lie for `none`: 120 rows of equal size, as of 360 rows of normal
    /// noise, show an influence that explains a sixth of it.
    pub min_residual_rows: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            max_stretches: 200,
            stretch_rows: 30,
            min_stretches: 48,
            min_units: 8,
            min_pieces: 10.0,
            max_products: 200,
            min_screening_score: 4.0,
            min_split_gain: 14.0,
            max_tree_rows: 10_000,
            max_rows: 100_000,
            max_deviations: 3.0,
            model_error: 5e-4,
            min_gain: 0.5,
            arithmetic_error: 3e-10,
            rounding_errors: 16.0,
            min_strength: 0.01,
            min_special_strength: 0.05,
            max_unclear_p: 0.02,
            max_hint_p: 0.01,
            min_departures: 30,
            min_own_variance: 1e-3,
            min_residual_rows: 120.0,
        }
    }
}

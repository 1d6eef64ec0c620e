//! Cells that are empty or NaN, and what becomes of the transitions that need them.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What to do with a cell that is empty or NaN.
///
/// Whatever is chosen, two rows that did not follow each other never become neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Refuse the file, and say how many cells of which columns are empty.
    #[default]
    Refuse,
    /// Leave out the transitions that need the cell. What follows is an episode of its own.
    Drop,
    /// End the episode before the cell, and leave out the rest of it.
    Episode,
    /// Use the last value of the column in the same episode. Where there is none, leave out the
    /// transitions that need the cell.
    Hold,
}

impl Missing {
    /// The choices, apart from refusing.
    pub const CHOICES: [Self; 3] = [Self::Drop, Self::Episode, Self::Hold];

    /// Its name: `refuse`, `drop`, `episode` or `hold`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Drop => "drop",
            Self::Episode => "episode",
            Self::Hold => "hold",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Missing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = std::iter::once(Self::Refuse).chain(Self::CHOICES);
        let mut known = all.filter(|choice| choice.name() == text);
        known.next().ok_or_else(|| format!("expected drop, episode or hold, got \"{text}\""))
    }
}

/// The empty cells of a file: row and column, columns as indices in the file.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    cells: BTreeSet<(usize, usize)>,
}

impl Gaps {
    pub(super) fn add(&mut self, row: usize, column: usize) {
        self.cells.insert((row, column));
    }

    pub(super) fn remove(&mut self, row: usize, column: usize) {
        self.cells.remove(&(row, column));
    }

    pub(super) fn contains(&self, row: usize, column: usize) -> bool {
        self.cells.contains(&(row, column))
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Row and column of each cell, by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        self.cells.iter().copied()
    }

    /// Forgets the cells for which `needed` is false.
    pub(super) fn retain(&mut self, mut needed: impl FnMut(usize, usize) -> bool) {
        self.cells.retain(|&(row, column)| needed(row, column));
    }

    /// How many cells of each column are empty, by the names of the columns, most first.
    pub(super) fn counts(&self, names: &[String]) -> Vec<(String, usize)> {
        let mut counts = vec![0; names.len()];
        for &(_, column) in &self.cells {
            counts[column] += 1;
        }
        let each = names.iter().cloned().zip(counts);
        let mut counts: Vec<(String, usize)> = each.filter(|(_, count)| *count > 0).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

/// The stretches of an episode's transitions `rows` that are whole.
///
/// With [`Missing::Episode`] only the first one, if it begins with the episode.
pub(super) fn stretches(
    rows: Range<usize>,
    is_whole: impl Fn(usize) -> bool,
    missing: Missing,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for row in rows.clone() {
        if !is_whole(row) {
            if missing == Missing::Episode {
                break;
            }
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => found.push(row..row + 1),
        }
    }
    found
}

/// "temperature 20, humidity 4".
pub(super) fn in_words(counts: &[(String, usize)]) -> String {
    /// More columns than this are not listed.
    const LISTED: usize = 8;
    let mut words: Vec<String> =
        counts.iter().take(LISTED).map(|(name, count)| format!("{name} {count}")).collect();
    if counts.len() > LISTED {
        words.push(format!("and {} more columns", counts.len() - LISTED));
    }
    words.join(", ")
}

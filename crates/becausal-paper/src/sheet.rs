//! A table of measurements in a file. What it has is not measured again.

use std::path::{Path, PathBuf};

use becausal::data::write_atomically;
use becausal::output::Output;

use crate::Failure;
use crate::number::mean_and_deviation;

/// Rows of a CSV file. The first columns of a row are its key; a measurement that was ended is continued where
/// the file ends.
pub struct Sheet {
    path: PathBuf,
    header: &'static [&'static str],
    /// How many of the columns make the key.
    keys: usize,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Opens the file, or begins it. A file of other columns is refused.
    pub fn open(
        path: &Path,
        header: &'static [&'static str],
        keys: usize,
    ) -> Result<Self, Failure> {
        Output::check(path)?;
        let mut sheet = Self { path: path.to_owned(), header, keys, rows: Vec::new() };
        let refuse = |problem: &str| -> Failure {
            format!("{}: {problem}; choose another folder with -o", path.display()).into()
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(sheet),
            // What cannot be read would be lost.
            Err(error) => return Err(refuse(&error.to_string())),
        };
        let mut lines = text.lines();
        if lines.next() != Some(header.join(",").as_str()) {
            return Err(refuse("this is another table and would be lost"));
        }
        for line in lines {
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if cells.len() != header.len() {
                return Err(refuse("a row has another number of columns than the header"));
            }
            sheet.rows.push(cells);
        }
        Ok(sheet)
    }

    /// The row with this key, if it was measured.
    pub fn find(&self, key: &[String]) -> Option<&[String]> {
        self.rows.iter().find(|row| row[..self.keys] == *key).map(Vec::as_slice)
    }

    /// Adds rows and writes the file.
    pub fn push(&mut self, rows: Vec<Vec<String>>) -> Result<(), Failure> {
        debug_assert!(rows.iter().all(|row| row.len() == self.header.len()));
        self.rows.extend(rows);
        let mut text = self.header.join(",");
        text.push('\n');
        for row in &self.rows {
            text.push_str(&row.join(","));
            text.push('\n');
        }
        Ok(write_atomically(&self.path, text.as_bytes())?)
    }
}

/// The rows that differ in their seed only.
pub struct Group {
    header: &'static [&'static str],
    /// The first of them.
    row: Vec<String>,
    /// How many there are.
    pub seeds: usize,
    /// The numbers of every column.
    numbers: Vec<Vec<f64>>,
}

impl Group {
    fn place(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|known| *known == column)
    }

    /// A cell that they have in common.
    pub fn key(&self, column: &str) -> &str {
        self.place(column).map_or("", |at| &self.row[at])
    }

    /// The mean of a column over the seeds that have a number in it.
    pub fn mean(&self, column: &str) -> Option<f64> {
        let numbers = &self.numbers[self.place(column)?];
        (!numbers.is_empty()).then(|| mean_and_deviation(numbers).0)
    }
}

impl Sheet {
    /// The rows, those with the same key but for the seed together, in the order of the file.
    pub fn groups(&self) -> Vec<Group> {
        let seed = self.header.iter().position(|name| *name == "seed");
        let alike = |a: &[String], b: &[String]| {
            (0..self.keys).all(|at| Some(at) == seed || a[at] == b[at])
        };
        let mut groups: Vec<Group> = Vec::new();
        for row in &self.rows {
            let known = groups.iter().position(|group| alike(&group.row, row));
            let at = known.unwrap_or_else(|| {
                let numbers = vec![Vec::new(); row.len()];
                groups.push(Group { header: self.header, row: row.clone(), seeds: 0, numbers });
                groups.len() - 1
            });
            groups[at].seeds += 1;
            for (numbers, cell) in groups[at].numbers.iter_mut().zip(row) {
                numbers.extend(cell.parse::<f64>());
            }
        }
        groups
    }
}

/// A number as a cell: six decimals, or empty where there is none.
pub fn cell(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| {
        let text = format!("{number:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[&str] = &["seed", "eta", "error"];

    #[test]
    fn a_sheet_is_continued_where_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.csv");
        let row =
            |seed: &str, error: &str| vec![seed.to_owned(), "0.1".to_owned(), error.to_owned()];
        let mut sheet = Sheet::open(&file, HEADER, 2).expect("a new sheet");
        sheet.push(vec![row("1", "0.5"), row("2", "")]).expect("written");
        let sheet = Sheet::open(&file, HEADER, 2).expect("the same sheet");
        let key = ["1".to_owned(), "0.1".to_owned()];
        assert_eq!(sheet.find(&key), Some(&row("1", "0.5")[..]));
        assert_eq!(sheet.find(&["3".to_owned(), "0.1".to_owned()]), None);
        let groups = sheet.groups();
        assert_eq!(
            (groups.len(), groups[0].seeds, groups[0].mean("error")),
            (1, 2, Some(0.5)),
            "an empty cell is no number"
        );
        assert_eq!((groups[0].key("eta"), groups[0].mean("tau")), ("0.1", None));
        let other = Sheet::open(&file, &["seed", "tau"], 1).err().expect("refused").to_string();
        assert!(other.contains("another table and would be lost"), "{other}");
        std::fs::write(&file, "seed,eta,error\n1,2\n").expect("written");
        let short = Sheet::open(&file, HEADER, 2).err().expect("refused").to_string();
        assert!(short.contains("another number of columns"), "{short}");
    }

    #[test]
    fn cells_are_short() {
        assert_eq!(cell(Some(0.25)), "0.25");
        assert_eq!(cell(Some(3.0)), "3");
        assert_eq!(cell(Some(1e-6)), "0.000001");
        assert_eq!(cell(None), "");
    }
}

//! The curves of a training, read back.

use std::fs;
use std::path::Path;

use super::directory::RunError;

/// `metrics.csv`: a row for every epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    names: Vec<String>,
    /// `None` where an epoch has no such number.
    rows: Vec<Vec<Option<f64>>>,
}

impl Metrics {
    /// The curves of the training in a folder; `None` where none was made.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a table of numbers.
    pub fn read(run: &Path) -> Result<Option<Self>, RunError> {
        let path = run.join("metrics.csv");
        if !path.exists() {
            return Ok(None);
        }
        let refuse = |problem: String| RunError { path: path.clone(), problem };
        let text = fs::read_to_string(&path)
            .map_err(|error| refuse(format!("cannot be read: {error}")))?;
        Self::parse(&text).map(Some).map_err(refuse)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let (_, header) = lines.next().ok_or("is empty, expected a header")?;
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let number = |cell: &str| match cell.trim() {
            "" => Ok(None),
            cell => cell.parse().map(Some).map_err(|_| format!("{cell:?} is not a number")),
        };
        let mut rows = Vec::new();
        for (at, line) in lines {
            let row: Result<Vec<Option<f64>>, String> = line.split(',').map(number).collect();
            let row = row.map_err(|problem| format!("line {}: {problem}", at + 1))?;
            if row.len() != names.len() {
                return Err(format!(
                    "line {}: {}, expected {}",
                    at + 1,
                    becausal_core::text::counted(row.len(), "column"),
                    names.len()
                ));
            }
            rows.push(row);
        }
        Ok(Self { names, rows })
    }

    /// How many epochs there are.
    #[must_use]
    pub fn epochs(&self) -> usize {
        self.rows.len()
    }

    /// A column over the real steps, where it has finite numbers; empty when there is no such column.
    #[must_use]
    pub fn curve(&self, name: &str) -> Vec<(f64, f64)> {
        let place = |name: &str| self.names.iter().position(|known| known == name);
        let (Some(steps), Some(column)) = (place("real_steps"), place(name)) else {
            return Vec::new();
        };
        let points = self.rows.iter().filter_map(|row| Some((row[steps]?, row[column]?)));
        points.filter(|(_, value)| value.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_curves() {
        let text = "epoch,real_steps,eval/mean_reward,graph/edges\n1,400,12.5,\n2,800,NaN,9\n3,900,20,10\n";
        let metrics = Metrics::parse(text).expect("a table");
        assert_eq!(metrics.epochs(), 3);
        assert_eq!(metrics.curve("eval/mean_reward"), [(400.0, 12.5), (900.0, 20.0)]);
        assert_eq!(metrics.curve("graph/edges"), [(800.0, 9.0), (900.0, 10.0)]);
        assert!(metrics.curve("time/fps").is_empty());
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        let cases = [
            ("", "is empty"),
            ("epoch,real_steps\n1\n", "line 2: 1 column, expected 2"),
            ("epoch,real_steps\n1,2\n1,many\n", "line 3: \"many\" is not a number"),
        ];
        for (text, words) in cases {
            let problem = Metrics::parse(text).expect_err("refused");
            assert!(problem.contains(words), "{problem}");
        }
        assert_eq!(Metrics::read(Path::new("nowhere")).expect("no file is no mistake"), None);
    }
}

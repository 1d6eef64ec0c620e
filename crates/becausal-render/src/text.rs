//! Tables for a terminal, aligned by the display width of characters.

pub use becausal_core::text::thousands;
use unicode_width::UnicodeWidthStr;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alignment {
    /// For words.
    #[default]
    Left,
    /// For numbers.
    Right,
}

/// A table of text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    columns: Vec<(String, Alignment)>,
    rows: Vec<TableRow>,
}

/// Cells under all headings, or a note that runs across all columns but the first.
#[derive(Debug, Clone, PartialEq)]
enum TableRow {
    Cells(Vec<String>),
    Note(String, String),
}

impl Table {
    /// A table with these headings and no rows.
    #[must_use]
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, Alignment)>) -> Self {
        let columns = columns.into_iter().map(|(heading, side)| (heading.into(), side)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty, extra cells are left out.
    pub fn push<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<String> = cells.into_iter().map(|cell| one_line(cell.into())).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(TableRow::Cells(row));
    }

    /// Adds a row whose second cell runs across all other columns.
    pub fn note(&mut self, name: impl Into<String>, note: impl Into<String>) {
        self.rows.push(TableRow::Note(one_line(name.into()), one_line(note.into())));
    }

    /// The table as lines, each with a line break. Headings come first unless all are empty. There are
    /// two spaces between columns and none at the ends of lines.
    #[must_use]
    pub fn lines(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.0.clone()).collect();
        let shown = headings.iter().any(|heading| !heading.is_empty());
        let headings = TableRow::Cells(headings);
        let rows: Vec<&TableRow> =
            shown.then_some(&headings).into_iter().chain(&self.rows).collect();
        let width = |row: &TableRow, column: usize| match row {
            TableRow::Cells(cells) => cells[column].width(),
            TableRow::Note(name, _) if column == 0 => name.width(),
            TableRow::Note(..) => 0,
        };
        let widest = |column: usize| rows.iter().map(|row| width(row, column)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        let mut out = String::new();
        for row in rows {
            let mut line = String::new();
            match row {
                TableRow::Cells(cells) => {
                    for (index, cell) in cells.iter().enumerate() {
                        let padding = " ".repeat(widths[index] - cell.width());
                        if index > 0 {
                            line.push_str("  ");
                        }
                        match self.columns[index].1 {
                            Alignment::Left => line.extend([cell.as_str(), &padding]),
                            Alignment::Right => line.extend([padding.as_str(), cell]),
                        }
                    }
                }
                TableRow::Note(name, note) => {
                    let padding =
                        " ".repeat(widths.first().map_or(0, |width| width - name.width()));
                    line.extend([name, &padding, "  ", note]);
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A label of a file may have line breaks; a cell has none.
fn one_line(cell: String) -> String {
    if cell.contains(['\n', '\r']) { cell.replace('\n', "\\n").replace('\r', "\\r") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width() {
        let mut table = Table::new([("cause", Alignment::Left), ("p", Alignment::Right)]);
        table.push(["x", "0.5"]);
        table.push(["角度", "0.0001"]);
        table.push(["größe", ""]);
        assert_eq!(table.lines(), "cause       p\nx         0.5\n角度   0.0001\ngröße\n");
    }

    #[test]
    fn a_line_break_in_a_cell_breaks_no_line() {
        let mut table = Table::new([("", Alignment::Left), ("", Alignment::Left)]);
        table.push(["a\r\nb", "c"]);
        table.note("d", "e\nf");
        assert_eq!(table.lines(), "a\\r\\nb  c\nd       e\\nf\n");
    }

    #[test]
    fn empty_headings_are_not_printed() {
        let mut table = Table::new([("", Alignment::Left), ("", Alignment::Left)]);
        table.push(["a", "b"]);
        assert_eq!(table.lines(), "a  b\n");
        assert_eq!(Table::default().lines(), "");
    }
}

//! A page that compares published with measured results, statement by statement.

use becausal::render::Drawing;
use becausal::render::html::{STYLE, each, escaped, fill, picture, table};

use crate::number::counted;

const PAGE: &str = include_str!("comparison.html");

/// Added to the style of every page.
const COMPARISON_STYLE: &str = include_str!("comparison.css");

/// A page of published and measured results, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Its heading.
    pub title: String,
    /// What was done, in paragraphs.
    pub introduction: Vec<String>,
    /// A section for every figure or table.
    pub sections: Vec<ComparisonSection>,
    /// The commands that made the page or lead on from it, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// A published figure or table and its counterpart.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSection {
    /// Its heading.
    pub title: String,
    /// What was published, described.
    pub published: Vec<Piece>,
    /// What was measured.
    pub measured: Vec<Piece>,
    /// The statements of the paper about it, one by one.
    pub claims: Vec<Claim>,
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A paragraph.
    Text(String),
    /// A picture.
    Picture(Drawing),
    /// Numbers in rows; the first column names the rows.
    Table {
        /// The headings of the columns.
        headings: Vec<String>,
        /// The cells.
        rows: Vec<Vec<String>>,
    },
}

/// A published statement and the measurement that tests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What was published.
    pub published: String,
    /// What was measured.
    pub measured: String,
    /// Whether the two agree.
    pub agreement: Agreement,
    /// Why they differ, as far as the measurements show, or a remark. May be empty.
    pub reason: String,
}

/// Whether a measurement agrees with what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// It does.
    Same,
    /// It does not.
    Different,
    /// It was not measured.
    Open,
}

impl Agreement {
    /// Agreement if a condition holds, disagreement otherwise.
    pub fn of(same: bool) -> Self {
        if same { Self::Same } else { Self::Different }
    }

    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "differs",
            Self::Open => "open",
        }
    }
}

impl Comparison {
    /// How many claims agree, differ and are open.
    pub fn tally(&self) -> [usize; 3] {
        let of = |agreement: Agreement| {
            let claims = self.sections.iter().flat_map(|section| &section.claims);
            claims.filter(|claim| claim.agreement == agreement).count()
        };
        [of(Agreement::Same), of(Agreement::Different), of(Agreement::Open)]
    }

    /// The page: self-contained HTML without any external reference.
    pub fn html(&self) -> String {
        fill(PAGE, |place| match place {
            "style" => [STYLE, COMPARISON_STYLE].concat(),
            "title" => escaped(&self.title),
            "introduction" => each(&self.introduction, |text| paragraph(text)),
            "facts" => self.facts(),
            "sections" => each(self.sections.iter().enumerate(), section),
            "commands" => each(&self.commands, |(command, words)| {
                format!("<dt><code>{}</code></dt><dd>{}</dd>\n", escaped(command), escaped(words))
            }),
            "version" => escaped(env!("CARGO_PKG_VERSION")),
            _ => String::new(),
        })
    }

    fn facts(&self) -> String {
        let [same, different, open] = self.tally();
        let item = |(count, words): (usize, &str)| {
            format!("<li><strong>{count}</strong> <span>{words}</span></li>")
        };
        let all = [
            (same, "statements of the paper hold here too"),
            (different, "do not hold here; see the tables"),
            (open, "were not measured in this run"),
        ];
        each(all, item)
    }
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

fn section((number, section): (usize, &ComparisonSection)) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => paragraph(text),
        Piece::Picture(drawing) => picture(drawing),
        Piece::Table { headings, rows } => table(&section.title, headings, rows),
    };
    format!(
        "<section aria-labelledby=\"section-{number}\">\n<h2 id=\"section-{number}\">{}</h2>\n\
         <div class=\"beside\">\n<div class=\"published\"><h3>The paper</h3>\n{}</div>\n\
         <div class=\"measured\"><h3>becausal</h3>\n{}</div>\n</div>\n{}</section>\n",
        escaped(&section.title),
        each(&section.published, piece),
        each(&section.measured, piece),
        claims(section),
    )
}

fn claims(section: &ComparisonSection) -> String {
    if section.claims.is_empty() {
        return String::new();
    }
    let row = |claim: &Claim| {
        format!(
            "<tr><td>{}</td><td>{}</td><td class=\"{word}\">{word}</td><td>{}</td></tr>\n",
            escaped(&claim.published),
            escaped(&claim.measured),
            escaped(&claim.reason),
            word = claim.agreement.word(),
        )
    };
    let label = format!("{} about {}", counted(section.claims.len(), "statement"), section.title);
    let headings = ["the paper says", "becausal measures", "", "why"];
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table class=\"claims\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
        escaped(&label),
        each(headings, |heading| format!("<th scope=\"col\">{heading}</th>")),
        each(&section.claims, row)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(agreement: Agreement) -> Claim {
        Claim {
            published: "<b>1</b>".to_owned(),
            measured: "2 & 3".to_owned(),
            agreement,
            reason: String::new(),
        }
    }

    #[test]
    fn a_page_counts_its_claims_and_escapes_them() {
        let page = Comparison {
            title: "A & B".to_owned(),
            introduction: vec!["what {{style}} was done".to_owned()],
            sections: vec![ComparisonSection {
                title: "Table 1".to_owned(),
                published: vec![Piece::Text("some".to_owned())],
                measured: vec![Piece::Table {
                    headings: vec!["method".to_owned(), "figure".to_owned()],
                    rows: vec![vec!["ours".to_owned(), "<1>".to_owned()]],
                }],
                claims: vec![claim(Agreement::Same), claim(Agreement::of(false))],
            }],
            commands: Vec::new(),
        };
        assert_eq!(page.tally(), [1, 1, 0]);
        let html = page.html();
        assert!(html.contains("&lt;b&gt;1&lt;/b&gt;") && html.contains("2 &amp; 3"));
        assert!(html.contains("<th scope=\"row\">ours</th><td>&lt;1&gt;</td>"));
        assert!(html.contains("<td class=\"differs\">differs</td>"));
        assert!(html.contains("what {{style}} was done"), "texts are not templates");
    }
}

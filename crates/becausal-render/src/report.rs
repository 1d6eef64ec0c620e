//! The report: one page with what was learned, an explained episode, and how far to trust it.

use std::fmt::Write;

use super::causal_graph::graph_picture;
use super::graph_text::probability;
use super::html::{SHARED_SCRIPT, STYLE, each, escaped, fill, lines, picture};
use super::layout::LayoutOptions;
use super::reason::reason_words;
use super::report_learning::{ReportLearning, learning_html};
use super::report_step;
use super::report_trust;
use super::report_worth::{self, ReportWorth};
use super::text::thousands;
use super::words::{counted, number};
use becausal_core::schema::Schema;
use becausal_discovery::{CausalGraph, Verdict};
use becausal_explain::{Audit, Contrast, Measure, Why};
use becausal_model::Scores;

const PAGE: &str = include_str!("report.html");
const SCRIPT: &str = include_str!("report.js");

/// A step of the episode in a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportStep {
    /// Why the action was taken.
    pub why: Why,
    /// Why none of the other actions was taken.
    pub contrasts: Vec<Contrast>,
    /// The environment's own drawing of the state, as SVG.
    pub scene: Option<String>,
}

/// How well the model predicts, and on which rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportScores {
    /// The scores.
    pub scores: Scores,
    /// The rows used for scoring, in words: `held-out episodes`.
    pub on: String,
}

/// The content of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report<'a> {
    /// The schema of the variables.
    pub schema: &'a Schema,
    /// The number of transitions learned from.
    pub rows: usize,
    /// The number of episodes they are from.
    pub episodes: usize,
    /// The discovered graph.
    pub graph: Option<&'a CausalGraph>,
    /// How well the model predicts.
    pub scores: Option<ReportScores>,
    /// The audit, or the reason why there is none.
    pub audit: Result<Audit, String>,
    /// The policy of the audit, in words: `random actions`.
    pub audit_policy: String,
    /// The learning curves of the policy, if it was trained.
    pub learning: Option<ReportLearning>,
    /// A sentence about the episode.
    pub subject: String,
    /// The explained steps, in order of time.
    pub steps: Vec<ReportStep>,
    /// The index in `steps` of the step that the page opens with.
    pub opening: usize,
    /// The other action that the page asks about first, if there is one.
    pub rival: Option<Vec<f64>>,
    /// The decisions that are worth a look.
    pub worth: Vec<ReportWorth>,
    /// A remark about the opening step, in a sentence; may be empty.
    pub remark: String,
    /// The commands that made the page, and possible next ones, each with a description.
    pub commands: Vec<(String, String)>,
}

impl Report<'_> {
    /// The page as one self-contained HTML text, the same bytes every time.
    ///
    /// Text from data or a schema is escaped, and the page allows no network access.
    #[must_use]
    pub fn html(&self) -> String {
        fill(PAGE, |place| match place {
            "style" => STYLE.to_owned(),
            "script" => [SHARED_SCRIPT, SCRIPT].concat(),
            "name" => escaped(self.schema.name()),
            "description" => self.description(),
            "facts" => self.facts(),
            "subject" => escaped(&self.subject),
            "learning" => self.learning.as_ref().map_or_else(String::new, learning_html),
            "timeline" => report_step::timeline(self),
            "templates" => report_step::templates(self),
            "worth" => report_worth::section(&self.worth),
            "graph" => self.graph_section(),
            "trust" => report_trust::section(self),
            "commands" => self.commands(),
            "version" => escaped(env!("CARGO_PKG_VERSION")),
            _ => String::new(),
        })
    }

    fn description(&self) -> String {
        self.schema
            .description()
            .map_or_else(String::new, |text| format!("<p class=\"about\">{}</p>", escaped(text)))
    }

    /// The key numbers at the top.
    fn facts(&self) -> String {
        let mut facts = vec![(
            thousands(self.rows),
            format!(
                "{} in {}",
                if self.rows == 1 { "transition" } else { "transitions" },
                counted(self.episodes, "episode")
            ),
        )];
        if let Some(graph) = self.graph {
            let edges = graph.edges().count();
            facts.push((
                edges.to_string(),
                format!(
                    "{} found, of {}",
                    if edges == 1 { "influence" } else { "influences" },
                    counted(graph.pairs().len(), "pair")
                ),
            ));
        }
        if let Some(ReportScores { scores, .. }) = &self.scores {
            // The mean would be that of the one variable that is hardest to predict.
            facts.push((
                percent(scores.median_error()),
                "median error one step ahead, in standard deviations".into(),
            ));
        }
        if let Ok(audit) = &self.audit {
            let claims = [
                (Measure::Precision, "of the changes claimed held in the environment"),
                (Measure::Sign, "of the reward differences had the right sign"),
            ];
            for (measure, words) in claims {
                let share = audit.explanations.by_kind.value(measure);
                facts.extend(share.map(|share| (percent(share), words.into())));
            }
        }
        let item = |(figure, words): (String, String)| {
            format!(
                "<li><strong>{}</strong> <span>{}</span></li>",
                escaped(&figure),
                escaped(&words)
            )
        };
        facts.into_iter().map(item).collect()
    }

    fn graph_section(&self) -> String {
        match self.graph {
            None => {
                "<p>This run has no causal graph: its model uses every variable.</p>".to_owned()
            }
            Some(graph) => graph_html(graph, self.schema),
        }
    }

    fn commands(&self) -> String {
        let line = |(command, words): &(String, String)| {
            format!("<dt><code>{}</code></dt><dd>{}</dd>\n", escaped(command), escaped(words))
        };
        self.commands.iter().map(line).collect()
    }
}

/// What causes what: the picture, and a table of every influence with its evidence.
#[must_use]
pub fn graph_html(graph: &CausalGraph, schema: &Schema) -> String {
    let drawing =
        graph_picture(graph, schema).map(|picture| picture.drawing(&LayoutOptions::default()));
    let shown = drawing.map_or_else(|error| lines(&error.to_string()), |d| picture(&d));
    let of = |verdict| graph.pairs().iter().filter(move |pair| pair.verdict == verdict);
    let mut rows = String::new();
    for pair in of(Verdict::Edge).chain(of(Verdict::Untestable)) {
        let (strength, p, note) = match pair.verdict {
            Verdict::Untestable => {
                let reason = pair.reason.as_ref().map_or_else(String::new, reason_words);
                (String::new(), String::new(), reason)
            }
            _ if pair.proxy => (
                figure(pair.strength),
                probability(pair.p),
                "may be a proxy for another cause".into(),
            ),
            _ => (figure(pair.strength), probability(pair.p), String::new()),
        };
        let (cause, effect) = (graph.cause(pair.cause), graph.effect(pair.effect));
        let cells = [cause, effect, &strength, &p, &note];
        let cells = each(cells, |cell| format!("<td>{}</td>", escaped(cell)));
        let _ = writeln!(rows, "<tr>{cells}</tr>");
    }
    let unknown = of(Verdict::Untestable).count();
    let unknown = match unknown {
        0 => "Every pair could be tested.".to_owned(),
        1 => "One pair cannot be told from this data; it is dashed.".to_owned(),
        many => format!("{many} pairs cannot be told from this data; they are dashed."),
    };
    format!(
        "<p>Width shows strength: the share of the otherwise unexplained part of the effect that the \
         cause explains. {unknown}</p>\n{shown}\n<details><summary>Every influence with its \
         evidence</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of \
         influences\"><table><thead><tr><th>cause</th><th>effect</th><th>strength</th><th>p</th>\
         <th>note</th></tr></thead><tbody>\n{rows}</tbody></table></div></details>"
    )
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let hundredths = 100.0 * share;
    match hundredths {
        large if large >= 9.95 => format!("{large:.0} %"),
        middle if middle >= 0.095 || middle == 0.0 => format!("{middle:.1} %"),
        // More digits, so that it does not round to 0: 0.0034 %.
        small => format!("{} %", number(small, 2)),
    }
}

/// A share with two decimals.
fn figure(value: f64) -> String {
    format!("{value:.2}")
}

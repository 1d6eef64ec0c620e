//! The decisions of a report that are worth a look.

use std::fmt::Write;

use super::html::{each, escaped};
use becausal_explain::Worth;

/// A list of decisions of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportWorth {
    /// Their kind.
    pub worth: Worth,
    /// The decisions, the first first.
    pub decisions: Vec<ReportDecision>,
}

/// A decision that is worth a look.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportDecision {
    /// The action taken.
    pub action: String,
    /// Where it was taken: `seed 3, step 110`.
    pub place: String,
    /// What there is to see.
    pub sentence: String,
    /// Its step and the other action, if the page explains this step.
    pub shown: Option<(usize, Option<String>)>,
    /// The command that explains it.
    pub command: String,
}

/// The lists; those without a decision are left out.
pub(super) fn section(lists: &[ReportWorth]) -> String {
    let found: Vec<&ReportWorth> = lists.iter().filter(|list| !list.decisions.is_empty()).collect();
    if found.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"worth\" aria-labelledby=\"worth-title\">\n\
         <h2 id=\"worth-title\">Decisions worth a look</h2>\n<div class=\"lists\">\n{}</div>\n</section>\n",
        each(found, list)
    )
}

fn list(list: &ReportWorth) -> String {
    format!(
        "<section><h3>{}</h3><p class=\"hint\">{}</p><ol>{}</ol></section>\n",
        list.worth.title(),
        list.worth.words(),
        each(&list.decisions, decision)
    )
}

fn decision(decision: &ReportDecision) -> String {
    let title = escaped(&format!("{} ({})", decision.action, decision.place));
    let title = match &decision.shown {
        Some((step, not)) => format!("<a href=\"#{}\">{title}</a>", address(*step, not.as_deref())),
        None => format!("<strong>{title}</strong>"),
    };
    format!(
        "<li>{title} {} <details><summary>The command</summary><code>{}</code></details></li>",
        escaped(&decision.sentence),
        escaped(&decision.command)
    )
}

/// The words of the page's address that show a step and a question, as the script writes them.
fn address(step: usize, not: Option<&str>) -> String {
    let mut text = format!("step={step}");
    if let Some(not) = not {
        text.push_str("&amp;not=");
        for byte in not.bytes() {
            if byte.is_ascii_alphanumeric() {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_on_the_page_leads_there_and_nothing_is_markup() {
        let decision = ReportDecision {
            action: "a <b>".into(),
            place: "seed 3, step 7".into(),
            sentence: "Because x & y.".into(),
            shown: Some((7, Some("main=0.5,side=-1".into()))),
            command: "becausal explain 'r'".into(),
        };
        let lists = [
            ReportWorth { worth: Worth::Costly, decisions: vec![decision] },
            ReportWorth { worth: Worth::Close, decisions: Vec::new() },
        ];
        let html = section(&lists);
        assert!(
            html.contains(
                "<a href=\"#step=7&amp;not=main%3D0%2E5%2Cside%3D%2D1\">a &lt;b&gt; (seed"
            ),
            "{html}"
        );
        assert!(html.contains("Because x &amp; y."), "{html}");
        assert!(!html.contains(Worth::Close.title()), "an empty list is left out: {html}");
        assert_eq!(section(&lists[1..]), "");
    }
}

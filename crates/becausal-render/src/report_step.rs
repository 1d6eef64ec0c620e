//! The timeline of a report, and the details of the chosen step.

use std::fmt::Write;
use std::ops::Range;

use super::chain_picture::chain_layout;
use super::doubt;
use super::explained::{ContrastView, Explained};
use super::html::{each, escaped, lines, picture};
use super::report::{Report, ReportStep};
use super::words::{action_of, change, minus, number, signed};
use becausal_core::env::action_text;
use becausal_core::schema::{Role, Schema};
use becausal_explain::chain::{Shape, Step};
use becausal_explain::{Contrast, Doubt, Why};

/// The number of colours for reward terms; further terms reuse them.
const COLOURS: usize = 8;

/// The strip of the steps of a report.
pub(super) fn timeline(report: &Report<'_>) -> String {
    let steps: Vec<(usize, &Step)> = report
        .steps
        .iter()
        .filter_map(|step| Some((step.why.chain.trajectory().first(), first(step)?)))
        .collect();
    let opening = report.steps.get(report.opening).map(|s| s.why.chain.trajectory().first());
    timeline_html(report.schema, &steps, opening)
}

/// The strip of steps, given with their numbers: each with its action and its rewards, term by term. The notable
/// one has a star.
#[must_use]
pub fn timeline_html(schema: &Schema, steps: &[(usize, &Step)], notable: Option<usize>) -> String {
    let largest =
        |sum: fn(&Step) -> f64| steps.iter().map(|(_, step)| sum(step)).fold(0.0, f64::max);
    let (gain, loss) = (largest(gains), largest(losses));
    let span = (gain + loss).max(f64::MIN_POSITIVE);
    let mut html = legend(schema);
    let _ =
        writeln!(html, "<ol class=\"timeline\" id=\"timeline\" style=\"--up:{:.4}\">", gain / span);
    for &(number, taken) in steps {
        let action = action_of(schema, taken);
        let worth = if Some(number) == notable { " notable" } else { "" };
        let _ = writeln!(
            html,
            "<li><button type=\"button\" class=\"step{worth}\" data-go=\"{number}\"><span class=\"unseen\">{}</span>\
             <span class=\"up\">{}</span><span class=\"down\">{}</span><span class=\"did\" aria-hidden=\"true\">{}</span>\
             <span class=\"when\" aria-hidden=\"true\">{number}</span></button></li>",
            escaped(&format!("Step {number}: {action}; {}", rewards_text(schema, taken))),
            bars(taken, gain, |reward| reward),
            bars(taken, loss, |reward| -reward),
            escaped(&short(schema, &taken.action)),
        );
    }
    html.push_str("</ol>");
    html
}

fn first(step: &ReportStep) -> Option<&Step> {
    step.why.chain.trajectory().steps().first()
}

fn gains(step: &Step) -> f64 {
    step.rewards.iter().filter(|reward| **reward > 0.0).sum()
}

fn losses(step: &Step) -> f64 {
    step.rewards.iter().filter(|reward| **reward < 0.0).map(|reward| -reward).sum()
}

/// The parts of a bar, as shares of the longest.
fn bars(step: &Step, longest: f64, size: fn(f64) -> f64) -> String {
    let part = |(term, reward): (usize, &f64)| {
        let share = 100.0 * size(*reward) / longest;
        (share > 0.0 && share.is_finite()).then(|| {
            format!("<i class=\"term-{}\" style=\"height:{share:.1}%\"></i>", term % COLOURS)
        })
    };
    step.rewards.iter().enumerate().filter_map(part).collect()
}

fn legend(schema: &Schema) -> String {
    let entry = |(term, reward): (usize, &becausal_core::schema::Reward)| {
        format!("<li><i class=\"term-{}\"></i>{}</li>", term % COLOURS, escaped(&reward.name))
    };
    let entries: String = schema.rewards().iter().enumerate().map(entry).collect();
    format!("<ul class=\"legend\" aria-label=\"Rewards\">{entries}</ul>\n")
}

/// `reward +3: new marines +3`.
fn rewards_text(schema: &Schema, step: &Step) -> String {
    let sum: f64 = step.rewards.iter().sum();
    let terms: Vec<String> = schema
        .rewards()
        .iter()
        .zip(&step.rewards)
        .filter(|(_, reward)| **reward != 0.0)
        .map(|(term, reward)| format!("{} {}", term.name, signed(*reward)))
        .collect();
    if terms.is_empty() {
        return "no reward".to_owned();
    }
    minus(&format!("reward {}: {}", signed(sum), terms.join(", ")))
}

/// An action in short: the labels or values of the action variables, without their names.
fn short(schema: &Schema, values: &[f64]) -> String {
    let slots = schema.action_slots();
    let each: Vec<String> = slots
        .zip(values)
        .map(|(slot, value)| match &schema.variable_of(slot).kind {
            kind if kind.is_label() => kind.show(*value),
            _ => number(*value, 2),
        })
        .collect();
    minus(&each.join(" "))
}

/// Templates of every step and every answer, which the script shows when they are chosen.
pub(super) fn templates(report: &Report<'_>) -> String {
    let opening = report.steps.get(report.opening).map_or(0, |s| s.why.chain.trajectory().first());
    let mut html = format!(
        "<div id=\"answers\" hidden=\"\" data-opening=\"{opening}\" data-opening-not=\"{}\">\n",
        escaped(
            &report
                .rival
                .as_deref()
                .map_or_else(String::new, |rival| action_text(report.schema, rival))
        )
    );
    for (place, step) in report.steps.iter().enumerate() {
        let Some(taken) = first(step) else { continue };
        let remark = if place == report.opening { report.remark.as_str() } else { "" };
        let number = step.why.chain.trajectory().first();
        let _ = writeln!(
            html,
            "<template data-moment=\"{number}\">{}</template>",
            moment(report.schema, step, taken, remark)
        );
        let _ = writeln!(
            html,
            "<template data-step=\"{number}\" data-not=\"\">{}</template>",
            why_html(&step.why)
        );
        for contrast in &step.contrasts {
            let other = contrast.change.action.as_deref().unwrap_or_default();
            let _ = writeln!(
                html,
                "<template data-step=\"{number}\" data-not=\"{}\">{}</template>",
                escaped(&action_text(report.schema, other)),
                contrast_html(contrast)
            );
        }
    }
    html.push_str("</div>");
    html
}

/// A step of the report: its action, the changes, and the possible questions.
fn moment(schema: &Schema, step: &ReportStep, taken: &Step, remark: &str) -> String {
    let number = step.why.chain.trajectory().first();
    let other = |contrast: &Contrast| {
        let action = contrast.change.action.clone().unwrap_or_default();
        (action, contrast.credit.difference())
    };
    let others: Vec<(Vec<f64>, f64)> = step.contrasts.iter().map(other).collect();
    moment_html(schema, (number, taken), remark, step.scene.as_deref())
        + &questions_html(schema, (number, taken), &others)
}

/// A step with its number: what was done, what changed, and what was paid.
#[must_use]
pub fn moment_html(
    schema: &Schema,
    (number, taken): (usize, &Step),
    remark: &str,
    scene: Option<&str>,
) -> String {
    let action = action_of(schema, taken);
    let mut html = format!("<h3>Step {number}: {}</h3>\n", escaped(&action));
    if !remark.is_empty() {
        let _ = writeln!(html, "<p class=\"remark\">{}</p>", escaped(remark));
    }
    html.push_str("<div class=\"happened\">");
    if let Some(scene) = scene {
        let _ = writeln!(
            html,
            "<div class=\"scene\" role=\"img\" aria-label=\"The environment before step {number}\">{scene}</div>"
        );
    }
    html.push_str("<ul aria-label=\"What happened\">");
    for variable in changes(schema, taken) {
        let _ = write!(html, "<li>{}</li>", escaped(&variable));
    }
    let _ = writeln!(
        html,
        "<li class=\"paid\">{}</li></ul></div>",
        escaped(&rewards_text(schema, taken))
    );
    html
}

/// The questions about a step: why, and why not each of the others, which the action taken earns this much more
/// reward than.
#[must_use]
pub fn questions_html(
    schema: &Schema,
    (number, taken): (usize, &Step),
    others: &[(Vec<f64>, f64)],
) -> String {
    let mut html = format!(
        "<div class=\"questions\" role=\"group\" aria-label=\"Questions about step {number}\">\
         <button type=\"button\" data-ask=\"\">Why {}?</button>",
        escaped(&short(schema, &taken.action))
    );
    for (other, difference) in others {
        let class = if *difference < 0.0 { "worse" } else { "better" };
        let _ = write!(
            html,
            "<button type=\"button\" data-ask=\"{}\">Why not {}? <small class=\"{class}\">{}</small></button>",
            escaped(&action_text(schema, other)),
            escaped(&short(schema, other)),
            escaped(&minus(&signed(*difference)))
        );
    }
    html.push_str("</div>");
    html
}

/// The changes of the state variables in a step.
fn changes(schema: &Schema, step: &Step) -> Vec<String> {
    let shape = Shape::of(schema);
    let words = |(variable, range): (&becausal_core::schema::Variable, &Range<usize>)| {
        let (before, after) = (step.state.get(range.clone())?, step.next.get(range.clone())?);
        Some(minus(&change(variable, before, after)))
    };
    schema.of_role(Role::State).zip(&shape.states).filter_map(words).collect()
}

/// The answer to *why*: the sentence, the agent's side, the chain, the caveats, the text.
#[must_use]
pub fn why_html(why: &Why) -> String {
    let trajectory = why.chain.trajectory();
    let mut html = format!("<p class=\"answer\">{}</p>\n", escaped(&why.sentence()));
    if let Some(choice) = Explained::choice(why) {
        let _ = writeln!(html, "<p>{}</p>", escaped(&choice));
    }
    let contrast = why.rather.as_ref().map(|rather| ContrastView(&rather.contrast));
    if let Some(contrast) = &contrast {
        let _ = writeln!(html, "<p>{}</p>", escaped(&contrast.certainty()));
    }
    if !why.chain.is_empty() {
        html.push_str(&shown(why.picture().map(|p| picture(&p.drawing(&chain_layout())))));
    }
    let doubts = match &contrast {
        Some(contrast) => contrast.all_doubts(),
        None => why.evidence.doubts.clone(),
    };
    html.push_str(&caveats(trajectory.schema(), &doubts, trajectory.first()));
    html.push_str(&details(&Explained::details(why)));
    html
}

/// The answer to *why not* or *what if*: the sentence, how sure it is, the waterfall, the chain, the caveats, the text.
#[must_use]
pub fn contrast_html(contrast: &Contrast) -> String {
    let trajectory = contrast.factual.chain.trajectory();
    let view = ContrastView(contrast);
    let mut html = format!("<p class=\"answer\">{}</p>\n", escaped(&contrast.sentence()));
    let _ = writeln!(html, "<p>{}</p>", escaped(&view.certainty()));
    if contrast.credit.parts.iter().any(|part| part.difference() != 0.0) {
        html.push_str(&shown(view.waterfall().map(|w| picture(&w.drawing()))));
    }
    if !(contrast.factual.chain.is_empty() && contrast.counterfactual.chain.is_empty()) {
        html.push_str(&shown(contrast.picture().map(|p| picture(&p.drawing(&chain_layout())))));
    }
    html.push_str(&caveats(trajectory.schema(), &view.all_doubts(), trajectory.first()));
    html.push_str(&details(&Explained::details(contrast)));
    html
}

/// A picture, or the reason why there is none.
fn shown<E: std::fmt::Display>(picture: Result<String, E>) -> String {
    picture.unwrap_or_else(|error| format!("<p>{}</p>", escaped(&error.to_string())))
}

/// The caveats about an answer.
fn caveats(schema: &Schema, doubts: &[Doubt], first: usize) -> String {
    let sentences = doubt::sentences(schema, doubts, first);
    if sentences.is_empty() {
        return "<h4>Caveats</h4>\n<p>None.</p>\n".to_owned();
    }
    let items = each(&sentences, |sentence| format!("<li>{}</li>", escaped(sentence)));
    format!("<h4>Caveats</h4>\n<ul class=\"doubts\">{items}</ul>\n")
}

fn details(text: &str) -> String {
    format!("<details><summary>Step by step</summary><pre>{}</pre></details>", lines(text))
}

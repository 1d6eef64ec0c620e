//! The timeline of a report, and the details of the chosen step.

use std::fmt::Write;

use super::chain_picture::chain_layout;
use super::doubt;
use super::explained::{ContrastView, Explained};
use super::html::{each, escaped, lines, picture};
use super::report::{Report, ReportStep};
use super::words::{action_of, change, minus, number, signed};
use becausal_core::env::action_text;
use becausal_core::schema::{Role, Schema};
use becausal_explain::chain::{Node, Step};
use becausal_explain::{Contrast, Doubt};

/// The number of colours for reward terms; further terms reuse them.
const COLOURS: usize = 8;

/// The strip of steps: each with its action and its rewards, term by term.
pub(super) fn timeline(report: &Report<'_>) -> String {
    let steps: Vec<&Step> = report.steps.iter().filter_map(first).collect();
    let largest = |sum: fn(&Step) -> f64| steps.iter().map(|step| sum(step)).fold(0.0, f64::max);
    let (gain, loss) = (largest(gains), largest(losses));
    let span = (gain + loss).max(f64::MIN_POSITIVE);
    let mut html = legend(report.schema);
    let _ =
        writeln!(html, "<ol class=\"timeline\" id=\"timeline\" style=\"--up:{:.4}\">", gain / span);
    for (place, step) in report.steps.iter().enumerate() {
        let Some(taken) = first(step) else { continue };
        let number = step.why.chain.trajectory().first();
        let action = action_of(report.schema, taken);
        let worth = if place == report.opening { " notable" } else { "" };
        let _ = writeln!(
            html,
            "<li><button type=\"button\" class=\"step{worth}\" data-go=\"{number}\" aria-label=\"{}\">\
             <span class=\"up\">{}</span><span class=\"down\">{}</span>\
             <span class=\"did\">{}</span><span class=\"when\">{number}</span></button></li>",
            escaped(&format!("Step {number}: {action}; {}", rewards_text(report.schema, taken))),
            bars(taken, gain, |reward| reward),
            bars(taken, loss, |reward| -reward),
            escaped(&short(report.schema, &taken.action)),
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
        .map(|(slot, value)| match schema.variable_of(slot).kind.labels() {
            [] => number(*value, 2),
            _ => schema.variable_of(slot).kind.show(*value),
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
            why(step)
        );
        for contrast in &step.contrasts {
            let other = contrast.change.action.as_deref().unwrap_or_default();
            let _ = writeln!(
                html,
                "<template data-step=\"{number}\" data-not=\"{}\">{}</template>",
                escaped(&action_text(report.schema, other)),
                why_not(contrast)
            );
        }
    }
    html.push_str("</div>");
    html
}

/// The step itself: its action, the changes, and the possible questions.
fn moment(schema: &Schema, step: &ReportStep, taken: &Step, remark: &str) -> String {
    let number = step.why.chain.trajectory().first();
    let action = action_of(schema, taken);
    let mut html = format!("<h3>Step {number}: {}</h3>\n", escaped(&action));
    if !remark.is_empty() {
        let _ = writeln!(html, "<p class=\"remark\">{}</p>", escaped(remark));
    }
    html.push_str("<div class=\"happened\">");
    if let Some(scene) = &step.scene {
        let _ = writeln!(
            html,
            "<div class=\"scene\" role=\"img\" aria-label=\"The environment before step {number}\">{scene}</div>"
        );
    }
    html.push_str("<ul aria-label=\"What happened\">");
    for variable in changes(schema, step) {
        let _ = write!(html, "<li>{}</li>", escaped(&variable));
    }
    let _ = writeln!(
        html,
        "<li class=\"paid\">{}</li></ul></div>",
        escaped(&rewards_text(schema, taken))
    );
    let _ = write!(
        html,
        "<div class=\"questions\" role=\"group\" aria-label=\"Questions about step {number}\">\
         <button type=\"button\" data-ask=\"\">Why {}?</button>",
        escaped(&short(schema, &taken.action))
    );
    for contrast in &step.contrasts {
        let other = contrast.change.action.as_deref().unwrap_or_default();
        let difference = contrast.credit.difference();
        let class = if difference < 0.0 { "worse" } else { "better" };
        let _ = write!(
            html,
            "<button type=\"button\" data-ask=\"{}\">Why not {}? <small class=\"{class}\">{}</small></button>",
            escaped(&action_text(schema, other)),
            escaped(&short(schema, other)),
            escaped(&minus(&signed(difference)))
        );
    }
    html.push_str("</div>");
    html
}

/// The changes of the state variables in a step.
fn changes(schema: &Schema, step: &ReportStep) -> Vec<String> {
    let trajectory = step.why.chain.trajectory();
    let words = |(index, variable): (usize, &becausal_core::schema::Variable)| {
        let before = trajectory.value(Node::state(0, index))?;
        let after = trajectory.value(Node::state(1, index))?;
        Some(minus(&change(variable, before, after)))
    };
    schema.of_role(Role::State).enumerate().filter_map(words).collect()
}

fn why(step: &ReportStep) -> String {
    let why = &step.why;
    let trajectory = why.chain.trajectory();
    let mut html = format!("<p class=\"answer\">{}</p>\n", escaped(&why.sentence()));
    if let Some(choice) = Explained::choice(why) {
        let _ = writeln!(html, "<p>{}</p>", escaped(&choice));
    }
    if !why.chain.is_empty() {
        html.push_str(&shown(why.picture().map(|p| picture(&p.drawing(&chain_layout())))));
    }
    html.push_str(&caveats(trajectory.schema(), &why.evidence.doubts, trajectory.first()));
    html.push_str(&details(&why.text()));
    html
}

fn why_not(contrast: &Contrast) -> String {
    let trajectory = contrast.factual.chain.trajectory();
    let mut html = format!("<p class=\"answer\">{}</p>\n", escaped(&contrast.sentence()));
    if contrast.credit.parts.iter().any(|part| part.difference() != 0.0) {
        html.push_str(&shown(ContrastView(contrast).waterfall().map(|w| picture(&w.drawing()))));
    }
    if !(contrast.factual.chain.is_empty() && contrast.counterfactual.chain.is_empty()) {
        html.push_str(&shown(contrast.picture().map(|p| picture(&p.drawing(&chain_layout())))));
    }
    html.push_str(&caveats(
        trajectory.schema(),
        &ContrastView(contrast).all_doubts(),
        trajectory.first(),
    ));
    html.push_str(&details(&contrast.text()));
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

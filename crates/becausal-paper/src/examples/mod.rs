//! `becausal reproduce examples`: the paper's figures and numbers beside ours, on one page.

mod by_weight;
mod edges;
mod folder;
mod full_graph;
mod lander;
mod learning;
mod marines;
mod pilot;
mod rules;
mod study;
mod table;

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::time::Instant;

use becausal::render::{Claim, Comparison};
use serde_json::{Value, json};

use crate::arguments::{Common, ReproduceExamples};
use crate::describe;
use crate::failure::Failure;
use crate::number::brief;

use folder::{Folder, PAGE};
use lander::Lander;
use learning::Learning;
use marines::Marines;
use table::AimTable;

/// How much is done.
pub struct Size {
    quick: bool,
    lander_rows: usize,
    /// Real steps that Build-Marine's policy learns from.
    marine_training: usize,
    marine_rows: usize,
    /// Recorded decisions that are compared to find the one to explain.
    decisions: usize,
    /// Networks of each world model, and their training steps.
    members: usize,
    fit: usize,
    aim_rows: usize,
    /// Of the table and of the curves.
    seeds: &'static [u64],
}

const USUAL: Size = Size {
    quick: false,
    lander_rows: 150_000,
    marine_training: 60_000,
    marine_rows: 20_000,
    decisions: 300,
    members: 5,
    fit: 2000,
    aim_rows: 20_000,
    seeds: &[1, 2, 3],
};
const QUICK: Size = Size {
    quick: true,
    lander_rows: 1000,
    marine_training: 1280,
    marine_rows: 600,
    decisions: 12,
    members: 1,
    fit: 20,
    aim_rows: 400,
    seeds: &[1],
};

impl Size {
    fn aim_fit(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.fit).unwrap_or(NonZeroUsize::MIN)
    }
}

pub fn run(common: &Common, arguments: &ReproduceExamples) -> Result<String, Failure> {
    let started = Instant::now();
    let folder = Folder::create(&arguments.output)?;
    let size = if arguments.quick { QUICK } else { USUAL };
    let say = |text: &str| {
        if !common.quiet {
            eprintln!("[{:>4.0} s] {text}", started.elapsed().as_secs_f64());
        }
    };
    let time = if arguments.quick { "some seconds" } else { "some twelve minutes on two cores" };
    say(&format!("the paper's figures on our environments: {time}"));
    say("LunarLander-Continuous: record a pilot with noise, find the graph, fit the model");
    let lander = Lander::measure(common, &size)?;
    lander.write(&folder)?;
    say("Build-Marine: learn to act, record it with noise, find the graph, fit the models");
    let marines = Marines::measure(common, &size)?;
    marines.write(&folder)?;
    say("AimTest: is the influence of each action recovered?");
    let table = AimTable::measure(common, &size)?;
    table.write(&folder)?;
    say("learning curves: no model, a dense one, the full graph, the causal graph");
    let environments = match arguments.env.as_slice() {
        [] => vec!["CartPole-v1".to_owned()],
        chosen => chosen.to_vec(),
    };
    let learning = Learning::measure(common, &size, &environments, &folder)?;
    learning.write(&folder)?;
    let [graph_of_lander, chain_of_lander] = lander.sections()?;
    let [graph_of_marines, chain_of_marines, full] = marines.sections()?;
    let page = Comparison {
        title: "The paper and becausal, side by side".to_owned(),
        introduction: introduction(arguments),
        sections: vec![
            graph_of_lander,
            chain_of_lander,
            graph_of_marines,
            chain_of_marines,
            full,
            table.section(),
            learning.section()?,
        ],
        commands: commands(arguments),
    };
    folder.text(PAGE, &page.html())?;
    folder.json("statements.json", &statements(&page))?;
    let seconds = started.elapsed().as_secs_f64();
    let [same, different, open] = page.tally();
    if common.json {
        return Ok(describe::line(&json!({
            "page": folder.path().join(PAGE),
            "same": same,
            "different": different,
            "open": open,
            "statements": statements(&page),
            "seconds": seconds,
        })));
    }
    Ok(format!(
        "{}: {same} statements of the paper come out the same, {different} differently, {open} were not measured \
         ({} s for everything)\n{}pictures as .svg and data as .json and .csv are beside it\n",
        folder.path().join(PAGE).display(),
        brief(seconds.round()),
        differences(&page),
    ))
}

/// What differs, a line each.
fn differences(page: &Comparison) -> String {
    let mut text = String::new();
    for section in &page.sections {
        for claim in &section.claims {
            if claim.agreement == becausal::render::Agreement::Different {
                let _ = writeln!(text, "  differs: {} {}", claim.published, claim.measured);
            }
        }
    }
    text
}

fn introduction(arguments: &ReproduceExamples) -> Vec<String> {
    let mut paragraphs = vec![
        "Left, what Explainable Reinforcement Learning via a Causal World Model (Yu, Ruan and Xing, IJCAI 2023) shows, described in our \
         words; right, the same measured with becausal by one command. Below each figure stands what the paper's text says about it, and \
         what came out here: same or different is computed from the figures of this run."
            .to_owned(),
        "Different from the paper everywhere: our environments are Gymnasium's lander bit for bit and a simulated Build-Marine in place of \
         StarCraft II, the independence test is becausal's own, and influences in explanations are those of the state at hand."
            .to_owned(),
    ];
    if arguments.quick {
        paragraphs.push(
            "This is the quick version: few rows, small models, one seed. It shows that everything works, not how well."
                .to_owned(),
        );
    }
    paragraphs
}

fn commands(arguments: &ReproduceExamples) -> Vec<(String, String)> {
    let quick = if arguments.quick { " --quick" } else { "" };
    let environments: Vec<String> = arguments.env.iter().map(|id| format!(" --env {id}")).collect();
    let environments = environments.concat();
    let folder = arguments.output.display();
    vec![
        (
            format!("becausal reproduce examples{quick}{environments} -o {folder}"),
            "made this page, its pictures and its data".to_owned(),
        ),
        (
            "becausal reproduce aim".to_owned(),
            "the table alone, with other seeds or sizes".to_owned(),
        ),
        (
            "becausal reproduce curves -o curves".to_owned(),
            "the learning curves of all four environments, in hours".to_owned(),
        ),
    ]
}

/// Every statement, for other programs.
fn statements(page: &Comparison) -> Value {
    let claim = |title: &str, claim: &Claim| {
        json!({
            "figure": title,
            "paper": claim.published,
            "here": claim.measured,
            "agreement": claim.agreement.word(),
            "reason": claim.reason,
        })
    };
    let sections = page.sections.iter();
    let all = sections.flat_map(|s| s.claims.iter().map(move |c| claim(&s.title, c)));
    Value::Array(all.collect())
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    format!("{} %", brief(100.0 * share))
}

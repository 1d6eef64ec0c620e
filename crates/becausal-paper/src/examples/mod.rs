//! `becausal-paper examples`: the paper's figures and numbers beside ours, on one page.

mod by_weight;
mod edges;
mod folder;
mod full_graph;
mod lander;
mod learning;
mod marines;
mod measured;
mod rules;
mod study;
mod table;

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use crate::benchmark::environments;
use crate::comparison::{Agreement, Claim, Comparison, Piece};
use crate::number::brief;
use crate::{Common, Failure, progress};

use folder::{Folder, PAGE};
use lander::Lander;
use learning::Learning;
use marines::Marines;
use table::AimTable;

/// Arguments of `becausal-paper examples`.
#[derive(Args)]
pub struct Arguments {
    /// The folder for the page, pictures and data
    #[arg(short, long, value_name = "DIR", default_value = "becausal-examples")]
    output: PathBuf,
    /// An environment of the learning curves (repeatable; the landers take hours; default:
    /// CartPole-v1)
    #[arg(long, value_name = "ENV", value_parser = environments())]
    env: Vec<String>,
    /// A folder with the table of `becausal-paper tradeoff` or `ladder`, to show on the page (repeatable)
    #[arg(long, value_name = "DIR")]
    measured: Vec<PathBuf>,
    /// A small version that takes seconds: does everything work?
    #[arg(long)]
    quick: bool,
}

/// How much is done.
struct Size {
    quick: bool,
    /// Real steps that the lander's policy is trained on.
    lander_training_steps: usize,
    lander_rows: usize,
    /// Real steps that Build-Marine's policy is trained on.
    marine_training_steps: usize,
    marine_rows: usize,
    /// Recorded decisions that are compared to find the one to explain.
    decisions: usize,
    /// Networks of each world model.
    members: usize,
    /// Maximum number of training steps of each network.
    fit_steps: NonZeroUsize,
    aim_rows: usize,
    /// Seeds of the table and of the curves.
    seeds: &'static [u64],
}

const FULL_SIZE: Size = Size {
    quick: false,
    lander_training_steps: 500_000,
    lander_rows: 150_000,
    marine_training_steps: 60_000,
    marine_rows: 20_000,
    decisions: 300,
    members: 5,
    fit_steps: NonZeroUsize::new(2000).unwrap(),
    aim_rows: 20_000,
    seeds: &[1, 2, 3],
};

const QUICK_SIZE: Size = Size {
    quick: true,
    lander_training_steps: 2048,
    lander_rows: 1000,
    marine_training_steps: 1280,
    marine_rows: 600,
    decisions: 12,
    members: 1,
    fit_steps: NonZeroUsize::new(20).unwrap(),
    aim_rows: 400,
    seeds: &[1],
};

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let started = Instant::now();
    // A mistake in these shows at once.
    let measured = measured::sections(&arguments.measured)?;
    let folder = Folder::create(&arguments.output)?;
    let size = if arguments.quick { QUICK_SIZE } else { FULL_SIZE };
    let listener = progress::lines(common.quiet);
    let say = |text: &str| {
        if !common.quiet {
            eprintln!("[{:>4.0} s] {text}", started.elapsed().as_secs_f64());
        }
    };
    let time = if arguments.quick { "some seconds" } else { "about 12 minutes on two cores" };
    say(&format!("the paper's figures, reproduced: {time}"));
    say(
        "LunarLander-Continuous: train a policy, record it with noise, discover the graph, fit the model",
    );
    let lander = Lander::measure(&listener, &size)?;
    lander.write(&folder)?;
    say("Build-Marine: train a policy, record it with noise, discover the graph, fit the models");
    let marines = Marines::measure(&listener, &size)?;
    marines.write(&folder)?;
    say("AimTest: is the influence under each action recovered?");
    let table = AimTable::measure(&listener, &size)?;
    table.write(&folder)?;
    say("learning curves: no model, a dense model, the full graph, the causal graph");
    let environments = match arguments.env.as_slice() {
        [] => vec!["CartPole-v1".to_owned()],
        chosen => chosen.to_vec(),
    };
    let learning = Learning::measure(&listener, &size, &environments, &folder)?;
    learning.write(&folder)?;
    let [lander_graph, lander_chain] = lander.sections()?;
    let [marines_graph, marines_chain, marines_full] = marines.sections()?;
    let page = Comparison {
        title: "The paper and becausal, side by side".to_owned(),
        introduction: introduction(arguments),
        sections: [
            lander_graph,
            lander_chain,
            marines_graph,
            marines_chain,
            marines_full,
            table.section(),
            learning.section()?,
        ]
        .into_iter()
        .chain(measured)
        .collect(),
        commands: commands(arguments),
    };
    folder.text(PAGE, &page.html())?;
    folder.json("statements.json", &statements(&page))?;
    let seconds = started.elapsed().as_secs_f64();
    let [same, different, open] = page.tally();
    if common.json {
        let value = json!({
            "page": folder.path().join(PAGE),
            "same": same,
            "different": different,
            "open": open,
            "statements": statements(&page),
            "seconds": seconds,
        });
        return Ok(format!("{value}\n"));
    }
    Ok(format!(
        "{}: of the paper's statements {same} hold here too, {different} do not, {open} were not \
         measured ({} s in total)\n{}Pictures (.svg) and data (.json, .csv) are in the same \
         folder.\n",
        folder.path().join(PAGE).display(),
        brief(seconds.round()),
        differences(&page),
    ))
}

/// The statements that do not hold, a line each.
fn differences(page: &Comparison) -> String {
    let mut text = String::new();
    let claims = page.sections.iter().flat_map(|section| &section.claims);
    for claim in claims.filter(|claim| claim.agreement == Agreement::Different) {
        let _ = writeln!(text, "  differs: {} {}", claim.published, claim.measured);
    }
    text
}

fn introduction(arguments: &Arguments) -> Vec<String> {
    let mut paragraphs = vec![
        "On the left: the figures and tables of Explainable Reinforcement Learning via a Causal \
         World Model (Yu, Ruan and Xing, IJCAI 2023), described in our words. On the right: the \
         same, measured with becausal by one command. Below each figure: the paper's statements \
         about it and what this run found. Whether they agree is computed from this run."
            .to_owned(),
        "Some things differ from the paper throughout. The lander is Gymnasium's, reimplemented \
         bit for bit. Build-Marine is a simulator instead of StarCraft II. The independence test \
         is becausal's own. Explanations use the influences in the explained state; the paper's \
         depend only on the action."
            .to_owned(),
    ];
    if arguments.quick {
        paragraphs.push(
            "This is the quick version: few rows, small models, one seed. It shows that everything \
             works, not how well."
                .to_owned(),
        );
    }
    paragraphs
}

fn commands(arguments: &Arguments) -> Vec<(String, String)> {
    let quick = if arguments.quick { " --quick" } else { "" };
    let environments: Vec<String> = arguments.env.iter().map(|id| format!(" --env {id}")).collect();
    let measured: Vec<String> = arguments
        .measured
        .iter()
        .map(|folder| format!(" --measured {}", folder.display()))
        .collect();
    let environments = [environments, measured].concat();
    let folder = arguments.output.display();
    vec![
        (
            format!("becausal-paper examples{quick}{} -o {folder}", environments.concat()),
            "made this page, its pictures and its data".to_owned(),
        ),
        ("becausal-paper aim".to_owned(), "Table 1 alone, with other seeds or sizes".to_owned()),
        (
            "becausal-paper curves -o curves".to_owned(),
            "the learning curves of all four environments; takes hours".to_owned(),
        ),
        (
            "becausal-paper tradeoff -o measured".to_owned(),
            "what a sparse graph costs; --measured shows it on this page".to_owned(),
        ),
        (
            "becausal-paper ladder -o measured".to_owned(),
            "from the paper's method to ours, one change at a time; --measured shows it on this page"
                .to_owned(),
        ),
    ]
}

/// Every statement, for other programs.
fn statements(page: &Comparison) -> Value {
    let statement = |title: &str, claim: &Claim| {
        json!({
            "figure": title,
            "paper": claim.published,
            "here": claim.measured,
            "agreement": claim.agreement.word(),
            "reason": claim.reason,
        })
    };
    let sections = page.sections.iter();
    let all = sections.flat_map(|s| s.claims.iter().map(move |c| statement(&s.title, c)));
    Value::Array(all.collect())
}

/// Paragraphs.
fn texts(paragraphs: &[&str]) -> Vec<Piece> {
    paragraphs.iter().map(|&text| Piece::Text(text.to_owned())).collect()
}

/// Names with commas between them; `nothing` if there are none.
fn list<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
}

//! What other commands have measured: the trade-off and the ladder, where their tables exist.

use std::path::{Path, PathBuf};

use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::number::{brief, counted, percent};
use crate::sheet::{Group, Sheet};
use crate::{Failure, ladder, tradeoff};

use super::texts;

/// The sections of the tables in some folders.
pub fn sections(folders: &[PathBuf]) -> Result<Vec<ComparisonSection>, Failure> {
    let mut sections = Vec::new();
    for folder in folders {
        let (ladder, tradeoff) = (folder.join(ladder::FILE), folder.join(tradeoff::FILE));
        if !ladder.is_file() && !tradeoff.is_file() {
            return Err(format!(
                "{}: there is neither {} nor {} in it; make them with `becausal-paper ladder` and \
                 `becausal-paper tradeoff`",
                folder.display(),
                ladder::FILE,
                tradeoff::FILE
            )
            .into());
        }
        if tradeoff.is_file() {
            sections.push(of_tradeoff(&tradeoff)?);
        }
        if ladder.is_file() {
            sections.push(of_ladder(&ladder)?);
        }
    }
    Ok(sections)
}

fn shown(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.decimals$}"))
}

/// A table of means: the cells of its first columns, then numbers with their decimals.
fn table(groups: &[Group], names: &[&str], columns: &[(&str, usize)]) -> Piece {
    let headings = names.iter().copied().chain(["seeds"]);
    let headings = headings.chain(columns.iter().map(|(column, _)| *column));
    let row = |group: &Group| {
        let names = names.iter().map(|name| group.key(name).to_owned());
        let numbers = columns.iter().map(|&(column, decimals)| shown(group.mean(column), decimals));
        names.chain([group.seeds.to_string()]).chain(numbers).collect()
    };
    Piece::Table {
        headings: headings.map(str::to_owned).collect(),
        rows: groups.iter().map(row).collect(),
    }
}

fn of_tradeoff(file: &Path) -> Result<ComparisonSection, Failure> {
    let groups = Sheet::open(file, tradeoff::HEADER, tradeoff::KEYS)?.groups();
    let at_tau: Vec<Group> =
        groups.into_iter().filter(|group| group.key("tau") == tradeoff::SHOWN_TAU).collect();
    let columns = [
        ("edges", 1),
        ("error", 4),
        ("log_likelihood", 2),
        ("complete", 1),
        ("precision", 3),
        ("recall", 3),
        ("policy_return", 1),
    ];
    Ok(ComparisonSection {
        title: "Sparse or accurate: what the threshold eta costs".to_owned(),
        published: texts(&[
            "The paper states that a smaller threshold gives a sparser graph with clearer explanations and a less \
             accurate model, and proves it for models that are fitted perfectly. It publishes no numbers.",
        ]),
        measured: vec![
            Piece::Text(format!(
                "All numbers are measured here, by `becausal-paper tradeoff` ({}). Means over the seeds; influences \
                 above {} count. Error: one step ahead on held-out episodes, in standard deviations. Complete: facts \
                 in an explanation of 4 steps. Precision and recall: of the changes that explanations claim.",
                file.display(),
                tradeoff::SHOWN_TAU,
            )),
            table(&at_tau, &["environment", "preset", "eta"], &columns),
        ],
        claims: tradeoff_claims(&at_tau),
    })
}

/// The paper's statements, each by the smallest and the largest threshold of the first environment.
fn tradeoff_claims(groups: &[Group]) -> Vec<Claim> {
    let Some(first) = groups.first() else { return Vec::new() };
    let same = |group: &&Group| {
        ["environment", "preset"].iter().all(|name| group.key(name) == first.key(name))
    };
    let Some(last) = groups.iter().rfind(same) else { return Vec::new() };
    let claim = |published: &str, column: &str, falls: bool| {
        let (Some(low), Some(high)) = (first.mean(column), last.mean(column)) else { return None };
        Some(Claim {
            published: published.to_owned(),
            measured: format!(
                "{} with eta {}, {} with eta {} ({}, {} method).",
                brief(low),
                first.key("eta"),
                brief(high),
                last.key("eta"),
                first.key("environment"),
                first.key("preset"),
            ),
            agreement: Agreement::of(if falls { high < low } else { high > low }),
            reason: String::new(),
        })
    };
    [
        claim("A larger threshold gives a denser graph.", "edges", false),
        claim("A denser graph gives longer explanations.", "complete", false),
        claim("A denser graph gives a more accurate model.", "error", true),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_ladder(file: &Path) -> Result<ComparisonSection, Failure> {
    let groups = Sheet::open(file, ladder::HEADER, ladder::KEYS)?.groups();
    let columns = [
        ("aim_attention", 3),
        ("aim_effect", 3),
        ("aim_error", 4),
        ("marine_error", 4),
        ("precision", 3),
        ("recall", 3),
        ("influence_precision", 3),
        ("cart_pole_steps", 0),
        ("cart_pole_return", 1),
    ];
    let accuracy = |rung: &str| {
        let found = groups.iter().find(|group| group.key("rung") == rung);
        found.and_then(|group| Some((group.mean("aim_attention")?, group.seeds)))
    };
    let claim = accuracy("paper").map(|(accuracy, seeds)| Claim {
        published: "Attention over the discovered graph recovers 99.3 % of the influences."
            .to_owned(),
        measured: format!(
            "{} by the paper's method as it stands ({}).",
            percent(accuracy),
            counted(seeds, "seed")
        ),
        agreement: Agreement::of(accuracy >= 0.993),
        reason: "The published program trains 50,000 steps on targets that are not standardised."
            .to_owned(),
    });
    Ok(ComparisonSection {
        title: "From the paper's method to ours, one change at a time".to_owned(),
        published: texts(&[
            "The paper's method: the test FCIT, networks over its edges alone, attention learned from the start and not \
             pruned, five of them from bootstrap samples, and the model that trains also explains. It publishes \
             99.3 % for the influences recovered by attention, and learning curves.",
        ]),
        measured: vec![
            Piece::Text(format!(
                "All numbers are measured here, by `becausal-paper ladder` ({}), also those in the row of the paper's \
                 method. Every row has the changes of the rows before it. Means over the seeds; steps until CartPole \
                 is solved only over the seeds that solved it.",
                file.display()
            )),
            table(&groups, &["rung"], &columns),
        ],
        claims: claim.into_iter().collect(),
    })
}

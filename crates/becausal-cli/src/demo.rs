//! `becausal demo`: the whole way from nothing to an explanation.

use becausal::render::{Answer, AuditText, subjects};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use becausal::data::write_atomically;
use becausal::env::{self, episode_seed, find};
use becausal::explain::{Audit, Contrast, Decision};
use becausal::render::action_token;
use clap::Parser;
use serde_json::json;

use crate::arguments::{Arguments, Common, Demo};
use crate::describe;
use crate::failure::Failure;
use crate::number::{brief, count, counted};
use crate::opened::Opened;
use crate::played::Played;
use crate::report::{Page, Request, make};

/// Seed of the recorded episodes.
const SEED: u64 = 0;

/// How much is done.
struct Size {
    rows: usize,
    members: usize,
    training: usize,
    steps: usize,
    states: usize,
}

const USUAL: Size = Size { rows: 10_000, members: 3, training: 1000, steps: 24, states: 60 };
const QUICK: Size = Size { rows: 600, members: 2, training: 60, steps: 6, states: 5 };

/// How many steps the explanations look ahead.
const HORIZON: usize = 5;

pub fn run(common: &Common, arguments: &Demo) -> Result<String, Failure> {
    let started = Instant::now();
    let entry = find(&arguments.env)?;
    let folder = &arguments.output;
    refuse_others(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("{}: cannot make the folder: {error}", folder.display()))
    })?;
    let size = if arguments.quick { QUICK } else { USUAL };
    let say = |text: &str| {
        if !common.quiet {
            eprintln!("{text}");
        }
    };
    let time = if arguments.quick { "some seconds" } else { "well under a minute on 2 free cores" };
    say(&format!(
        "becausal demo: from nothing to an explanation of {}, in {time}. Everything goes into {}.\n",
        entry.id,
        folder.display()
    ));
    let (data, graph) = (folder.join("data.parquet"), folder.join("graph.json"));
    let (trained, page_file) = (folder.join("run"), folder.join("report.html"));
    let stages = stages(entry.id, &size, [&data, &graph, &trained]);
    for (number, stage) in stages.iter().enumerate() {
        say(&format!("{}. {}\n   $ {}", number + 1, stage.what, stage.shown()));
        let parsed = Arguments::try_parse_from(stage.words())
            .map_err(|error| Failure::failed(format!("the demo's own command: {error}")))?;
        crate::run(common, &parsed.command)?;
    }
    say(&format!(
        "4. Choose a decision that mattered, explain it, check it in the environment, write the report.\n   $ becausal report {} -o {}",
        trained.display(),
        page_file.display()
    ));
    let opened = Opened::read(&trained)?;
    let environment = entry.make(&env::Options::default())?;
    let episodes = u32::try_from(opened.data.episodes()).unwrap_or(u32::MAX);
    let played = Played {
        environment: &environment,
        data: &opened.data,
        seeds: (0..episodes).map(|episode| episode_seed(SEED, episode)).collect(),
    };
    let page = make(
        &Request {
            run: &trained,
            episode: None,
            steps: size.steps,
            horizon: HORIZON,
            states: size.states,
            data: &opened.data,
            played: Some(&played),
            fresh: false,
            file: &page_file,
            before: stages.iter().map(|s| (s.shown(), s.what.to_owned())).collect(),
        },
        &opened,
    )?;
    write_atomically(&page_file, page.html.as_bytes())?;
    let check = match &page.decision {
        Some(decision) => Some(check(&played, decision)?),
        None => None,
    };
    let seconds = started.elapsed().as_secs_f64();
    say("");
    if common.json {
        return Ok(json_of(&page, check, &page_file, seconds));
    }
    Ok(told(&page, check, &opened, &trained, &page_file, seconds))
}

/// One command of the demo.
struct Stage {
    what: &'static str,
    arguments: Vec<String>,
}

impl Stage {
    fn words(&self) -> impl Iterator<Item = String> + '_ {
        std::iter::once("becausal".to_owned()).chain(self.arguments.iter().cloned())
    }

    fn shown(&self) -> String {
        self.words().collect::<Vec<_>>().join(" ")
    }
}

fn stages(id: &str, size: &Size, [data, graph, run]: [&Path; 3]) -> [Stage; 3] {
    let path = |path: &Path| path.display().to_string();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    [
        Stage {
            what: "Record what random actions lead to.",
            arguments: words(&["collect", id, "-n", &size.rows.to_string(), "-o", &path(data)]),
        },
        Stage {
            what: "Find out what causes what.",
            arguments: words(&["discover", &path(data), "-o", &path(graph)]),
        },
        Stage {
            what: "Learn a causal world model.",
            arguments: words(&[
                "fit",
                &path(data),
                "--graph",
                &path(graph),
                "--members",
                &size.members.to_string(),
                "--steps",
                &size.training.to_string(),
                "-o",
                &path(run),
            ]),
        },
    ]
}

/// The demo writes over what a demo wrote, and over nothing else.
fn refuse_others(folder: &Path) -> Result<(), Failure> {
    let problem = if folder.is_file() {
        "is a file; give the name of a folder with -o"
    } else {
        let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if !occupied || folder.join("data.parquet").is_file() {
            return Ok(());
        }
        "is a folder with something else in it; give another name with -o"
    };
    Err(Failure::failed(format!("{}: {problem}", folder.display())))
}

/// By how much the action taken is really paid more than its rival, with the same noise.
fn check(played: &Played<'_>, decision: &Decision) -> Result<f64, Failure> {
    let Decision { episode, step, ref rival, .. } = *decision;
    let until = step + HORIZON;
    let paid = |other: Option<(usize, &[f64])>| -> Result<f64, Failure> {
        let (record, _) = played.again(episode, until, other)?;
        Ok(record.total_reward().iter().skip(step).sum())
    };
    Ok(paid(None)? - paid(Some((step, rival)))?)
}

fn json_of(page: &Page, check: Option<f64>, file: &Path, seconds: f64) -> String {
    describe::line(&json!({
        "report": file,
        "episode": page.episode,
        "step": page.opening.why.chain.trajectory().first(),
        "why": page.opening.why.sentence(),
        "lead": page.decision.as_ref().map(|decision| decision.lead),
        "lead_in_the_environment": check,
        "audit": page.audit.as_ref().ok().map(Audit::json),
        "seconds": seconds,
    }))
}

fn told(
    page: &Page,
    check: Option<f64>,
    opened: &Opened,
    run: &Path,
    file: &Path,
    seconds: f64,
) -> String {
    let mut text = page.opening.why.text();
    let rival = page.decision.as_ref().map(|decision| &decision.rival);
    let contrast = rival.and_then(|rival| {
        page.opening.contrasts.iter().find(|c| c.change.action.as_ref() == Some(rival))
    });
    if let Some(contrast) = contrast {
        let _ = write!(text, "\n{}", contrast.text());
    }
    if let (Some(contrast), Some(real)) = (contrast, check) {
        let _ = writeln!(text, "\n{}", checked(contrast, real));
    }
    match &page.audit {
        Ok(audit) => {
            let _ = writeln!(text, "{}", audit_sentence(audit));
        }
        Err(reason) => {
            let _ = writeln!(text, "There is no audit: {reason}");
        }
    }
    let step = page.opening.why.chain.trajectory().first();
    let other = rival.map_or(String::new(), |rival| {
        format!(" --why-not {}", action_token(&opened.schema, rival))
    });
    let _ = writeln!(
        text,
        "\n{}: the report, with {} explained; open it in a browser ({} s for everything)\n\nNext:",
        file.display(),
        counted(page.steps, "step"),
        brief(seconds.round()),
    );
    let (run, episode) = (run.display(), page.episode);
    let next = [
        (
            format!("becausal explain {run} --episode {episode} --step {step}{other} -o why.svg"),
            "this decision as a picture",
        ),
        (
            format!("becausal audit {run} --policy random"),
            "how often such explanations hold, in more states",
        ),
        (
            format!("becausal envs {} --schema > schema.toml", opened.schema.name()),
            "a schema to start from for your own log; then check, fit and report",
        ),
    ];
    let width = next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    for (command, words) in next {
        let _ = writeln!(text, "  {command:width$}   # {words}");
    }
    text
}

/// Whether the claim about the reward holds in the environment itself.
fn checked(contrast: &Contrast, real: f64) -> String {
    let (_, other) = subjects(contrast);
    let said = contrast.credit.difference();
    let verdict = match (said * real > 0.0, (said - real).abs() < 0.05 * real.abs().max(1e-9)) {
        (true, true) => "It holds",
        (true, false) => "It holds in direction, not in size",
        _ if said == real => "It holds",
        _ => "It does not hold",
    };
    format!(
        "Checked in the environment itself, {other} replayed with the same noise: the difference is {}, the explanation \
         says {}. {verdict}.",
        signed(real),
        signed(said)
    )
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, brief(value))
}

fn audit_sentence(audit: &Audit) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    format!(
        "Audited in {} other cases from {}: of what such explanations say changes, {} did; of what changed, they say {}; \
         the sign of the reward difference is right in {}.",
        count(audit.cases),
        counted(audit.states, "state"),
        percent(audit.changes.precision()),
        percent(audit.changes.recall()),
        percent(audit.sign)
    )
}

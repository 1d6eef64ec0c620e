//! `becausal demo`: the whole way from nothing to an explanation.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use becausal::data::write_atomically;
use becausal::env::{action_text, find};
use becausal::explain::{Contrast, Found, Measure};
use becausal::progress::Listener;
use becausal::render::{Alignment, AuditText, Explained, Table, subjects};
use becausal::{Audit, Preset, ReportPage, ReportParams, Run, quoted, quoted_path};
use clap::Parser;
use serde_json::json;

use crate::arguments::{Arguments, Common, Demo};
use crate::describe;
use crate::failure::Failure;
use crate::progress::{Shown, opening};
use becausal::render::number::{brief, counted};

/// How much is done.
struct Size {
    rows: usize,
    members: usize,
    training: usize,
    steps: usize,
    states: usize,
}

const USUAL: Size = Size { rows: 10_000, members: 3, training: 800, steps: 24, states: 60 };
const QUICK: Size = Size { rows: 600, members: 2, training: 60, steps: 6, states: 5 };

/// How many steps the explanations look ahead.
const HORIZON: usize = 5;

/// The mark of a folder that a demo made.
const MARK: &str = ".becausal-demo";

/// What a demo leaves in its folder.
const DEMO_FILES: [&str; 3] = ["data.parquet", "run", "report.html"];

pub fn run(common: &Common, arguments: &Demo) -> Result<String, Failure> {
    let started = Instant::now();
    let entry = find(&arguments.env)?;
    let folder = &arguments.output;
    prepare(folder)?;
    let size = if arguments.quick { QUICK } else { USUAL };
    let say = |text: &str| {
        if !common.quiet {
            crate::output::say(text);
        }
    };
    let time = if arguments.quick { "a few seconds" } else { "about a minute on 2 free cores" };
    say(&format!(
        "becausal demo: from nothing to an explanation of {}, in {time}. Everything goes into {}.\n",
        entry.id,
        folder.display()
    ));
    let (data, trained) = (folder.join("data.parquet"), folder.join("run"));
    let file = folder.join("report.html");
    let stages = stages(entry.id, &size, arguments.preset, [&data, &trained]);
    for (number, stage) in stages.iter().enumerate() {
        say(&format!("{}. {}\n   $ {}", number + 1, stage.what, stage.shown()));
        let parsed = Arguments::try_parse_from(stage.words())
            .map_err(|error| Failure::failed(format!("the demo's own command: {error}")))?;
        crate::run(common, &parsed.command)?;
    }
    say(&format!(
        "3. Choose a decision that mattered, explain it, check it in the environment, write the report.\n   $ becausal report {} -o {}",
        quoted_path(&trained),
        quoted_path(&file)
    ));
    let run = Run::open_with(&trained, &opening(common))?;
    let page = run.report(&ReportParams {
        steps: size.steps,
        horizon: HORIZON,
        states: size.states,
        file: file.clone(),
        made_by: stages.iter().map(|stage| (stage.shown(), stage.what.to_owned())).collect(),
        progress: Listener::new(Shown::new(common.quiet)),
        ..ReportParams::default()
    })?;
    write_atomically(&file, page.html.as_bytes())?;
    let check = match &page.decision {
        Some((_, decision)) => check(&run, &decision.found)?,
        None => None,
    };
    let seconds = started.elapsed().as_secs_f64();
    say("");
    if common.json {
        return Ok(json_of(&page, check, &file, seconds));
    }
    Ok(told(&page, check, &run, (&trained, &file), seconds))
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
        self.words().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }
}

fn stages(id: &str, size: &Size, preset: Preset, [data, run]: [&Path; 2]) -> [Stage; 2] {
    let (data, run) = (data.display().to_string(), run.display().to_string());
    let (rows, members, steps) =
        (size.rows.to_string(), size.members.to_string(), size.training.to_string());
    let words =
        |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.to_owned()).collect() };
    let mut fit = words(&["fit", &data, "--members", &members, "--steps", &steps, "-o", &run]);
    if preset != Preset::Default {
        fit.extend(words(&["--preset", preset.name()]));
    }
    [
        Stage {
            what: "Record what random actions lead to.",
            arguments: words(&["collect", id, "-n", &rows, "-o", &data]),
        },
        Stage {
            what: "Find out what causes what, and learn a causal world model.",
            arguments: fit,
        },
    ]
}

/// Makes the folder of the demo. The demo writes over what a demo wrote, and over nothing else: a
/// mark in the folder, which is made first, says so.
fn prepare(folder: &Path) -> Result<(), Failure> {
    let refuse = |problem: &str| Failure::failed(format!("{}: {problem}", folder.display()));
    if folder.exists() && !folder.is_dir() {
        return Err(refuse("is a file; give the name of a folder with -o"));
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // Demos of earlier versions left no mark, but always the same three.
    let is_demo = names.iter().any(|name| name == MARK)
        || (names.len() == 3 && DEMO_FILES.iter().all(|name| names.iter().any(|n| n == name)));
    if let Some(first) = names.iter().min()
        && !is_demo
    {
        return Err(refuse(&format!(
            "is a folder with something else in it ({first}); give another name with -o"
        )));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| refuse(&format!("cannot make the folder: {error}")))?;
    let marked = std::fs::write(folder.join(MARK), "");
    marked.map_err(|error| refuse(&format!("cannot write into the folder: {error}")))
}

/// How much more reward the action taken really earns than its rival, with the same noise; `None` without a rival.
fn check(run: &Run, found: &Found) -> Result<Option<f64>, Failure> {
    let Some(rival) = &found.rival else { return Ok(None) };
    let place = (found.episode, found.step);
    let taken = run.recorded(place.0, place.1)?.action().to_vec();
    let earned = |action: &[f64]| -> Result<f64, Failure> {
        Ok(run.replay(place, action, HORIZON)?.discounted(1.0))
    };
    Ok(Some(earned(&taken)? - earned(rival)?))
}

/// The comparison of the decision with its rival; `None` where there is none.
fn decided(page: &ReportPage) -> Option<&Contrast> {
    let rival = page.decision.as_ref()?.1.found.rival.as_ref()?;
    page.opening.contrasts.iter().find(|contrast| contrast.change.action.as_ref() == Some(rival))
}

/// How much more reward the action taken earns than its rival, by the model alone.
fn claimed(contrast: &Contrast) -> f64 {
    contrast.predicted.map_or(contrast.credit.difference(), |predicted| predicted.difference)
}

fn json_of(page: &ReportPage, check: Option<f64>, file: &Path, seconds: f64) -> String {
    describe::line(&json!({
        "report": file.display().to_string(),
        "episode": page.episode,
        "step": page.opening.why.chain.trajectory().first(),
        "why": page.opening.why.sentence(),
        "lead": decided(page).map(claimed),
        "lead_in_the_environment": check,
        "audit": page.audit.as_ref().ok().map(Audit::json),
        "seconds": seconds,
    }))
}

fn told(
    page: &ReportPage,
    check: Option<f64>,
    run: &Run,
    (folder, file): (&Path, &Path),
    seconds: f64,
) -> String {
    let mut text = page.opening.why.text();
    let rival = page.decision.as_ref().and_then(|(_, decision)| decision.found.rival.as_ref());
    let contrast = decided(page);
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
        format!(" --why-not {}", quoted(&action_text(run.schema(), rival)))
    });
    let _ = writeln!(
        text,
        "\n{}: the report, with {} explained; open it in a browser ({} s for everything)\n\nNext:",
        file.display(),
        counted(page.steps, "step"),
        brief(seconds.round()),
    );
    let (folder, episode) = (quoted_path(folder), page.episode);
    let next = [
        (format!("becausal view {folder}"), "ask about any step, in the browser"),
        (
            format!(
                "becausal explain {folder} --episode {episode} --step {step}{other} -o why.svg"
            ),
            "this decision as a picture",
        ),
        (
            format!("becausal audit {folder} --policy random"),
            "how often such explanations hold, in more states",
        ),
        (
            format!("becausal envs {} --schema > schema.toml", run.schema().name()),
            "a schema to start from for your own log; then check, fit and report",
        ),
    ];
    let mut table = Table::new([("", Alignment::Left); 2]);
    for (command, words) in next {
        table.push([format!("  {command}"), format!("# {words}")]);
    }
    text.push_str(&table.lines());
    text
}

/// Whether what the model alone says about the reward holds in the environment itself.
fn checked(contrast: &Contrast, real: f64) -> String {
    let (_, other) = subjects(contrast);
    let said = claimed(contrast);
    let verdict = match (said * real > 0.0, (said - real).abs() < 0.05 * real.abs().max(1e-9)) {
        (true, true) => "It holds",
        (true, false) => "It holds in direction, not in size",
        _ if said == real => "It holds",
        _ => "It does not hold",
    };
    format!(
        "Checked in the environment itself, {other} replayed with the same noise: the difference is {}, the model alone \
         says {}. {verdict}.",
        signed(real),
        signed(said)
    )
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, brief(value))
}

fn audit_sentence(audit: &Audit) -> String {
    if audit.cases == 0 {
        return "There was no other action to audit.".to_owned();
    }
    let mut text = format!(
        "Audited in {} from {}",
        counted(audit.cases, "other case"),
        counted(audit.states, "state")
    );
    let claims = [
        (Measure::Precision, "of the changes that such explanations claim,", "happen"),
        (Measure::Recall, "of the changes that happen, they claim", ""),
        (Measure::Sign, "the sign of the reward difference is right in", ""),
    ];
    for (at, (measure, before, after)) in claims.into_iter().enumerate() {
        if let Some(share) = audit.explanations.by_kind.value(measure) {
            let mark = if at == 0 { ":" } else { ";" };
            let gap = if after.is_empty() { "" } else { " " };
            let _ = write!(text, "{mark} {before} {:.0} %{gap}{after}", 100.0 * share);
        }
    }
    text + "."
}

//! `becausal report`: one page about a run.

use becausal::render::{Answer, AuditText};
use std::path::Path;

use becausal::Transitions;
use becausal::data::write_atomically;
use becausal::explain::{
    Audit, AuditOptions, Decision, Explainer, Options, Scale, Situation, audit, decisions,
    typical_actions,
};
use becausal::render::{self, ReportLearning, ReportScores, ReportStep, action_token};
use becausal::run::{Metrics, RunDirectory};
use becausal::{Policy, RandomPolicy};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments::{Common, Report};
use crate::failure::Failure;
use crate::fit::split;
use crate::number::{brief, counted};
use crate::opened::Opened;
use crate::output::refuse_unwritable;
use crate::played::{Played, play};
use crate::{describe, report_config};

/// Differences below this share of a variable's spread in the data are not told, as in the audit.
const NEGLIGIBLE: f64 = 0.01;

/// Actions that a step is asked about, at most.
const MOST_ACTIONS: usize = 16;

/// Decisions that are compared to find the one to open with.
const LOOKED_AT: usize = 300;

/// Episodes that a trained policy plays anew.
const FRESH: u64 = 10;

/// What a page is made of.
pub struct Request<'a> {
    pub run: &'a Path,
    pub episode: Option<usize>,
    pub steps: usize,
    pub horizon: usize,
    /// States of the audit.
    pub states: usize,
    /// The episodes to choose from.
    pub data: &'a Transitions,
    /// The same with their seeds, where these are known: then steps can be drawn.
    pub played: Option<&'a Played<'a>>,
    /// Whether the run's policy played them afterwards.
    pub fresh: bool,
    /// The name that the page will have, for its commands.
    pub file: &'a Path,
    /// The commands that made the run, where they are known; otherwise its configuration tells.
    pub before: Vec<(String, String)>,
}

/// A page and what stands out in it.
pub struct Page {
    pub html: String,
    pub episode: usize,
    /// The step that it opens with.
    pub opening: ReportStep,
    pub steps: usize,
    /// Why the page opens there; `None` where there are no actions to compare.
    pub decision: Option<Decision>,
    pub audit: Result<Audit, String>,
}

/// Writes the page of an opened run.
pub fn run(common: &Common, arguments: &Report, opened: &Opened) -> Result<String, Failure> {
    refuse_unwritable(&arguments.output)?;
    let fresh = fresh_episodes(arguments, opened)?;
    let request = Request {
        run: &arguments.run,
        episode: arguments.episode,
        steps: usize::from(arguments.steps),
        horizon: arguments.horizon,
        states: arguments.states,
        data: fresh.as_ref().map_or(&opened.data, |(_, data)| data),
        played: None,
        fresh: fresh.is_some(),
        file: &arguments.output,
        before: Vec::new(),
    };
    let played = fresh
        .as_ref()
        .zip(opened.environment.as_ref())
        .map(|((seeds, data), environment)| Played { environment, data, seeds: seeds.clone() });
    let request = Request { played: played.as_ref(), ..request };
    if !common.quiet {
        eprintln!(
            "explaining {} and auditing {}",
            counted(request.steps, "step"),
            counted(request.states, "state")
        );
    }
    let page = make(&request, opened)?;
    write_atomically(&arguments.output, page.html.as_bytes())?;
    let first = page.opening.why.chain.trajectory().first();
    if common.json {
        return Ok(describe::line(&json!({
            "file": arguments.output,
            "bytes": page.html.len(),
            "episode": played.is_none().then_some(page.episode),
            "episode_seed": played.as_ref().map(|played| played.seeds[page.episode]),
            "steps": page.steps,
            "opens_at": first,
            "audit": page.audit.as_ref().ok().map(Audit::json),
        })));
    }
    Ok(format!(
        "{}: {} of {} explained, {} kB, opens at step {first}\n{}\n",
        arguments.output.display(),
        counted(page.steps, "step"),
        match &played {
            Some(played) => format!("a new episode from seed {}", played.seeds[page.episode]),
            None => format!("episode {}", page.episode),
        },
        brief((page.html.len() / 1000) as f64),
        page.opening.why.sentence(),
    ))
}

/// Episodes that the policy of a trained run plays anew, with their seeds; none where recorded ones are asked for or
/// there is no policy.
fn fresh_episodes(
    arguments: &Report,
    opened: &Opened,
) -> Result<Option<(Vec<u64>, Transitions)>, Failure> {
    let (Some(policy), Some(environment), None) =
        (&opened.policy, &opened.environment, arguments.episode)
    else {
        if arguments.episode_seed.is_some() {
            return Err(Failure::usage(
                "this run has no policy that could play a new episode (--episode-seed): leave it out, or choose a \
                 recorded one with --episode",
            ));
        }
        return Ok(None);
    };
    let seeds = arguments.episode_seed.map_or_else(|| (0..FRESH).collect(), |seed| vec![seed]);
    let data = play(environment, policy.as_ref(), &seeds)?;
    Ok(Some((seeds, data)))
}

/// Makes the page of a run.
pub fn make(request: &Request<'_>, opened: &Opened) -> Result<Page, Failure> {
    let data = request.data;
    if let Some(episode) = request.episode.filter(|&episode| episode >= data.episodes()) {
        return Err(Failure::usage(format!(
            "there is no episode {episode}: the run has {}, counted from 0",
            counted(data.episodes(), "episode")
        )));
    }
    let options = Options { horizon: request.horizon, ..Options::default() };
    let policy = opened.policy.as_deref();
    let explainer =
        Explainer::new(opened.dynamics.as_ref(), policy, opened.graph.as_ref(), options)?
            .with_scale(Scale::of(&opened.data), NEGLIGIBLE);
    let actions = typical_actions(&opened.schema, MOST_ACTIONS);
    let places = places(data, request.episode, request.horizon);
    let decision = decisions(&explainer, data, &actions, &places)?.into_iter().next();
    let episode = decision.as_ref().map_or(request.episode.unwrap_or(0), |d| d.episode);
    let length = data.episode(episode).len();
    let middle = decision.as_ref().map_or(0, |decision| decision.step);
    let start = middle.saturating_sub(request.steps / 2).min(length.saturating_sub(request.steps));
    let horizon = request.horizon;
    let explain = |step: usize| -> Result<ReportStep, Failure> {
        let situation = Situation::recorded(data, episode, step, horizon)?;
        let others = actions.iter().filter(|action| *action != situation.action());
        let contrasts = others.map(|action| explainer.why_not(&situation, action));
        Ok(ReportStep {
            why: explainer.why(&situation)?,
            contrasts: contrasts.collect::<Result<_, _>>()?,
            scene: None,
        })
    };
    let mut steps: Vec<ReportStep> = (start..length.min(start + request.steps))
        .into_par_iter()
        .map(explain)
        .collect::<Result<_, Failure>>()?;
    // Environments stay on one thread.
    for (step, shown) in (start..).zip(&mut steps) {
        shown.scene = request.played.and_then(|played| played.scene(episode, step));
    }
    let place = middle - start;
    let opening = steps
        .get(place)
        .cloned()
        .ok_or_else(|| Failure::failed("the run has no recorded steps, which a report explains"))?;
    let report = render::Report {
        schema: &opened.schema,
        rows: opened.data.len(),
        episodes: opened.data.episodes(),
        graph: opened.graph.as_ref(),
        scores: Some(scores(request, opened)?),
        learning: learning(request.run)?,
        audit: audited(opened, request),
        audit_policy: if policy.is_some() { "its policy" } else { "random actions" }.to_owned(),
        subject: subject(request, episode),
        remark: decision.as_ref().map_or_else(String::new, |d| remark(d, places.len(), horizon)),
        commands: commands(request, opened, episode, middle, decision.as_ref())?,
        opening: place,
        rival: decision.as_ref().map(|decision| decision.rival.clone()),
        steps,
    };
    let html = report.html();
    let render::Report { audit, steps, .. } = report;
    Ok(Page { html, episode, opening, steps: steps.len(), decision, audit })
}

/// Recorded steps, evenly spread, that have all their horizon recorded where possible.
fn places(data: &Transitions, episode: Option<usize>, horizon: usize) -> Vec<(usize, usize)> {
    let episodes = episode.map_or(0..data.episodes(), |episode| episode..episode + 1);
    let all: Vec<(usize, usize)> = episodes
        .flat_map(|episode| {
            let whole = data.episode(episode).len().saturating_sub(horizon).max(1);
            (0..whole.min(data.episode(episode).len())).map(move |step| (episode, step))
        })
        .collect();
    let count = all.len().min(LOOKED_AT);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

fn remark(decision: &Decision, compared: usize, horizon: usize) -> String {
    let compared = counted(compared, "decision");
    if decision.lead == 0.0 {
        let steps = counted(horizon, "step");
        return format!(
            "★ In none of {compared} that were compared did the choice matter within {steps}, by the model."
        );
    }
    if decision.lead > 0.0 {
        format!(
            "★ Of {compared} that were compared, the one that mattered most: the action taken is paid {} more than \
             the next best, by the model.",
            brief(decision.lead)
        )
    } else {
        format!(
            "★ In none of {compared} that were compared was the action taken the best, by the model."
        )
    }
}

/// The audit, or why there is none.
fn audited(opened: &Opened, request: &Request<'_>) -> Result<Audit, String> {
    let Some(environment) = &opened.environment else {
        return Err("this run has no built-in environment, and counterfactuals cannot be replayed in a file.".into());
    };
    let random;
    let policy: &dyn Policy = if let Some(policy) = &opened.policy {
        policy.as_ref()
    } else {
        random = RandomPolicy::new(opened.schema.clone()).map_err(|error| error.to_string())?;
        &random
    };
    let options = AuditOptions {
        states: request.states,
        horizon: request.horizon,
        ..AuditOptions::default()
    };
    audit(environment, opened.dynamics.as_ref(), policy, &opened.data, &options)
        .map_err(|error| format!("{error}."))
}

/// How well the model predicts: episodes that the policy played anew, or those that were kept apart, where the run
/// says which.
fn scores(request: &Request<'_>, opened: &Opened) -> Result<ReportScores, Failure> {
    let run = RunDirectory::open(request.run)?;
    let model = run.read_model()?;
    if request.fresh {
        let episodes = counted(request.data.episodes(), "episode");
        let on = format!("{episodes} that the policy played after the training");
        return Ok(ReportScores { scores: model.score(request.data), on });
    }
    let data = &opened.data;
    Ok(match report_config::read(&run).and_then(|config| config.seed) {
        Some(seed) if data.episodes() >= 4 => ReportScores {
            scores: model.score(&split(data, seed).1),
            on: "episodes that nothing was learned from".to_owned(),
        },
        _ => ReportScores {
            scores: model.score(data),
            on: "the data that it learned from".to_owned(),
        },
    })
}

/// The curves of a training.
fn learning(run: &Path) -> Result<Option<ReportLearning>, Failure> {
    let Some(metrics) = Metrics::read(run)? else { return Ok(None) };
    let curve = |name: &str, column: &str| (name.to_owned(), metrics.curve(column));
    Ok(Some(ReportLearning {
        epochs: metrics.epochs(),
        returns: vec![
            curve("evaluations", "eval/mean_reward"),
            curve("while learning", "rollout/ep_rew_mean"),
        ],
        likelihood: metrics.curve("model/log_likelihood"),
        edges: metrics.curve("graph/edges"),
    }))
}

/// Which episode the page is about.
fn subject(request: &Request<'_>, episode: usize) -> String {
    match request.played.filter(|_| request.fresh) {
        Some(played) => format!(
            "An episode that the trained policy played anew, from seed {}, always with its most likely action.",
            played.seeds[episode]
        ),
        None => format!("Episode {episode} of the recorded ones, counted from 0."),
    }
}

/// How the page was made, and what to try next.
fn commands(
    request: &Request<'_>,
    opened: &Opened,
    episode: usize,
    step: usize,
    decision: Option<&Decision>,
) -> Result<Vec<(String, String)>, Failure> {
    let run = request.run.display();
    let mut commands = request.before.clone();
    let config = report_config::read(&RunDirectory::open(request.run)?);
    if let Some(config) = config.filter(|_| commands.is_empty()) {
        commands.push((config.command(request.run), "learned the world model".into()));
    }
    let which = match request.played.filter(|_| request.fresh) {
        Some(played) => format!("--episode-seed {}", played.seeds[episode]),
        None => format!("--episode {episode}"),
    };
    commands.push((
        format!("becausal report {run} {which} -o {}", request.file.display()),
        "makes a page about this episode".into(),
    ));
    let explain = format!("becausal explain {run} {which} --step {step}");
    commands.push((explain.clone(), "explains the step that the page opens with".into()));
    if let Some(decision) = decision {
        let action = action_token(&opened.schema, &decision.rival);
        commands.push((
            format!("{explain} --why-not {action}"),
            "compares it with the next best action".into(),
        ));
    }
    if opened.environment.is_some() {
        let policy = if opened.policy.is_some() { "" } else { " --policy random" };
        commands.push((format!("becausal audit {run}{policy}"), "audits more states".into()));
    }
    Ok(commands)
}

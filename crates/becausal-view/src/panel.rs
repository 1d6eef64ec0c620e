//! What the page itself asks for: pieces of HTML and columns to draw.

use std::time::Instant;

use becausal::env::{action_text, parse_action};
use becausal::explain::Change;
use becausal::render::{
    ReportScores, graph_html, learning_html, moment_html, questions_html, scores_html,
    timeline_html,
};
use becausal::trajectory::Step;
use becausal::{Ask, Environment, FoundDecision, Run, Worth};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::Commands;
use crate::courses;
use crate::episodes::Chosen;
use crate::pairs::{self, PairQuery};
use crate::question::{EpisodeQuery, Question, QuestionKind};
use crate::refusal::Refusal;
use crate::site::Site;
use crate::truth::Truth;

/// Decisions of each list.
const LISTED: usize = 8;

/// The most steps of a strip: more do not fit on a screen.
const MAX_STRIP: usize = 100;

/// Pixels of a PNG for each unit of the picture: sharp on a screen of today.
const PNG_SCALE: f64 = 2.0;

/// A part of an episode.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StripQuery {
    place: EpisodeQuery,
    from: usize,
    count: usize,
}

/// An episode that is being played.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayQuery {
    seed: u64,
    actions: Vec<String>,
}

/// A picture of an answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PictureQuery {
    question: Question,
    show: String,
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::unread(format!("the request: {error}")))
}

/// The strip of a part of an episode, and the reward of every step for the overview.
///
/// # Errors
/// When there is no such episode.
pub fn episode(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let query: StripQuery = read(body)?;
    let run = &*site.run;
    let trajectory = site.episodes.find(run, &query.place)?.trajectory(run)?;
    let steps = trajectory.steps();
    let shown: Vec<(usize, &Step)> =
        steps.iter().enumerate().skip(query.from).take(query.count.min(MAX_STRIP)).collect();
    let rewards: Vec<f64> = steps.iter().map(|step| step.rewards.iter().sum()).collect();
    Ok(json!({
        "steps": steps.len(),
        "from": query.from,
        "html": timeline_html(run.schema(), &shown, None),
        "rewards": rewards,
        "terminated": trajectory.terminated(),
    }))
}

/// A step: what happened, its state, and how the other actions compare.
///
/// # Errors
/// When there is no such step.
pub fn moment(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let question: Question = Question::read(body)?;
    let run = &*site.run;
    let schema = run.schema();
    let (chosen, moment) = question.moment(run, &site.episodes)?;
    let taken = &moment.record().steps()[0];
    let scene = if site.draws() {
        run.scenes_of(chosen.source(), question.step, &[moment.state()]).remove(0)
    } else {
        None
    };
    let explainer = run.explainer(&question.ask()?)?;
    let mut actions = run.usual_actions();
    actions.retain(|action| action != moment.action());
    let own = explainer.returns(&moment, &[moment.action().to_vec()])?;
    let returns = explainer.returns(&moment, &actions)?;
    let others: Vec<(Vec<f64>, f64)> =
        actions.into_iter().zip(returns).map(|(action, other)| (action, own[0] - other)).collect();
    let values: serde_json::Map<String, Value> = schema
        .state_slots()
        .zip(moment.state())
        .chain(schema.action_slots().zip(moment.action()))
        .map(|(slot, value)| (schema.slots()[slot].name.clone(), json!(value)))
        .collect();
    Ok(json!({
        "html": moment_html(schema, (question.step, taken), "", scene.as_deref()),
        "questions": questions_html(schema, (question.step, taken), &others),
        "action": action_text(schema, moment.action()),
        "values": values,
    }))
}

/// The answer to a question with all that the page shows of it.
///
/// # Errors
/// When the question cannot be answered.
pub fn answer(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let began = Instant::now();
    let mut question = Question::read(body)?;
    // The page draws what the model predicts, with its bands; what really happens is asked for beside it.
    question.model_only = true;
    let run = &*site.run;
    let (_, moment) = question.moment(run, &site.episodes)?;
    if question.kind() == QuestionKind::WhyNot
        && question.asked_change(run, &moment)?.action.as_deref() == Some(moment.action())
    {
        // Another step may have been chosen since, in which this very action was taken.
        question.action = None;
    }
    let kind = question.kind();
    let answer = question.answer(kind, run, &moment)?;
    let courses = courses::both(run, &answer);
    let commands = Commands::of(run, &question);
    Ok(json!({
        "kind": kind.name(),
        "question": answer.question(),
        "sentence": answer.sentence(),
        "html": answer.html(),
        "text": answer.text(),
        "command": commands.shell,
        "python": commands.python,
        "courses": courses,
        "milliseconds": began.elapsed().as_secs_f64() * 1000.0,
    }))
}

/// The environment's drawings of both courses: what happened, and what the model says of the other.
///
/// # Errors
/// When the question cannot be answered.
pub fn scenes(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let question = Question::read(body)?;
    let run = &*site.run;
    if !site.draws() {
        return Ok(json!({ "factual": [], "other": [] }));
    }
    let (chosen, moment) = question.moment(run, &site.episodes)?;
    let change = question.asked_change(run, &moment)?;
    let compared = run.explainer(&question.ask()?)?.compare(&moment, &change)?;
    let drawn = |course: &becausal::trajectory::Trajectory| {
        let states: Vec<&[f64]> =
            (0..=course.len()).filter_map(|step| course.state(step)).collect();
        run.scenes_of(chosen.source(), question.step, &states)
    };
    // What was recorded is drawn by the environment that does it again: there it may stand on the ground.
    let record = compared.courses[0].recorded_steps();
    let mut factual =
        match run.real_course(chosen.source(), question.step, &Change::default(), record) {
            Ok(real) => real.scenes,
            Err(_) => Vec::new(),
        };
    let predicted = drawn(&compared.courses[0]);
    factual.extend(predicted.into_iter().skip(factual.len()));
    let other =
        if question.kind() == QuestionKind::Why { Vec::new() } else { drawn(&compared.courses[1]) };
    Ok(json!({ "factual": factual, "other": other }))
}

/// What really happens after the change: the course, its drawings, and whether the claim holds.
///
/// # Errors
/// When the environment cannot be replayed, or put into the state.
pub fn real(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let question = Question::read(body)?;
    let truth = Truth::of(&site.run, &site.episodes, &question)?;
    Ok(json!({
        "course": courses::columns(site.run.schema(), &truth.real.trajectory),
        "scenes": truth.real.scenes,
        "difference": truth.difference(),
        "claimed": truth.claimed,
    }))
}

/// Where an episode by hand stands: the last state, its drawing, the rewards, and what the policy would do.
///
/// # Errors
/// When there is no environment, or an action is impossible.
pub fn play(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let query: PlayQuery = read(body)?;
    let run = &*site.run;
    let schema = run.schema();
    let place = EpisodeQuery {
        episode: None,
        seed: Some(query.seed),
        actions: Some(query.actions.clone()),
    };
    let Chosen::Played(episode) = site.episodes.find(run, &place)? else {
        return Err(Refusal::unread("expected a seed"));
    };
    let steps = episode.trajectory().steps();
    let mut environment = run
        .environment()
        .ok_or_else(|| Refusal::unanswered("this run has no environment to play in"))?
        .clone();
    environment.reset(query.seed);
    for action in query.actions.iter().take(steps.len()) {
        environment.step(&parse_action(schema, action)?)?;
    }
    let state = Environment::state(&environment).to_vec();
    let over = episode.trajectory().is_over() || steps.len() < query.actions.len();
    let suggestion = match run.policy() {
        Some(policy) if !over => Some(action_text(schema, &policy.mode(&state))),
        _ => None,
    };
    let values: serde_json::Map<String, Value> = schema
        .state_slots()
        .zip(&state)
        .map(|(slot, value)| {
            (schema.slots()[slot].name.clone(), json!(schema.variable_of(slot).kind.show(*value)))
        })
        .collect();
    let rewards: Vec<f64> = steps.iter().map(|step| step.rewards.iter().sum()).collect();
    Ok(json!({
        "steps": steps.len(),
        "values": values,
        "scene": environment.scene(),
        "reward": rewards.last(),
        "total": rewards.iter().sum::<f64>(),
        "over": over,
        "suggestion": suggestion,
    }))
}

/// A kind of decisions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionsQuery {
    find: String,
}

/// The decisions that are worth a look, as `becausal explain --find` lists them.
///
/// # Errors
/// When there is no such kind, or they cannot be found.
pub fn decisions(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let DecisionsQuery { find } = read(body)?;
    let known = Worth::ALL.map(Worth::name);
    let worth = Worth::ALL.into_iter().find(|worth| worth.name() == find).ok_or_else(|| {
        Refusal::unread(format!("`find` is `{find}`, expected one of {}", known.join(", ")))
    })?;
    site.worth(worth, || {
        let found = site.run.find(worth, LISTED, &Ask::default().model_only(true))?;
        Ok(json!({
            "title": worth.title(),
            "words": worth.words(),
            "amount": worth.meaning(),
            "found": found.iter().map(FoundDecision::json).collect::<Vec<_>>(),
        }))
    })
}

/// The evidence for a pair of the graph.
///
/// # Errors
/// When there is no such pair.
pub fn pair(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let query: PairQuery = read(body)?;
    pairs::evidence(&site.run, &query)
}

/// Where the influence of a pair acts.
///
/// # Errors
/// When there is no such pair.
pub fn acts(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let query: PairQuery = read(body)?;
    pairs::acts(&site.run, &query)
}

/// The graph: as a map, and as a report has it.
pub fn graph(site: &Site) -> Value {
    let run = &*site.run;
    json!({
        "map": pairs::map(run),
        "html": run.graph().get().map(|graph| graph_html(graph, run.schema())),
    })
}

/// The learning curves, and how to audit the run.
///
/// # Errors
/// When the curves cannot be read.
pub fn about(site: &Site) -> Result<Value, Refusal> {
    let run = &*site.run;
    Ok(json!({
        "learning": run.learning()?.as_ref().map(learning_html),
        "folder": run.path().map(becausal::quoted_path),
    }))
}

/// How well the model predicts.
pub fn scores(run: &Run) -> Value {
    let found = run.scores();
    let scores = ReportScores { scores: found.scores, on: found.on.words().to_owned() };
    json!({ "html": scores_html(&scores) })
}

/// A picture of an answer as PNG: `chain`, or `worth` for the reward difference.
///
/// # Errors
/// When the question cannot be answered, or has no such picture.
pub fn png(site: &Site, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let PictureQuery { question, show } = read(body)?;
    let (_, moment) = question.moment(&site.run, &site.episodes)?;
    let answer = question.answer(question.kind(), &site.run, &moment)?;
    let worth = if show == "worth" { answer.worth()? } else { None };
    let drawing = match worth {
        Some(worth) => worth,
        None => answer.drawing()?,
    };
    drawing.png(PNG_SCALE).map_err(Refusal::unanswered)
}

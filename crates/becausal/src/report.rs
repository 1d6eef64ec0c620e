//! One page about a run: what was learned, an episode explained, how far to trust it.

use std::ops::Range;
use std::path::PathBuf;

use becausal_core::env::action_text;
use becausal_core::progress::{Listener, Tracker};
use becausal_explain::{Ask, Audit, AuditParams, Explainer, Moment, Worth};
use becausal_render::{
    self as render, ReportDecision, ReportLearning, ReportScores, ReportStep, ReportWorth,
};
use rayon::prelude::*;

use crate::episode::{Episode, replay_steps};
use crate::error::Error;
use crate::record::{Record, quoted, quoted_path};
use crate::run::{FoundDecision, Metrics, Run, ScoredOn};
use crate::saved_policy::PolicyOwner;
use crate::subject::Subject;
use becausal_core::text::counted;

/// Decisions of each kind that a page lists.
const LISTED: usize = 3;

/// The most steps that a page explains: its size grows with them.
const MAX_STEPS: usize = 40;

/// Steps that the answers of a page look ahead.
const HORIZON: usize = 5;

/// What a page is to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportParams {
    /// A recorded episode; `None` for the decision that mattered most.
    pub episode: Option<usize>,
    /// An episode that the run's policy plays from this seed.
    pub episode_seed: Option<u64>,
    /// How many steps are explained, 1 to 40.
    pub steps: usize,
    /// How many steps an answer looks ahead.
    pub horizon: usize,
    /// States of the audit.
    pub states: usize,
    /// The name that the page will have, for the commands it shows.
    pub file: PathBuf,
    /// The commands that made the run, each with what it does; empty for what the run itself knows.
    pub made_by: Vec<(String, String)>,
    /// Hears how far the page is. It cannot stop it.
    pub progress: Listener,
}

impl Default for ReportParams {
    fn default() -> Self {
        Self {
            episode: None,
            episode_seed: None,
            steps: 24,
            horizon: HORIZON,
            states: 60,
            file: PathBuf::from("report.html"),
            made_by: Vec::new(),
            progress: Listener::default(),
        }
    }
}

/// A page, and what stands out in it.
#[derive(Debug)]
pub struct ReportPage {
    /// The page: one HTML text that loads nothing.
    pub html: String,
    /// The recorded episode, or the place of the new one among those played.
    pub episode: usize,
    /// The seed of the episode, where the policy played it.
    pub episode_seed: Option<u64>,
    /// The step that it opens with.
    pub opening: ReportStep,
    /// How many steps are explained.
    pub steps: usize,
    /// Why the page opens there: the first of the decisions that are worth a look; `None` if none is.
    pub decision: Option<(Worth, FoundDecision)>,
    /// The audit, or why there is none.
    pub audit: Result<Audit, String>,
}

impl Run {
    /// Makes a page about the run.
    ///
    /// # Errors
    /// When there is no such episode, a parameter is out of its range, or the run has no steps.
    pub fn report(&self, params: &ReportParams) -> Result<ReportPage, Error> {
        if !(1..=MAX_STEPS).contains(&params.steps) {
            let got = params.steps.to_string();
            return Err(Error::Parameter { parameter: "steps", expected: "1 to 40", got });
        }
        let subject = match (params.episode, params.episode_seed) {
            (_, Some(seed)) => Subject::played(self, std::iter::once(seed))?,
            (None, None) => Subject::of(self)?,
            (Some(_), None) => Subject::recorded(self),
        };
        let data = &*subject.data;
        if let Some(episode) = params.episode.filter(|&episode| episode >= data.episodes()) {
            let episodes = data.episodes();
            return Err(
                becausal_core::trajectory::TrajectoryError::Episode { episode, episodes }.into()
            );
        }
        self.checked(self.page(params, &subject))?
    }

    fn page(&self, params: &ReportParams, subject: &Subject<'_>) -> Result<ReportPage, Error> {
        let data = &*subject.data;
        let explainer = self.trying_explainer(&Ask::default().horizon(params.horizon))?;
        let actions = self.usual_actions();
        let lists = self.worth_a_look(params, subject)?;
        let mut firsts = lists.iter().filter_map(|(worth, found)| Some((*worth, found.first()?)));
        let decision = firsts.next().map(|(worth, first)| (worth, first.clone()));
        let opens_at = decision.as_ref().map(|(_, decision)| &decision.found);
        let episode = opens_at.map_or(params.episode.unwrap_or(0), |found| found.episode);
        let length = if data.episodes() == 0 { 0 } else { data.episode(episode).len() };
        let middle = opens_at.map_or(0, |found| found.step);
        let start =
            middle.saturating_sub(params.steps / 2).min(length.saturating_sub(params.steps));
        let shown = start..length.min(start + params.steps);
        let rival = opens_at.and_then(|found| found.rival.clone());
        let worth = lists.iter().map(|list| self.listed(list, (episode, &shown))).collect();
        let watch = Tracker::begin(&params.progress, "explain", "steps", shown.len());
        let mut steps: Vec<ReportStep> = shown
            .into_par_iter()
            .map(|step| {
                let moment = subject.moment(self, episode, step);
                let shown = moment.and_then(|moment| explain(&explainer, &moment, &actions));
                watch.advance(1.0, "");
                shown
            })
            .collect::<Result<_, Error>>()?;
        // Environments stay on one thread.
        for (step, shown) in (start..).zip(&mut steps) {
            shown.scene = self.scene_of(subject, episode, step);
        }
        let place = middle - start;
        let opening = steps.get(place).cloned().ok_or_else(|| Error::Missing {
            part: "recorded steps",
            why: "a report explains some".to_owned(),
        })?;
        let report = render::Report {
            schema: self.schema(),
            rows: self.data().len(),
            episodes: self.data().episodes(),
            graph: self.graph().get(),
            scores: Some(self.report_scores(subject)),
            learning: self.learning()?,
            audit: self.audited(params),
            audit_policy: self
                .policy_owner()
                .map_or_else(|| "random actions".to_owned(), |owner| owner.words()),
            subject: words(subject, episode, self.policy_owner().as_ref()),
            remark: remark(decision.as_ref(), params.horizon),
            commands: self.commands(params, subject, (episode, middle), rival.as_deref()),
            opening: place,
            worth,
            rival,
            steps,
        };
        let html = report.html();
        let render::Report { audit, steps, .. } = report;
        let episode_seed = subject.played.get(episode).map(Episode::seed);
        Ok(ReportPage { html, episode, episode_seed, opening, steps: steps.len(), decision, audit })
    }

    /// The decisions that are worth a look, by kind, as [`find`](Self::find) finds them.
    fn worth_a_look(
        &self,
        params: &ReportParams,
        subject: &Subject<'_>,
    ) -> Result<Vec<(Worth, Vec<FoundDecision>)>, Error> {
        let ask = Ask::default().horizon(params.horizon);
        let found =
            |worth| Ok((worth, self.find_in(subject, params.episode, worth, LISTED, &ask)?));
        Worth::ALL.into_iter().map(found).collect()
    }

    /// A list of them for the page; those among the shown steps lead there.
    fn listed(
        &self,
        (worth, found): &(Worth, Vec<FoundDecision>),
        (shown_episode, shown): (usize, &Range<usize>),
    ) -> ReportWorth {
        let run = self.path().map_or_else(|| "RUN".to_owned(), quoted_path);
        let decision = |decision: &FoundDecision| {
            let (episode, step) = (decision.found.episode, decision.found.step);
            let is_shown = episode == shown_episode && shown.contains(&step);
            ReportDecision {
                place: match decision.seed {
                    Some(seed) => format!("seed {seed}, step {step}"),
                    None => format!("episode {episode}, step {step}"),
                },
                action: decision.action.clone(),
                sentence: decision.sentence.clone(),
                shown: is_shown.then(|| (step, decision.rival.clone())),
                command: format!("becausal explain {run} {}", decision.options()),
            }
        };
        ReportWorth { worth: *worth, decisions: found.iter().map(decision).collect() }
    }

    fn scene_of(&self, subject: &Subject<'_>, episode: usize, step: usize) -> Option<String> {
        use becausal_core::Environment;
        let Some(played) = subject.played.get(episode) else {
            return self.scene(episode, step);
        };
        let mut environment = self.environment()?.clone();
        let before = played.trajectory().steps().get(..step)?;
        replay_steps(&mut environment, played.seed(), before).ok()?;
        environment.scene()
    }

    /// The audit, or why there is none.
    fn audited(&self, params: &ReportParams) -> Result<Audit, String> {
        let params = AuditParams {
            states: params.states,
            horizon: params.horizon,
            progress: params.progress.clone(),
            ..AuditParams::default()
        };
        let audited = match self.policy() {
            Some(_) => self.audit(&params),
            None => self.audit_at_random(&params),
        };
        audited.map_err(|error| format!("{error}."))
    }

    /// How well the model predicts: in episodes that the policy played anew, or in held-out ones.
    fn report_scores(&self, subject: &Subject<'_>) -> ReportScores {
        if !subject.played.is_empty() {
            let on = format!(
                "{} that {}",
                counted(subject.played.len(), "episode"),
                match self.policy_owner() {
                    Some(owner @ PolicyOwner::Agent(_)) => format!("{} played anew", owner.words()),
                    _ => "the policy played after the training".to_owned(),
                }
            );
            return ReportScores { scores: self.model().score(&subject.data), on };
        }
        let scored = self.scores();
        ReportScores { scores: scored.scores, on: scored.on.words().to_owned() }
    }

    /// The curves of a training; `None` where there was none.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn learning(&self) -> Result<Option<ReportLearning>, Error> {
        let Some(path) = self.path() else { return Ok(None) };
        let Some(metrics) = Metrics::read(path)? else { return Ok(None) };
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

    /// How the page was made, and what to try next.
    fn commands(
        &self,
        params: &ReportParams,
        subject: &Subject<'_>,
        (episode, step): (usize, usize),
        rival: Option<&[f64]>,
    ) -> Vec<(String, String)> {
        let mut commands = params.made_by.clone();
        let Some(path) = self.path() else { return commands };
        if let (Record::Fit(fit), true) = (self.record(), commands.is_empty())
            && let Some(command) = fit.command(path)
        {
            commands.push((command, "learned the world model".into()));
        }
        let run = quoted_path(path);
        let which = subject.option(episode);
        commands.push((
            format!("becausal report {run} {which} -o {}", quoted_path(&params.file)),
            "makes a page about this episode".into(),
        ));
        let explain = format!("becausal explain {run} {which} --step {step}");
        commands.push((explain.clone(), "explains the step that the page opens with".into()));
        if let Some(rival) = rival {
            let action = quoted(&action_text(self.schema(), rival));
            commands.push((
                format!("{explain} --why-not {action}"),
                "compares it with the other action".into(),
            ));
        }
        if self.environment().is_some() {
            let policy = if self.policy().is_some() { "" } else { " --policy random" };
            commands.push((format!("becausal audit {run}{policy}"), "audits more states".into()));
        }
        commands
    }
}

impl ScoredOn {
    /// The rows, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::HeldOut => "held-out episodes: neither discovery nor the fit saw them",
            Self::HeldOutOfFit => {
                "held-out episodes: the fit did not see them, but the graph may have been discovered from them"
            }
            Self::HeldOutStretches => {
                "held-out stretches of the log: neither discovery nor the fit saw them, but both saw the rows before and after"
            }
            Self::Test => "another log",
            Self::Training => "the rows that it learned from: nothing was held out",
            Self::TestIsGone => {
                "the rows that it learned from: the log that it was scored on is not in the run"
            }
        }
    }
}

/// Which episode the page is about.
fn words(subject: &Subject<'_>, episode: usize, owner: Option<&PolicyOwner>) -> String {
    match subject.played.get(episode) {
        Some(played) => format!(
            "An episode that {} played from seed {}, always with its most likely action.",
            match owner {
                Some(owner @ PolicyOwner::Agent(_)) => owner.words(),
                _ => "the trained policy".to_owned(),
            },
            played.seed()
        ),
        None => format!("Recorded episode {episode}, counted from 0."),
    }
}

/// A step and every other action.
fn explain(
    explainer: &Explainer<'_>,
    moment: &Moment,
    actions: &[Vec<f64>],
) -> Result<ReportStep, Error> {
    let others = actions.iter().filter(|action| *action != moment.action());
    let contrasts = others.map(|action| explainer.why_not(moment, action));
    Ok(ReportStep {
        why: explainer.why_rather(moment)?,
        contrasts: contrasts.collect::<Result<_, _>>()?,
        scene: None,
    })
}

/// Why the page opens where it does.
fn remark(decision: Option<&(Worth, FoundDecision)>, horizon: usize) -> String {
    let Some((worth, FoundDecision { found, tried, rival, .. })) = decision else {
        let steps = counted(horizon, "step");
        return format!(
            "★ In no decision does the choice clearly matter over {steps}, by the model."
        );
    };
    let amount = found.amount;
    let (than, basis) = match (tried, rival) {
        (true, Some(rival)) => (rival.as_str(), "tried in the environment"),
        _ => ("the next best", "by the model"),
    };
    match worth {
        Worth::Costly => format!(
            "★ Most is at stake here: the action taken earns {amount:.3} more reward than {than}, {basis}."
        ),
        Worth::Mistakes => {
            format!("★ Perhaps a mistake: another action earns {amount:.3} more reward, {basis}.")
        }
        Worth::Close => "★ The closest call: two actions were nearly as likely.".to_owned(),
        Worth::Surprising => "★ What followed was least expected here, by the model.".to_owned(),
    }
}

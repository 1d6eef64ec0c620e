//! What is asked, as it stands in a request.

use becausal::explain::Change;
use becausal::{Answer, Ask, Moment, Run};
use serde::Deserialize;

use crate::episodes::{Chosen, Episodes};
use crate::refusal::Refusal;

/// The most steps that an answer in the viewer looks ahead: it is to come while somebody waits.
pub const MAX_HORIZON: usize = 200;

/// Which episode: a recorded one, or one from a seed, played by the policy or by hand.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeQuery {
    /// A recorded episode, counted from 0.
    #[serde(default)]
    pub episode: Option<usize>,
    /// The seed of a new one.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Its actions, where it is played by hand.
    #[serde(default)]
    pub actions: Option<Vec<String>>,
}

impl EpisodeQuery {
    /// Whether it is the beginning of another episode by hand.
    pub fn begins(&self, other: &Self) -> bool {
        self.seed == other.seed
            && match (&self.actions, &other.actions) {
                (Some(begun), Some(longer)) => longer.starts_with(begun),
                _ => false,
            }
    }
}

/// A question about a step.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    #[serde(default)]
    episode: Option<usize>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    actions: Option<Vec<String>>,
    /// The step, counted from 0.
    pub step: usize,
    /// Another action, for *why not*: `depot`, or `main=0.5,lateral=-1`.
    #[serde(default)]
    pub action: Option<String>,
    /// A change of the state, the action or both, for *what if*: `money=400,build=none`.
    #[serde(default)]
    pub change: Option<String>,
    /// How many steps to look ahead.
    #[serde(default)]
    pub horizon: Option<usize>,
    /// The threshold of influences.
    #[serde(default)]
    pub tau: Option<f64>,
    /// The reward terms asked about; all without any.
    #[serde(default)]
    pub rewards: Vec<String>,
    /// The discount factor per step.
    #[serde(default)]
    pub discount: Option<f64>,
    /// Whether the model alone answers, even where the other course can be tried in the environment.
    #[serde(default)]
    pub model_only: bool,
}

/// The three questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// Why this action?
    Why,
    /// Why not another one?
    WhyNot,
    /// What if something had been different?
    WhatIf,
}

impl QuestionKind {
    /// As in the addresses of the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::WhyNot => "why-not",
            Self::WhatIf => "what-if",
        }
    }
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// When it is not JSON of this form.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(body)
            .map_err(|error| Refusal::unread(format!("the question: {error}")))
    }

    /// Which episode it is about.
    pub fn episode(&self) -> EpisodeQuery {
        EpisodeQuery { episode: self.episode, seed: self.seed, actions: self.actions.clone() }
    }

    /// The question that its fields make.
    pub fn kind(&self) -> QuestionKind {
        match (&self.change, &self.action) {
            (Some(_), _) => QuestionKind::WhatIf,
            (None, Some(_)) => QuestionKind::WhyNot,
            (None, None) => QuestionKind::Why,
        }
    }

    /// Its parameters.
    ///
    /// # Errors
    /// When the horizon is too long to wait for.
    pub fn ask(&self) -> Result<Ask, Refusal> {
        let mut ask =
            Ask { rewards: self.rewards.clone(), model_only: self.model_only, ..Ask::default() };
        if let Some(horizon) = self.horizon {
            if horizon > MAX_HORIZON {
                return Err(Refusal::unanswered(format!(
                    "`horizon` is {horizon}, expected at most {MAX_HORIZON} in the viewer"
                )));
            }
            ask = ask.horizon(horizon);
        }
        if let Some(tau) = self.tau {
            ask = ask.tau(tau);
        }
        if let Some(discount) = self.discount {
            ask = ask.discount(discount);
        }
        ask.check()?;
        Ok(ask)
    }

    /// The episode and the moment it is about.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn moment(&self, run: &Run, episodes: &Episodes) -> Result<(Chosen, Moment), Refusal> {
        let chosen = episodes.find(run, &self.episode())?;
        let moment = run.moment(chosen.source(), self.step)?;
        Ok((chosen, moment))
    }

    /// The change that it asks about; an empty one for *why*.
    ///
    /// # Errors
    /// When there is no such variable or value.
    pub fn asked_change(&self, run: &Run, moment: &Moment) -> Result<Change, Refusal> {
        match self.change.as_ref().or(self.action.as_ref()) {
            Some(text) => Ok(Change::parse(run.schema(), text, moment.action())?),
            None => Ok(Change::default()),
        }
    }

    /// The answer of the run, as `becausal explain` gives it.
    ///
    /// # Errors
    /// When the question cannot be answered, or lacks the action or change that its kind needs.
    pub fn answer(
        &self,
        kind: QuestionKind,
        run: &Run,
        moment: &Moment,
    ) -> Result<Answer, Refusal> {
        let ask = self.ask()?;
        let missing = |field: &str| {
            Refusal::unread(format!("the question: `{field}` is missing, expected a text"))
        };
        Ok(match kind {
            QuestionKind::Why => run.why(moment, &ask)?,
            QuestionKind::WhyNot => {
                run.why_not(moment, self.action.as_ref().ok_or_else(|| missing("action"))?, &ask)?
            }
            QuestionKind::WhatIf => {
                run.what_if(moment, self.change.as_ref().ok_or_else(|| missing("change"))?, &ask)?
            }
        })
    }
}

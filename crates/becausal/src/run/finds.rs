//! Which decisions of a run to look at, and what would have turned one.

use becausal_core::env::{action_text, parse_action};
use becausal_core::{Environment, Transitions};
use becausal_explain::{Ask, Change, ExplainError, Found, Moment, Turning, Worth, find};
use becausal_render::number::brief;
use becausal_render::{surprise_text, turning_json, turning_text};
use serde_json::{Value, json};

use super::Run;
use crate::answer::Answer;
use crate::episode::Episode;
use crate::error::Error;
use crate::record::option;
use crate::subject::Subject;

/// Steps that are only looked at, at most: one call of the model or the policy each, some seconds in all.
const MAX_LOOKED_AT: usize = 5000;

/// Steps in which every other action is simulated, at most: some seconds at the lander's size.
const MAX_COMPARED: usize = 500;

/// A decision that is worth a look.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundDecision {
    /// Where it is, and how much it is worth.
    pub found: Found,
    /// The seed of the episode, where the policy played it anew; otherwise it is a recorded one.
    pub seed: Option<u64>,
    /// The action taken.
    pub action: String,
    /// The action that it was compared with, where there is one.
    pub rival: Option<String>,
    /// What there is to see, in a sentence or two.
    pub sentence: String,
    /// How the sentence was asked for; without a rival, how decisions were looked for.
    pub asked: Ask,
    /// Whether the rival was tried in the environment: the sentence, and the amount of costly decisions and mistakes, are
    /// then not the model's.
    pub tried: bool,
}

/// Decisions that are tried at least before the first ones are told.
const MIN_TRIED: usize = 10;

impl FoundDecision {
    /// The options of `becausal explain` that ask about it.
    #[must_use]
    pub fn options(&self) -> String {
        let which = match self.seed {
            Some(seed) => format!("--episode-seed {seed}"),
            None => format!("--episode {}", self.found.episode),
        };
        let mut text = format!("{which} --step {}", self.found.step);
        let rival = self.rival.iter().map(|rival| ("why-not", rival.clone()));
        let rewards = self.asked.rewards.iter().map(|name| ("reward", name.clone()));
        for (name, value) in rival.chain(self.asked.changed()).chain(rewards) {
            text.push_str(&option(name, &value));
        }
        if self.asked.model_only {
            text.push_str(" --model-only");
        }
        text
    }

    /// How much, in words: `5.4 less reward than main, tried in the environment`.
    #[must_use]
    pub fn amount(&self, worth: Worth) -> String {
        let amount = match worth {
            Worth::Close => format!("{:.2} points", 100.0 * self.found.amount),
            _ => brief(self.found.amount),
        };
        match (worth, &self.rival) {
            (Worth::Costly, Some(rival)) if self.tried => {
                format!("{amount} more reward than {rival}, tried in the environment")
            }
            (Worth::Mistakes, Some(rival)) if self.tried => {
                format!("{amount} less reward than {rival}, tried in the environment")
            }
            _ => format!("{amount} {}", worth.meaning()),
        }
    }

    /// Everything, for other programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "episode": if self.seed.is_some() { Value::Null } else { json!(self.found.episode) },
            "episode_seed": self.seed,
            "step": self.found.step,
            "action": self.action,
            "rival": self.rival,
            "horizon": self.asked.horizon.of_chain(),
            "amount": self.found.amount,
            "sentence": self.sentence,
            "tried": self.tried,
        })
    }
}

/// What would have turned the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TurningPoint {
    /// The change.
    pub turning: Turning,
    /// Whether the agent does so in the environment, once it is put into the changed state; `None` where there is no
    /// environment, or it cannot be put into this state.
    pub possible: Option<bool>,
    /// In a sentence.
    pub sentence: String,
    json: Value,
}

impl TurningPoint {
    /// Everything, for other programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut json = self.json.clone();
        json["possible"] = json!(self.possible);
        json
    }
}

impl Run {
    /// The decisions that are most worth a look, at most `count`: in ten episodes that the policy plays anew, or in the
    /// recorded ones where there is no policy or no environment. Actions are compared over the steps of a chain: by the model
    /// to find decisions, then, where they can be tried, in copies of the environment. What these deny is left out.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn find(&self, worth: Worth, count: usize, ask: &Ask) -> Result<Vec<FoundDecision>, Error> {
        self.find_in(&Subject::of(self)?, None, worth, count, ask)
    }

    /// The same in some episodes, or in one of them.
    pub(crate) fn find_in(
        &self,
        subject: &Subject<'_>,
        episode: Option<usize>,
        worth: Worth,
        count: usize,
        ask: &Ask,
    ) -> Result<Vec<FoundDecision>, Error> {
        let data = &*subject.data;
        let steps = ask.horizon.of_chain();
        let compared = ask.clone().horizon(steps);
        let explainer = self.trying_explainer(&compared)?;
        let actions = self.usual_actions();
        let places = places(data, episode, worth);
        let found = self.checked(find(&explainer, data, &actions, &places, worth))??;
        let mut decisions = Vec::new();
        for mut found in found {
            // What was tried is worth something else than the model said: some more are looked at than are told.
            if decisions.len() == count.max(MIN_TRIED) {
                break;
            }
            let moment = subject.moment(self, found.episode, found.step)?;
            let mut tried = false;
            let sentence = match &found.rival {
                // Nothing was learned about an action that the data never have.
                Some(rival) if self.check_seen("", &Change::action(rival)).is_err() => continue,
                Some(rival) => {
                    let contrast = self.checked(explainer.why_not(&moment, rival))??;
                    // What may be nothing is no mistake and costs nothing. Neither does what is made up for later,
                    // by the agent's own estimate.
                    let is_clear = contrast.claim().is_some() && !contrast.is_outweighed_later();
                    if worth != Worth::Close && !is_clear {
                        continue;
                    }
                    tried = contrast.is_tried();
                    if tried && worth != Worth::Close {
                        let lead = contrast.credit.difference();
                        found.amount = if worth == Worth::Costly { lead } else { -lead };
                        if found.amount <= 0.0 || !contrast.is_noticeable() {
                            continue;
                        }
                    }
                    Answer::Contrast(Box::new(contrast)).sentence()
                }
                None => surprise_text(self.model(), moment.record()).unwrap_or_default(),
            };
            let seed = subject.played.get(found.episode).map(Episode::seed);
            let action = action_text(self.schema(), moment.action());
            let rival = found.rival.as_ref().map(|rival| action_text(self.schema(), rival));
            let asked = if rival.is_some() { &compared } else { ask }.clone();
            decisions.push(FoundDecision { found, seed, action, rival, sentence, asked, tried });
        }
        if matches!(worth, Worth::Costly | Worth::Mistakes) {
            // Equal ones stay in order.
            decisions.sort_by(|a, b| b.found.amount.total_cmp(&a.found.amount));
        }
        decisions.truncate(count);
        Ok(decisions)
    }

    /// The smallest change of the state after which the agent would most likely have taken an action (any other one if
    /// `None`), within the range of the data; tried in the environment where it can be put into a state.
    /// `None` where no such change was found.
    ///
    /// # Errors
    /// When there is no policy, or no such action.
    pub fn until_action(
        &self,
        moment: &Moment,
        action: Option<&str>,
    ) -> Result<Option<TurningPoint>, Error> {
        let policy = self.policy().ok_or_else(|| Error::Missing {
            part: "policy",
            why: "nobody can say what would have turned the agent".to_owned(),
        })?;
        let numbers = |slot: usize| !self.schema.variable_of(slot).kind.is_label();
        if let Some(slot) = self.schema.action_slots().find(|&slot| numbers(slot)) {
            return Err(ExplainError::Change {
                text: action.unwrap_or("any").to_owned(),
                message: format!(
                    "expected an agent that chooses among labels; `{}` is a number, which every change of the state moves a little",
                    self.schema.slots()[slot].name
                ),
            }
            .into());
        }
        let wanted = action.map(|text| parse_action(&self.schema, text)).transpose()?;
        let likeliest = policy.mode(moment.state());
        if wanted.as_ref() == Some(&likeliest) {
            let action = action_text(&self.schema, &likeliest);
            return Err(ExplainError::SameAction { action }.into());
        }
        let explainer = self.explainer(&Ask::default())?;
        let turning = explainer.turning(moment, wanted.as_deref(), &self.data);
        let Some(turning) = self.checked(turning)? else { return Ok(None) };
        let sentence = turning_text(&self.schema, moment.state(), &turning);
        let json = turning_json(&self.schema, moment.state(), &turning);
        let mut state = moment.state().to_vec();
        for &(slot, value) in &turning.changes {
            state[slot] = value;
        }
        let possible = self.environment().and_then(|environment| {
            let mut there = environment.clone();
            there.reset(0);
            there
                .set_state(&state)
                .then(|| policy.mode(Environment::state(&there)) == turning.action)
        });
        Ok(Some(TurningPoint { turning, possible, sentence, json }))
    }
}

/// Steps to look at, evenly spread over all episodes or over one.
fn places(data: &Transitions, episode: Option<usize>, worth: Worth) -> Vec<(usize, usize)> {
    let episodes = episode.map_or(0..data.episodes(), |episode| episode..episode + 1);
    let all: Vec<(usize, usize)> = episodes
        .flat_map(|episode| (0..data.episode(episode).len()).map(move |step| (episode, step)))
        .collect();
    let most = match worth {
        Worth::Surprising | Worth::Close => MAX_LOOKED_AT,
        Worth::Costly | Worth::Mistakes => MAX_COMPARED,
    };
    let count = all.len().min(most);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

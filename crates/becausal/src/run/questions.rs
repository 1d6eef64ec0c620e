//! What a run is asked.

use std::sync::{Mutex, PoisonError};

use becausal_core::env::{AnyEnvironment, action_text, typical_actions};
use becausal_core::{Environment, Preset, World};
use becausal_explain::{
    Anchor, Ask, Change, Company, ExplainError, Explainer, InfluenceBy, Moment, NEGLIGIBLE,
};
use becausal_model::ModelKind;

use super::{KeptAudit, Run};
use crate::answer::Answer;
use crate::error::Error;

/// Actions that a step is asked about, at most: more do not fit on a page.
const MAX_ACTIONS: usize = 16;

/// Moments at which the environment is kept while questions are answered: as many as threads ask about at once, and more.
const MAX_REPLAYED: usize = 32;

impl Run {
    /// The explainer that answers every question about this run. Where the policy can fail
    /// ([`Policy::check`](becausal_core::Policy::check)), ask it afterwards whether it did.
    ///
    /// # Errors
    /// When a parameter is out of its range, or there is no reward of a name.
    pub fn explainer(&self, ask: &Ask) -> Result<Explainer<'_>, Error> {
        let mut ask = Ask { preset: Some(ask.preset.unwrap_or(self.preset())), ..ask.clone() };
        if ask.influence.is_none() && self.model.kind() == ModelKind::Mlp {
            // A dense network has no attention, whatever the preset.
            ask.influence = Some(InfluenceBy::State);
        }
        let explainer = Explainer::new(&self.model, self.policy(), self.graph.as_ref(), ask)?
            .with_rows(&self.data);
        let explainer = explainer.with_scale(self.scale.clone(), NEGLIGIBLE);
        let explainer = match &self.audited {
            Some(KeptAudit { track, calibration }) => {
                explainer.with_track(Some(*track)).with_calibration(calibration.clone())
            }
            None => explainer,
        };
        let labels = |slot: usize| self.schema.variable_of(slot).kind.is_label();
        let known = self.schema.action_slots().all(labels).then(|| self.usual_actions());
        let explainer = explainer.with_actions(known.filter(|known| !known.is_empty()));
        Ok(match self.policy() {
            Some(_) => explainer.with_company(Company::of(&self.data)),
            None => explainer,
        })
    }

    /// The explainer of one question: it tries the other course in copies of the environment, where it can, unless the model
    /// alone is asked.
    pub(crate) fn trying_explainer(&self, ask: &Ask) -> Result<Explainer<'_>, Error> {
        let explainer = self.explainer(ask)?;
        if ask.model_only || ask.preset.unwrap_or(self.preset()) == Preset::Paper {
            return Ok(explainer);
        }
        // All courses begin where the environment stood at the moment, and replaying it may take a while.
        let replayed: Mutex<Vec<(Anchor, Option<AnyEnvironment>)>> = Mutex::default();
        Ok(explainer.with_copies(Box::new(move |moment, state| {
            let Some(anchor) = moment.anchor() else { return Ok(None) };
            let mut replayed = replayed.lock().unwrap_or_else(PoisonError::into_inner);
            let stood = if let Some((_, stood)) = replayed.iter().find(|(known, _)| known == anchor)
            {
                stood.clone()
            } else {
                let stood = self.stood_at(anchor, moment)?;
                if replayed.len() == MAX_REPLAYED {
                    replayed.remove(0);
                }
                replayed.push((anchor.clone(), stood.clone()));
                stood
            };
            drop(replayed);
            let stood = stood.filter(|stood| Environment::state(stood) == moment.state());
            let Some(mut copy) = stood else { return Ok(None) };
            let is_there = state == moment.state() || copy.set_state(state);
            Ok(is_there.then(|| Box::new(copy) as Box<dyn World>))
        })))
    }

    /// Why was this action taken: what does it lead to?
    ///
    /// # Errors
    /// When a parameter is out of its range, or the moment is of other variables.
    pub fn why(&self, moment: &Moment, ask: &Ask) -> Result<Answer, Error> {
        let why = self.trying_explainer(ask)?.why_rather(moment);
        Ok(Answer::Why(Box::new(self.checked(why)??)))
    }

    /// Why this action and not another: `depot`, or `main=0.5,lateral=-1`?
    ///
    /// # Errors
    /// When there is no such action, a parameter is out of its range, or the moment is of other variables.
    pub fn why_not(&self, moment: &Moment, action: &str, ask: &Ask) -> Result<Answer, Error> {
        let change = Change::parse(&self.schema, action, moment.action())?;
        if let Some(&(slot, _)) = change.state.first() {
            let message = format!(
                "`{}` is a state: ask what if it had been different",
                self.schema.slots()[slot].name
            );
            return Err(ExplainError::Change { text: action.to_owned(), message }.into());
        }
        if change.action.as_deref() == Some(moment.action()) {
            let action = action_text(&self.schema, moment.action());
            return Err(ExplainError::SameAction { action }.into());
        }
        self.check_seen(action, &change)?;
        self.contrast(moment, &change, ask)
    }

    /// What if the state, the action or both had been different: `money=400,build=none`?
    ///
    /// # Errors
    /// When there is no such variable or value, a parameter is out of its range, or the moment is of
    /// other variables.
    pub fn what_if(&self, moment: &Moment, change: &str, ask: &Ask) -> Result<Answer, Error> {
        let (text, change) = (change, Change::parse(&self.schema, change, moment.action())?);
        self.check_seen(text, &change)?;
        self.contrast(moment, &change, ask)
    }

    /// Compares what happened with something else, and adds the agent's side.
    fn contrast(&self, moment: &Moment, change: &Change, ask: &Ask) -> Result<Answer, Error> {
        let explainer = self.trying_explainer(ask)?;
        // The agent's side takes about as long as one of the chains.
        let answered =
            rayon::join(|| explainer.what_if(moment, change), || explainer.choice(moment));
        let (contrast, choice) = self.checked(answered)?;
        let mut contrast = contrast?;
        contrast.factual.choice = choice;
        Ok(Answer::Contrast(Box::new(contrast)))
    }

    /// The actions to ask about, at most 16, without those that the data never have; none where there are more.
    #[must_use]
    pub fn usual_actions(&self) -> Vec<Vec<f64>> {
        let mut actions = typical_actions(&self.schema, MAX_ACTIONS);
        let seen = |action: &Vec<f64>| self.check_seen("", &Change::action(action)).is_ok();
        actions.retain(seen);
        actions
    }

    /// Refuses an action with a label that the data never have: nothing was learned about it.
    pub(super) fn check_seen(&self, text: &str, change: &Change) -> Result<(), Error> {
        for (slot, &value) in self.schema.action_slots().zip(change.action.iter().flatten()) {
            let kind = &self.schema.variable_of(slot).kind;
            let column = self.data.column(slot);
            if kind.is_label() && !(0..column.len()).any(|row| column.get(row) == value) {
                let message = format!(
                    "cannot be told from this data: `{}` is never {} in it",
                    self.schema.slots()[slot].name,
                    kind.show(value)
                );
                return Err(ExplainError::Change { text: text.to_owned(), message }.into());
            }
        }
        Ok(())
    }
}

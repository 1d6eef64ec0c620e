//! The answer to a question.

use std::fmt;

use becausal_explain::{Contrast, Why};
use becausal_render::{
    Drawing, Explained, Picture, chain_layout, contrast_html, waterfall, why_html,
};
use serde_json::Value;

use crate::error::Error;

/// The answer to *why*, *why not* or *what if*. Printed, it is the whole text.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Why an action.
    Why(Box<Why>),
    /// Why not another one, or what if something had been different.
    Contrast(Box<Contrast>),
}

impl Answer {
    fn explained(&self) -> &dyn Explained {
        match self {
            Self::Why(why) => why.as_ref(),
            Self::Contrast(contrast) => contrast.as_ref(),
        }
    }

    /// The question.
    #[must_use]
    pub fn question(&self) -> String {
        self.explained().question()
    }

    /// The answer in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.explained().sentence()
    }

    /// The agent's side: how sure it was, its second choice, and what made it choose so. `None` where the policy is not
    /// known, and where it only names its action.
    #[must_use]
    pub fn choice(&self) -> Option<String> {
        self.explained().choice().filter(|words| !words.is_empty())
    }

    /// Question, sentence, the agent's side, how sure the answer is, and the caveats that could change it.
    #[must_use]
    pub fn text(&self) -> String {
        self.explained().text()
    }

    /// The same with every step, influence and caveat.
    #[must_use]
    pub fn details(&self) -> String {
        self.explained().details()
    }

    /// The answer as a piece of a page: sentence, pictures, caveats, text.
    #[must_use]
    pub fn html(&self) -> String {
        match self {
            Self::Why(why) => why_html(why),
            Self::Contrast(contrast) => contrast_html(contrast),
        }
    }

    /// Everything, for other programs.
    #[must_use]
    pub fn json(&self) -> Value {
        self.explained().json()
    }

    /// The causal chain, to be drawn or written as DOT.
    ///
    /// # Errors
    /// When a weight is not between 0 and 1, which no model says.
    pub fn picture(&self) -> Result<Picture, Error> {
        self.explained().picture().map_err(|error| Error::File(error.to_string()))
    }

    /// The drawing of the causal chain: `.svg()`, `.png(scale)`.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn drawing(&self) -> Result<Drawing, Error> {
        Ok(self.picture()?.drawing(&chain_layout()))
    }

    /// The causal chain as SVG.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn svg(&self) -> Result<String, Error> {
        Ok(self.drawing()?.svg())
    }

    /// The causal chain as DOT, for Graphviz.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn dot(&self) -> Result<String, Error> {
        Ok(self.picture()?.dot())
    }

    /// The two courses that it compares; `None` for a *why* without another action.
    #[must_use]
    pub fn contrast(&self) -> Option<&Contrast> {
        match self {
            Self::Why(why) => why.rather.as_ref().map(|rather| &rather.contrast),
            Self::Contrast(contrast) => Some(contrast),
        }
    }

    /// The drawing of the reward difference, term by term; `None` for a *why* without another action.
    ///
    /// # Errors
    /// When a difference is NaN or infinite.
    pub fn worth(&self) -> Result<Option<Drawing>, Error> {
        let waterfall = self.contrast().map(waterfall).transpose();
        let waterfall = waterfall.map_err(|error| Error::File(error.to_string()))?;
        Ok(waterfall.map(|waterfall| waterfall.drawing()))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

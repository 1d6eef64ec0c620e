//! Answers as text, pictures and JSON.

use std::ops::Deref;

use becausal_explain::chain::{Node, Trajectory};
use becausal_explain::{Contrast, Why};
use serde_json::Value;

use super::explanation_json;
use super::picture::{Picture, PictureError};
use super::waterfall::{TermError, Waterfall};

/// An answer to *why*, *why not* or *what if*, as text, JSON and a picture.
pub trait Explained {
    /// The question it answers.
    fn question(&self) -> String;

    /// The answer in one sentence.
    fn sentence(&self) -> String;

    /// The agent's side in words: how sure it was and what made it choose so; `None` where it is not known.
    fn choice(&self) -> Option<String>;

    /// The question, the sentence, the agent's side, how sure it is, and the caveats that could change it.
    fn text(&self) -> String;

    /// The same with all steps, influences and caveats.
    fn details(&self) -> String;

    /// The whole answer as JSON.
    fn json(&self) -> Value;

    /// The causal chain as a picture.
    ///
    /// # Errors
    /// When a weight is not between 0 and 1, which never happens in a chain.
    fn picture(&self) -> Result<Picture, PictureError>;
}

/// A view of *why*. Several files of this crate add methods: text, JSON, picture.
pub(crate) struct WhyView<'a>(pub &'a Why);

/// A view of *why not* or *what if*.
pub(crate) struct ContrastView<'a>(pub &'a Contrast);

impl Deref for WhyView<'_> {
    type Target = Why;

    fn deref(&self) -> &Why {
        self.0
    }
}

impl Deref for ContrastView<'_> {
    type Target = Contrast;

    fn deref(&self) -> &Contrast {
        self.0
    }
}

impl Explained for Why {
    fn question(&self) -> String {
        WhyView(self).question()
    }

    fn sentence(&self) -> String {
        WhyView(self).sentence()
    }

    fn choice(&self) -> Option<String> {
        WhyView(self).choice()
    }

    fn text(&self) -> String {
        WhyView(self).text()
    }

    fn details(&self) -> String {
        WhyView(self).details()
    }

    fn json(&self) -> Value {
        WhyView(self).json()
    }

    fn picture(&self) -> Result<Picture, PictureError> {
        WhyView(self).picture()
    }
}

impl Explained for Contrast {
    fn question(&self) -> String {
        ContrastView(self).question()
    }

    fn sentence(&self) -> String {
        ContrastView(self).sentence()
    }

    fn choice(&self) -> Option<String> {
        WhyView(&self.factual).choice()
    }

    fn text(&self) -> String {
        ContrastView(self).text()
    }

    fn details(&self) -> String {
        ContrastView(self).details()
    }

    fn json(&self) -> Value {
        ContrastView(self).json()
    }

    fn picture(&self) -> Result<Picture, PictureError> {
        ContrastView(self).picture()
    }
}

/// The picture of a chain with some influences in the second colour; `words` explains them in the legend.
///
/// # Errors
/// As [`Explained::picture`].
pub fn picture_marking(
    why: &Why,
    marked: &dyn Fn(Node, Node) -> bool,
    words: &str,
) -> Result<Picture, PictureError> {
    WhyView(why).picture_marking(marked, words)
}

/// The steps of a course as they are in the JSON of an answer, under `trajectory`.
#[must_use]
pub fn trajectory_json(trajectory: &Trajectory) -> Value {
    explanation_json::steps(trajectory)
}

/// The two alternatives, the factual one first: (`build = depot`, `build = none`).
#[must_use]
pub fn subjects(contrast: &Contrast) -> (String, String) {
    ContrastView(contrast).subjects()
}

/// The reward difference of a contrast, term by term.
///
/// # Errors
/// When a difference is not finite.
pub fn waterfall(contrast: &Contrast) -> Result<Waterfall, TermError> {
    ContrastView(contrast).waterfall()
}

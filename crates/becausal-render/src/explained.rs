//! What can be made of every answer: words, a picture, JSON.

use std::ops::Deref;

use becausal_explain::chain::Node;
use becausal_explain::{Contrast, Why};
use serde_json::Value;

use super::picture::{Picture, PictureError};
use super::waterfall::{TermError, Waterfall};

/// An answer to *why*, *why not* or *what if*, as people and programs read it.
pub trait Explained {
    /// The question it answers.
    fn question(&self) -> String;

    /// The answer in one sentence.
    fn sentence(&self) -> String;

    /// Question, sentence, the steps in between, and the caveats.
    fn text(&self) -> String;

    /// Everything, for other programs.
    fn json(&self) -> Value;

    /// The causal chain as a picture.
    ///
    /// # Errors
    /// When a weight is not between 0 and 1, which no chain that was built has.
    fn picture(&self) -> Result<Picture, PictureError>;
}

/// *Why*, to be told. The files of this crate add their part: text, JSON, picture.
pub(crate) struct WhyView<'a>(pub &'a Why);

/// *Why not* or *what if*, to be told.
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

    fn text(&self) -> String {
        WhyView(self).text()
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

    fn text(&self) -> String {
        ContrastView(self).text()
    }

    fn json(&self) -> Value {
        ContrastView(self).json()
    }

    fn picture(&self) -> Result<Picture, PictureError> {
        ContrastView(self).picture()
    }
}

/// The picture of a chain with some influences in the second colour, and in the legend what they are.
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

/// What is compared with what: (`build = depot`, `build = none`), the factual one first.
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

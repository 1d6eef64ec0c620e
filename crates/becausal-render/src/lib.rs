//! Pictures: pure functions from plain data to SVG, PNG, DOT and text.
//!
//! ```text
//! Picture ── layout ──┐
//! Chart ──────────────┼── Drawing ── svg(), png(scale)
//! Waterfall ──────────┘
//! Picture ── dot()          Table ── lines()
//! Why, Contrast ── sentence(), text(), json(), picture(), waterfall()      Audit ── text(), json()
//! Report ── html()
//! ```
//!
//! A [`Picture`] has nodes in columns and weighted links between them: causes and effects, or a
//! chain of causes over time. Its [`Layout`] has the positions of everything. Texts are measured with a
//! compiled-in font, so that nothing overlaps and no font has to be installed. A [`Drawing`] has shapes
//! at their final positions and can be written as SVG and PNG.
//!
//! ```
//! use becausal_render::{LayoutOptions, Link, Node, NodeKind, Picture, PictureColumn, Place};
//!
//! let causes = PictureColumn::new("causes", vec![Node::new("push", NodeKind::Action)]);
//! let effects = PictureColumn::new("effects", vec![Node::new("velocity'", NodeKind::State)]);
//! let link = Link::new(Place::new(0, 0), Place::new(1, 0), 0.9);
//! let picture = Picture::new("CartPole", vec![causes, effects], vec![link])?;
//! let drawing = picture.drawing(&LayoutOptions::default());
//! assert!(drawing.svg().starts_with("<svg "));
//! assert!(drawing.png(2.0)?.starts_with(b"\x89PNG"));
//! assert!(picture.dot().starts_with("digraph"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotate;
mod answer_sentence;
mod audit_text;
mod axis;
mod causal_graph;
mod chain_picture;
mod choice_text;
mod colour;
mod contrast_picture;
mod contrast_text;
mod curves;
mod dot;
mod doubt;
mod drawing;
mod evidence_text;
mod explained;
mod explanation_json;
mod font;
mod frame;
mod geometry;
mod graph_text;
pub mod html;
mod interval_text;
mod label;
mod layout;
pub mod number;
mod order;
mod paint;
mod picture;
#[cfg(feature = "png")]
mod png;
mod reason;
mod report;
mod report_learning;
mod report_step;
mod report_trust;
mod report_worth;
mod route;
mod rows;
mod selection;
mod short_text;
mod sketch;
mod spacing;
mod strokes;
mod surprise_text;
mod svg;
mod text;
mod turning_text;
mod waterfall;
mod why_text;
mod words;

pub use audit_text::AuditText;
pub use causal_graph::{action_picture, graph_picture};
pub use chain_picture::chain_layout;
pub use colour::Colour;
pub use curves::{Chart, ChartError, Series, SeriesPoint};
pub use drawing::{Anchor, Drawing, Mark, Shape, Step, Stroke, Text};
pub use explained::{Explained, picture_marking, subjects, trajectory_json, waterfall};
pub use font::{Font, FontWeight};
pub use geometry::{Area, Cubic, Point};
pub use graph_text::{graph_summary, graph_text, probability};
pub use layout::{Layout, LayoutOptions, NodeOrder, PlacedLink, PlacedNode, Spacing};
pub use picture::{
    LegendEntry, Link, LinkStyle, Node, NodeKind, Picture, PictureColumn, PictureError, Place,
    Sample, Tone,
};
#[cfg(feature = "png")]
pub use png::PngError;
pub use reason::reason_words;
pub use report::{Report, ReportScores, ReportStep, graph_html};
pub use report_learning::{ReportLearning, learning_html};
pub use report_step::{contrast_html, moment_html, questions_html, timeline_html, why_html};
pub use report_trust::{noise_words, scores_html};
pub use report_worth::{ReportDecision, ReportWorth};
pub use surprise_text::surprise_text;
pub use text::{Alignment, Table, thousands};
pub use turning_text::{turning_json, turning_text};
pub use waterfall::{Term, TermError, Waterfall};

//! Why an action, why not another, and what if: explanations with their evidence, and the audit.
//!
//! ```text
//! Moment    ── Explainer::why ───────────────► Why       chain, complete and minimal explanan, evidence
//!           ── Explainer::why_not, what_if ──► Contrast  two of them, differences, credit
//! environment that can be cloned ── audit ───► Audit     how often contrasts are right
//! ```
//!
//! A contrast compares what happened with what would have happened under the *same noise*. The noise
//! of recorded steps is inferred and used again; later steps are the most likely ones.
//!
//! ```
//! use becausal_core::{Policy, Transitions};
//! use becausal_explain::{Ask, ExplainError, Explainer, Moment, Scale};
//! use becausal_model::Dynamics;
//!
//! /// Why was this step taken, and not the other action?
//! fn ask(
//!     model: &dyn Dynamics,
//!     policy: &dyn Policy,
//!     data: &Transitions,
//!     other: &[f64],
//! ) -> Result<(), ExplainError> {
//!     let ask = Ask::default().horizon(4);
//!     let moment = Moment::recorded(data, 0, 12)?;
//!     let explainer = Explainer::new(model, Some(policy), None, ask)?
//!         .with_scale(Scale::of(data), 0.01);
//!     println!("{} links", explainer.why(&moment)?.chain.edges().count());
//!     let contrast = explainer.why_not(&moment, other)?;
//!     println!("worth {}", contrast.credit.difference());
//!     Ok(())
//! }
//! ```

mod agent;
mod ask;
mod attribution;
mod audit;
mod calibration;
pub mod chain;
mod change;
mod choice;
mod contrast;
mod credit;
mod draws;
mod error;
mod evidence;
mod explainer;
mod explanan;
mod finding;
mod finite;
mod influence_by;
mod interval;
mod moment;
mod predicted;
mod rival;
mod scale;
mod tally;
mod turning;

pub use agent::Agent;
pub use ask::Ask;
pub use attribution::{Attribution, Company};
pub use audit::{
    Acting, Audit, AuditAnswer, AuditCase, AuditParams, Auditor, CurvePoint, Group, Line, Measure,
    Place, Played, Score, Scores, Sums, Track, TrackRecord, audit,
};
pub use calibration::{Calibration, Quantity};
pub use change::Change;
pub use choice::{Choice, Reason, ReasonTarget};
pub use contrast::{Certainty, Comparison, Contrast, ContrastiveExplanan};
pub use credit::{Credit, CreditPart};
pub use draws::{Draws, Possible};
pub use error::ExplainError;
pub use evidence::{Doubt, Evidence, LinkEvidence};
pub use explainer::{Copies, Explainer, Why};
pub use explanan::differ;
pub use explanan::{Explanan, Fact};
pub use finding::{Found, Worth, find};
pub use influence_by::InfluenceBy;
pub use interval::Interval;
pub use moment::{Anchor, Moment};
pub use predicted::{Predicted, Wrong};
pub use rival::{Basis, Rather, Rival};
pub use scale::{NEGLIGIBLE, Scale};
pub use tally::Tally;
pub use turning::Turning;

//! Why an action, why not another, and what if: explanations with their evidence, and the audit.
//!
//! ```text
//! Situation ── Explainer::why ───────────────► Why       chain, complete and minimal explanan, evidence
//!           ── Explainer::why_not, what_if ──► Contrast  two of them, what differs, credit
//! environment that can be cloned ── audit ───► Audit     how often such contrasts hold
//! ```
//!
//! A contrast compares what happened with what would have happened under the *same noise*: the noise
//! of recorded steps is inferred and used again, and beyond the record both take the most likely course.
//!
//! ```
//! use becausal_core::Transitions;
//! use becausal_explain::{ExplainError, Explainer, Options, Scale, Situation};
//! use becausal_model::Dynamics;
//! use becausal_core::Policy;
//!
//! /// Why was this step taken, and not the other action?
//! fn ask(
//!     model: &dyn Dynamics,
//!     policy: &dyn Policy,
//!     data: &Transitions,
//!     other: &[f64],
//! ) -> Result<(), ExplainError> {
//!     let options = Options { horizon: 4, ..Options::default() };
//!     let situation = Situation::recorded(data, 0, 12, options.horizon)?;
//!     let explainer = Explainer::new(model, Some(policy), None, options)?
//!         .with_scale(Scale::of(data), 0.01);
//!     println!("{} links", explainer.why(&situation)?.chain.edges().count());
//!     let contrast = explainer.why_not(&situation, other)?;
//!     println!("worth {}", contrast.credit.difference());
//!     Ok(())
//! }
//! ```

mod alternatives;
mod audit;
mod audit_case;
pub mod chain;
mod change;
mod contrast;
mod credit;
mod decision;
mod error;
mod evidence;
mod explainer;
mod explanan;
mod scale;
mod situation;
mod tally;

pub use alternatives::{alternatives, typical_actions};
pub use audit::{Audit, AuditOptions, CurvePoint, Trivial, audit};
pub use change::Change;
pub use contrast::{Contrast, ContrastiveExplanan};
pub use credit::{Credit, CreditPart};
pub use decision::{Decision, decisions};
pub use error::ExplainError;
pub use evidence::{Doubt, Evidence, LinkEvidence};
pub use explainer::{Explainer, Options, Why};
pub use explanan::differ;
pub use explanan::{Explanan, Fact};
pub use scale::Scale;
pub use situation::Situation;
pub use tally::Tally;

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

mod alternatives;
mod audit;
mod audit_case;
mod change;
mod contrast;
mod credit;
mod error;
mod evidence;
mod explainer;
mod explanan;
mod scale;
mod situation;
mod tally;

pub use alternatives::alternatives;
pub use audit::{Audit, AuditOptions, CurvePoint, Trivial, audit};
pub use change::Change;
pub use contrast::{Contrast, ContrastiveExplanan};
pub use credit::{Credit, CreditPart};
pub use error::ExplainError;
pub use evidence::{Doubt, Evidence, LinkEvidence};
pub use explainer::{Explainer, Options, Why};
pub(crate) use explanan::differ;
pub use explanan::{Explanan, Fact};
pub use scale::Scale;
pub use situation::Situation;
pub use tally::Tally;

//! The parts of an environment: variables, reward terms and termination, read from TOML.
//!
//! ```
//! use becausal_core::Schema;
//!
//! let schema = Schema::parse(r#"
//!     name = "Hover"
//!     [state]
//!     height = { kind = "continuous", unit = "m" }
//!     [action]
//!     engine = { kind = "categorical", labels = ["off", "on"] }
//!     [reward]
//!     "near the target" = "-abs(height' - 10)"
//!     "fuel" = "if(engine == on, -0.3, 0)"
//! "#)?;
//! assert_eq!(schema.parents_of(&schema.rewards()[0].expression), ["height'"]);
//! // A transition in the order of the slots: height, engine, height'.
//! assert_eq!(schema.rewards()[0].expression.value(&[7.0, 1.0, 8.0]), -2.0);
//! # Ok::<(), becausal_core::schema::SchemaError>(())
//! ```

mod circle;
mod compile;
mod error;
mod evaluate;
mod expression;
mod factorisation;
mod layout;
mod read;
mod reference;
mod suggest;
mod token;
mod typing;
mod variable;
mod write;

pub(crate) use read::RECORD_COLUMNS;

pub use circle::Circle;
pub use error::{Mistake, SchemaError};
pub use evaluate::Columns;
pub use expression::{Expression, Parent};
pub use factorisation::{Reward, Schema};
pub use suggest::{nearest, suggestion};
pub(crate) use variable::MAX_EXACT_INTEGER;
pub use variable::{Better, Bounds, Kind, Role, Slot, Variable};

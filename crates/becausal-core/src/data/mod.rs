//! Recorded transitions in columns, and their files.
//!
//! There is one row per transition, in time order. Columns are named like the variables, next
//! states with a prime (`x'`), the elements of a vector `legs[0]`, `legs[1]`. The columns
//! `episode`, `terminated`, `truncated` and `reward` are optional. A sequential log without primed
//! columns is read too: the next row of the episode contains the next state.
//!
//! | file | a vector | a category | its schema |
//! |---|---|---|---|
//! | `.csv` | `legs[0]`, `legs[1]` | its label | in `NAME.schema.toml` beside it |
//! | `.parquet` | `legs[0]`, `legs[1]` | its label | in the file's metadata |
//! | `.npz` | a 2-D array `legs` | a number | in `NAME.schema.toml` beside it |
//!
//! A category is read from its label or from its index, counted from 0. If all labels are whole
//! numbers, a number means the label.

mod actions;
mod assemble;
mod cell;
mod column;
mod coverage;
mod csv;
mod error;
mod header;
mod label_groups;
mod missing;
mod npy;
#[cfg(feature = "npz")]
mod npz;
mod origin;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_footer;
mod read;
mod statistics;
mod transitions;
mod write;

pub use crate::output::write_atomically;
pub use actions::parse_value;
pub(crate) use actions::read_actions;
pub use column::Column;
pub use coverage::Coverage;
pub use error::{DataError, Problem};
pub use label_groups::{LabelGroup, MAX_LABEL_GROUPS, label_slots, labels_order, labels_text};
pub use missing::Missing;
pub use origin::Origin;
#[cfg(feature = "parquet")]
pub use parquet::is_decoding_parquet;
pub use read::{MAX_SCHEMA_BYTES, ReadOptions, Recording, Values, assemble, read, schema_path};
pub use statistics::Spread;
pub use transitions::{EpisodeSplit, Row, Transitions};
pub use write::{Format, Writer, write, write_heard};

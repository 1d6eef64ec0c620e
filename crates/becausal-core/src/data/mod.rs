//! Recorded transitions in columns, and the files they are kept in.
//!
//! One row per transition in time order. Columns are named like the variables, next states with a
//! prime (`x'`), the elements of a vector `legs[0]`, `legs[1]`; beside them `episode`,
//! `terminated`, `truncated` and `reward`, all four optional. A log of states in sequence, without
//! primed columns, is read as well: the next row of the episode is the next state.
//!
//! | file | a vector | a category | its schema |
//! |---|---|---|---|
//! | `.csv` | `legs[0]`, `legs[1]` | its label | in `NAME.schema.toml` beside it |
//! | `.parquet` | `legs[0]`, `legs[1]` | its label | in the file's metadata |
//! | `.npz` | a 2-D array `legs` | a number | in `NAME.schema.toml` beside it |
//!
//! A category may be read as a label or as its index, counted from 0. Where all labels are whole
//! numbers themselves, a number means the label.

mod actions;
mod assemble;
mod cell;
mod column;
mod csv;
mod error;
mod header;
mod npy;
#[cfg(feature = "npz")]
mod npz;
mod origin;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod statistics;
mod transitions;
mod write;

pub use actions::parse_value;
pub(crate) use actions::read_actions;
pub use column::Column;
pub use error::{DataError, Problem};
pub use origin::Origin;
#[cfg(feature = "parquet")]
pub use parquet::is_decoding_parquet;
pub use read::{ReadOptions, Recording, read};
pub use statistics::{Spread, Standardisation};
pub use transitions::{EpisodeSplit, Row, Transitions};
pub use write::{Format, Writer, write, write_atomically};

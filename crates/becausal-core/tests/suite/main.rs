//! Tests of schemas and of files of transitions.

mod common;
mod data;
mod missing;
mod schema;

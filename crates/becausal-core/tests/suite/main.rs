//! Tests of schemas and of files of transitions.

mod common;
mod data;
mod schema;

//! What a schema and files of transitions promise.

mod common;
mod data;
mod schema;

//! The live viewer: a run in the browser, with the model behind it.
//!
//! ```no_run
//! use std::sync::Arc;
//! use becausal::Run;
//! use becausal_view::{View, ViewParams};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = Arc::new(Run::open("run")?);
//! let view = View::start(run, &ViewParams::default())?;
//! println!("{}", view.address());
//! # Ok(())
//! # }
//! ```
//!
//! The server listens on 127.0.0.1 only. Its address holds a random token; requests of foreign pages, and those with
//! another host name, are refused. No request names a file. docs/viewer.md has the JSON interface.

mod api;
mod commands;
mod courses;
mod episodes;
mod failures;
mod guard;
mod http;
mod pairs;
mod panel;
mod question;
mod refusal;
mod seats;
mod server;
mod site;
mod truth;

pub use failures::Failures;
pub use server::{View, ViewError, ViewParams, serve};

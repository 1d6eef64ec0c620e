//! The Python package: a thin mirror of the front door.
//!
//! | file | what |
//! |---|---|
//! | `work` | long work on threads of its own, while Python listens for Ctrl-C |
//! | `error` | the library's errors as Python exceptions |
//! | `schema`, `log`, `run`, `graph`, `answer`, `audit` | the classes |
//! | `seed`, `options`, `bytes` | arguments as Python gives them |
//! | `policy`, `environment` | Python objects as [`becausal::Policy`] and [`becausal::Environment`] |
//! | `built_in` | our environments for Gymnasium |
//!
//! Arrays cross the border as bytes: the stable ABI of Python 3.10 has no buffers, and a copy of a log costs
//! less than a millisecond per megabyte.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#![allow(clippy::doc_link_with_quotes, clippy::doc_markdown, reason = "docstrings of Python")]

mod answer;
mod audit;
mod built_in;
mod bytes;
mod count;
mod environment;
mod error;
mod graph;
mod log;
mod making;
mod options;
mod policy;
mod question;
mod run;
mod schema;
mod seed;
mod view;
mod work;

use std::ffi::OsString;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::seed::Seed;

/// Runs the program with these arguments and returns its exit code. `complete` adds to every run that is
/// opened what its folder does not hold: a function from a run to a run.
#[pyfunction]
#[pyo3(signature = (arguments, complete=None))]
fn main(py: Python<'_>, arguments: Vec<OsString>, complete: Option<Py<PyAny>>) -> u8 {
    let complete = complete.map(|function| -> Arc<becausal::Complete> {
        Arc::new(move |run| run::completed(run, &function))
    });
    py.detach(|| becausal_cli::main_with(arguments, complete))
}

/// The seed of an episode of a recording.
#[pyfunction]
fn episode_seed(seed: Seed, episode: u32) -> u64 {
    becausal::env::episode_seed(seed.0, episode)
}

#[pymodule]
mod _becausal {
    #[pymodule_export]
    use super::answer::{PyAnswer, PyEpisode, PyMoment};
    #[pymodule_export]
    use super::audit::PyAudit;
    #[pymodule_export]
    use super::built_in::PyBuiltIn;
    #[pymodule_export]
    use super::environment::environments;
    #[pymodule_export]
    use super::graph::PyGraph;
    #[pymodule_export]
    use super::log::{PyLog, assemble, read};
    #[pymodule_export]
    use super::making::{discover, fit, open, train};
    #[pymodule_export]
    use super::run::PyRun;
    #[pymodule_export]
    use super::schema::PySchema;
    #[pymodule_export]
    use super::view::PyView;
    #[pymodule_export]
    use super::{episode_seed, main};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The Parquet decoder panics on some damaged files; the library makes an error of it.
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !becausal::data::is_decoding_parquet() {
                default(info);
            }
        }));
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

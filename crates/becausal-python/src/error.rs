//! The library's errors as Python exceptions, in the library's words.

use std::io::ErrorKind;
use std::path::Path;

use becausal::Error;
use becausal::data::{DataError, Problem};
use becausal::learn::LearningError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception of a name in `becausal._errors`.
pub fn raised(name: &str, words: String) -> PyErr {
    let made = |py: Python<'_>| -> PyResult<PyErr> {
        let class = py.import("becausal._errors")?.getattr(name)?.cast_into::<PyType>()?;
        Ok(PyErr::from_type(class, (words,)))
    };
    Python::attach(|py| made(py).unwrap_or_else(|error| error))
}

/// Whether it is an exception of this package, rather than one of Python or of the user.
pub fn is_ours(py: Python<'_>, exception: &PyErr) -> bool {
    let class = || -> PyResult<bool> {
        exception.value(py).is_instance(&py.import("becausal._errors")?.getattr("Error")?)
    };
    class().unwrap_or(false)
}

/// An argument that cannot be.
pub fn invalid(words: impl Into<String>) -> PyErr {
    raised("ArgumentError", words.into())
}

/// An error about a file or folder, which may not be there.
pub fn of_path(error: Error, path: &Path) -> PyErr {
    if path.exists() { of(error) } else { raised("NotFoundError", error.to_string()) }
}

/// Any error of the library.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub fn of(error: Error) -> PyErr {
    let name = match &error {
        Error::Parameter { .. }
        | Error::Environment(_)
        | Error::Learning(LearningError::Environment(_))
        | Error::Explain(_)
        | Error::Discovery(_)
        | Error::Fit(_) => "ArgumentError",
        Error::Memory { .. } => "OutOfMemoryError",
        Error::Schema { .. } | Error::Data(DataError { problem: Problem::Schema(_), .. }) => {
            "SchemaError"
        }
        Error::Data(DataError { problem: Problem::System { source, .. }, .. })
            if source.kind() == ErrorKind::NotFound =>
        {
            "NotFoundError"
        }
        Error::Run(_) | Error::Data(DataError { problem: Problem::System { .. }, .. }) => {
            "FileError"
        }
        Error::Data(_) | Error::Columns(_) => "DataError",
        Error::Missing { .. } => "MissingError",
        _ => "Error",
    };
    raised(name, error.to_string())
}

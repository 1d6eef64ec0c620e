//! Options of an environment as a Python user gives them.

use becausal::env::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyMapping};

/// Options by their names: texts, numbers and booleans.
pub fn options(given: Option<&Bound<'_, PyMapping>>) -> PyResult<Options> {
    let mut options = Options::default();
    if let Some(given) = given {
        for pair in given.items()? {
            let (name, value): (String, Bound<'_, PyAny>) = pair.extract()?;
            options.set(name, text(&value)?);
        }
    }
    Ok(options)
}

/// A value as the library reads it: Python's `True` is `true`.
pub fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.str()?.to_string();
    Ok(if value.is_instance_of::<PyBool>() { text.to_lowercase() } else { text })
}

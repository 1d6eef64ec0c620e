//! Seeds as a Python user gives them.

use pyo3::prelude::*;

use crate::error;

/// A seed: a whole number from 0 to 2^64 - 1.
#[derive(Clone, Copy, Default)]
pub struct Seed(pub u64);

impl<'py> FromPyObject<'_, 'py> for Seed {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|_| {
            let shown =
                given.repr().map_or_else(|_| "something else".to_owned(), |it| it.to_string());
            error::invalid(format!(
                "the seed is {shown}, expected a whole number from 0 to 2^64 - 1"
            ))
        })
    }
}

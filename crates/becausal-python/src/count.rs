//! Counts as a Python user gives them.

use pyo3::prelude::*;

use crate::error;

/// A count or a position: a whole number, 0 or more.
#[derive(Clone, Copy, Default)]
pub struct Count(pub usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|_| {
            let shown =
                given.repr().map_or_else(|_| "something else".to_owned(), |it| it.to_string());
            error::invalid(format!("{shown} where a whole number is expected, 0 or more"))
        })
    }
}

//! Arrays of doubles as bytes, in the order of this machine.

use pyo3::Bound;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The numbers in the bytes of a NumPy array of type `float64`.
pub fn doubles(bytes: &[u8]) -> Vec<f64> {
    let number = |eight: &[u8]| f64::from_ne_bytes(eight.try_into().unwrap_or_default());
    bytes.chunks_exact(8).map(number).collect()
}

/// The numbers in the bytes of a NumPy array of type `int64`.
pub fn wholes(bytes: &[u8]) -> Vec<i64> {
    let number = |eight: &[u8]| i64::from_ne_bytes(eight.try_into().unwrap_or_default());
    bytes.chunks_exact(8).map(number).collect()
}

/// The bytes of these numbers, for `numpy.frombuffer`.
pub fn of_doubles(py: Python<'_>, numbers: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    let bytes: Vec<u8> = numbers.flat_map(f64::to_ne_bytes).collect();
    PyBytes::new(py, &bytes)
}

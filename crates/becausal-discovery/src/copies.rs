//! Inputs with nearly the same values.

use super::frame::Frame;

/// Copies are detected on about this many rows.
const COMPARED_ROWS: usize = 20_000;

/// For each input, its most similar copy, if it has one.
pub(super) fn copies(frame: &Frame) -> Vec<Option<usize>> {
    let step = frame.rows().div_ceil(COMPARED_ROWS).max(1);
    let unexplained = |one: usize, other: usize| {
        let (one, other) = (&frame.u[one], &frame.u[other]);
        if one.constant || other.constant {
            return if one.constant && other.constant { 0.0 } else { 1.0 };
        }
        let rows = (0..frame.rows()).step_by(step);
        let count = rows.clone().count().max(1) as f64;
        let product: f64 = rows.map(|row| one.standard(row) * other.standard(row)).sum();
        let correlation = product / count;
        1.0 - correlation * correlation
    };
    let inputs = frame.inputs.len();
    (0..inputs)
        .map(|input| {
            let columns = &frame.inputs[input].columns;
            (0..inputs)
                .filter(|&other| other != input && !frame.input_is_constant(input))
                .filter(|&other| frame.inputs[other].columns.len() == columns.len())
                .map(|other| {
                    let pairs = columns.iter().zip(&frame.inputs[other].columns);
                    (pairs.map(|(&a, &b)| unexplained(a, b)).fold(0.0, f64::max), other)
                })
                .filter(|&(unexplained, _)| unexplained < frame.thresholds.model_error)
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, other)| other)
        })
        .collect()
}

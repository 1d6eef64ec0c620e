//! Groups of rows that agree in all flags and labels of the state, and what varies in them.

use super::frame::Frame;
use super::verdict::departures;

/// `[group][input]`: whether an input varies enough in the rows of a group to show an effect there.
///
/// No flag or label of the state does: its rows differ only between groups.
pub(super) fn varied(frame: &Frame) -> Vec<Vec<bool>> {
    let of_group = |group: usize| {
        let rows = || (0..frame.rows()).filter(|&row| usize::from(frame.group[row]) == group);
        let varies = |column: &usize| {
            let values: Vec<f64> = rows().map(|row| frame.u[*column].values[row]).collect();
            departures(&values) >= frame.thresholds.min_departures
        };
        frame.inputs.iter().map(|input| input.columns.iter().any(varies)).collect()
    };
    (0..frame.groups).map(of_group).collect()
}

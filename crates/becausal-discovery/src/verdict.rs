//! Why the data cannot tell about a pair.

use super::controller::follows_state;
use super::finding::{Finding, Findings};
use super::frame::{Factor, Frame, Series};
use super::reason::Reason;
use super::units::MIN_UNITS;
use becausal_core::schema::Role;

/// Fewer rows than this in which a variable departs from its usual value show nothing.
pub(super) const RARE: usize = 30;

/// An input of which the others leave less than this share never varies on its own.
const DETERMINED: f64 = 1e-3;

/// A p-value up to this is too low to claim that there is nothing: where there is nothing, fewer than
/// one in a hundred are (`cargo bench --bench discovery -- calibration`).
const UNDECIDED: f64 = 0.2;

/// The same where units are stretches of an episode.
const UNDECIDED_STRETCHES: f64 = 0.01;

/// What explains this share of all that the others leave over is no likeness of slow things.
const STRONG: f64 = 0.9;

/// A p-value below this leaves no doubt, whatever the threshold.
const DECIDED: f64 = 1e-6;

/// A hint of a few rows that chance alone gives to this share of the pairs counts.
const HINT: f64 = 0.02;

/// The reason why nothing could be found about each pair, `[output][input]`, where there is one.
///
/// A reason only counts where nothing *was* found, unless it [overrides](Reason::overrides_p) the p-value.
pub(super) fn reasons(frame: &Frame, findings: &Findings) -> Vec<Vec<Option<Reason>>> {
    let units = frame.units.sizes().iter().filter(|size| **size > 0.0).count();
    let few = (units < MIN_UNITS).then(|| Reason::FewRows { rows: frame.rows() });
    let stretches = frame.units.stretches;
    let causes: Vec<Option<Reason>> =
        (0..frame.inputs.len()).map(|input| few.clone().or_else(|| cause(frame, input))).collect();
    let decided = findings.unexplained.as_ref().map(|_| follows_state(frame));
    let determined: Vec<Option<Reason>> = (0..frame.inputs.len())
        .map(|input| {
            let share = *findings.unexplained.as_ref()?.get(input)?;
            let decided = decided.as_ref().is_some_and(|decided| decided[input]);
            ((share < DETERMINED && !crate::rules::off(21)) || decided).then(|| determined(&frame.inputs[input]))
        })
        .collect();
    findings
        .pairs
        .iter()
        .enumerate()
        .map(|(output, row)| {
            let name = &frame.outputs[output].name;
            let effect = effect(frame, output);
            row.iter()
                .enumerate()
                .map(|(input, finding)| {
                    if finding.interrupted {
                        return Some(Reason::Interrupted);
                    }
                    let copy = finding
                        .copy
                        .map(|copy| Reason::Duplicate { of: frame.inputs[copy].name.clone() });
                    let ways = [&causes[input], &effect, &copy, &determined[input]];
                    let known = ways.into_iter().find_map(Clone::clone);
                    known.or_else(|| unclear(finding, stretches, name).filter(|_| findings.valid))
                })
                .collect()
        })
        .collect()
}

/// Why nothing found does not mean that there is nothing.
///
/// Stretches of an episode are alike, and slow variables seem to move together. So there it takes a
/// lower p-value, unless the cause explains nearly all that the others do not.
fn unclear(finding: &Finding, stretches: bool, effect: &str) -> Option<Reason> {
    let strict = stretches && finding.strength < STRONG;
    let low = finding.p <= if strict { UNDECIDED_STRETCHES } else { UNDECIDED };
    if low && !crate::rules::off(17) {
        return (finding.p > DECIDED).then_some(Reason::Unclear);
    }
    if let Some(hint) = finding.hint.as_ref().filter(|hint| hint.p <= HINT && !crate::rules::off(6)) {
        return Some(Reason::Hint { rows: hint.rows, group: hint.group.clone() });
    }
    if crate::rules::off(7) { return None; }
    finding.remainder.as_ref()?.reason(effect)
}

fn determined(factor: &Factor) -> Reason {
    let variable = factor.name.clone();
    if factor.role == Role::Action {
        Reason::FollowsState { variable }
    } else {
        Reason::FollowsOthers { variable }
    }
}

/// What keeps a cause from showing any effect.
fn cause(frame: &Frame, input: usize) -> Option<Reason> {
    let factor = &frame.inputs[input];
    if frame.input_is_constant(input) {
        let value = factor.columns.first().map(|&column| frame.u[column].mean);
        let value =
            value.filter(|_| factor.columns.len() == 1).map(|value| factor.kind.show(value));
        let variable = factor.name.clone();
        return Some(if factor.role == Role::Action {
            Reason::NeverVaried { variable, value }
        } else {
            Reason::Constant { variable, value }
        });
    }
    rare(factor, &frame.u)
}

/// What keeps an effect from showing any cause.
fn effect(frame: &Frame, output: usize) -> Option<Reason> {
    let factor = &frame.outputs[output];
    if frame.output_is_constant(output) {
        return Some(Reason::Constant { variable: factor.name.clone(), value: None });
    }
    rare(factor, &frame.v)
}

fn rare(factor: &Factor, columns: &[Series]) -> Option<Reason> {
    let departures = factor.columns.iter().map(|&column| departures(&columns[column].values));
    let rows = departures.max().unwrap_or(0);
    (rows < RARE && !crate::rules::off(20)).then(|| Reason::RarelyVaries { variable: factor.name.clone(), rows })
}

/// The rows whose value is not the median; a value that nearly all rows have is the median.
fn departures(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return 0;
    }
    let (_, median, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    let median = *median;
    values.iter().filter(|&&value| value != median).count()
}

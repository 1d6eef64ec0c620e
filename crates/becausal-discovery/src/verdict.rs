//! Why the data cannot tell about a pair.

use super::controller::follows_state;
use super::discover::Method;
use super::finding::{Finding, Findings};
use super::frame::{Factor, Frame, Series};
use super::reason::Reason;
use becausal_core::schema::Role;

/// p-value. With a smaller one an edge needs no reason for the case that it is tested against a stricter threshold.
const CERTAIN: f64 = 1e-6;

/// The reason why nothing could be found about each pair, `[output][input]`, where there is one.
///
/// A reason only counts where nothing *was* found, unless it [overrides](Reason::overrides_p) the p-value.
pub(super) fn reasons(frame: &Frame, findings: &Findings) -> Vec<Vec<Option<Reason>>> {
    let units = frame.units.sizes().iter().filter(|size| **size > 0.0).count();
    let few = ((units as f64) < frame.thresholds.min_pieces)
        .then(|| Reason::FewRows { rows: frame.rows() });
    let causes: Vec<Option<Reason>> =
        (0..frame.inputs.len()).map(|input| few.clone().or_else(|| cause(frame, input))).collect();
    let decided = findings.unexplained.as_ref().map(|_| follows_state(frame));
    let determined: Vec<Option<Reason>> = (0..frame.inputs.len())
        .map(|input| {
            let share = *findings.unexplained.as_ref()?.get(input)?;
            let decided = decided.as_ref().is_some_and(|decided| decided[input]);
            (share < frame.thresholds.model_error || decided)
                .then(|| determined(&frame.inputs[input]))
        })
        .collect();
    findings
        .pairs
        .iter()
        .enumerate()
        .map(|(output, row)| {
            let factor = &frame.outputs[output];
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
                    known.or_else(|| unclear(finding, frame, factor).filter(|_| findings.valid))
                })
                .collect()
        })
        .collect()
}

/// Why nothing found does not mean that there is nothing.
fn unclear(finding: &Finding, frame: &Frame, effect: &Factor) -> Option<Reason> {
    let thresholds = &frame.thresholds;
    let gain = &finding.gain;
    let is_weak = gain.strength < thresholds.min_strength;
    // What stays an edge with a much stricter threshold needs no reason.
    if gain.p <= CERTAIN && !is_weak {
        return None;
    }
    // An imperfect model lets bystanders of a number gain a little, with any p. Of a label, which may hardly ever change,
    // true causes may gain no more.
    let is_bystander = is_weak && gain.p <= Method::Auto.default_eta() && !effect.kind.is_label();
    if gain.is_unclear(thresholds) && !is_bystander {
        return Some(Reason::Unclear);
    }
    if gain.is_slow {
        return Some(Reason::FewPieces);
    }
    if let Some(hint) = finding.hint.as_ref().filter(|hint| hint.p <= thresholds.max_unclear_p) {
        return Some(Reason::Hint { rows: hint.rows, group: hint.group.clone() });
    }
    finding.remainder.as_ref()?.reason(&effect.name, thresholds.min_residual_rows)
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
    rare(frame, factor, &frame.u)
}

/// What keeps an effect from showing any cause.
fn effect(frame: &Frame, output: usize) -> Option<Reason> {
    let factor = &frame.outputs[output];
    if frame.output_is_constant(output) {
        return Some(Reason::Constant { variable: factor.name.clone(), value: None });
    }
    rare(frame, factor, &frame.v)
}

fn rare(frame: &Frame, factor: &Factor, columns: &[Series]) -> Option<Reason> {
    let departures = factor.columns.iter().map(|&column| departures(&columns[column].values));
    let rows = departures.max().unwrap_or(0);
    (rows < frame.thresholds.min_departures)
        .then(|| Reason::RarelyVaries { variable: factor.name.clone(), rows })
}

/// The rows whose value is not the median; a value that nearly all rows have is the median.
pub(super) fn departures(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return 0;
    }
    let (_, median, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    let median = *median;
    values.iter().filter(|&&value| value != median).count()
}

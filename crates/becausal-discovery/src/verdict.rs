//! Why data cannot tell about a pair, in words.

use super::finding::{Finding, Findings};
use super::frame::{Factor, Frame, Series};
use super::units::LEAST;
use becausal_core::schema::Role;

/// Fewer rows than this in which a variable departs from its usual value show nothing.
const RARE: usize = 30;

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

/// How the reason begins when a pair was tested and more rows could still show something.
pub(super) const TOO_FEW: &str = "too few rows in which it could show";

/// The reason why nothing could be found about each pair, `[output][input]`, where there is one.
///
/// A reason only counts where nothing *was* found.
pub(super) fn reasons(frame: &Frame, findings: &Findings) -> Vec<Vec<Option<String>>> {
    let units = frame.units.sizes().iter().filter(|size| **size > 0.0).count();
    let few = (units < LEAST).then(|| {
        let rows = frame.rows();
        let plural = if rows == 1 { "" } else { "s" };
        format!("{TOO_FEW}: {rows} row{plural} in all")
    });
    let stretches = frame.units.stretches;
    let causes: Vec<Option<String>> =
        (0..frame.inputs.len()).map(|input| few.clone().or_else(|| cause(frame, input))).collect();
    let determined: Vec<Option<String>> = (0..frame.inputs.len())
        .map(|input| {
            let share = findings.unexplained.as_ref()?.get(input)?;
            (*share < DETERMINED).then(|| determined(&frame.inputs[input]))
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
                        return Some("interrupted before it was tested".to_owned());
                    }
                    let copy = finding.copy.map(|copy| {
                        let copy = &frame.inputs[copy].name;
                        format!("duplicate of `{copy}`: one of the two matters, the data cannot tell which")
                    });
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
/// Stretches of an episode are alike, and what is slow seems to go together: there it takes more,
/// unless the cause explains nearly all that the others do not.
fn unclear(finding: &Finding, stretches: bool, effect: &str) -> Option<String> {
    let strict = stretches && finding.strength < STRONG;
    let low = finding.p <= if strict { UNDECIDED_STRETCHES } else { UNDECIDED };
    if low {
        return (finding.p > DECIDED).then(|| format!("{TOO_FEW}: what they show is not clear"));
    }
    if let Some(hint) = finding.hint.as_ref().filter(|hint| hint.p <= HINT) {
        return Some(format!("{TOO_FEW}: only {} hint at it", hint.name));
    }
    let reason = finding.remainder.as_ref()?.reason(effect)?;
    Some(format!("{TOO_FEW}: {reason}"))
}

fn determined(factor: &Factor) -> String {
    let name = &factor.name;
    if factor.role == Role::Action {
        format!("`{name}` is never varied by the policy: the state determines it")
    } else {
        format!("`{name}` never varies on its own: the other inputs determine it")
    }
}

/// What keeps a cause from showing any effect.
fn cause(frame: &Frame, input: usize) -> Option<String> {
    let factor = &frame.inputs[input];
    let name = &factor.name;
    if frame.input_is_constant(input) {
        let value = factor.columns.first().map(|&column| frame.u[column].mean);
        let shown =
            value.filter(|_| factor.columns.len() == 1).map(|value| factor.kind.show(value));
        let always = shown.map_or_else(String::new, |value| format!(" (always {value})"));
        return Some(if factor.role == Role::Action {
            format!("`{name}` is never varied by the policy{always}")
        } else {
            format!("`{name}` is constant{always}")
        });
    }
    rare(factor, &frame.u)
}

/// What keeps an effect from showing any cause.
fn effect(frame: &Frame, output: usize) -> Option<String> {
    let factor = &frame.outputs[output];
    if frame.output_is_constant(output) {
        return Some(format!("`{}` is constant", factor.name));
    }
    rare(factor, &frame.v)
}

fn rare(factor: &Factor, columns: &[Series]) -> Option<String> {
    let departures = factor.columns.iter().map(|&column| departures(&columns[column].values));
    let most = departures.max().unwrap_or(0);
    (most < RARE).then(|| {
        let plural = if most == 1 { "" } else { "s" };
        format!("{TOO_FEW}: `{}` departs from its usual value in {most} row{plural}", factor.name)
    })
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

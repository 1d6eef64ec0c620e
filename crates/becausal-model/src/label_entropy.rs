//! How much there is to know about flags and categories.

use std::collections::BTreeMap;

use becausal_nn::Distribution;

use super::encoding::Encoding;
use super::inputs::Encoded;
use super::target::Target;

/// The entropy of an effect's labels under one of the distinct actions, in nats a row, once their values before the step
/// are known; 0 where the labels do not vary. `None` for numbers.
///
/// An event in one row of a thousand has an entropy of 0.008 nats: whoever knows all about it gains no more than that.
pub(super) fn label_entropy(
    encoding: &Encoding,
    rows: &Encoded,
    effect: usize,
    action: u32,
) -> Option<f64> {
    let of_effect = encoding.targets().iter().enumerate().filter(|(_, t)| t.effect == effect);
    let of_effect: Vec<(usize, &Target)> = of_effect.collect();
    let is_label = |(_, target): &(usize, &Target)| {
        matches!(target.head.distribution, Distribution::Bernoulli | Distribution::Categorical(_))
    };
    if of_effect.is_empty() || !of_effect.iter().all(is_label) {
        return None;
    }
    let inputs = &rows.inputs;
    let of_action = |row: &usize| !inputs.table || inputs.action_of[*row] == action;
    let chosen: Vec<usize> = (0..inputs.rows()).filter(of_action).collect();
    // An outcome has no value before the step.
    let before = |row: usize, (element, target): (usize, &Target)| {
        (effect < inputs.states.shape.groups).then(|| {
            let features = inputs.states.row(effect, row);
            match target.head.distribution {
                Distribution::Categorical(labels) => {
                    let own = &features[element * labels..][..labels];
                    own.iter().position(|&feature| feature != 0.0).unwrap_or(0)
                }
                _ => usize::from(features[element] != 0.0),
            }
        })
    };
    let mut entropy = 0.0;
    for (element, &(at, target)) in of_effect.iter().enumerate() {
        let mut counts: BTreeMap<Option<usize>, BTreeMap<u32, f64>> = BTreeMap::new();
        for &row in &chosen {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label")]
            let label = rows.targets.group(at)[row].max(0.0) as u32;
            let counts = counts.entry(before(row, (element, target))).or_default();
            *counts.entry(label).or_default() += 1.0;
        }
        for labels in counts.values() {
            let total: f64 = labels.values().sum();
            entropy -= labels.values().map(|count| count * (count / total).ln()).sum::<f64>();
        }
    }
    Some(entropy / chosen.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;
    use std::sync::Arc;

    use becausal_core::data::{Row, Transitions};
    use becausal_core::progress::Tracker;
    use becausal_core::schema::Schema;

    use super::*;

    #[test]
    fn what_a_label_was_before_is_no_news() {
        let text = "name = \"Labels\"\n[state]\nlamp = { kind = \"boolean\" }\nx = { kind = \"continuous\" }\n\
                    [action]\na = { kind = \"boolean\" }\n[outcome]\nalarm = { kind = \"boolean\" }\n";
        let mut data = Transitions::new(Arc::new(Schema::parse(text).expect("a schema")));
        // Under a = 0 the lamp stays as it is, under a = 1 it is as likely on as off; one row of 64 has an alarm.
        for row in 0..256 {
            let bit = |at: u32| f64::from(u8::from(row & (1 << at) != 0));
            let (state, action) = ([bit(0), 0.0], [bit(1)]);
            let next = [if bit(1) == 0.0 { bit(0) } else { bit(2) }, 0.0];
            let outcomes = [f64::from(u8::from(row % 64 == 0))];
            let (reward, terminated, truncated) = (0.0, false, false);
            let (state, action, next) = (&state[..], &action[..], &next[..]);
            let outcomes = &outcomes[..];
            data.push(&Row { state, action, outcomes, next, reward, terminated, truncated });
        }
        let encoding = Encoding::of(&data, false, &Tracker::unheard());
        let rows = encoding.encode_all(&data, &Tracker::unheard());
        let entropy = |effect, action| label_entropy(&encoding, &rows, effect, action);
        assert_eq!(entropy(0, 0), Some(0.0));
        assert!((entropy(0, 1).expect("a flag") - LN_2).abs() < 1e-9);
        assert_eq!(entropy(1, 0), None, "a number");
        // All alarms are under a = 0: one row of 32 there.
        let share: f64 = 1.0 / 32.0;
        let expected = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
        assert!((entropy(2, 0).expect("a flag") - expected).abs() < 1e-9);
        assert_eq!(entropy(2, 1), Some(0.0));
    }
}

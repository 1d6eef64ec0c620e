//! "Did you mean": finds the known name closest to a mistyped one.

use crate::text::{shown, thousands};

/// Longer names are not compared, in bytes.
const MAX_TYPO_BYTES: usize = 200;

/// The candidate closest to `name`, if it is close enough to be a typo.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time and memory with the product of the lengths; such a name is no typo.
    if name.len() > MAX_TYPO_BYTES {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_TYPO_BYTES)
        .map(|candidate| {
            (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| {
            let length = name.chars().count().max(candidate.chars().count());
            // Up to a third of the letters differ, or `name` is a prefix of the candidate.
            distance * 3 <= length.max(3)
                || (folded.chars().count() >= 3 && candidate.to_lowercase().starts_with(&folded))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// A hint for an error message: the name that was probably meant, or else all names (at most 20).
#[must_use]
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(candidate) = nearest(name, candidates.clone()) {
        return format!("did you mean `{}`?", shown(candidate));
    }
    let mut candidates = candidates.into_iter();
    let known: Vec<String> =
        candidates.by_ref().take(20).map(|candidate| format!("`{}`", shown(candidate))).collect();
    match (known.as_slice(), candidates.count()) {
        ([], _) => "there are none".into(),
        ([only], _) => format!("expected {only}"),
        (known, 0) => format!("expected one of {}", known.join(", ")),
        (known, more) => {
            format!("expected one of {} and {} more", known.join(", "), thousands(more))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_name_that_was_meant() {
        let names = ["velocity", "angle", "angle_velocity", "CartPole-v1", "x"];
        let cases = [
            ("veloctiy", Some("velocity")),
            ("Angle", Some("angle")),
            ("cartpole-v1", Some("CartPole-v1")),
            ("CartPole", Some("CartPole-v1")),
            ("banana", None),
            ("y", Some("x")),
        ];
        for (typed, meant) in cases {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }

    #[test]
    fn all_names_are_listed_if_none_is_close() {
        assert_eq!(suggestion("banana", ["x", "angle"]), "expected one of `x`, `angle`");
        assert_eq!(suggestion("anlge", ["x", "angle"]), "did you mean `angle`?");
    }
}

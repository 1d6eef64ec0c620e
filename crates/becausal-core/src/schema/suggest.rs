//! "Did you mean": finds the known name closest to a mistyped one.

/// The candidate closest to `name`, if it is close enough to be a typo.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    candidates
        .into_iter()
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
        return format!("did you mean `{candidate}`?");
    }
    let known: Vec<String> =
        candidates.into_iter().map(|candidate| format!("`{candidate}`")).collect();
    match known.len() {
        0 => "there are none".into(),
        1..=20 => format!("expected one of {}", known.join(", ")),
        count => format!("expected one of {} and {} more", known[..20].join(", "), count - 20),
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

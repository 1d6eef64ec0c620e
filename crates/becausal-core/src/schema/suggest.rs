//! "Did you mean": the known name that a mistyped one was probably meant to be.

/// The candidate nearest to `name`, when it is near enough to be a slip of the hand.
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
            // A third of the letters may be wrong; or one is the beginning of the other.
            distance * 3 <= length.max(3)
                || (folded.chars().count() >= 3 && candidate.to_lowercase().starts_with(&folded))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// A sentence for an error: the probable name, or else all of them (at most twenty).
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
    fn a_slip_finds_its_word() {
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
    fn without_a_near_word_all_are_listed() {
        assert_eq!(suggestion("banana", ["x", "angle"]), "expected one of `x`, `angle`");
        assert_eq!(suggestion("anlge", ["x", "angle"]), "did you mean `angle`?");
    }
}

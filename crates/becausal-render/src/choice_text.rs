//! The agent's side as text and JSON: how sure it was, its second choice, and its reasons.

use serde_json::{Map, Value, json};

use super::words::{action, list, number, signed};
use becausal_core::schema::{Role, Schema, Variable};
use becausal_explain::{Choice, Reason, ReasonTarget};

/// Reasons told on each side, at most.
const MAX_REASONS: usize = 3;

/// Reasons below this share of the strongest one are not told.
const MIN_SHARE: f64 = 0.1;

/// A share must be this many times its standard error to be told: with eight batches a share of nothing is so in one case
/// of fifty.
const MIN_ERRORS: f64 = 3.0;

/// The agent's side in two or three sentences.
pub(super) fn choice_text(schema: &Schema, choice: &Choice) -> String {
    let mut sentences = Vec::new();
    sentences.extend(certainty(schema, choice));
    sentences.extend(choice.reasons.iter().map(|reason| reasons(schema, choice, reason)));
    sentences.join(" ")
}

/// How sure the agent was, and what came second.
fn certainty(schema: &Schema, choice: &Choice) -> Option<String> {
    let (taken, likeliest) = (action(schema, &choice.taken), action(schema, &choice.likeliest));
    let Some(probability) = choice.probability() else {
        return (taken != likeliest)
            .then(|| format!("By its policy the agent would have chosen {likeliest}."));
    };
    let (second, of_second) = choice.second()?;
    let second = action(schema, second);
    let (is_first, probability, of_second) =
        (probability > *of_second, percent(probability), percent(*of_second));
    Some(if probability == of_second {
        format!("To the agent {taken} and {second} were about equally likely ({probability} each).")
    } else if is_first {
        format!(
            "The agent chose {taken} with a probability of {probability}; its second choice was {second} ({of_second})."
        )
    } else {
        format!(
            "The agent's first choice was {second} ({of_second}); {taken} had a probability of {probability}."
        )
    })
}

/// Why it chose so: what raises the number here and what lowers it.
fn reasons(schema: &Schema, choice: &Choice, reason: &Reason) -> String {
    let Reason { target, attribution } = reason;
    let (usual, here) = (attribution.usual, attribution.here);
    if attribution.shares.iter().all(|share| *share == 0.0) {
        return "It does the same in every recorded state.".to_owned();
    }
    let taken = action(schema, &choice.taken);
    let (opening, show): (String, fn(f64) -> String) = match target {
        ReasonTarget::Probability if choice.odds.is_none() => (
            format!("It takes {taken} in {} of the recorded states; here this", percent(usual)),
            points,
        ),
        ReasonTarget::Probability => {
            let usual = percent(usual);
            (
                format!(
                    "The probability of {taken} averages {usual} over the recorded states; here it"
                ),
                points,
            )
        }
        ReasonTarget::Number(slot) => {
            let title = schema.variable_of(schema.action_slots().start + slot).title();
            let (usual, here) = (number(usual, 3), number(here, 3));
            let opening =
                format!("Over the recorded states {title} averages {usual}; here, at {here}, it");
            (opening, signed)
        }
    };
    let told = told(schema, reason);
    let words = |raises: bool| {
        let side = told.iter().filter(|(_, share)| (*share > 0.0) == raises).take(MAX_REASONS);
        let words: Vec<String> =
            side.map(|(name, share)| format!("{name} ({})", show(*share))).collect();
        let verb = if raises { "raised" } else { "lowered" };
        (!words.is_empty()).then(|| format!("is {verb} by {}", list(&words)))
    };
    match (words(true), words(false)) {
        (None, None) => format!("{opening} owes nothing clear to any single variable."),
        (Some(only), None) | (None, Some(only)) => format!("{opening} {only}."),
        (Some(raised), Some(lowered)) => format!("{opening} {raised}, and {lowered}."),
    }
}

/// The variables that stand out, the strongest first.
fn told<'a>(schema: &'a Schema, reason: &Reason) -> Vec<(&'a str, f64)> {
    let shares = reason.attribution.shares.iter().zip(&reason.attribution.errors);
    let strongest = shares.clone().map(|(share, _)| share.abs()).fold(0.0, f64::max);
    let names = schema.of_role(Role::State).map(Variable::title);
    let mut told: Vec<(&str, f64)> = names
        .zip(shares)
        .filter(|(_, (share, error))| {
            share.abs() > MIN_SHARE * strongest && share.abs() > MIN_ERRORS * **error
        })
        .map(|(name, (share, _))| (name, *share))
        .collect();
    told.sort_by(|left, right| right.1.abs().total_cmp(&left.1.abs()));
    told
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        tiny if tiny > 0.0 && tiny < 1.0 => "less than 1 %".into(),
        nearly if nearly < 100.0 && nearly > 99.0 => "more than 99 %".into(),
        percent => format!("{percent:.0} %"),
    }
}

/// A difference of probabilities.
fn points(share: f64) -> String {
    let text = match 100.0 * share {
        tiny if tiny.abs() < 1.0 => format!("{tiny:+.1}"),
        points => format!("{points:+.0}"),
    };
    let noun = if matches!(text.as_str(), "+1" | "-1") { "point" } else { "points" };
    format!("{text} {noun}")
}

/// The agent's side for other programs.
pub(super) fn choice_json(schema: &Schema, choice: &Choice) -> Value {
    let odds = choice.odds.as_ref().map(|odds| -> Vec<Value> {
        let one = |(taken, probability): &(Vec<f64>, f64)| json!({ "action": action(schema, taken), "probability": probability });
        odds.iter().map(one).collect()
    });
    let reason = |reason: &Reason| {
        let names = schema.of_role(Role::State).map(|variable| variable.name.clone());
        let shares = reason.attribution.shares.iter().zip(&reason.attribution.errors);
        let shares: Map<String, Value> = names
            .zip(shares)
            .map(|(name, (share, error))| (name, json!({ "share": share, "error": error })))
            .collect();
        let target = match reason.target {
            ReasonTarget::Probability => "probability",
            ReasonTarget::Number(slot) => &schema.slots()[schema.action_slots().start + slot].name,
        };
        json!({
            "target": target,
            "usual": reason.attribution.usual,
            "here": reason.attribution.here,
            "shares": shares,
        })
    };
    json!({
        "taken": action(schema, &choice.taken),
        "likeliest": action(schema, &choice.likeliest),
        "probability": choice.probability(),
        "odds": odds,
        "reasons": choice.reasons.iter().map(reason).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_explain::Attribution;

    fn schema() -> Schema {
        let text = "name = \"test\"\n[state]\nheight = { kind = \"continuous\" }\n\
                    speed = { kind = \"continuous\" }\nlegs = { kind = \"boolean\" }\n\
                    [action]\nengine = { kind = \"categorical\", labels = [\"none\", \"main\"] }\n";
        Schema::parse(text).expect("a schema")
    }

    fn choice(taken: f64, target: ReasonTarget) -> Choice {
        let attribution = Attribution {
            usual: 0.25,
            here: 0.75,
            shares: vec![0.54, -0.05, 0.01],
            errors: vec![0.01, 0.04, 0.0],
        };
        Choice {
            taken: vec![taken],
            likeliest: vec![1.0],
            odds: Some(vec![(vec![1.0], 0.75), (vec![0.0], 0.25)]),
            reasons: vec![Reason { target, attribution }],
        }
    }

    #[test]
    fn only_variables_beyond_their_error_are_told() {
        assert_eq!(
            choice_text(&schema(), &choice(1.0, ReasonTarget::Probability)),
            "The agent chose engine = main with a probability of 75 %; its second choice was engine = none (25 %). \
             The probability of engine = main averages 25 % over the recorded states; here it is raised by height (+54 points)."
        );
    }

    #[test]
    fn an_action_that_was_not_the_first_choice_is_called_so() {
        let text = choice_text(&schema(), &choice(0.0, ReasonTarget::Probability));
        assert!(
            text.starts_with(
                "The agent's first choice was engine = main (75 %); engine = none had a probability of 25 %."
            ),
            "{text}"
        );
    }

    #[test]
    fn numbers_and_bare_policies_have_their_own_words() {
        let mut number = choice(1.0, ReasonTarget::Number(0));
        number.odds = None;
        assert_eq!(
            choice_text(&schema(), &number),
            "Over the recorded states engine averages 0.25; here, at 0.75, it is raised by height (+0.54)."
        );
        let mut bare = choice(0.0, ReasonTarget::Probability);
        bare.odds = None;
        assert_eq!(
            choice_text(&schema(), &bare),
            "By its policy the agent would have chosen engine = main. It takes engine = none in 25 % of the recorded \
             states; here this is raised by height (+54 points)."
        );
    }

    #[test]
    fn shares_read_well() {
        assert_eq!(
            [0.995, 0.004, 0.5, 1.0, 0.0].map(percent),
            ["more than 99 %", "less than 1 %", "50 %", "100 %", "0 %"]
        );
        assert_eq!([0.011, -0.2, 0.004].map(points), ["+1 point", "-20 points", "+0.4 points"]);
    }
}

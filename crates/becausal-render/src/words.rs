//! Values and changes in words, with the names, labels and units of the schema.

use becausal_core::schema::{Kind, Role, Schema, Variable};
use becausal_explain::chain::{Node, Step};

/// A number with this many significant digits; whole numbers in full.
#[must_use]
pub(super) fn number(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e9 {
        return format!("{value}");
    }
    if !(1e-4..1e9).contains(&size) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 8")]
    let magnitude = size.log10().floor() as i32;
    let digits = i32::try_from(digits).unwrap_or(3);
    without_zeros(format!("{value:.*}", usize::try_from(digits - 1 - magnitude).unwrap_or(0)))
}

/// Decimals without zeros at their end.
pub(super) fn without_zeros(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Beside another number, one below this share of what they differ by is written as 0.
const NOTHING_BESIDE: f64 = 1e-5;

/// Two numbers with enough digits to distinguish them.
fn distinct(left: f64, right: f64) -> (String, String) {
    let apart = (left - right).abs();
    let [left, right] =
        [left, right].map(|it| if it.abs() < NOTHING_BESIDE * apart { 0.0 } else { it });
    let show = |digits| (number(left, digits), number(right, digits));
    (3..=9).map(show).find(|(a, b)| a != b || left == right).unwrap_or_else(|| show(9))
}

/// A value with its sign: +6, -0.3, 0.
#[must_use]
pub(super) fn signed(value: f64) -> String {
    let text = number(value, 3);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// A count with its noun: 1 step, 3 steps.
#[must_use]
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `1 more differs`, `3 more differ`: a number of further things, and what they do.
#[must_use]
pub(super) fn more(count: usize, verb: &str) -> String {
    format!("{count} more {verb}{}", if count == 1 { "s" } else { "" })
}

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub(super) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Whether a name looks like a plural, so that its verb is `rise`, not `rises`.
fn plural(title: &str) -> bool {
    // The noun comes before what it is on or of: legs on the ground.
    let noun = title.split(" on ").next().unwrap_or_default();
    let noun = noun.split(" of ").next().unwrap_or_default();
    let last = noun.rsplit(' ').next().unwrap_or_default();
    let exception = ["ss", "us", "is", "as", "os"].iter().any(|end| last.ends_with(end));
    last.len() > 3 && last.ends_with('s') && !exception
}

/// `is` or `are`.
#[must_use]
pub(super) fn be(title: &str) -> &'static str {
    if plural(title) { "are" } else { "is" }
}

/// The name of a node in texts.
#[must_use]
pub(super) fn title(schema: &Schema, node: Node) -> &str {
    node.variable(schema).map_or_else(|| node.name(schema), Variable::title)
}

/// A value: a label, a boolean, or a number with its unit; a vector in brackets.
#[must_use]
pub(super) fn value(variable: Option<&Variable>, values: &[f64]) -> String {
    let unit = variable.and_then(|variable| variable.unit.as_deref());
    let each: Vec<String> = values.iter().map(|&v| element(variable, v)).collect();
    let text = match each.as_slice() {
        [only] => only.clone(),
        _ => format!("[{}]", each.join(", ")),
    };
    with_unit(text, unit)
}

fn with_unit(text: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{text} {unit}"),
        None => text,
    }
}

fn element(variable: Option<&Variable>, value: f64) -> String {
    match variable.map(|variable| &variable.kind) {
        Some(kind @ (Kind::Boolean | Kind::Categorical(_))) => kind.show(value),
        _ => number(value, 3),
    }
}

fn is_number(variable: &Variable) -> bool {
    !variable.kind.is_label()
}

/// The change of a variable: `money rises from 330 to 465`.
#[must_use]
pub(super) fn change(variable: &Variable, before: &[f64], after: &[f64]) -> String {
    if let ([before], [after]) = (before, after) {
        return change_of(variable, variable.title(), *before, *after);
    }
    // For a vector, the elements that change.
    let elements =
        before.iter().zip(after).enumerate().filter(|(_, (b, a))| !variable.kind.same(**b, **a));
    let words: Vec<String> = elements
        .map(|(i, (b, a))| change_of(variable, &format!("{}[{i}]", variable.title()), *b, *a))
        .collect();
    if words.is_empty() {
        let verb = if plural(variable.title()) { "stay" } else { "stays" };
        return format!("{} {verb} at {}", variable.title(), value(Some(variable), after));
    }
    list(&words)
}

fn change_of(variable: &Variable, title: &str, before: f64, after: f64) -> String {
    let many = plural(title);
    let verb = |one: &str| if many { one.trim_end_matches('s').to_owned() } else { one.to_owned() };
    if !is_number(variable) {
        let shown = element(Some(variable), after);
        let verb = verb(if before == after { "stays" } else { "becomes" });
        return format!("{title} {verb} {shown}");
    }
    let unit = variable.unit.as_deref();
    if variable.kind.same(before, after) {
        return format!("{title} {} at {}", verb("stays"), with_unit(number(after, 3), unit));
    }
    let (from, to) = distinct(before, after);
    let verb = verb(match variable.kind {
        // Which of two values is higher says nothing on a circle.
        Kind::Circular(_) => "turns",
        _ if after > before => "rises",
        _ => "falls",
    });
    format!("{title} {verb} from {from} to {}", with_unit(to, unit))
}

/// Whether two values are the same; on a circle they may be written differently.
fn same(variable: &Variable, left: &[f64], right: &[f64]) -> bool {
    let mut elements = left.iter().zip(right);
    left.len() == right.len() && elements.all(|(left, right)| variable.kind.same(*left, *right))
}

/// The change of a variable for a node of a picture: `330 → 465`.
#[must_use]
pub(super) fn arrow(variable: &Variable, before: Option<&[f64]>, after: &[f64]) -> String {
    let text = match before {
        Some(before) if !same(variable, before, after) => match (before, after) {
            ([b], [a]) if is_number(variable) => {
                let (from, to) = distinct(*b, *a);
                with_unit(format!("{from} → {to}"), variable.unit.as_deref())
            }
            _ => format!("{} → {}", value(Some(variable), before), value(Some(variable), after)),
        },
        _ => value(Some(variable), after),
    };
    minus(&text)
}

/// Two values of a variable, written so that they can be compared: (`11`, `7`).
#[must_use]
pub(super) fn instead(
    variable: Option<&Variable>,
    this: &[f64],
    other: &[f64],
) -> (String, String) {
    match (this, other, variable) {
        ([a], [b], variable) if variable.is_none_or(is_number) => {
            let (this, other) = distinct(*a, *b);
            (with_unit(this, variable.and_then(|v| v.unit.as_deref())), other)
        }
        _ => (value(variable, this), value(variable, other)),
    }
}

/// Hyphens before digits as minus signs, for pictures.
#[must_use]
pub(super) fn minus(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let sign = letter == '-' && letters.peek().is_some_and(char::is_ascii_digit);
        let inside = shown.chars().last().is_some_and(char::is_alphanumeric);
        shown.push(if sign && !inside { '−' } else { letter });
    }
    shown
}

/// An action as a person writes it: `build = depot`, `main = 0.5, lateral = -1`.
#[must_use]
pub(super) fn action(schema: &Schema, values: &[f64]) -> String {
    let mut start = 0;
    let words: Vec<String> = schema
        .of_role(Role::Action)
        .map(|variable| {
            let range = start..(start + variable.elements()).min(values.len());
            start = range.end;
            format!("{} = {}", variable.title(), value(Some(variable), &values[range]))
        })
        .collect();
    words.join(", ")
}

/// The action of a step.
#[must_use]
pub(super) fn action_of(schema: &Schema, step: &Step) -> String {
    action(schema, &step.action)
}

/// `over the next 4 steps`.
#[must_use]
pub(super) fn over_next(steps: usize) -> String {
    if steps == 1 {
        "over the next step".to_owned()
    } else {
        format!("over the next {steps} steps")
    }
}

/// `over the first 4 steps`.
#[must_use]
pub(super) fn over_first(steps: usize) -> String {
    if steps == 1 {
        "over the first step".to_owned()
    } else {
        format!("over the first {steps} steps")
    }
}

/// `after 1 step`, `after 4 steps`.
#[must_use]
pub(super) fn after(steps: usize) -> String {
    format!("after {}", counted(steps, "step"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let text = "name = \"Words\"\n[state]\nmoney = { kind = \"integer\" }\n\
                    depots = { kind = \"integer\", label = \"supply depots\" }\n\
                    x = { kind = \"continuous\", unit = \"m\" }\n\
                    legs = { kind = \"boolean\", size = 2 }\n\
                    cell = { kind = \"categorical\", labels = [\"one\", \"two\"] }\n[action]\n\
                    main = { kind = \"continuous\" }\nlateral = { kind = \"continuous\" }\n";
        Schema::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_two_ends_of_a_circle_are_no_change() {
        let text = "name = \"Words\"\n[state]\nheading = { kind = \"circular\", period = 360 }\n\
                    joints = { kind = \"circular\", period = 360, size = 2 }\n[action]\n\
                    main = { kind = \"continuous\" }\n";
        let schema = Schema::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let [heading, joints] = [0, 1].map(|i| &schema.variables()[i]);
        assert_eq!(change(heading, &[180.0], &[-180.0]), "heading stays at -180");
        assert_eq!(arrow(heading, Some(&[180.0]), &[-180.0]), "\u{2212}180");
        assert_eq!(change(heading, &[170.0], &[-170.0]), "heading turns from 170 to -170");
        let turned = change(joints, &[180.0, 5.0], &[-180.0, 7.0]);
        assert_eq!(turned, "joints[1] turns from 5 to 7");
    }

    #[test]
    fn verbs_follow_the_sign_of_the_change() {
        let schema = schema();
        let [money, depots, x, legs, cell] = [0, 1, 2, 3, 4].map(|i| &schema.variables()[i]);
        let cases = [
            (change(money, &[330.0], &[465.0]), "money rises from 330 to 465"),
            (change(money, &[465.0], &[430.0]), "money falls from 465 to 430"),
            (change(money, &[430.0], &[430.0]), "money stays at 430"),
            (change(depots, &[7.0], &[11.0]), "supply depots rise from 7 to 11"),
            (change(x, &[-0.25], &[0.5]), "x rises from -0.25 to 0.5 m"),
            (change(x, &[0.123_456], &[0.123_457]), "x rises from 0.123456 to 0.123457 m"),
            (change(legs, &[0.0, 0.0], &[1.0, 0.0]), "legs[0] becomes true"),
            (change(legs, &[0.0, 1.0], &[0.0, 1.0]), "legs stay at [false, true]"),
            (change(cell, &[0.0], &[1.0]), "cell becomes two"),
            (change(cell, &[1.0], &[1.0]), "cell stays two"),
        ];
        for (text, expected) in cases {
            assert_eq!(text, expected);
        }
        assert_eq!(action(&schema, &[0.5, -1.0]), "main = 0.5, lateral = -1");
        assert_eq!(arrow(x, Some(&[-0.25]), &[0.5]), "−0.25 → 0.5 m");
    }

    #[test]
    fn what_is_next_to_nothing_beside_another_number_is_0() {
        assert_eq!(distinct(0.3, 2.01e-6), ("0.3".into(), "0".into()));
        assert_eq!(distinct(0.3, 0.0021), ("0.3".into(), "0.0021".into()));
        assert_eq!(distinct(0.0, 2.01e-6), ("0".into(), "2.01e-6".into()));
    }

    #[test]
    fn numbers_keep_their_significant_digits() {
        let cases = [(0.0, "0"), (1060.0, "1060"), (2.71428, "2.71"), (-0.001_234_5, "-0.00123")];
        for (value, text) in cases {
            assert_eq!(number(value, 3), text);
        }
        assert_eq!(number(1.5e-7, 3), "1.50e-7");
        assert_eq!(
            (signed(6.0), signed(-0.3), signed(0.0)),
            ("+6".into(), "-0.3".into(), "0".into())
        );
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}

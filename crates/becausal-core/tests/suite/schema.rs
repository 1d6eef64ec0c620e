//! Schemas: reading, the errors of wrong ones, evaluation, and the round trip through TOML.

use becausal_core::Schema;
use becausal_core::schema::{Better, Circle, Columns, Kind, Role};
use proptest::prelude::*;

const LANDER: &str = r#"name = "LunarLander-v3"

[state]
x = { kind = "continuous" }
y = { kind = "continuous" }
legs = { kind = "boolean", size = 2 }
count = { kind = "integer", low = 0.0 }

[action]
engine = { kind = "categorical", labels = ["none", "left", "main", "right"] }
thrust = { kind = "continuous", low = -1.0, high = 1.0 }

[outcome]
crash = { kind = "boolean" }

[reward]
"getting close" = "100 * (hypot(x, y) - hypot(x', y'))"
legs = "if(legs'[0], 10, 0) - if(legs[0], 10, 0)"
crash = "if(crash, -100, 0)"

[termination]
when = "crash || legs[1]"
"#;

fn messages(text: &str) -> String {
    Schema::parse(text).expect_err("a mistake").to_string()
}

/// A schema with this reward expression.
fn with_reward(expression: &str) -> String {
    format!(
        "{}\ntest = {expression:?}\n",
        LANDER.split("[reward]").next().unwrap_or("").to_owned() + "[reward]"
    )
}

/// The value of an expression in one transition of the lander: x y legs legs count, engine thrust,
/// crash, and the next x y legs legs count.
fn value(expression: &str, transition: [f64; 13]) -> f64 {
    let schema = Schema::parse(&with_reward(expression)).unwrap_or_else(|error| panic!("{error}"));
    schema.rewards()[0].expression.value(&transition)
}

const HERE: [f64; 13] = [3.0, 4.0, 0.0, 1.0, 7.0, 2.0, 0.5, 1.0, 6.0, 8.0, 1.0, 0.0, 9.0];

/// A schema with one state, declared like this.
fn with_state(declaration: &str) -> String {
    format!(
        "name = \"One\"\n[state]\nx = {{ {declaration} }}\n[action]\na = {{ kind = \"boolean\" }}\n"
    )
}

#[test]
fn a_circular_variable_has_a_period_and_a_first_value() {
    let circle = |declaration: &str| {
        let schema = Schema::parse(&with_state(declaration)).expect("a valid schema");
        let again = Schema::parse(&schema.to_toml()).expect("a valid schema");
        assert_eq!(schema, again, "{}", schema.to_toml());
        schema.variables()[0].kind.circle().expect("a circle")
    };
    assert_eq!(circle("kind = \"circular\""), Circle::default());
    assert_eq!(circle("kind = \"circular\", period = 360"), Circle { period: 360.0, low: -180.0 });
    let hours = circle("kind = \"circular\", period = 24, low = 0, size = 2");
    assert_eq!(hours, Circle { period: 24.0, low: 0.0 });
    assert_eq!(hours.wrap(25.0), 1.0);
    let objection = |value| Kind::Circular(hours).objection(value);
    assert_eq!(objection(-1e6), None);
    assert!(objection(1e300).is_some_and(|words| words.contains("too large")));

    let wrong = |declaration: &str| messages(&with_state(declaration));
    for (period, shown) in [("0", "0e0"), ("-1", "-1e0"), ("1e-101", "1e-101")] {
        let words = wrong(&format!("kind = \"circular\", period = {period}"));
        let expected = format!("`period` must be a number from 1e-100 to 1e100, got {shown}");
        assert!(words.contains(&expected), "{words}");
    }
    let far = wrong("kind = \"circular\", period = 360, low = 1e9");
    assert!(far.contains("`low` must be within 1e6 periods of 0, got 1000000000"), "{far}");
    assert!(wrong("kind = \"circular\", high = 1").contains("a circular variable has no `high`"));
    assert!(
        wrong("kind = \"circular\", better = \"low\"").contains("on a circle no value is higher")
    );
    assert!(wrong("kind = \"continuous\", period = 1").contains("has no `period`"));
    let action = with_state("kind = \"boolean\"")
        .replace("a = { kind = \"boolean\"", "a = { kind = \"circular\"");
    assert!(messages(&action).contains("`a` is circular, which only a state can be"));
}

#[test]
fn variables_and_slots_are_ordered_states_actions_outcomes_next_states() {
    let schema = Schema::parse(LANDER).expect("a valid schema");
    let names: Vec<&str> = schema.slots().iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "x", "y", "legs[0]", "legs[1]", "count", "engine", "thrust", "crash", "x'", "y'",
            "legs'[0]", "legs'[1]", "count'"
        ]
    );
    assert_eq!(schema.state_slots(), 0..5);
    assert_eq!(schema.action_slots(), 5..7);
    assert_eq!(schema.outcome_slots(), 7..8);
    assert_eq!(schema.next_slots(), 8..13);
    assert_eq!(schema.of_role(Role::Action).count(), 2);
    assert_eq!(schema.variables()[4].kind.labels(), ["none", "left", "main", "right"]);
    assert!(matches!(schema.variables()[2].kind, Kind::Boolean));
}

#[test]
fn a_schema_says_which_number_is_better_and_nothing_of_labels() {
    let schema = |x: &str| {
        Schema::parse(&format!(
            "name = \"test\"\n[state]\nx = {{ {x} }}\n[action]\na = {{ kind = \"boolean\" }}\n"
        ))
    };
    let low = schema("kind = \"continuous\", better = \"low\"").expect("a valid schema");
    assert_eq!(low.variables()[0].better, Some(Better::Low));
    assert_eq!(Schema::parse(&low.to_toml()).expect("its own text"), low);
    assert_eq!(Better::Low.is_better(1.0, 2.0), Some(true));
    assert_eq!(Better::High.is_better(1.0, 2.0), Some(false));
    assert_eq!(Better::High.is_better(2.0, 2.0), None);
    let refused = |x: &str| schema(x).expect_err("refused").to_string();
    let message = refused("kind = \"continuous\", better = \"small\"");
    assert!(message.contains("expected \"low\" or \"high\""), "{message}");
    let message = refused("kind = \"boolean\", better = \"low\"");
    assert!(message.contains("its values are not numbers"), "{message}");
}

#[test]
fn the_parents_of_a_reward_are_the_variables_in_its_expression() {
    let schema = Schema::parse(LANDER).expect("a valid schema");
    let parents: Vec<Vec<String>> =
        schema.rewards().iter().map(|reward| schema.parents_of(&reward.expression)).collect();
    assert_eq!(parents[0], ["x", "x'", "y", "y'"]);
    assert_eq!(parents[1], ["legs", "legs'"]);
    assert_eq!(parents[2], ["crash"]);
    assert_eq!(schema.parents_of(schema.termination().expect("one")), ["legs", "crash"]);
}

#[test]
fn expressions_have_the_expected_values() {
    let cases = [
        ("100 * (hypot(x, y) - hypot(x', y'))", -500.0),
        ("2 + 3 * 4 ^ 2 / 8 - 1", 7.0),
        ("-x^2", -9.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("10 - 4 - 3", 3.0),
        ("if(legs[1] && !legs[0], x, y)", 3.0),
        ("if(x >= 3 || x / 0 > 1, 1, 2)", 1.0),
        ("if(engine == \"main\", 1, 0)", 1.0),
        ("if(engine != main, 1, 0)", 0.0),
        ("if(\"left\" == engine, 1, 0)", 0.0),
        ("if(if(crash, x < y, true), 5, 6)", 5.0),
        ("min(x, y, 2) + max(x, y) + abs(-2) + sqrt(16)", 12.0),
        ("count' - count", 2.0),
        ("exp(0) + log(1) + sin(0) + cos(0) + atan2(0, 1) + tanh(0)", 2.0),
        ("sin(pi / 2) + sign(-3) + floor(1.7) + ceil(1.2) + round(2.5)", 6.0),
        ("1e-3 * 1_000", 1.0),
    ];
    for (expression, expected) in cases {
        assert_eq!(value(expression, HERE), expected, "{expression}");
    }
    // Both spellings of an element's next value mean the same slot.
    assert_eq!(value("if(legs'[0] == legs[0]', 1, 0)", HERE), 1.0);
    // NaN is propagated, not hidden.
    assert!(value("min(log(0 - 1), 1)", HERE).is_nan());
    assert!(value("max(1, log(0 - 1))", HERE).is_nan());
    // The branch not taken does not matter.
    assert_eq!(value("if(true, 1, log(0 - 1))", HERE), 1.0);
}

#[test]
fn mistakes_in_expressions_have_their_place_and_a_suggestion() {
    let cases = [
        (
            "x + vleocity",
            "line 17, column 13: unknown variable `vleocity` (expected one of `x`, `y`, `legs`, `count`, `engine`, `thrust`, `crash`)",
        ),
        ("x + thurst", "line 17, column 13: unknown variable `thurst` (did you mean `thrust`?)"),
        ("x + cont'", "line 17, column 13: unknown variable `cont` (did you mean `count`?)"),
        ("hypo(x, y)", "unknown function `hypo` (did you mean `hypot`?)"),
        ("hypot(x)", "`hypot` takes 2 arguments, got 1"),
        ("min(x)", "`min` takes at least 2 arguments, got 1"),
        ("if(crash, 1)", "`if` takes 3 arguments (condition, then, otherwise), got 2"),
        ("sqrt()", "`sqrt` takes 1 argument, got 0"),
        (
            "crash + 1",
            "line 17, column 9: expected a number, got a boolean (write if(condition, 1, 0))",
        ),
        ("x && crash", "expected a boolean, got a number (compare it: x > 0)"),
        ("if(x, 1, 0)", "expected a boolean, got a number"),
        ("crash", "expected a number, got a boolean"),
        (
            "engine + 1",
            "expected a number, got the category `engine` (compare it with a label: engine == \"none\")",
        ),
        ("if(engine == manin, 1, 0)", "`engine` has no label \"manin\" (did you mean `main`?)"),
        (
            "if(engine == 1, 1, 0)",
            "`engine` has no label \"1\" (expected one of `none`, `left`, `main`, `right`)",
        ),
        ("if(crash == x, 1, 0)", "`==` cannot compare a boolean with a number"),
        ("thrust'", "`thrust` has no next value (it is an action; only states have one)"),
        ("crash'", "it is an outcome; only states have one"),
        ("legs + 1", "`legs` is a vector of 2: name an element (for instance legs[0])"),
        ("if(legs', 1, 0)", "for instance legs'[0]"),
        ("if(legs[2], 1, 0)", "`legs` has no such element (expected a whole number from 0 to 1)"),
        ("x[0]", "`x` is a single value, it has no elements"),
        ("x ** 2", "unknown operator `**` (write ^)"),
        ("if(x = 2, 1, 0)", "unknown operator `=` (write ==)"),
        ("if(0 < x < 2, 1, 0)", "comparisons cannot be chained (write a < b && b < c)"),
        ("if(crash and crash, 1, 0)", "unexpected `and` (write && for and)"),
        ("(x", "the expression ends too early (expected `)`)"),
        ("x y", "unexpected `y`"),
        ("x # y", "unexpected character `#`"),
        ("", "the expression is empty"),
        ("1.2.3", "`1.2.3` is not a number"),
        ("1e999", "`1e999` is not a number"),
    ];
    for (expression, expected) in cases {
        let got = messages(&with_reward(expression));
        assert!(got.contains(expected), "{expression}\n  expected: {expected}\n  got: {got}");
    }
}

#[test]
fn several_mistakes_are_reported_together_in_the_order_of_the_text() {
    let text = LANDER
        .replace("kind = \"boolean\", size", "kind = \"bolean\", size")
        .replace("hypot(x, y)", "hypot(x, z)")
        .replace("low = 0.0", "lwo = 0.0");
    let error = Schema::parse(&text).expect_err("three mistakes");
    let places: Vec<(usize, usize)> =
        error.mistakes.iter().map(|mistake| (mistake.line, mistake.column)).collect();
    assert_eq!(places, [(6, 17), (7, 29), (17, 36)], "{error}");
    for mistake in &error.mistakes {
        let word = &text[mistake.span.clone()];
        assert!(["\"bolean\"", "lwo", "z"].contains(&word), "{word}");
    }
}

#[test]
fn mistakes_in_the_file_have_their_place_and_a_suggestion() {
    let cases = [
        (
            "[state]",
            "[satte]",
            "line 3, column 2: unknown key `satte` in a schema (did you mean `state`?)",
        ),
        (
            "kind = \"integer\"",
            "kind = \"interger\"",
            "line 7, column 18: unknown kind `interger` (did you mean `integer`?)",
        ),
        (
            "kind = \"integer\", ",
            "",
            "`count` has no kind (add kind = one of continuous, integer, circular, boolean, categorical)",
        ),
        (
            "x = { kind = \"continuous\" }",
            "x = \"continuous\"",
            "`x` must be a table, got string (write x = { kind = \"continuous\" })",
        ),
        (
            ", labels = [\"none\", \"left\", \"main\", \"right\"]",
            "",
            "`engine` is categorical but has no labels",
        ),
        ("\"left\"", "\"none\"", "duplicate label \"none\""),
        ("\"left\"", "3", "a label must be a string, got integer (write \"3\")"),
        ("size = 2", "size = 0", "`size` must be a whole number from 1 to 10000, got 0"),
        ("size = 2", "size = 1000000000", "`size` must be a whole number from 1 to 10000"),
        ("size = 2", "low = 2", "a boolean variable has no `low`"),
        ("low = -1.0", "low = 2.0", "`low` (2) is above `high` (1)"),
        ("low = -1.0", "low = nan", "`low` must be a finite number, got nan"),
        ("thrust =", "x =", "`x` is declared twice"),
        ("thrust =", "if =", "`if` is reserved in expressions"),
        ("thrust =", "reward =", "`reward` is a column of recorded data"),
        ("thrust =", "\"a b\" =", "`a b` cannot name a variable"),
        (
            "crash = \"if(crash, -100, 0)\"",
            "crash = -100",
            "`crash` must be a string, got integer (write \"-100\")",
        ),
        ("when =", "wen =", "unknown key `wen` of [termination] (did you mean `when`?)"),
        ("name = \"LunarLander-v3\"", "", "the schema has no name"),
        ("[action]", "[action", "line 9, column 8: not TOML"),
        ("y = {", "x = {", "not TOML: duplicate key"),
    ];
    for (from, to, expected) in cases {
        assert!(LANDER.contains(from), "{from}");
        let got = messages(&LANDER.replacen(from, to, 1));
        assert!(got.contains(expected), "{to}\n  expected: {expected}\n  got: {got}");
    }
    assert!(messages("").contains("the schema has no state variables (add a table [state]"));
}

#[test]
fn the_place_inside_an_escaped_or_multi_line_string_is_exact() {
    let cases = [
        ("test = \"if(engine == \\\"main\\\", z, 0)\"", "z"),
        ("test = 'if(engine == \"main\", z, 0)'", "z"),
        ("test = \"\"\"\n  x +\n  z\"\"\"", "z"),
        ("test = \"x + \\u0079 + z\"", "z"),
        ("test = \"\"\"x + \\\n    z\"\"\"", "z"),
        ("test = '''x + z'''", "z"),
    ];
    for (line, word) in cases {
        let text = format!("{}[reward]\n{line}\n", LANDER.split("[reward]").next().unwrap_or(""));
        let error = Schema::parse(&text).expect_err("z is unknown");
        assert_eq!(&text[error.mistakes[0].span.clone()], word, "{line}");
    }
}

#[test]
fn deep_or_long_expressions_do_not_exhaust_the_stack() {
    let deep = format!("{}x{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(messages(&with_reward(&deep)).contains("nested more than 100 levels deep"));
    let minus = format!("{}x", "-".repeat(100_000));
    assert!(messages(&with_reward(&minus)).contains("nested more than"));
    let long = vec!["x"; 100_000].join(" + ");
    assert_eq!(value(&long, HERE), 300_000.0);
}

#[test]
fn a_canonical_file_survives_a_round_trip_byte_for_byte() {
    let schema = Schema::parse(LANDER).expect("a valid schema");
    assert_eq!(schema.to_toml(), LANDER);
}

struct Ramp;

impl Columns for Ramp {
    fn load(&self, slot: usize, from: usize, into: &mut [f64]) {
        for (row, value) in into.iter_mut().enumerate() {
            *value = (slot * 1_000_000 + from + row) as f64;
        }
    }
}

#[test]
fn bulk_evaluation_reads_every_row_once() {
    let schema = Schema::parse(&with_reward("x' - x + if(x > 1500, 0.5, 0)")).expect("valid");
    let mut values = vec![0.0; 3000];
    schema.rewards()[0].expression.evaluate(&Ramp, 100, &mut values);
    for (row, value) in values.iter().enumerate() {
        let expected = 8e6 + if row + 100 > 1500 { 0.5 } else { 0.0 };
        assert_eq!(*value, expected, "row {row}");
    }
}

fn text() -> impl Strategy<Value = String> {
    "[^\"\\p{C}]{0,12}|\\PC{0,8}"
}

fn label() -> impl Strategy<Value = String> {
    text()
        .prop_map(|text| text.replace('"', "").trim().to_owned())
        .prop_filter("not empty", |label| !label.is_empty())
}

prop_compose! {
    fn variable()(
        name in "[a-zA-Zθ_][a-zA-Z0-9_]{3,8}",
        kind in 0..4usize,
        size in proptest::option::of(1..5usize),
        low in proptest::option::of(-1e300..0f64),
        high in proptest::option::of(0f64..1e-3),
        labels in proptest::collection::btree_set(label(), 1..4),
        unit in proptest::option::of(text()),
        title in proptest::option::of(text()),
    ) -> (String, String) {
        use std::fmt::Write;
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        let mut body = match kind {
            0 | 1 => {
                let mut body = format!("kind = {:?}", ["continuous", "integer"][kind]);
                if let Some(low) = low { write!(body, ", low = {low:?}").expect("string"); }
                if let Some(high) = high { write!(body, ", high = {high:?}").expect("string"); }
                body
            }
            2 => "kind = \"boolean\"".to_owned(),
            _ => {
                let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
                format!("kind = \"categorical\", labels = [{}]", labels.join(", "))
            }
        };
        if let Some(size) = size { write!(body, ", size = {size}").expect("string"); }
        if let Some(unit) = unit { write!(body, ", unit = {}", quoted(&unit)).expect("string"); }
        if let Some(title) = title { write!(body, ", label = {}", quoted(&title)).expect("string"); }
        (name, body)
    }
}

proptest! {
    #[test]
    fn every_schema_survives_a_round_trip(
        variables in proptest::collection::btree_map(".*", variable(), 2..8),
        name in text(),
    ) {
        let mut text = format!("name = {}\n", toml_edit::Value::from(name));
        let mut seen = std::collections::BTreeSet::new();
        let mut rows: Vec<(String, String)> = variables.into_values().collect();
        rows.retain(|(name, _)| seen.insert(name.clone()));
        prop_assume!(rows.len() >= 2);
        for (index, (name, body)) in rows.iter().enumerate() {
            if index == 0 { text += "[state]\n"; }
            if index == rows.len() - 1 { text += "[action]\n"; }
            text += &format!("{name} = {{ {body} }}\n").replace('θ', "\"θ\"").replace("\"θ\"", "theta");
        }
        let parsed = Schema::parse(&text);
        prop_assume!(parsed.is_ok() || !parsed.as_ref().unwrap_err().to_string().contains("another name"));
        let schema = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let written = schema.to_toml();
        let again = Schema::parse(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
        prop_assert_eq!(&again, &schema);
        prop_assert_eq!(again.to_toml(), written);
    }

    #[test]
    fn random_text_never_causes_a_panic(text in "\\PC{0,200}|[a-z=\\[\\]{}\"'\\n .0-9]{0,200}") {
        let _ = Schema::parse(&text);
    }

    #[test]
    fn random_expressions_never_cause_a_panic(expression in "[xyif()\\[\\]'\"+*/^<>=!&|0-9. ,a-z]{0,60}") {
        let _ = Schema::parse(&with_reward(&expression));
    }

    #[test]
    fn a_damaged_schema_never_causes_a_panic(at in 0..600usize, junk in "\\PC{1,3}") {
        let at = LANDER.floor_char_boundary(at);
        let _ = Schema::parse(&format!("{}{junk}{}", &LANDER[..at], &LANDER[at..]));
        let _ = Schema::parse(&LANDER[..at]);
    }
}

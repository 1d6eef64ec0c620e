//! Reads a schema from TOML and reports every mistake with its line and column.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::circle::Circle;
use super::compile::reserved;
use super::error::{Mistakes, SchemaError};
use super::expression::{Expression, Wanted};
use super::factorisation::{Reward, Schema};
use super::suggest::suggestion;
use super::token::is_name;
use super::variable::{Better, Bounds, Kind, Role, Variable};
use crate::text::{shown, thousands};

/// Columns of recorded data that are not variables.
pub(crate) const RECORD_COLUMNS: [&str; 4] = ["episode", "terminated", "truncated", "reward"];

/// Maximum number of elements of a vector. The number is used to allocate memory, so a huge one is
/// reported as a mistake.
const MAX_VECTOR_SIZE: usize = 10_000;

/// Maximum number of variables. Discovery tests every pair, so more would never end.
const MAX_VARIABLES: usize = 5_000;

/// Maximum number of elements of all variables together.
const MAX_ELEMENTS: usize = 100_000;

/// Maximum number of labels of a categorical variable; networks have an input for each.
const MAX_LABELS: usize = 10_000;

/// Maximum length of a name or a label in bytes.
const MAX_NAME_BYTES: usize = 500;

/// Smallest period of a circular variable; its inverse is the largest. Beyond, sines lose their digits.
const MIN_PERIOD: f64 = 1e-100;

/// Most periods that the first value of a circle may be away from 0: a double then still has nine digits of a
/// place on the circle.
const MAX_TURNS_TO_LOW: f64 = 1e6;

/// `origin` says where recorded data come from; it is no part of the schema itself.
const TABLES: [&str; 8] =
    ["name", "description", "state", "action", "outcome", "reward", "termination", "origin"];
const KINDS: [&str; 5] = ["continuous", "integer", "circular", "boolean", "categorical"];
const KEYS: [&str; 9] =
    ["kind", "size", "labels", "low", "high", "period", "unit", "label", "better"];

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// All mistakes found, each with its line, its column and the name that was probably meant.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let mut mistakes = Mistakes::new(text);
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                mistakes.add(span, format!("not TOML: {}", error.message()), None);
                return Err(mistakes.into_error());
            }
        };
        let schema = Reader { text, mistakes: &mut mistakes, broken: Vec::new() }
            .schema(document.as_table());
        if mistakes.is_empty() { Ok(schema) } else { Err(mistakes.into_error()) }
    }
}

struct Reader<'a, 'b> {
    text: &'a str,
    mistakes: &'b mut Mistakes<'a>,
    /// Names whose declaration is wrong. Their uses are not reported again.
    broken: Vec<String>,
}

impl Reader<'_, '_> {
    fn schema(&mut self, table: &dyn TableLike) -> Schema {
        self.known_keys(table, &TABLES, "in a schema");
        let name = table.get("name").and_then(|item| self.text(item, "name"));
        if !table.contains_key("name") {
            let help = "begin with name = \"…\"";
            self.mistakes.add(0..0, "the schema has no name", Some(help.into()));
        }
        let description = table.get("description").and_then(|item| self.text(item, "description"));
        let mut variables: Vec<Variable> = Vec::new();
        for role in [Role::State, Role::Action, Role::Outcome] {
            self.role(table, role, &mut variables);
        }
        let elements: usize = variables.iter().map(Variable::elements).sum();
        if elements > MAX_ELEMENTS {
            let message = format!(
                "the variables have {} elements, expected at most {}",
                thousands(elements),
                thousands(MAX_ELEMENTS)
            );
            self.mistakes.add(0..0, message, None);
            variables.clear();
        }
        let rewards = self.rewards(table, &variables);
        let termination = self.termination(table, &variables);
        Schema::new(name.unwrap_or_default(), description, variables, rewards, termination)
    }

    fn role(&mut self, table: &dyn TableLike, role: Role, variables: &mut Vec<Variable>) {
        let before = variables.len();
        let name = role.table();
        if let Some(item) = table.get(name)
            && let Some(inside) = self.table(item, name)
        {
            let declared = variables.len() + inside.len();
            if declared > MAX_VARIABLES {
                let message = format!(
                    "the schema has {} variables, expected at most {}",
                    thousands(declared),
                    thousands(MAX_VARIABLES)
                );
                self.mistakes.add(item.span().unwrap_or(0..0), message, None);
                self.broken.push(name.to_owned());
                return;
            }
            for (key, item) in inside.iter() {
                let span = key_span(inside, key);
                if let Some(message) = name_objection(key) {
                    self.mistakes.add(span.clone(), message, None);
                }
                if variables.iter().any(|variable| variable.name == key) {
                    let message = format!("`{}` is declared twice", shown(key));
                    let help = "states, actions and outcomes need different names";
                    self.mistakes.add(span, message, Some(help.into()));
                } else if let Some(variable) = self.variable(key, role, item) {
                    variables.push(variable);
                } else {
                    self.broken.push(key.to_owned());
                }
            }
        }
        if variables.len() == before && self.broken.is_empty() && role != Role::Outcome {
            let span = table.get(name).and_then(Item::span).unwrap_or(0..0);
            let message = format!("the schema has no {name} variables");
            let help = format!("add a table [{name}] with at least one");
            self.mistakes.add(span, message, Some(help));
        }
    }

    /// Which of two values of a number is the better one.
    fn better(&mut self, name: &str, table: &dyn TableLike, kind: &Kind) -> Option<Better> {
        let item = table.get("better")?;
        let word = self.text(item, "better")?;
        let span = value_span(table, "better");
        if kind.is_label() || kind.circle().is_some() {
            let why = if kind.is_label() {
                "its values are not numbers"
            } else {
                "on a circle no value is higher than another"
            };
            let message = format!("`{name}` has `better`, but {why}");
            self.mistakes.add(span, message, Some("leave it out".to_owned()));
            return None;
        }
        let found = [Better::Low, Better::High].into_iter().find(|better| better.word() == word);
        if found.is_none() {
            let message = format!("`better` is \"{word}\"");
            self.mistakes.add(span, message, Some("expected \"low\" or \"high\"".to_owned()));
        }
        found
    }

    fn variable(&mut self, name: &str, role: Role, item: &Item) -> Option<Variable> {
        let table = self.table(item, name)?;
        self.known_keys(table, &KEYS, "of a variable");
        let size = table.get("size").and_then(|item| self.size(item));
        let unit = table.get("unit").and_then(|item| self.text(item, "unit"));
        let label = table.get("label").and_then(|item| self.text(item, "label"));
        let bounds = Bounds {
            low: table.get("low").and_then(|item| self.number(item, "low")),
            high: table.get("high").and_then(|item| self.number(item, "high")),
        };
        if let (Some(low), Some(high)) = (bounds.low, bounds.high)
            && low > high
        {
            let message = format!("`low` ({low}) is above `high` ({high})");
            self.mistakes.add(value_span(table, "low"), message, None);
        }
        let Some(kind_item) = table.get("kind") else {
            let message = format!("`{name}` has no kind");
            let help = format!("add kind = one of {}", KINDS.join(", "));
            self.mistakes.add(item.span().unwrap_or(0..0), message, Some(help));
            return None;
        };
        let word = self.text(kind_item, "kind")?;
        let kind = match word.as_str() {
            "continuous" => Kind::Continuous(bounds),
            "integer" => Kind::Integer(bounds),
            "circular" => Kind::Circular(self.circle((name, role), table, bounds.low)?),
            "boolean" => Kind::Boolean,
            "categorical" => Kind::Categorical(self.labels(name, table, kind_item)?),
            _ => {
                let help = suggestion(&word, KINDS);
                let span = kind_item.span().unwrap_or(0..0);
                self.mistakes.add(span, format!("unknown kind `{}`", shown(&word)), Some(help));
                return None;
            }
        };
        let fitting: &[&str] = match kind {
            Kind::Continuous(_) | Kind::Integer(_) => &["low", "high"],
            Kind::Circular(_) => &["low", "period"],
            Kind::Boolean => &[],
            Kind::Categorical(_) => &["labels"],
        };
        for key in ["low", "high", "labels", "period"] {
            if table.contains_key(key) && !fitting.contains(&key) {
                let message = format!("a {word} variable has no `{key}`");
                self.mistakes.add(key_span(table, key), message, None);
            }
        }
        let better = self.better(name, table, &kind);
        Some(Variable { name: name.to_owned(), role, kind, size, unit, label, better })
    }

    /// The circle of a circular variable.
    fn circle(
        &mut self,
        (name, role): (&str, Role),
        table: &dyn TableLike,
        low: Option<f64>,
    ) -> Option<Circle> {
        if role != Role::State {
            let message = format!("`{name}` is circular, which only a state can be");
            let help = "declare its cosine and its sine as continuous variables".to_owned();
            self.mistakes.add(value_span(table, "kind"), message, Some(help));
            return None;
        }
        let period = match table.get("period") {
            Some(item) => self.number(item, "period")?,
            None => Circle::default().period,
        };
        if !(MIN_PERIOD..=1.0 / MIN_PERIOD).contains(&period) {
            let expected = format!("from {MIN_PERIOD:e} to {:e}", 1.0 / MIN_PERIOD);
            let message = format!("`period` must be a number {expected}, got {period:e}");
            self.mistakes.add(value_span(table, "period"), message, None);
            return None;
        }
        if let Some(low) = low.filter(|low| low.abs() > MAX_TURNS_TO_LOW * period) {
            let message = format!(
                "`low` must be within {MAX_TURNS_TO_LOW:e} periods of 0, got {low} with a period of {period}"
            );
            self.mistakes.add(value_span(table, "low"), message, None);
            return None;
        }
        Some(low.map_or(Circle::centred(period), |low| Circle { period, low }))
    }

    fn labels(&mut self, name: &str, table: &dyn TableLike, kind: &Item) -> Option<Vec<String>> {
        let Some(item) = table.get("labels") else {
            let message = format!("`{name}` is categorical but has no labels");
            let help = "add labels = [\"…\", \"…\"]";
            self.mistakes.add(kind.span().unwrap_or(0..0), message, Some(help.into()));
            return None;
        };
        let span = item.span().unwrap_or(0..0);
        let Some(array) = item.as_array() else {
            let message = format!("`labels` must be a list of strings, got {}", item.type_name());
            self.mistakes.add(span, message, None);
            return None;
        };
        if array.len() > MAX_LABELS {
            let message = format!(
                "`{}` has {} labels, expected at most {}",
                shown(name),
                thousands(array.len()),
                thousands(MAX_LABELS)
            );
            self.mistakes.add(span, message, None);
            return None;
        }
        let mut labels: Vec<String> = Vec::new();
        for value in array {
            let span = value.span().unwrap_or(0..0);
            match value.as_str() {
                Some("") => self.mistakes.add(span, "a label cannot be empty", None),
                Some(label) if label.contains('"') => {
                    self.mistakes.add(span, "a label cannot contain a double quote", None);
                }
                Some(label) if label.len() > MAX_NAME_BYTES => {
                    self.mistakes.add(span, too_long("a label", label), None);
                }
                Some(label) if label.trim() != label => {
                    self.mistakes.add(span, "a label cannot begin or end with a space", None);
                }
                Some(label) if labels.iter().any(|known| known == label) => {
                    self.mistakes.add(span, format!("duplicate label \"{}\"", shown(label)), None);
                }
                Some(label) => labels.push(label.to_owned()),
                None => {
                    let message = format!("a label must be a string, got {}", value.type_name());
                    let help = format!("write \"{}\"", value.to_string().trim());
                    self.mistakes.add(span, message, Some(help));
                }
            }
        }
        if array.is_empty() {
            self.mistakes.add(span, "`labels` is empty", None);
        }
        Some(labels)
    }

    fn size(&mut self, item: &Item) -> Option<usize> {
        let size = item.as_integer().and_then(|size| usize::try_from(size).ok());
        match size {
            Some(size) if (1..=MAX_VECTOR_SIZE).contains(&size) => Some(size),
            _ => {
                let found = item.to_string();
                let message = format!(
                    "`size` must be a whole number from 1 to {MAX_VECTOR_SIZE}, got {}",
                    found.trim()
                );
                self.mistakes.add(item.span().unwrap_or(0..0), message, None);
                None
            }
        }
    }

    fn rewards(&mut self, table: &dyn TableLike, variables: &[Variable]) -> Vec<Reward> {
        let Some(item) = table.get("reward") else {
            return Vec::new();
        };
        let Some(inside) = self.table(item, "reward") else {
            return Vec::new();
        };
        let mut rewards = Vec::new();
        for (name, item) in inside.iter() {
            if name.trim().is_empty() {
                self.mistakes.add(key_span(inside, name), "a reward term needs a name", None);
            }
            if name.len() > MAX_NAME_BYTES {
                self.mistakes.add(key_span(inside, name), too_long("a name", name), None);
                continue;
            }
            if let Some(expression) = self.expression(item, name, variables, Wanted::Number) {
                rewards.push(Reward { name: name.to_owned(), expression });
            }
        }
        rewards
    }

    fn termination(&mut self, table: &dyn TableLike, variables: &[Variable]) -> Option<Expression> {
        let inside = self.table(table.get("termination")?, "termination")?;
        self.known_keys(inside, &["when"], "of [termination]");
        self.expression(inside.get("when")?, "when", variables, Wanted::Boolean)
    }

    fn expression(
        &mut self,
        item: &Item,
        name: &str,
        variables: &[Variable],
        wanted: Wanted,
    ) -> Option<Expression> {
        let source = self.text(item, name)?;
        match Expression::compile(&source, variables, &self.broken, wanted) {
            Ok(expression) => Some(expression),
            Err(faults) => {
                let place = item.span().unwrap_or(0..0);
                let offsets = offsets(&self.text[place.clone()], &source);
                let locate = |at: usize| place.start + offsets.get(at).copied().unwrap_or(0);
                for fault in faults {
                    let span = locate(fault.span.start)..locate(fault.span.end);
                    self.mistakes.add(span, fault.message, fault.help);
                }
                None
            }
        }
    }

    fn known_keys(&mut self, table: &dyn TableLike, known: &[&str], place: &str) {
        for (key, _) in table.iter() {
            if !known.contains(&key) {
                let message = format!("unknown key `{}` {place}", shown(key));
                let help = suggestion(key, known.iter().copied());
                self.mistakes.add(key_span(table, key), message, Some(help));
            }
        }
    }

    fn table<'i>(&mut self, item: &'i Item, name: &str) -> Option<&'i dyn TableLike> {
        let table = item.as_table_like();
        if table.is_none() {
            let message = format!("`{name}` must be a table, got {}", item.type_name());
            let help = match item.as_str() {
                Some(word) => format!("write {name} = {{ kind = \"{word}\" }}"),
                None => format!("write {name} = {{ kind = \"…\" }} or [{name}]"),
            };
            self.mistakes.add(item.span().unwrap_or(0..0), message, Some(help));
        }
        table
    }

    fn text(&mut self, item: &Item, name: &str) -> Option<String> {
        let text = item.as_str().map(str::to_owned);
        if text.is_none() {
            let message = format!("`{name}` must be a string, got {}", item.type_name());
            let plain =
                item.as_value().filter(|value| !value.is_array() && !value.is_inline_table());
            let help = plain.map(|value| format!("write \"{}\"", value.to_string().trim()));
            self.mistakes.add(item.span().unwrap_or(0..0), message, help);
        }
        text
    }

    fn number(&mut self, item: &Item, name: &str) -> Option<f64> {
        let number = match item.as_value() {
            Some(Value::Float(value)) => Some(*value.value()),
            #[expect(clippy::cast_precision_loss, reason = "a bound beyond 2^53 is rounded")]
            Some(Value::Integer(value)) => Some(*value.value() as f64),
            _ => None,
        };
        let usable = number.filter(|value| value.is_finite() && value.abs() <= 1e300);
        if usable.is_none() {
            let found = item.to_string();
            let message = format!("`{name}` must be a finite number, got {}", found.trim());
            self.mistakes.add(item.span().unwrap_or(0..0), message, None);
        }
        usable
    }
}

fn too_long(what: &str, name: &str) -> String {
    format!("{what} is too long, expected at most {MAX_NAME_BYTES} bytes: {}", shown(name))
}

fn name_objection(name: &str) -> Option<String> {
    if name.len() > MAX_NAME_BYTES {
        return Some(too_long("a name", name));
    }
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    if !starts || !letters.all(is_name) {
        return Some(format!(
            "`{}` cannot name a variable: expected a letter or _, then letters, digits and _",
            shown(name)
        ));
    }
    if reserved().any(|word| word == name) {
        return Some(format!("`{name}` is reserved in expressions: choose another name"));
    }
    if RECORD_COLUMNS.contains(&name) {
        return Some(format!("`{name}` is a column of recorded data: choose another name"));
    }
    None
}

fn key_span(table: &dyn TableLike, key: &str) -> Range<usize> {
    table.key(key).and_then(toml_edit::Key::span).unwrap_or(0..0)
}

fn value_span(table: &dyn TableLike, key: &str) -> Range<usize> {
    table.get(key).and_then(Item::span).unwrap_or(0..0)
}

/// For each byte of a decoded string and for its end: the offset in its TOML form.
fn offsets(raw: &str, decoded: &str) -> Vec<usize> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| raw.starts_with(quote));
    let Some(quote) = quote else {
        return Vec::new();
    };
    let mut at = quote.len();
    if quote.len() == 3 {
        at += raw[at..].len() - raw[at..].trim_start_matches(['\r', '\n']).len();
    }
    let escapes = quote.starts_with('"');
    let mut offsets = Vec::with_capacity(decoded.len() + 1);
    for letter in decoded.chars() {
        let rest = &raw[at..];
        // A backslash at the end of a line swallows the white space after it.
        if escapes
            && let Some(after) = rest.strip_prefix('\\')
            && after.starts_with(|c: char| c.is_whitespace())
        {
            at += 1 + after.len() - after.trim_start().len();
        }
        offsets.extend(std::iter::repeat_n(at, letter.len_utf8()));
        let rest = &raw[at..];
        at += match rest.strip_prefix('\\') {
            Some(escape) if escapes => match escape.chars().next() {
                Some('u') => 6,
                Some('U') => 10,
                Some('x') => 4,
                _ => 2,
            },
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
        at = at.min(raw.len());
    }
    offsets.push(at);
    offsets
}

//! The tokens of the expression language.

use std::ops::Range;

/// A token of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    /// A label in double quotes.
    Label(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// What is wrong in an expression, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Fault {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Longer signs come first, so that `<=` is not read as `<`.
const SIGNS: [&str; 22] = [
    "**", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "^", "(", ")",
    "[", "]", ",", "'", "=",
];

/// Splits an expression into tokens with their byte ranges.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(rest, at)?
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            (Token::Name(rest[..length].to_owned()), length)
        } else if first == '"' {
            let length = rest[1..]
                .find('"')
                .ok_or_else(|| Fault::new(at..source.len(), "the label has no closing \""))?;
            (Token::Label(rest[1..=length].to_owned()), length + 2)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let span = at..at + first.len_utf8();
            let fault = Fault::new(span, format!("unexpected character `{first}`"));
            return Err(match first {
                '&' => fault.help("write && for and"),
                '|' => fault.help("write || for or"),
                _ => fault,
            });
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

/// Whether `c` is allowed inside a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), Fault> {
    let mut length = 0;
    let mut previous = ' ';
    for c in rest.chars() {
        let exponent_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || exponent_sign) {
            break;
        }
        length += c.len_utf8();
        previous = c;
    }
    let text = &rest[..length];
    match text.replace('_', "").parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
        _ => Err(Fault::new(at..at + length, format!("`{text}` is not a number"))),
    }
}

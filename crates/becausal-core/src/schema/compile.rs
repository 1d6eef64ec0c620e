//! Compiles the text of an expression to its code, by precedence climbing with types.

use std::collections::BTreeSet;
use std::ops::Range;

use super::expression::{Binary, Instruction, Parent, Unary, Wanted};
use super::suggest;
use super::token::{Fault, Token, tokens};
use super::typing::{Part, Type};
use super::variable::Variable;

/// Maximum nesting depth of an expression, in levels. A schema from an untrusted source must not
/// exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Functions of one number.
const UNARY: [(&str, Unary); 15] = [
    ("abs", Unary::Abs),
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("tanh", Unary::Tanh),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("round", Unary::Round),
    ("sign", Unary::Sign),
];

/// Functions of two numbers; `min` and `max` also take more.
const BINARY: [(&str, Binary); 4] = [
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("hypot", Binary::Hypot),
    ("atan2", Binary::Atan2),
];

/// Names that are reserved in expressions and so cannot name a variable.
pub(super) fn reserved() -> impl Iterator<Item = &'static str> + Clone {
    functions().chain(["pi", "true", "false"])
}

fn functions() -> impl Iterator<Item = &'static str> + Clone {
    ["if"]
        .into_iter()
        .chain(UNARY.into_iter().map(|(name, _)| name))
        .chain(BINARY.into_iter().map(|(name, _)| name))
}

pub(super) fn compile(
    source: &str,
    variables: &[Variable],
    broken: &[String],
    wanted: Wanted,
) -> Result<(Vec<Instruction>, Vec<Parent>), Vec<Fault>> {
    let tokens = tokens(source).map_err(|fault| vec![fault])?;
    let mut compiler = Compiler {
        tokens,
        next: 0,
        end: source.len(),
        variables,
        broken,
        code: Vec::new(),
        parents: BTreeSet::new(),
        faults: Vec::new(),
        depth: 0,
    };
    if let Err(fault) = compiler.expression(wanted) {
        compiler.faults.push(fault);
    }
    if compiler.faults.is_empty() && broken.is_empty() {
        let parents: Vec<Parent> = compiler.parents.into_iter().collect();
        Ok((compiler.code, parents))
    } else {
        Err(compiler.faults)
    }
}

pub(super) struct Compiler<'a> {
    pub(super) tokens: Vec<(Token, Range<usize>)>,
    pub(super) next: usize,
    pub(super) end: usize,
    pub(super) variables: &'a [Variable],
    /// Variables whose own declaration is wrong. That is reported there, so their uses are not.
    pub(super) broken: &'a [String],
    pub(super) code: Vec<Instruction>,
    pub(super) parents: BTreeSet<Parent>,
    pub(super) faults: Vec<Fault>,
    pub(super) depth: usize,
}

/// A binary operator and its precedence; a higher one binds tighter.
pub(super) fn operator(sign: &str) -> Option<(u8, Binary)> {
    Some(match sign {
        "||" => (1, Binary::Or),
        "&&" => (2, Binary::And),
        "==" => (3, Binary::Equal),
        "!=" => (3, Binary::Unequal),
        "<" => (3, Binary::Less),
        "<=" => (3, Binary::LessOrEqual),
        ">" => (3, Binary::Greater),
        ">=" => (3, Binary::GreaterOrEqual),
        "+" => (4, Binary::Add),
        "-" => (4, Binary::Subtract),
        "*" => (5, Binary::Multiply),
        "/" => (5, Binary::Divide),
        "^" => (7, Binary::Power),
        _ => return None,
    })
}

/// Precedence of a prefix operator: lower than `^`, so that -x^2 is -(x^2).
const PREFIX: u8 = 6;
pub(super) const COMPARISON: u8 = 3;
const POWER: u8 = 7;

impl Compiler<'_> {
    fn expression(&mut self, wanted: Wanted) -> Result<(), Fault> {
        if self.tokens.is_empty() {
            return Err(Fault::new(0..self.end, "the expression is empty"));
        }
        let part = self.part(0)?;
        if let Some((token, span)) = self.tokens.get(self.next).cloned() {
            return Err(unexpected(&token, span));
        }
        match wanted {
            Wanted::Number => self.expect_number(&part),
            Wanted::Boolean => self.expect_boolean(&part),
        }
        Ok(())
    }

    /// A part whose operators all have a precedence above `floor`.
    fn part(&mut self, floor: u8) -> Result<Part, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let token = self.tokens.get(self.next);
            let span = token.map_or(self.end..self.end, |(_, span)| span.clone());
            return Err(Fault::new(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let mut left = self.prefix()?;
        while let Some((Token::Sign(sign), span)) = self.tokens.get(self.next).cloned() {
            let Some((precedence, binary)) = operator(sign) else {
                match sign {
                    "**" => return Err(Fault::new(span, "unknown operator `**`").help("write ^")),
                    "=" => return Err(Fault::new(span, "unknown operator `=`").help("write ==")),
                    _ => break,
                }
            };
            if precedence <= floor {
                break;
            }
            self.next += 1;
            // `^` is right-associative and its exponent may have a sign: 2^-x.
            let right = self.part(if precedence == POWER { PREFIX - 1 } else { precedence })?;
            if precedence == COMPARISON && self.peek_comparison() {
                let span = self.tokens[self.next].1.clone();
                return Err(
                    Fault::new(span, "comparisons cannot be chained").help("write a < b && b < c")
                );
            }
            left = self.combine(binary, sign, &left, &right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn peek_comparison(&self) -> bool {
        matches!(self.tokens.get(self.next), Some((Token::Sign(sign), _))
            if operator(sign).is_some_and(|(precedence, _)| precedence == COMPARISON))
    }

    fn prefix(&mut self) -> Result<Part, Fault> {
        let Some((token, span)) = self.tokens.get(self.next).cloned() else {
            return Err(Fault::new(self.end..self.end, "the expression ends too early"));
        };
        let code = self.code.len();
        self.next += 1;
        match token {
            Token::Number(value) => {
                self.code.push(Instruction::Constant(value));
                Ok(Part { kind: Type::Number(Some(value.to_string())), span, code, bare: false })
            }
            Token::Label(text) => {
                self.code.push(Instruction::Constant(f64::NAN)); // replaced by the comparison
                Ok(Part { kind: Type::Label(text), span, code, bare: false })
            }
            Token::Sign("(") => {
                let inside = self.part(0)?;
                let end = self.expect(")")?.end;
                Ok(Part { span: span.start..end, ..inside })
            }
            Token::Sign("-") => {
                let part = self.part(PREFIX)?;
                self.expect_number(&part);
                self.code.push(Instruction::One(Unary::Negate));
                Ok(Part {
                    kind: Type::Number(None),
                    span: span.start..part.span.end,
                    code,
                    bare: false,
                })
            }
            Token::Sign("+") => {
                let part = self.part(PREFIX)?;
                self.expect_number(&part);
                Ok(Part {
                    kind: Type::Number(None),
                    span: span.start..part.span.end,
                    code,
                    bare: false,
                })
            }
            Token::Sign("!") => {
                let part = self.part(PREFIX)?;
                self.expect_boolean(&part);
                self.code.push(Instruction::One(Unary::Not));
                Ok(Part { kind: Type::Boolean, span: span.start..part.span.end, code, bare: false })
            }
            Token::Sign(_) => Err(unexpected(&token, span)),
            Token::Name(name) => self.name(&name, span),
        }
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Part, Fault> {
        let code = self.code.len();
        let simple = |kind| Part { kind, span: span.clone(), code, bare: false };
        let constant = match name {
            "pi" => Some((std::f64::consts::PI, Type::Number(None))),
            "true" => Some((1.0, Type::Boolean)),
            "false" => Some((0.0, Type::Boolean)),
            _ => None,
        };
        if let Some((value, kind)) = constant {
            self.code.push(Instruction::Constant(value));
            return Ok(simple(kind));
        }
        if self.at_sign("(") {
            return self.call(name, span);
        }
        let broken = self.broken.iter().any(|known| known == name);
        if !broken
            && let Some(index) = self.variables.iter().position(|variable| variable.name == name)
        {
            return self.variable(index, span);
        }
        if broken || self.at_sign("'") || self.at_sign("[") {
            if !broken {
                self.faults.push(self.unknown(name, span.clone()));
            }
            self.skip_primes_and_index();
            self.code.push(Instruction::Constant(f64::NAN));
            return Ok(simple(Type::Unknown));
        }
        self.code.push(Instruction::Constant(f64::NAN)); // replaced by the comparison
        Ok(Part { bare: true, ..simple(Type::Label(name.to_owned())) })
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Part, Fault> {
        let code = self.code.len();
        let unary =
            UNARY.into_iter().find(|(known, _)| *known == name).map(|(_, function)| function);
        let binary =
            BINARY.into_iter().find(|(known, _)| *known == name).map(|(_, function)| function);
        if name != "if" && unary.is_none() && binary.is_none() {
            let fault = Fault::new(span, format!("unknown function `{name}`"));
            return Err(fault.help(match suggest::nearest(name, functions()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known: {}", functions().collect::<Vec<_>>().join(", ")),
            }));
        }
        self.expect("(")?;
        let mut count: usize = 0;
        let mut branches: Vec<Part> = Vec::new();
        while !self.at_sign(")") {
            if count > 0 {
                self.expect(",")?;
            }
            let part = self.part(0)?;
            count += 1;
            if name == "if" {
                if count == 1 {
                    self.expect_boolean(&part);
                } else {
                    branches.push(part);
                }
                continue;
            }
            self.expect_number(&part);
            if let (Some(function), true) = (binary, count > 1) {
                self.code.push(Instruction::Two(function));
            }
        }
        let span = span.start..self.expect(")")?.end;
        let (expected, fits) = match (name, unary) {
            ("if", _) => ("3 arguments (condition, then, otherwise)", count == 3),
            (_, Some(_)) => ("1 argument", count == 1),
            ("min" | "max", _) => ("at least 2 arguments", count >= 2),
            _ => ("2 arguments", count == 2),
        };
        if !fits {
            return Err(Fault::new(span, format!("`{name}` takes {expected}, got {count}")));
        }
        if let Some(function) = unary {
            self.code.push(Instruction::One(function));
        }
        if name == "if" {
            self.code.push(Instruction::Choose);
            let kind = self.branches(&branches[0], &branches[1]);
            return Ok(Part { kind, span, code, bare: false });
        }
        Ok(Part { kind: Type::Number(None), span, code, bare: false })
    }

    pub(super) fn at_sign(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.next), Some((Token::Sign(here), _)) if *here == sign)
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<Range<usize>, Fault> {
        match self.tokens.get(self.next) {
            Some((Token::Sign(here), span)) if *here == sign => {
                self.next += 1;
                Ok(span.clone())
            }
            Some((token, span)) => {
                let fault = unexpected(token, span.clone());
                let help = fault.help.clone().unwrap_or_else(|| format!("expected `{sign}`"));
                Err(fault.help(help))
            }
            None => Err(Fault::new(self.end..self.end, "the expression ends too early")
                .help(format!("expected `{sign}`"))),
        }
    }
}

fn unexpected(token: &Token, span: Range<usize>) -> Fault {
    let what = match token {
        Token::Number(value) => value.to_string(),
        Token::Name(name) => name.clone(),
        Token::Label(text) => format!("\"{text}\""),
        Token::Sign(sign) => (*sign).to_owned(),
    };
    let fault = Fault::new(span, format!("unexpected `{what}`"));
    match what.as_str() {
        "and" => fault.help("write && for and"),
        "or" => fault.help("write || for or"),
        _ => fault,
    }
}

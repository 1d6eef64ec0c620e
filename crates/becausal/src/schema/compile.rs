//! From the text of an expression to its code: precedence climbing with types.

use std::collections::BTreeSet;
use std::ops::Range;

use super::expression::{Binary, Instruction, Parent, Unary, Wanted};
use super::suggest::suggestion;
use super::token::{Fault, Token, tokens};
use super::variable::{Kind, Role, Variable};
use super::{layout, suggest};

/// How deep brackets may nest: a schema from outside must not exhaust the stack.
const DEEPEST: usize = 100;

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

/// Functions of two numbers; `min` and `max` take more as well.
const BINARY: [(&str, Binary); 4] = [
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("hypot", Binary::Hypot),
    ("atan2", Binary::Atan2),
];

/// Names that mean something in an expression and so cannot name a variable.
pub(super) fn reserved() -> impl Iterator<Item = &'static str> + Clone {
    functions().chain(["pi", "true", "false"])
}

fn functions() -> impl Iterator<Item = &'static str> + Clone {
    ["if"]
        .into_iter()
        .chain(UNARY.into_iter().map(|(name, _)| name))
        .chain(BINARY.into_iter().map(|(name, _)| name))
}

/// The type of a part of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Type {
    /// With the text of a literal, which may turn out to be a label: `a == 0`.
    Number(Option<String>),
    Boolean,
    /// A categorical variable, by index.
    Category(usize),
    /// A label, quoted or not, whose variable is on the other side of a comparison.
    Label(String),
    /// An unknown name: reported already.
    Unknown,
}

impl Type {
    fn describe(&self, variables: &[Variable]) -> String {
        match self {
            Self::Number(_) => "a number".into(),
            Self::Boolean => "a boolean".into(),
            Self::Category(index) => format!("the category `{}`", variables[*index].name),
            Self::Label(text) => format!("the label \"{text}\""),
            Self::Unknown => "something unknown".into(),
        }
    }
}

/// A part of the expression: its type and place. Its code ends where the code ends now.
struct Part {
    kind: Type,
    span: Range<usize>,
    /// Where its own code begins.
    code: usize,
    /// A name without quotes that is no variable, allowed only as a label.
    bare: bool,
}

pub(super) fn compile(
    source: &str,
    variables: &[Variable],
    broken: &[String],
    wanted: Wanted,
) -> Result<(Vec<Instruction>, Vec<Parent>), Vec<Fault>> {
    let words = tokens(source).map_err(|fault| vec![fault])?;
    let mut compiler = Compiler {
        words,
        next: 0,
        end: source.len(),
        variables,
        broken,
        code: Vec::new(),
        parents: BTreeSet::new(),
        faults: Vec::new(),
        depth: 0,
    };
    if let Err(fault) = compiler.whole(wanted) {
        compiler.faults.push(fault);
    }
    if compiler.faults.is_empty() && broken.is_empty() {
        let parents: Vec<Parent> = compiler.parents.into_iter().collect();
        Ok((compiler.code, parents))
    } else {
        Err(compiler.faults)
    }
}

struct Compiler<'a> {
    words: Vec<(Token, Range<usize>)>,
    next: usize,
    end: usize,
    variables: &'a [Variable],
    /// Variables whose own declaration is wrong: reported there, and never again.
    broken: &'a [String],
    code: Vec<Instruction>,
    parents: BTreeSet<Parent>,
    faults: Vec<Fault>,
    depth: usize,
}

/// A binary operator with how tightly it binds.
fn operator(sign: &str) -> Option<(u8, Binary)> {
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

/// How tightly a sign in front binds: less than `^`, so that -x^2 is -(x^2).
const PREFIX: u8 = 6;
const COMPARISON: u8 = 3;
const POWER: u8 = 7;

impl Compiler<'_> {
    fn whole(&mut self, wanted: Wanted) -> Result<(), Fault> {
        if self.words.is_empty() {
            return Err(Fault::new(0..self.end, "the expression is empty"));
        }
        let part = self.part(0)?;
        if let Some((token, span)) = self.words.get(self.next).cloned() {
            return Err(unexpected(&token, span));
        }
        match wanted {
            Wanted::Number => self.expect_number(&part),
            Wanted::Boolean => self.expect_boolean(&part),
        }
        Ok(())
    }

    /// A part whose operators bind tighter than `floor`.
    fn part(&mut self, floor: u8) -> Result<Part, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let span = self.words.get(self.next).map_or(self.end..self.end, |word| word.1.clone());
            return Err(Fault::new(span, format!("nested more than {DEEPEST} levels deep")));
        }
        let mut left = self.prefix()?;
        while let Some((Token::Sign(sign), span)) = self.words.get(self.next).cloned() {
            let Some((tightness, binary)) = operator(sign) else {
                match sign {
                    "**" => return Err(Fault::new(span, "`**` means nothing").help("write ^")),
                    "=" => return Err(Fault::new(span, "`=` means nothing").help("write ==")),
                    _ => break,
                }
            };
            if tightness <= floor {
                break;
            }
            self.next += 1;
            // `^` binds to the right and takes a sign: 2^-x.
            let right = self.part(if tightness == POWER { PREFIX - 1 } else { tightness })?;
            if tightness == COMPARISON && self.peek_comparison() {
                let span = self.words[self.next].1.clone();
                return Err(Fault::new(span, "comparisons cannot be chained")
                    .help("write a < b && b < c"));
            }
            left = self.combine(binary, sign, left, right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn peek_comparison(&self) -> bool {
        matches!(self.words.get(self.next), Some((Token::Sign(sign), _))
            if operator(sign).is_some_and(|(tightness, _)| tightness == COMPARISON))
    }

    fn prefix(&mut self) -> Result<Part, Fault> {
        let Some((token, span)) = self.words.get(self.next).cloned() else {
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
                Ok(Part { kind: Type::Number(None), span: span.start..part.span.end, code, bare: false })
            }
            Token::Sign("+") => {
                let part = self.part(PREFIX)?;
                self.expect_number(&part);
                Ok(Part { kind: Type::Number(None), span: span.start..part.span.end, code, bare: false })
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

    fn unknown(&self, name: &str, span: Range<usize>) -> Fault {
        let hint = match name {
            "and" => Some("write && for and"),
            "or" => Some("write || for or"),
            "not" => Some("write ! for not"),
            _ => None,
        };
        let names = self.variables.iter().map(|variable| variable.name.as_str());
        Fault::new(span, format!("unknown variable `{name}`"))
            .help(hint.map_or_else(|| suggestion(name, names), str::to_owned))
    }

    fn skip_primes_and_index(&mut self) {
        while let Some((Token::Sign("'" | "[" | "]") | Token::Number(_), _)) =
            self.words.get(self.next)
        {
            self.next += 1;
        }
    }

    /// `x`, `x'`, `legs[0]`, `legs'[0]` or `legs[0]'`.
    fn variable(&mut self, index: usize, span: Range<usize>) -> Result<Part, Fault> {
        let variable = &self.variables[index];
        let code = self.code.len();
        let mut next = false;
        let mut element = None;
        let mut end = span.end;
        loop {
            if self.at_sign("'") && !next {
                end = self.expect("'")?.end;
                next = true;
            } else if self.at_sign("[") && element.is_none() {
                self.next += 1;
                element = Some(self.index(variable)?);
                end = self.expect("]")?.end;
            } else {
                break;
            }
        }
        let span = span.start..end;
        let mut fault = None;
        if next && variable.role != Role::State {
            fault = Some(
                Fault::new(span.clone(), format!("`{}` has no next value", variable.name))
                    .help(format!("it is an {}; only states have one", variable.role.table())),
            );
        }
        match (variable.size, element) {
            (None, Some(_)) => {
                fault = Some(Fault::new(
                    span.clone(),
                    format!("`{}` is a single value, it has no elements", variable.name),
                ));
            }
            (Some(size), None) => {
                let prime = if next { "'" } else { "" };
                fault = Some(
                    Fault::new(
                        span.clone(),
                        format!("`{}` is a vector of {size}: name an element", variable.name),
                    )
                    .help(format!("for instance {}{prime}[0]", variable.name)),
                );
            }
            _ => {}
        }
        if let Some(fault) = fault {
            self.faults.push(fault);
            self.code.push(Instruction::Constant(f64::NAN));
            return Ok(Part { kind: Type::Unknown, span, code, bare: false });
        }
        self.parents.insert(Parent { variable: index, next });
        let slot = layout::slot_of(self.variables, index, element.unwrap_or(0), next);
        self.code.push(Instruction::Load(slot));
        let kind = match variable.kind {
            Kind::Continuous(_) | Kind::Integer(_) => Type::Number(None),
            Kind::Boolean => Type::Boolean,
            Kind::Categorical(_) => Type::Category(index),
        };
        Ok(Part { kind, span, code, bare: false })
    }

    /// The number between `[` and `]`.
    fn index(&mut self, variable: &Variable) -> Result<usize, Fault> {
        let size = variable.elements();
        let Some((token, span)) = self.words.get(self.next).cloned() else {
            return Err(Fault::new(self.end..self.end, "the expression ends too early"));
        };
        self.next += 1;
        match token {
            Token::Number(value) if (0..size).any(|index| index as f64 == value) => {
                Ok((0..size).find(|&index| index as f64 == value).unwrap_or(0))
            }
            _ => Err(Fault::new(span, format!("`{}` has no such element", variable.name))
                .help(format!("expected a whole number from 0 to {}", size - 1))),
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Part, Fault> {
        let code = self.code.len();
        let unary = UNARY.into_iter().find(|(known, _)| *known == name).map(|(_, function)| function);
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
        let wanted = match (name, unary) {
            ("if", _) => "3 (condition, then, otherwise)",
            (_, Some(_)) => "1",
            ("min" | "max", _) => "at least 2",
            _ => "2",
        };
        let right = match wanted {
            "1" => count == 1,
            "2" => count == 2,
            "at least 2" => count >= 2,
            _ => count == 3,
        };
        if !right {
            return Err(Fault::new(span, format!("`{name}` takes {wanted} arguments, got {count}")));
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

    /// The common type of the two branches of an `if`.
    fn branches(&mut self, then: &Part, otherwise: &Part) -> Type {
        if then.kind == Type::Boolean {
            self.expect_boolean(otherwise);
            return Type::Boolean;
        }
        self.expect_number(then);
        self.expect_number(otherwise);
        Type::Number(None)
    }

    /// Both sides are on the stack: checks their types and adds the operation.
    fn combine(&mut self, binary: Binary, sign: &str, left: Part, right: Part) -> Part {
        let span = left.span.start..right.span.end;
        let code = left.code;
        let kind = match binary {
            Binary::And | Binary::Or => {
                self.expect_boolean(&left);
                self.expect_boolean(&right);
                Type::Boolean
            }
            Binary::Equal | Binary::Unequal => {
                self.equality(sign, &left, &right);
                Type::Boolean
            }
            _ => {
                self.expect_number(&left);
                self.expect_number(&right);
                let compares = operator(sign).is_some_and(|(level, _)| level == COMPARISON);
                if compares { Type::Boolean } else { Type::Number(None) }
            }
        };
        self.code.push(Instruction::Two(binary));
        Part { kind, span, code, bare: false }
    }

    /// `==` and `!=` compare numbers, booleans, and a category with one of its labels.
    fn equality(&mut self, sign: &str, left: &Part, right: &Part) {
        match (&left.kind, &right.kind) {
            (Type::Category(index), Type::Label(text) | Type::Number(Some(text))) => {
                self.label(*index, text, right);
            }
            (Type::Label(text) | Type::Number(Some(text)), Type::Category(index)) => {
                self.label(*index, text, left);
            }
            (Type::Category(one), Type::Category(other)) => {
                if self.variables[*one].kind != self.variables[*other].kind {
                    let span = left.span.start..right.span.end;
                    self.faults.push(Fault::new(span, "these two have different labels"));
                }
            }
            (Type::Number(_), Type::Number(_)) | (Type::Boolean, Type::Boolean) => {}
            _ if self.names_are_known(left) & self.names_are_known(right) => {
                if left.kind != Type::Unknown && right.kind != Type::Unknown {
                    let what = format!(
                        "`{sign}` cannot compare {} with {}",
                        left.kind.describe(self.variables),
                        right.kind.describe(self.variables)
                    );
                    self.faults.push(Fault::new(left.span.start..right.span.end, what));
                }
            }
            _ => {}
        }
    }

    /// Puts a label's index where its place was held.
    fn label(&mut self, variable: usize, text: &str, part: &Part) {
        let labels = self.variables[variable].kind.labels();
        match labels.iter().position(|label| label == text) {
            Some(index) => self.code[part.code] = Instruction::Constant(index as f64),
            None => self.faults.push(
                Fault::new(
                    part.span.clone(),
                    format!("`{}` has no label \"{text}\"", self.variables[variable].name),
                )
                .help(suggestion(text, labels.iter().map(String::as_str))),
            ),
        }
    }

    /// Reports a bare name that turned out not to be a label.
    fn names_are_known(&mut self, part: &Part) -> bool {
        if let (Type::Label(name), true) = (&part.kind, part.bare) {
            let fault = self.unknown(name, part.span.clone());
            self.faults.push(fault);
            return false;
        }
        true
    }

    fn expect_number(&mut self, part: &Part) {
        if !self.names_are_known(part) || matches!(part.kind, Type::Number(_) | Type::Unknown) {
            return;
        }
        let found = part.kind.describe(self.variables);
        let fault = Fault::new(part.span.clone(), format!("expected a number, got {found}"));
        self.faults.push(match part.kind {
            Type::Boolean => fault.help("write if(condition, 1, 0)"),
            Type::Category(index) => fault.help(format!(
                "compare it with a label: {} == \"{}\"",
                self.variables[index].name,
                self.variables[index].kind.labels().first().map_or("", String::as_str)
            )),
            _ => fault,
        });
    }

    fn expect_boolean(&mut self, part: &Part) {
        if !self.names_are_known(part) || matches!(part.kind, Type::Boolean | Type::Unknown) {
            return;
        }
        let found = part.kind.describe(self.variables);
        self.faults.push(
            Fault::new(part.span.clone(), format!("expected a boolean, got {found}"))
                .help("compare it: x > 0"),
        );
    }

    fn at_sign(&self, sign: &str) -> bool {
        matches!(self.words.get(self.next), Some((Token::Sign(here), _)) if *here == sign)
    }

    fn expect(&mut self, sign: &str) -> Result<Range<usize>, Fault> {
        match self.words.get(self.next) {
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

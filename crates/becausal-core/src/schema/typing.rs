//! The types of expressions: numbers, booleans, and categories with their labels.

use std::ops::Range;

use super::compile::{COMPARISON, Compiler, operator};
use super::expression::{Binary, Instruction};
use super::suggest::suggestion;
use super::token::Fault;
use super::variable::Variable;

/// The type of a part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// A literal keeps its text, because it may be a label: `a == 0`.
    Number(Option<String>),
    Boolean,
    /// A categorical variable, by index.
    Category(usize),
    /// A label, quoted or not, whose variable is on the other side of a comparison.
    Label(String),
    /// An unknown name, which was already reported.
    Unknown,
}

impl Type {
    pub(super) fn describe(&self, variables: &[Variable]) -> String {
        match self {
            Self::Number(_) => "a number".into(),
            Self::Boolean => "a boolean".into(),
            Self::Category(index) => format!("the category `{}`", variables[*index].name),
            Self::Label(text) => format!("the label \"{text}\""),
            Self::Unknown => "something unknown".into(),
        }
    }
}

/// A part of an expression: its type and place. Its code is the end of the code so far.
pub(super) struct Part {
    pub(super) kind: Type,
    pub(super) span: Range<usize>,
    /// Index of its first instruction.
    pub(super) code: usize,
    /// A name without quotes that is not a variable, allowed only as a label.
    pub(super) bare: bool,
}

impl Compiler<'_> {
    /// The common type of the two branches of an `if`.
    pub(super) fn branches(&mut self, then: &Part, otherwise: &Part) -> Type {
        if then.kind == Type::Boolean {
            self.expect_boolean(otherwise);
            return Type::Boolean;
        }
        self.expect_number(then);
        self.expect_number(otherwise);
        Type::Number(None)
    }

    /// Checks the types of both sides, whose code is already there, and adds the operation.
    pub(super) fn combine(
        &mut self,
        binary: Binary,
        sign: &str,
        left: &Part,
        right: &Part,
    ) -> Part {
        let span = left.span.start..right.span.end;
        let code = left.code;
        let kind = match binary {
            Binary::And | Binary::Or => {
                self.expect_boolean(left);
                self.expect_boolean(right);
                Type::Boolean
            }
            Binary::Equal | Binary::Unequal => {
                self.equality(sign, left, right);
                Type::Boolean
            }
            _ => {
                self.expect_number(left);
                self.expect_number(right);
                let compares = operator(sign).is_some_and(|(level, _)| level == COMPARISON);
                if compares { Type::Boolean } else { Type::Number(None) }
            }
        };
        self.code.push(Instruction::Two(binary));
        Part { kind, span, code, bare: false }
    }

    /// `==` and `!=` compare numbers, booleans, and a category with one of its labels.
    pub(super) fn equality(&mut self, sign: &str, left: &Part, right: &Part) {
        match (&left.kind, &right.kind) {
            (Type::Category(index), Type::Label(text) | Type::Number(Some(text))) => {
                self.label(*index, text, right);
            }
            (Type::Label(text) | Type::Number(Some(text)), Type::Category(index)) => {
                self.label(*index, text, left);
            }
            (Type::Category(one), Type::Category(other)) => {
                let same = self.variables[*one].kind == self.variables[*other].kind;
                if !same {
                    let span = left.span.start..right.span.end;
                    self.faults.push(Fault::new(span, "these two have different labels"));
                }
            }
            (Type::Number(_), Type::Number(_)) | (Type::Boolean, Type::Boolean) => {}
            _ => {
                let known = self.names_are_known(left) & self.names_are_known(right);
                if known && left.kind != Type::Unknown && right.kind != Type::Unknown {
                    let what = format!(
                        "`{sign}` cannot compare {} with {}",
                        left.kind.describe(self.variables),
                        right.kind.describe(self.variables)
                    );
                    self.faults.push(Fault::new(left.span.start..right.span.end, what));
                }
            }
        }
    }

    /// Replaces the placeholder of a label by its index.
    pub(super) fn label(&mut self, variable: usize, text: &str, part: &Part) {
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
    pub(super) fn names_are_known(&mut self, part: &Part) -> bool {
        if let (Type::Label(name), true) = (&part.kind, part.bare) {
            let fault = self.unknown(name, part.span.clone());
            self.faults.push(fault);
            return false;
        }
        true
    }

    pub(super) fn expect_number(&mut self, part: &Part) {
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

    pub(super) fn expect_boolean(&mut self, part: &Part) {
        if !self.names_are_known(part) || matches!(part.kind, Type::Boolean | Type::Unknown) {
            return;
        }
        let found = part.kind.describe(self.variables);
        self.faults.push(
            Fault::new(part.span.clone(), format!("expected a boolean, got {found}"))
                .help("compare it: x > 0"),
        );
    }
}

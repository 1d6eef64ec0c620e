//! References to variables: `x`, `x'`, `legs[0]`, `legs'[0]`.

use std::ops::Range;

use super::compile::Compiler;
use super::expression::{Instruction, Parent};
use super::layout;
use super::suggest::suggestion;
use super::token::{Fault, Token};
use super::typing::{Part, Type};
use super::variable::{Kind, Role, Variable};

impl Compiler<'_> {
    pub(super) fn unknown(&self, name: &str, span: Range<usize>) -> Fault {
        let hint = match name {
            "and" => Some("write && for and"),
            "or" => Some("write || for or"),
            "not" => Some("write ! for not"),
            _ => None,
        };
        let declared = self.variables.iter().map(|variable| variable.name.as_str());
        let names = declared.chain(self.broken.iter().map(String::as_str));
        Fault::new(span, format!("unknown variable `{name}`"))
            .help(hint.map_or_else(|| suggestion(name, names), str::to_owned))
    }

    pub(super) fn skip_primes_and_index(&mut self) {
        while let Some((Token::Sign("'" | "[" | "]") | Token::Number(_), _)) =
            self.tokens.get(self.next)
        {
            self.next += 1;
        }
    }

    /// `x`, `x'`, `legs[0]`, `legs'[0]` or `legs[0]'`.
    pub(super) fn variable(&mut self, index: usize, span: Range<usize>) -> Result<Part, Fault> {
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
            Kind::Continuous(_) | Kind::Integer(_) | Kind::Circular(_) => Type::Number(None),
            Kind::Boolean => Type::Boolean,
            Kind::Categorical(_) => Type::Category(index),
        };
        Ok(Part { kind, span, code, bare: false })
    }

    /// The number between `[` and `]`.
    pub(super) fn index(&mut self, variable: &Variable) -> Result<usize, Fault> {
        let size = variable.elements();
        let Some((token, span)) = self.tokens.get(self.next).cloned() else {
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
}

//! Expressions over the variables of a transition: reward terms and terminations.

use super::compile;
use super::token::Fault;
use super::variable::Variable;

/// An expression over s, a, o and s', checked against a schema and ready to be evaluated.
///
/// | | |
/// |---|---|
/// | numbers | `2`, `0.5`, `1e-3`, `pi` |
/// | variables | `x`, the next value `x'`, an element `legs[0]`, `legs'[0]` |
/// | labels | `engine == "main"`, or bare: `engine == main` |
/// | arithmetic | `+ - * / ^` |
/// | comparisons | `== != < <= > >=` |
/// | logic | `&& \|\| !`, `true`, `false` |
/// | choice | `if(condition, then, otherwise)` |
/// | functions | `min max abs sqrt hypot exp log sin cos tan asin acos atan atan2 tanh floor ceil round sign` |
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    source: String,
    code: Vec<Instruction>,
    /// The maximum number of values on the stack.
    depth: usize,
    parents: Vec<Parent>,
}

/// A variable that an expression reads: its causal parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parent {
    /// Index of the variable in the schema.
    pub variable: usize,
    /// Whether the expression reads its value after the step.
    pub next: bool,
}

/// The type that an expression must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Number,
    Boolean,
}

/// One instruction of a stack machine. Booleans are the numbers 0 and 1, categories their indices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Instruction {
    Constant(f64),
    /// Pushes the values of a slot.
    Load(usize),
    /// Replaces the top value.
    One(Unary),
    /// Replaces the top two values.
    Two(Binary),
    /// Replaces the top three values: condition, then, otherwise.
    Choose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Not,
    Abs,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Tanh,
    Floor,
    Ceil,
    Round,
    Sign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Min,
    Max,
    Hypot,
    Atan2,
}

impl Expression {
    /// Compiles `source` with the names of `variables`. An error lists all faults found. The list
    /// is empty if the only fault is the use of a `broken` variable, whose declaration is wrong.
    pub(super) fn compile(
        source: &str,
        variables: &[Variable],
        broken: &[String],
        wanted: Wanted,
    ) -> Result<Self, Vec<Fault>> {
        let (code, parents) = compile::compile(source, variables, broken, wanted)?;
        let mut height: usize = 0;
        let mut depth = 0;
        for instruction in &code {
            match instruction {
                Instruction::Constant(_) | Instruction::Load(_) => height += 1,
                Instruction::One(_) => {}
                Instruction::Two(_) => height -= 1,
                Instruction::Choose => height -= 2,
            }
            depth = depth.max(height);
        }
        Ok(Self { source: source.to_owned(), code, depth, parents })
    }

    /// The text it was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The variables it reads, each once, in the order of the schema; a current value comes before
    /// its next value.
    #[must_use]
    pub fn parents(&self) -> &[Parent] {
        &self.parents
    }

    pub(super) fn code(&self) -> &[Instruction] {
        &self.code
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

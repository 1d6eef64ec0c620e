//! Values of settings, and how they are read from and written to TOML.

use toml_edit::{Array, Value};

use becausal_discovery::Method;
use becausal_model::{ModelKind, Parents};

/// A number that changes linearly over the course of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// At the start.
    pub from: f64,
    /// At the end.
    pub to: f64,
}

impl Ramp {
    /// The value after a share of the training, from 0 to 1.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// The value rounded to a whole number, at least 1.
    #[must_use]
    pub fn whole_at(&self, share: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
        let whole = self.at(share).round().max(1.0) as usize;
        whole
    }
}

/// The model that generates experience for the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imagination {
    /// A world model.
    Model(ModelKind),
    /// No model: the policy learns from real experience alone.
    None,
}

impl Imagination {
    /// Its name on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model(kind) => kind.name(),
            Self::None => "none",
        }
    }

    /// The variant with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        if name == "none" { Some(Self::None) } else { ModelKind::of(name).map(Self::Model) }
    }
}

/// A value that a setting can have.
pub(super) trait Setting: Sized {
    /// The expected value, for error messages.
    const EXPECTED: &'static str;
    fn read(value: &Value) -> Option<Self>;
    fn write(&self) -> Value;
}

fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "settings are small")]
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

impl Setting for f64 {
    const EXPECTED: &'static str = "a number of at least 0";
    fn read(value: &Value) -> Option<Self> {
        number(value)
    }
    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Setting for bool {
    const EXPECTED: &'static str = "true or false";
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Setting for usize {
    const EXPECTED: &'static str = "a whole number of at least 0";
    fn read(value: &Value) -> Option<Self> {
        value.as_integer().and_then(|number| Self::try_from(number).ok())
    }
    fn write(&self) -> Value {
        i64::try_from(*self).unwrap_or(i64::MAX).into()
    }
}

impl Setting for Ramp {
    const EXPECTED: &'static str = "a number, or two: [at the start, at the end]";
    fn read(value: &Value) -> Option<Self> {
        if let Some(number) = number(value) {
            return Some(Self { from: number, to: number });
        }
        let list: Vec<&Value> = value.as_array()?.iter().collect();
        match list[..] {
            [from, to] => Some(Self { from: number(from)?, to: number(to)? }),
            _ => None,
        }
    }
    fn write(&self) -> Value {
        Value::Array(Array::from_iter([self.from, self.to]))
    }
}

impl Setting for Imagination {
    const EXPECTED: &'static str = "\"causal\", \"full\", \"mlp\" or \"none\"";
    fn read(value: &Value) -> Option<Self> {
        let found = Self::of(value.as_str()?)?;
        let offered = [ModelKind::Causal, ModelKind::Full, ModelKind::Mlp].map(Self::Model);
        (found == Self::None || offered.contains(&found)).then_some(found)
    }
    fn write(&self) -> Value {
        self.name().into()
    }
}

impl Setting for Method {
    const EXPECTED: &'static str = "\"auto\" or \"fcit\"";
    fn read(value: &Value) -> Option<Self> {
        Self::of(value.as_str()?)
    }
    fn write(&self) -> Value {
        self.name().into()
    }
}

impl Setting for Parents {
    const EXPECTED: &'static str = "\"edges\" or \"cautious\"";
    fn read(value: &Value) -> Option<Self> {
        Self::of(value.as_str()?)
    }
    fn write(&self) -> Value {
        self.name().into()
    }
}

impl Setting for Vec<usize> {
    const EXPECTED: &'static str = "a list of whole numbers from 1 to 4096, for example [64, 64]";
    fn read(value: &Value) -> Option<Self> {
        let list = value.as_array()?.iter().map(usize::read).collect::<Option<Self>>()?;
        list.iter().all(|&width| (1..=4096).contains(&width)).then_some(list)
    }
    fn write(&self) -> Value {
        Value::Array(self.iter().map(|&width| i64::try_from(width).unwrap_or(0)).collect())
    }
}

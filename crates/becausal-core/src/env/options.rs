//! Options of an environment, as text.

use std::collections::BTreeMap;

use super::environment::EnvironmentError;
use crate::schema::suggestion;

/// Options by name. Each environment parses its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

/// An option that an environment has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionDescription {
    /// Its name; the same as in Gymnasium if the environment is Gymnasium's.
    pub name: &'static str,
    /// The default value, as text.
    pub default: &'static str,
    /// What it does.
    pub description: &'static str,
}

impl Options {
    /// Sets an option.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Every option that was set, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// An option of an environment as a boolean.
    ///
    /// # Errors
    /// When its value is something else.
    pub fn boolean(&self, id: &str, name: &str, default: bool) -> Result<bool, EnvironmentError> {
        match self.0.get(name).map(|text| text.to_lowercase()).as_deref() {
            None => Ok(default),
            Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(_) => Err(self.wrong(id, name, "true or false")),
        }
    }

    /// An option of an environment as a finite number.
    ///
    /// # Errors
    /// When its value is something else.
    pub fn number(&self, id: &str, name: &str, default: f64) -> Result<f64, EnvironmentError> {
        match self.0.get(name).map(|text| text.parse::<f64>()) {
            None => Ok(default),
            Some(Ok(number)) if number.is_finite() => Ok(number),
            Some(_) => Err(self.wrong(id, name, "a number")),
        }
    }

    /// An option of an environment as a positive whole number.
    ///
    /// # Errors
    /// When its value is something else.
    pub fn count(&self, id: &str, name: &str) -> Result<Option<usize>, EnvironmentError> {
        match self.0.get(name).map(|text| text.parse::<usize>()) {
            None => Ok(None),
            Some(Ok(count)) if count > 0 => Ok(Some(count)),
            Some(_) => Err(self.wrong(id, name, "a positive whole number")),
        }
    }

    fn wrong(&self, id: &str, name: &str, expected: &str) -> EnvironmentError {
        let given = self.0.get(name).map_or("", String::as_str);
        EnvironmentError::Option {
            id: id.to_owned(),
            option: name.to_owned(),
            message: format!("expected {expected}, got `{given}`"),
        }
    }

    /// Checks that the environment has every option that was set.
    ///
    /// # Errors
    /// When it lacks one; with the name that was probably meant.
    pub fn check_names(
        &self,
        id: &str,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<(), EnvironmentError> {
        match self.0.keys().find(|name| !known.clone().any(|known| known == *name)) {
            None => Ok(()),
            Some(name) => Err(EnvironmentError::Option {
                id: id.to_owned(),
                option: name.clone(),
                message: format!("there is no such option ({})", suggestion(name, known)),
            }),
        }
    }
}

//! Whose way something is done: ours, or the paper's.

use std::fmt;
use std::str::FromStr;

use crate::schema::suggestion;

/// Whose way a model is made, a policy is trained and an action is explained.
///
/// ```
/// use becausal_core::Preset;
/// assert_eq!("paper".parse(), Ok(Preset::Paper));
/// assert_eq!(Preset::default().name(), "default");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Ours.
    #[default]
    Default,
    /// That of the paper; what it leaves open is filled from its published program.
    Paper,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 2] = [Self::Default, Self::Paper];

    /// Its name on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or_else(|| {
            let hint = suggestion(name, Self::ALL.map(Self::name));
            format!("there is no preset `{name}` ({hint})")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_found_by_its_name_and_no_other() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        let wrong = "papr".parse::<Preset>().expect_err("no preset");
        assert_eq!(wrong, "there is no preset `papr` (did you mean `paper`?)");
    }
}

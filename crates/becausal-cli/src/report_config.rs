//! How a run was made by `fit`, read back for a report.

use std::fmt::Write;
use std::path::Path;

use becausal::run::RunDirectory;

/// What `fit` wrote into a run's `config.toml`.
pub struct FitConfig {
    data: String,
    model: String,
    members: String,
    steps: String,
    eta: Option<String>,
    pub seed: Option<u64>,
}

/// Whether a run's configuration says that `fit` made it.
pub fn is_of_fit(text: &str) -> bool {
    value(text, "command").as_deref() == Some("fit")
}

/// A value of a run's configuration.
fn value(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(" = "));
    lines.find(|(name, _)| *name == key).map(|(_, value)| value.trim_matches('"').to_owned())
}

/// The configuration of a run that `fit` made; `None` for others.
pub fn read(run: &RunDirectory) -> Option<FitConfig> {
    let text = run.read_config().ok()?;
    if !is_of_fit(&text) {
        return None;
    }
    let value = |key: &str| value(&text, key);
    Some(FitConfig {
        data: value("data")?,
        model: value("model")?,
        members: value("members")?,
        steps: value("steps")?,
        eta: value("eta"),
        seed: value("seed").and_then(|seed| seed.parse().ok()),
    })
}

impl FitConfig {
    /// The command that makes the run.
    pub fn command(&self, run: &Path) -> String {
        let mut command = format!("becausal fit {}", self.data);
        if self.model != "causal" {
            let _ = write!(command, " --model {}", self.model);
        }
        let _ = write!(command, " --members {} --steps {}", self.members, self.steps);
        if let Some(eta) = &self.eta {
            let _ = write!(command, " --eta {eta}");
        }
        if let Some(seed) = self.seed.filter(|&seed| seed != 0) {
            let _ = write!(command, " --seed {seed}");
        }
        let _ = write!(command, " -o {}", run.display());
        command
    }
}

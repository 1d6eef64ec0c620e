//! The environments of the paper, as it uses them.

use becausal::env::{AnyEnvironment, Entry, Options, find};
use becausal::learn::Settings;
use becausal::model::Structure;
use clap::builder::PossibleValuesParser;

use crate::Failure;

/// An environment of the paper.
pub struct Benchmark {
    pub id: &'static str,
    /// The number of steps after which episodes are truncated, as in the paper, where it is not the environment's own. The
    /// paper truncates a lander's after 400, but few land so soon before they have learned it.
    max_episode_steps: Option<&'static str>,
    /// Real steps with `--quick`.
    quick_steps: usize,
}

/// The paper's four.
pub const BENCHMARKS: [Benchmark; 4] = [
    Benchmark { id: "CartPole-v1", max_episode_steps: Some("200"), quick_steps: 800 },
    Benchmark { id: "LunarLander-v3", max_episode_steps: None, quick_steps: 2000 },
    Benchmark { id: "LunarLanderContinuous-v3", max_episode_steps: None, quick_steps: 2000 },
    Benchmark { id: "BuildMarine-v0", max_episode_steps: None, quick_steps: 2000 },
];

/// `--quick`: networks and updates that take seconds.
const QUICK_SETTINGS: &str = "members = 2\nmodel_width = 32\nfit_batch = 128\n\
                              fit_steps_first = 150\nfit_steps_graph = 40\nfit_steps = 40\n\
                              rounds = 5\nsamples = 1024\nevaluation_episodes = 5\nfinal_episodes = 5";

/// Epochs of a quick training with a model.
const QUICK_EPOCHS: usize = 8;

/// The environments that `--env` accepts.
pub fn environments() -> PossibleValuesParser {
    PossibleValuesParser::new(BENCHMARKS.map(|benchmark| benchmark.id))
}

/// Those that were chosen, all where none was.
pub fn chosen(ids: &[String]) -> Vec<&'static Benchmark> {
    let is_chosen =
        |benchmark: &&Benchmark| ids.is_empty() || ids.iter().any(|id| id == benchmark.id);
    BENCHMARKS.iter().filter(is_chosen).collect()
}

impl Benchmark {
    pub fn entry(&self) -> Result<&'static Entry, Failure> {
        Ok(find(self.id)?)
    }

    pub fn options(&self) -> Options {
        let mut options = Options::default();
        if let Some(steps) = self.max_episode_steps {
            options.set("max_episode_steps", steps);
        }
        options
    }

    pub fn make(&self) -> Result<AnyEnvironment, Failure> {
        Ok(self.entry()?.make(&self.options())?)
    }

    /// All pairs of a cause and an effect: the edges of the full graph.
    pub fn pairs(&self) -> Result<usize, Failure> {
        Ok(Structure::full(&self.entry()?.schema()).edges())
    }

    /// Makes a training one of seconds.
    pub fn quicken(&self, settings: &mut Settings) -> Result<(), Failure> {
        settings.change(QUICK_SETTINGS, "--quick")?;
        settings.steps = self.quick_steps;
        settings.warm_up = settings.warm_up.min(settings.steps / 4);
        settings.epoch_steps = settings.steps / QUICK_EPOCHS;
        Ok(())
    }
}

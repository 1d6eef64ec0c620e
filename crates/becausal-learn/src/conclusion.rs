//! The end of a training: the final evaluation, and what explanations need.

use becausal_core::Stream;
use becausal_model::{Checked, ModelKind, ModelParams, Structure, WorldModel};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::evaluation::{Evaluation, evaluate};
use super::interaction::{Exploration, interact};
use super::setting::Imagination;
use super::training::{Purpose, Training};

impl Training {
    /// The best agent so far; before the first evaluation, the current one.
    #[must_use]
    pub fn best_agent(&self) -> &ActorCritic {
        self.best.as_ref().map_or(&self.learner.agent, |(agent, _)| agent)
    }

    /// Evaluates the best agent on episodes that were not used to choose it.
    ///
    /// # Errors
    /// When an episode does not end, or a reward is NaN or infinite.
    pub fn final_evaluation(&self) -> Result<Evaluation, LearningError> {
        let key = Purpose::FinalEvaluation as u32;
        let episodes = self.settings.evaluation_episodes;
        evaluate(self.best_agent(), &self.environment, episodes, self.seed, key)
    }

    /// Prepares explanations: finds the graph once more and fits a world model to all data, with
    /// held-out episodes and pruning. A training without a model first records `final_rows` steps
    /// of its best agent.
    ///
    /// # Errors
    /// When discovery or the fit fails.
    pub fn conclude(&mut self) -> Result<(), LearningError> {
        if self.settings.final_fit_steps == 0 {
            return Ok(());
        }
        let kind = match self.settings.model {
            Imagination::Model(kind) => kind,
            Imagination::None => {
                let exploration = Exploration { share: 0.5, rate: 0.5, ..Exploration::NONE };
                let key = self.key(Purpose::Recording, 0);
                let seed = Stream::keyed(self.seed, &key).next_u64();
                let rows = (self.settings.final_rows, usize::MAX);
                self.data =
                    interact(&self.environment, self.best_agent(), rows, exploration, seed)?;
                ModelKind::Causal
            }
        };
        let mut graph = self.discover(&self.data)?;
        let options = self.fit_options(self.settings.final_fit_steps);
        let options = ModelParams { rate: ModelParams::default().rate, ..options };
        let model = if kind == ModelKind::Causal {
            Checked::fit(&self.data, &mut graph, &options)?.model
        } else {
            let structure = Structure::of(&self.schema, &graph);
            WorldModel::fit(&self.data, kind, &structure, &options)?.0
        };
        self.graph = Some(graph);
        self.model = Some(model);
        Ok(())
    }
}

//! The end of a training: the final evaluation, and what explanations need.

use becausal_core::Stream;
use becausal_core::env::{ForkParams, Forks, MAX_EPISODE_STEPS, forks};
use becausal_discovery::{DiscoverParams, discover};
use becausal_model::{
    Checked, ModelKind, ModelParams, NoiseLessonParams, Parents, Structure, WorldModel,
};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::evaluation::{Evaluation, evaluate};
use super::interaction::{Exploration, interact};
use super::setting::Imagination;
use super::settings::{FORK_ACTIONS, FORK_STEPS};
use super::training::{Purpose, Training};

/// How the best agent explores around what it does. Most episodes have urges, for up to half of their
/// steps; the last fifth is as it acts itself. Long urges lead elsewhere, and it does not come back: 20 steps
/// are enough to leave a course, and to return to it.
const AROUND: Exploration =
    Exploration { share: 0.8, rate: 0.5, longest_urge: 20, greedy: 0.2, longest: 0 };

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
        let episodes = self.settings.final_episodes;
        evaluate(self.best_agent(), &self.environment, episodes, self.seed, &[key])
    }

    /// Prepares explanations: records `final_rows` more steps of the best agent, tries other actions and other values in
    /// `final_forks` states, finds the graph from all rows, and fits a world model to them, with held-out episodes and pruning.
    ///
    /// The rows of the training are of agents that knew less, and an agent that always does the same in a
    /// state never shows what another action would do there. So the steps that are recorded now explore.
    ///
    /// Other actions are tried in copies of the environment, which meet the same noise. No log can show what noise under
    /// one action says about noise under another; these steps do ([`WorldModel::learn_shared_noise`]). They are not part of
    /// the training's data.
    ///
    /// With `same_model` nothing is recorded and nothing is fitted: the graph and the model that trained the
    /// policy explain it, as in the paper.
    ///
    /// # Errors
    /// When discovery or the fit fails.
    pub fn conclude(&mut self) -> Result<(), LearningError> {
        let settings = &self.settings;
        if settings.final_fit_steps == 0 || (settings.same_model && self.model.is_some()) {
            return Ok(());
        }
        let kind = match settings.model {
            Imagination::Model(kind) => kind,
            Imagination::None => ModelKind::Causal,
        };
        let exploration = Exploration { longest: settings.longest_episode, ..AROUND };
        let seed = Stream::keyed(self.seed, &self.key(Purpose::Recording, 0)).next_u64();
        let rows = (settings.final_rows, usize::MAX);
        let recorded = interact(&self.environment, self.best_agent(), rows, exploration, seed)?;
        self.data.append(&recorded);
        if self.data.is_empty() {
            return Ok(());
        }
        let forks = self.forks()?;
        let mut rows = self.data.clone();
        rows.append(&forks.transitions(&self.schema));
        self.forked_steps = forks.steps;
        let progress = self.unstoppable();
        let params = DiscoverParams {
            method: settings.method,
            seed: self.seed,
            progress: progress.clone(),
            ..DiscoverParams::default()
        };
        let mut graph = discover(&rows, &params)?;
        let options = self.fit_options(settings.final_fit_steps);
        let options = if settings.same_model {
            // As in the loop: the rate, and weights that are learned from the start.
            ModelParams { hold: 0.0, prune: 1.0, progress, ..options }
        } else {
            ModelParams { rate: ModelParams::default().rate, progress, ..options }
        };
        let mut model = if kind == ModelKind::Causal && settings.parents == Parents::Cautious {
            Checked::fit(&rows, &mut graph, &options)?.model
        } else {
            let structure = match settings.parents {
                Parents::Edges => Structure::of_edges(&self.schema, &graph),
                Parents::Cautious => Structure::of(&self.schema, &graph),
            };
            WorldModel::fit(&rows, kind, &structure, &options)?.0
        };
        let seed = Stream::keyed(self.seed, &self.key(Purpose::SharedNoise, 0)).next_u64();
        let params = NoiseLessonParams {
            seed,
            progress: self.unstoppable(),
            ..NoiseLessonParams::default()
        };
        model.learn_shared_noise(&forks.forks, &params)?;
        if !forks.forks.is_empty() {
            model.describe(&self.data);
        }
        self.graph = Some(graph);
        self.model = Some(model);
        Ok(())
    }

    /// Tries other actions in states that the best agent meets.
    fn forks(&self) -> Result<Forks, LearningError> {
        let params = ForkParams {
            states: self.settings.final_forks,
            actions: FORK_ACTIONS,
            changes: self.settings.final_changes,
            values: Some(&self.data),
            horizon: FORK_STEPS,
            longest_episode: match self.settings.longest_episode {
                0 => MAX_EPISODE_STEPS,
                steps => steps,
            },
            seed: Stream::keyed(self.seed, &self.key(Purpose::Forks, 0)).next_u64(),
            progress: self.unstoppable(),
        };
        Ok(forks(&self.environment, self.best_agent(), &params)?.unwrap_or_default())
    }
}

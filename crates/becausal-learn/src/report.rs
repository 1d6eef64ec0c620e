//! The results of an epoch.

use super::evaluation::{Evaluated, Evaluation};
use super::ppo::PpoReport;

/// The durations of the parts of an epoch with a model, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Durations {
    /// Interaction with the environment.
    pub interaction: f64,
    /// Discovery of the graph.
    pub graph: f64,
    /// Fitting the world model.
    pub fit: f64,
    /// Dreaming.
    pub dream: f64,
    /// Updates of the policy.
    pub update: f64,
}

/// The results of an epoch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpochReport {
    /// Epochs done.
    pub epoch: usize,
    /// Real steps so far.
    pub real_steps: usize,
    /// The return by the schema's reward terms and the number of steps of every real episode.
    pub episodes: Vec<(f64, usize)>,
    /// The last update of the policy.
    pub update: PpoReport,
    /// The mean log-likelihood of the new transitions under the model that has not been fitted to
    /// them yet.
    pub log_likelihood: Option<f64>,
    /// Edges of the graph.
    pub edges: Option<usize>,
    /// The pairs that the networks of the model read: edges, and pairs that the data do not rule out.
    pub edges_in_use: Option<usize>,
    /// The evaluation after the epoch, if there was one.
    pub evaluation: Option<Evaluation>,
    /// A second evaluation in other episodes, where the first one reached what the training may stop at.
    pub confirmation: Option<Evaluation>,
    /// The episodes of all evaluations so far, and their steps.
    pub evaluated: Evaluated,
    /// The learning rate of the policy.
    pub rate: f64,
    /// The clipping of PPO.
    pub clip: f64,
    /// The durations of its parts.
    pub durations: Durations,
    /// Its duration in seconds.
    pub seconds: f64,
    /// Real steps per second.
    pub steps_per_second: f64,
}

impl EpochReport {
    /// The mean return of the real episodes.
    #[must_use]
    pub fn mean_return(&self) -> Option<f64> {
        let sum: f64 = self.episodes.iter().map(|(total, _)| total).sum();
        (!self.episodes.is_empty()).then(|| sum / self.episodes.len() as f64)
    }

    /// The mean length of the real episodes.
    #[must_use]
    pub fn mean_length(&self) -> Option<f64> {
        let sum: usize = self.episodes.iter().map(|(_, steps)| steps).sum();
        (!self.episodes.is_empty()).then(|| sum as f64 / self.episodes.len() as f64)
    }

    /// All results under the names that TensorBoard shows: those of Stable-Baselines3, plus `model/…`
    /// and `graph/…`.
    #[must_use]
    pub fn scalars(&self) -> Vec<(&'static str, f64)> {
        let update = &self.update;
        let mut scalars = vec![
            ("time/fps", self.steps_per_second),
            ("time/epoch_seconds", self.seconds),
            ("time/total_timesteps", self.real_steps as f64),
            ("train/policy_gradient_loss", update.policy_loss),
            ("train/value_loss", update.value_loss),
            ("train/entropy_loss", -update.entropy),
            ("train/approx_kl", update.divergence),
            ("train/clip_fraction", update.clipped),
            ("train/explained_variance", update.explained),
            ("train/learning_rate", self.rate),
            ("train/clip_range", self.clip),
            ("eval/episodes", self.evaluated.episodes as f64),
            ("eval/steps", self.evaluated.steps as f64),
        ];
        let Durations { interaction, graph, fit, dream, update } = self.durations;
        if dream > 0.0 {
            scalars.extend([
                ("time/interaction_seconds", interaction),
                ("time/graph_seconds", graph),
                ("time/fit_seconds", fit),
                ("time/dream_seconds", dream),
                ("time/update_seconds", update),
            ]);
        }
        let optional = [
            ("rollout/ep_rew_mean", self.mean_return()),
            ("rollout/ep_len_mean", self.mean_length()),
            ("model/log_likelihood", self.log_likelihood),
            ("graph/edges", self.edges.map(|edges| edges as f64)),
            ("graph/edges_in_use", self.edges_in_use.map(|edges| edges as f64)),
            ("eval/mean_reward", self.evaluation.as_ref().map(Evaluation::native_mean)),
            ("eval/mean_return", self.evaluation.as_ref().map(Evaluation::mean)),
            ("eval/mean_ep_length", self.evaluation.as_ref().map(Evaluation::mean_length)),
            ("eval/confirmed_reward", self.confirmation.as_ref().map(Evaluation::native_mean)),
        ];
        scalars.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
        scalars
    }
}

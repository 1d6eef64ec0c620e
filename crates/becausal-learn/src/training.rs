//! The paper's Algorithm 1: model-based reinforcement learning with causal world models.

use std::ops::ControlFlow;
use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{Coverage, Transitions};
use becausal_core::env::{AnyEnvironment, Environment};
use becausal_core::progress::{Advance, Listener};
use becausal_core::schema::Schema;
use becausal_discovery::{CausalGraph, DiscoverParams, discover};
use becausal_model::{ModelParams, WorldModel};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::evaluation::{Confirmed, Evaluated, Evaluation, evaluate};
use super::observation::Running;
use super::play::Play;
use super::ppo::Learner;
use super::setting::Imagination;
use super::settings::Settings;

/// The purpose of a random stream: the first word of its key.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Networks = 1,
    Interaction = 2,
    Dream = 3,
    Play = 4,
    Update = 5,
    Evaluation = 6,
    FinalEvaluation = 7,
    Recording = 8,
    Discovery = 9,
    RareRows = 10,
    Confirmation = 11,
    Forks = 12,
    SharedNoise = 13,
}

/// A training: everything it has learned, and all it needs to resume.
///
/// Random streams are keyed by the seed, their purpose, the epoch and the round. A training that
/// resumes from this struct gives exactly the same results as one that never stopped.
#[derive(Clone)]
pub struct Training {
    pub(super) settings: Settings,
    pub(super) seed: u64,
    pub(super) environment: AnyEnvironment,
    pub(super) schema: Arc<Schema>,
    /// Agent and optimiser.
    pub learner: Learner,
    /// The buffer D: all real transitions of a training with a model.
    pub data: Transitions,
    /// The latest graph.
    pub graph: Option<CausalGraph>,
    /// The epoch of the next discovery.
    pub(super) next_graph: usize,
    /// The world model.
    pub model: Option<WorldModel>,
    /// The unfinished episodes of a training without a model.
    pub(super) play: Option<Play>,
    /// Running statistics of the discounted returns.
    pub(super) returns: Running,
    /// The best agent so far, and its mean return by the environment's own reward.
    pub best: Option<(ActorCritic, f64)>,
    /// Finished epochs.
    pub epoch: usize,
    /// Real steps so far.
    pub real_steps: usize,
    /// Finished epochs after the last real step.
    pub(super) late: usize,
    /// The episodes of all evaluations so far, which chose the best policy, and their steps.
    pub evaluated: Evaluated,
    /// The mean return at which the training may stop. A policy that reaches it is evaluated once more, in other
    /// episodes.
    pub until: Option<f64>,
    /// Set where the best policy reached `until` twice.
    pub confirmed: Option<Confirmed>,
    /// Steps that were made to try other actions, for explanations: known once the training is concluded.
    pub forked_steps: usize,
    /// Hears how far an epoch and the conclusion are. It cannot stop them: an epoch is saved when it is
    /// done.
    pub progress: Listener,
}

impl Training {
    /// Starts a training: line 1 of the algorithm.
    ///
    /// # Errors
    /// When a setting is out of range, or a policy cannot choose an action.
    pub fn new(
        environment: &AnyEnvironment,
        settings: &Settings,
        seed: u64,
    ) -> Result<Self, LearningError> {
        settings.check()?;
        let schema = Arc::clone(environment.schema());
        let mut stream = Stream::keyed(seed, &[Purpose::Networks as u32]);
        let agent = ActorCritic::new(&schema, &settings.policy_widths, &mut stream)?;
        let play = (settings.model == Imagination::None)
            .then(|| Play::new(environment, settings.copies, seed, settings.discount));
        Ok(Self {
            settings: settings.clone(),
            seed,
            environment: environment.clone(),
            learner: Learner::new(agent),
            data: Transitions::new(Arc::clone(&schema)),
            schema,
            graph: None,
            next_graph: 0,
            model: None,
            play,
            returns: Running::default(),
            best: None,
            epoch: 0,
            real_steps: 0,
            late: 0,
            evaluated: Evaluated::default(),
            until: None,
            confirmed: None,
            forked_steps: 0,
            progress: Listener::default(),
        })
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the training has made all its real steps, and the epochs after them.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let dreams = self.settings.model != Imagination::None;
        self.is_late() && (!dreams || self.late >= self.settings.late_epochs)
    }

    /// Whether all real steps are made.
    pub(super) fn is_late(&self) -> bool {
        self.real_steps >= self.settings.steps
    }

    /// The real steps after which a policy reached `until` in two evaluations.
    #[must_use]
    pub fn reached_at(&self) -> Option<usize> {
        let confirmed = self.confirmed.filter(|found| self.until.is_some_and(|u| found.mean >= u));
        confirmed.map(|found| found.real_steps)
    }

    pub(super) fn discover(&self, data: &Transitions) -> Result<CausalGraph, LearningError> {
        let max_rows = self.settings.graph_rows.max(1);
        let spread;
        let rows = if data.len() > max_rows {
            let mut stream = Stream::keyed(self.seed, &self.key(Purpose::Discovery, 0));
            spread = data.select_rows(&Coverage::of(data).spread(max_rows, &mut stream));
            &spread
        } else {
            data
        };
        let params = DiscoverParams {
            method: self.settings.method,
            eta: Some(self.settings.eta),
            seed: self.seed,
            progress: self.within_epoch(),
            ..DiscoverParams::default()
        };
        Ok(discover(rows, &params)?)
    }

    /// Tells what the epoch is doing. Nothing stops within an epoch.
    pub(super) fn tell(&self, note: &str) {
        let (done, total) = (self.real_steps, self.settings.steps);
        let note = &format!("epoch {}: {note}", self.epoch + 1);
        let _ = self.progress.advance(&Advance { task: "epoch", unit: "steps", done, total, note });
    }

    /// Hears of the parts of an epoch, and tells of them as [`tell`](Self::tell) does.
    fn within_epoch(&self) -> Listener {
        let (listener, epoch) = (self.progress.clone(), self.epoch + 1);
        let (done, total) = (self.real_steps, self.settings.steps);
        Listener::new(move |at: &Advance<'_>| {
            let note =
                &format!("epoch {epoch}: {}, {} of {} {}", at.task, at.done, at.total, at.unit);
            let _ = listener.advance(&Advance { task: "epoch", unit: "steps", done, total, note });
            ControlFlow::Continue(())
        })
    }

    /// Hears of the parts of the conclusion.
    pub(super) fn unstoppable(&self) -> Listener {
        let listener = self.progress.clone();
        Listener::new(move |at: &Advance<'_>| {
            let _ = listener.advance(at);
            ControlFlow::Continue(())
        })
    }

    pub(super) fn fit_options(&self, steps: usize) -> ModelParams {
        let settings = &self.settings;
        ModelParams {
            members: settings.members,
            sizes: settings.sizes(),
            batch: settings.fit_batch,
            steps,
            rate: settings.fit_rate,
            decay: settings.fit_decay,
            clip: settings.fit_clip,
            annealed: settings.fit_annealed,
            balance: settings.balance,
            persist: settings.persist,
            plain: settings.plain,
            seed: self.seed,
            progress: self.within_epoch(),
            ..ModelParams::default()
        }
    }

    /// Plays the evaluation episodes, which always have the same seeds, and keeps the best agent.
    pub(super) fn evaluate(&mut self) -> Result<Evaluation, LearningError> {
        let agent = &self.learner.agent;
        let episodes = self.settings.evaluation_episodes;
        let key = Purpose::Evaluation as u32;
        let found = evaluate(agent, &self.environment, episodes, self.seed, &[key])?;
        self.evaluated.add(&found);
        let mean = found.native_mean();
        if self.best.as_ref().is_none_or(|(_, best)| mean >= *best) {
            let mut best = agent.clone();
            best.value_unit = Some(self.returns.deviation());
            self.best = Some((best, mean));
            self.confirmed = None;
        }
        Ok(found)
    }

    /// Where an evaluation reached `until`, plays as many other episodes, which no evaluation played before. A policy that
    /// reaches it again is the best one, whatever luck an earlier one had.
    pub(super) fn confirm(
        &mut self,
        first: &Evaluation,
    ) -> Result<Option<Evaluation>, LearningError> {
        let mean = first.native_mean();
        let Some(until) = self.until.filter(|&until| mean >= until) else { return Ok(None) };
        let agent = &self.learner.agent;
        let key = [Purpose::Confirmation as u32, word(self.epoch)];
        let episodes = self.settings.evaluation_episodes;
        let second = evaluate(agent, &self.environment, episodes, self.seed, &key)?;
        self.evaluated.add(&second);
        if second.native_mean() >= until {
            let mut best = agent.clone();
            best.value_unit = Some(self.returns.deviation());
            self.best = Some((best, mean));
            let mean = mean.min(second.native_mean());
            self.confirmed = Some(Confirmed { mean, real_steps: self.real_steps });
        }
        Ok(Some(second))
    }

    /// The share of the real steps made so far, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        self.real_steps as f64 / self.settings.steps as f64
    }

    pub(super) fn edges(&self) -> Option<usize> {
        self.graph.as_ref().map(|graph| graph.edges().count())
    }

    /// The pairs of a cause and an effect that the networks of the model read: the mask, not the verdicts.
    pub(super) fn edges_in_use(&self) -> Option<usize> {
        self.model.as_ref().map(|model| model.structure().edges())
    }

    pub(super) fn key(&self, purpose: Purpose, round: usize) -> [u32; 3] {
        [purpose as u32, word(self.epoch), word(round)]
    }
}

pub(super) fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

//! An epoch of a training: lines 3 to 9 of the paper's Algorithm 1.

use std::sync::Arc;
use std::time::Instant;

use becausal_core::Stream;
use becausal_core::data::{Coverage, Transitions};
use becausal_model::{ModelKind, Parents, Structure, WorldModel};

use super::dream::{Dream, DreamOptions};
use super::error::LearningError;
use super::experience::Experience;
use super::interaction::{Exploration, interact};
use super::ppo::{PpoOptions, PpoReport};
use super::ppo_loss::PpoWeights;
use super::report::EpochReport;
use super::setting::Imagination;
use super::training::{Purpose, Training, word};
use becausal_core::{Policy, RandomPolicy};

impl Training {
    /// One epoch: lines 3 to 9 of the algorithm.
    ///
    /// # Errors
    /// When the environment, discovery or a fit fails, or a state, reward or gradient is not finite.
    pub fn run_epoch(&mut self) -> Result<EpochReport, LearningError> {
        let started = Instant::now();
        let steps = self.real_steps;
        let late = self.is_late();
        if !late {
            // A training that was resumed with more steps has its late epochs after these.
            self.late = 0;
        }
        let mut report = EpochReport::default();
        match self.settings.model {
            Imagination::Model(kind) => {
                let mut clock = Instant::now();
                if !late {
                    self.tell("acting");
                    self.interact(&mut report)?; // line 3
                }
                report.durations.interaction = lap(&mut clock);
                let new_graph = !late && self.update_graph(kind)?; // line 4
                report.durations.graph = lap(&mut clock);
                self.fit(kind, new_graph)?; // line 5
                report.durations.fit = lap(&mut clock);
                let dreams = Dream::new(&self.data, self.dream_options(late));
                for round in 0..self.settings.rounds {
                    self.tell(&format!("policy update {} of {}", round + 1, self.settings.rounds));
                    let dreamed = self.dream(&dreams, round)?; // line 7
                    report.durations.dream += lap(&mut clock);
                    report.update = self.improve(&dreamed, round)?; // line 8
                    report.durations.update += lap(&mut clock);
                }
            }
            Imagination::None => self.play_and_improve(&mut report)?,
        }
        report.rate = self.ppo_options().rate;
        report.clip = self.ppo_options().weights.clip;
        self.tell("evaluating");
        self.epoch += 1;
        self.late += usize::from(late);
        if self.epoch.is_multiple_of(self.settings.evaluate_every) || self.is_done() {
            let evaluation = self.evaluate()?;
            report.confirmation = self.confirm(&evaluation)?;
            report.evaluation = Some(evaluation);
        }
        report.epoch = self.epoch;
        report.real_steps = self.real_steps;
        report.edges = self.edges();
        report.edges_in_use = self.edges_in_use();
        report.evaluated = self.evaluated;
        report.seconds = started.elapsed().as_secs_f64();
        report.steps_per_second = (self.real_steps - steps) as f64 / report.seconds.max(1e-9);
        Ok(report)
    }

    /// Line 3: interacts with the environment and adds transitions to the buffer.
    fn interact(&mut self, report: &mut EpochReport) -> Result<(), LearningError> {
        let settings = &self.settings;
        let left = settings.steps - self.real_steps;
        let key = self.key(Purpose::Interaction, 0);
        let random;
        let first = self.epoch == 0 && settings.warm_up > 0;
        let (policy, rows): (&dyn Policy, usize) = if first {
            random = RandomPolicy::new(Arc::clone(&self.schema))?;
            (&random, settings.warm_up)
        } else {
            (&self.learner.agent, settings.epoch_steps)
        };
        let exploration = Exploration {
            share: settings.exploring,
            rate: settings.exploration,
            longest_urge: settings.longest_urge,
            greedy: if first { 0.0 } else { settings.greedy },
            longest: settings.longest_episode,
        };
        let seed = Stream::keyed(self.seed, &key).next_u64();
        let fresh = interact(&self.environment, policy, (rows, left), exploration, seed)?;
        report.log_likelihood =
            self.model.as_ref().map(|model| model.score(&fresh).log_likelihood());
        let rewards = fresh.total_reward();
        for episode in 0..fresh.episodes() {
            let mut discounted = 0.0;
            for &reward in &rewards[fresh.episode(episode)] {
                if !reward.is_finite() {
                    let step = fresh.episode(episode).start;
                    return Err(LearningError::Reward { reward: reward.to_string(), step });
                }
                discounted = settings.discount * discounted + reward;
                self.returns.add(discounted);
            }
            report
                .episodes
                .push((rewards[fresh.episode(episode)].iter().sum(), fresh.episode(episode).len()));
        }
        self.learner.agent.observation.watch(&states(&fresh));
        self.real_steps += fresh.len();
        self.data.append(&fresh);
        Ok(())
    }

    /// Line 4: every `graph_epochs` epochs, finds the causal graph. Only the causal model needs it.
    ///
    /// With `keep_edges` an edge that was found once stays: a policy that has settled visits fewer
    /// states, so its data can no longer show every edge. Returns whether the graph is new.
    fn update_graph(&mut self, kind: ModelKind) -> Result<bool, LearningError> {
        if kind != ModelKind::Causal || self.epoch < self.next_graph {
            return Ok(false);
        }
        let graph = self.discover(&self.data)?;
        self.graph = Some(match &self.graph {
            Some(before) if self.settings.keep_edges => graph.keeping_edges_of(before),
            _ => graph,
        });
        let epochs = self.settings.graph_epochs.whole_at(self.share());
        self.next_graph = self.epoch.saturating_add(epochs);
        Ok(true)
    }

    /// Line 5: fits the structural equations.
    fn fit(&mut self, kind: ModelKind, new_graph: bool) -> Result<(), LearningError> {
        let structure = self.structure();
        let steps = match &self.model {
            None => self.settings.fit_steps_first,
            Some(_) if new_graph => self.settings.fit_steps_graph,
            Some(_) => self.settings.fit_steps,
        };
        let options = self.fit_options(steps);
        let mut model = match self.model.take() {
            Some(model) => model,
            None => WorldModel::begin(&self.data, kind, &structure, &options)?,
        };
        let round = word(self.epoch);
        if self.settings.rare_rows > 0.0 {
            model.refit(&self.data_with_rare_rows(), &structure, &options, round)?;
        } else {
            model.refit(&self.data, &structure, &options, round)?;
        }
        self.model = Some(model);
        Ok(())
    }

    /// The buffer plus some of its rows again, sampled so that rare states are as frequent as common
    /// ones. A network learns little from states it rarely sees.
    fn data_with_rare_rows(&self) -> Transitions {
        let coverage = Coverage::of(&self.data);
        let mut stream = Stream::keyed(self.seed, &self.key(Purpose::RareRows, 0));
        let count = (self.settings.rare_rows * self.data.len() as f64).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let again = (0..count as usize).map(|_| coverage.draw(&mut stream));
        let mut rows: Vec<usize> = (0..self.data.len()).chain(again).collect();
        rows.sort_unstable();
        self.data.select_rows(&rows)
    }

    fn structure(&self) -> Structure {
        match &self.graph {
            Some(graph) => match self.settings.parents {
                Parents::Edges => Structure::of_edges(&self.schema, graph),
                Parents::Cautious => Structure::cautious(&self.schema, graph, &self.data),
            },
            None => Structure::full(&self.schema),
        }
    }

    /// Line 7: simulated data by k-step rollouts of the model with the actor.
    fn dream(&self, dreams: &Dream, round: usize) -> Result<Experience, LearningError> {
        let model = self.model.as_ref().expect("fitted in this epoch");
        let length = self.settings.rollout.whole_at(self.share());
        let mut stream = Stream::keyed(self.seed, &self.key(Purpose::Dream, round));
        let agent = &self.learner.agent;
        dreams.experience(model, agent, (self.settings.samples, length), &mut stream)
    }

    /// Optimism leads to states worth a visit; after the last real step nothing is visited.
    fn dream_options(&self, late: bool) -> DreamOptions {
        let settings = &self.settings;
        DreamOptions {
            noise: settings.noise,
            optimism: if late { 0.0 } else { settings.optimism.at(self.share()) },
            discount: settings.discount,
            reward_factor: self.reward_factor(),
        }
    }

    /// Line 8: updates the policy by PPO.
    fn improve(
        &mut self,
        experience: &Experience,
        round: usize,
    ) -> Result<PpoReport, LearningError> {
        let options = self.ppo_options();
        let mut stream = Stream::keyed(self.seed, &self.key(Purpose::Update, round));
        self.learner.improve(experience, &self.schema, &options, &mut stream)
    }

    /// Without a model: updates the policy from real experience.
    fn play_and_improve(&mut self, report: &mut EpochReport) -> Result<(), LearningError> {
        let copies = self.settings.copies;
        let steps = self.settings.samples.div_ceil(copies);
        let rounds = self.settings.epoch_steps.div_ceil(steps * copies);
        for round in 0..rounds {
            self.tell(&format!("policy update {} of {rounds}", round + 1));
            let left = self.settings.steps.saturating_sub(self.real_steps);
            let steps = steps.min(left.div_ceil(copies));
            let mut stream = Stream::keyed(self.seed, &self.key(Purpose::Play, round));
            let play = self.play.as_mut().expect("a training without a model plays");
            let mut ended = Vec::new();
            let (agent, returns) = (&self.learner.agent, &mut self.returns);
            let experience = play.experience(agent, steps, &mut stream, returns, &mut ended)?;
            report.episodes.extend(ended.iter().map(|episode| (episode.total, episode.steps)));
            self.real_steps += experience.len();
            report.update = self.improve(&experience, round)?;
            self.learner.agent.observation.watch(&experience.part(self.schema.state_slots()));
            if self.is_done() {
                break;
            }
        }
        Ok(())
    }

    /// Scales rewards so that discounted returns have a standard deviation of 1.
    fn reward_factor(&self) -> f64 {
        1.0 / self.returns.deviation()
    }

    fn ppo_options(&self) -> PpoOptions {
        let (settings, share) = (&self.settings, self.share());
        let late_epochs = settings.late_epochs.max(1) as f64;
        PpoOptions {
            weights: PpoWeights {
                clip: settings.clip.at(share),
                divergence: settings.divergence,
                entropy: settings.entropy.at(share),
                value: settings.value_weight,
            },
            discount: settings.discount,
            lambda: settings.lambda,
            passes: settings.passes,
            batch: settings.batch,
            rate: settings.policy_rate.at(share) * (1.0 - self.late as f64 / late_epochs).max(0.0),
            largest_divergence: settings.largest_divergence,
            reward_factor: self.reward_factor(),
        }
    }
}

/// Seconds since the last lap.
fn lap(clock: &mut Instant) -> f64 {
    let seconds = clock.elapsed().as_secs_f64();
    *clock = Instant::now();
    seconds
}

/// `[rows, state slots]`
fn states(data: &Transitions) -> Vec<f64> {
    let slots = data.schema().state_slots();
    let columns: Vec<Vec<f64>> = slots.map(|slot| data.column(slot).to_numbers()).collect();
    (0..data.len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

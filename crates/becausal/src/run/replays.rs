//! What really happens in the environment: episodes by hand, and other courses with the same noise.

use std::sync::Arc;

use becausal_core::Environment;
use becausal_core::env::{
    AnyEnvironment, EnvironmentError, MAX_EPISODE_STEPS, play_episode, rollout,
};
use becausal_core::trajectory::Trajectory;
use becausal_explain::{Agent, Anchor, Change, Moment};

use super::Run;
use crate::episode::{Episode, replay_actions, replay_steps};
use crate::error::Error;

/// The episode that a question is about.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A recorded one, counted from 0.
    Recorded(usize),
    /// One that the run's policy, or somebody by hand, played from a seed.
    Played(&'a Episode),
}

/// A course of events in the environment itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RealCourse {
    /// What happened.
    pub trajectory: Trajectory,
    /// The environment's drawings: before every step, and after the last one. `None` where it does not draw.
    pub scenes: Vec<Option<String>>,
}

impl Run {
    /// An episode of these actions from a seed. It ends with them, or by its own rules before.
    ///
    /// # Errors
    /// When the run has no environment, or an action is impossible.
    pub fn play_by_hand(&self, seed: u64, actions: &[Vec<f64>]) -> Result<Episode, Error> {
        let mut environment = self.needed_environment("the episode is played in it")?.clone();
        let mut actor = |number: usize, _: &[f64]| actions.get(number).cloned();
        let limit = actions.len().min(MAX_EPISODE_STEPS);
        Ok(Episode::new(seed, play_episode(&mut environment, seed, limit, &mut actor)?))
    }

    /// A step of an episode, to ask about.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn moment(&self, source: Source<'_>, step: usize) -> Result<Moment, Error> {
        match source {
            Source::Recorded(episode) => self.recorded(episode, step),
            Source::Played(episode) => episode.at(step),
        }
    }

    /// What would really have happened after a change, with the same noise: the environment is replayed from
    /// its seed up to the step, and goes on from there.
    ///
    /// # Errors
    /// When the run has no environment, its recording's seed is not known, the replay is not what was recorded, or
    /// the environment cannot be put into the changed state.
    pub fn real_course(
        &self,
        source: Source<'_>,
        step: usize,
        change: &Change,
        horizon: usize,
    ) -> Result<RealCourse, Error> {
        let moment = self.moment(source, step)?;
        let mut here = self.environment_before(source, step)?;
        let state = change.state(&self.schema, moment.state())?;
        if state != moment.state() && !here.set_state(&state) {
            return Err(Error::Missing {
                part: "replay from this state",
                why: "its environment cannot be put into it; change the action instead".to_owned(),
            });
        }
        let action = change.action.as_deref().unwrap_or(moment.action());
        let record = moment.record().steps();
        let mut actor = Agent::new(self.policy()).instead(&self.schema, action, record);
        let begun = Trajectory::new(Arc::clone(&self.schema), step, Vec::new())?;
        let mut course = RealCourse { trajectory: begun, scenes: vec![here.scene()] };
        while course.trajectory.len() < horizon {
            let length = course.trajectory.len();
            let longer = rollout(&mut here, course.trajectory, length + 1, &mut actor);
            course.trajectory = self.checked(longer)??;
            if course.trajectory.len() == length {
                break;
            }
            course.scenes.push(here.scene());
        }
        Ok(course)
    }

    /// The environment's drawings of states that somebody predicts from a step on. `None` where the environment
    /// cannot be replayed, drawn, or put into such a state.
    #[must_use]
    pub fn scenes_of(
        &self,
        source: Source<'_>,
        step: usize,
        states: &[&[f64]],
    ) -> Vec<Option<String>> {
        let Ok(here) = self.environment_before(source, step) else {
            return vec![None; states.len()];
        };
        let draw = |state: &&[f64]| {
            let mut there = here.clone();
            if Environment::state(&there) != *state && !there.set_state(state) {
                return None;
            }
            there.scene()
        };
        states.iter().map(draw).collect()
    }

    /// The environment as it stood at a moment. `None` where the moment cannot be found again in it.
    pub(super) fn stood_at(
        &self,
        anchor: &Anchor,
        moment: &Moment,
    ) -> Result<Option<AnyEnvironment>, EnvironmentError> {
        if !self.environment.as_ref().is_some_and(Environment::repeats) {
            return Ok(None);
        }
        let stood = match anchor {
            &Anchor::Recorded { episode, step } => {
                // A moment of another run may have the same numbers.
                let own = Moment::recorded(&self.data, episode, step);
                if !own.is_ok_and(|own| own.record() == moment.record()) {
                    return Ok(None);
                }
                self.environment_at(episode, step)
            }
            Anchor::Played { seed, actions } => {
                self.needed_environment("the episode is replayed in it").and_then(|environment| {
                    let mut environment = environment.clone();
                    replay_actions(&mut environment, *seed, actions)?;
                    Ok(environment)
                })
            }
        };
        match stood {
            // What fails outside, as in a function of Python, is not hidden.
            Err(Error::Environment(failed @ EnvironmentError::Failed { .. })) => Err(failed),
            stood => Ok(stood.ok()),
        }
    }

    /// The environment as it was before a step.
    fn environment_before(&self, source: Source<'_>, step: usize) -> Result<AnyEnvironment, Error> {
        let episode = match source {
            Source::Recorded(episode) => return self.environment_at(episode, step),
            Source::Played(episode) => episode,
        };
        let mut environment = self.needed_environment("the episode is replayed in it")?.clone();
        let steps = episode.trajectory().steps();
        let before = steps.get(..step).unwrap_or(steps);
        replay_steps(&mut environment, episode.seed(), before)?;
        Ok(environment)
    }
}

//! Records transitions of an environment.

use std::sync::Arc;

use rayon::prelude::*;

use super::action::random_action;
use super::environment::{Environment, EnvironmentError};
use crate::Stream;
use crate::data::{Row, Transitions};
use crate::policy::Policy;

/// Maximum number of episodes that run in parallel.
const MAX_PARALLEL_EPISODES: usize = 64;

/// Records `rows` transitions and passes them to `sink` one episode at a time, in order.
///
/// The seed of episode `e` and the stream that the policy draws from are derived from (`seed`, e),
/// so the record does not depend on the number of threads. The last episode is truncated once
/// there are `rows` rows. `policy` writes its action for a state.
///
/// # Errors
/// What `policy` or `sink` return, and invalid actions.
pub fn collect<E, F>(
    environment: &E,
    rows: usize,
    seed: u64,
    policy: impl Fn(&[f64], &mut Stream, &mut [f64]) -> Result<(), F> + Sync,
    mut sink: impl FnMut(&Transitions) -> Result<(), F>,
) -> Result<(), F>
where
    E: Environment,
    F: From<EnvironmentError> + Send,
{
    let mut done = 0;
    let mut episode = 0_u32;
    while done < rows {
        // As many as the missing rows need, estimated from the mean length of the episodes so far.
        let mean = if episode == 0 { rows } else { (done / episode as usize).max(1) };
        let count = ((rows - done) / mean).clamp(1, MAX_PARALLEL_EPISODES);
        let copies: Vec<(u32, E)> =
            (episode..).take(count).map(|number| (number, environment.clone())).collect();
        let records = copies
            .into_par_iter()
            .map(|(number, copy)| run(copy, seed, number, rows - done, &policy))
            .collect::<Result<Vec<Transitions>, F>>()?;
        for mut record in records {
            if done + record.len() > rows {
                record = record.slice(0..rows - done);
                record.cut_short();
            }
            done += record.len();
            episode += 1;
            if !record.is_empty() {
                sink(&record)?;
            }
        }
    }
    Ok(())
}

/// Records `rows` transitions under random actions.
///
/// # Errors
/// When a numeric action has no bounds to draw from.
pub fn record_at_random<E: Environment>(
    environment: &E,
    rows: usize,
    seed: u64,
) -> Result<Transitions, EnvironmentError> {
    let schema = environment.schema();
    record(environment, rows, seed, |_, stream, action| random_action(schema, stream, action))
}

/// Records `rows` transitions of a policy's most likely actions, of which a share is replaced by random ones.
///
/// # Errors
/// When a numeric action has no bounds to draw from, or the policy takes an action that is not one.
pub fn record_with_detours<E: Environment>(
    environment: &E,
    policy: &dyn Policy,
    share: f64,
    rows: usize,
    seed: u64,
) -> Result<Transitions, EnvironmentError> {
    let schema = environment.schema();
    record(environment, rows, seed, |state, stream, action| {
        if stream.unit() < share {
            return random_action(schema, stream, action);
        }
        action.copy_from_slice(&policy.mode(state));
        Ok(())
    })
}

/// Records `rows` transitions under `policy`, which writes its action for a state.
fn record<E: Environment>(
    environment: &E,
    rows: usize,
    seed: u64,
    policy: impl Fn(&[f64], &mut Stream, &mut [f64]) -> Result<(), EnvironmentError> + Sync,
) -> Result<Transitions, EnvironmentError> {
    let mut all = Transitions::new(Arc::clone(environment.schema()));
    let append = |episode: &Transitions| {
        all.append(episode);
        Ok::<(), EnvironmentError>(())
    };
    collect(environment, rows, seed, policy, append)?;
    Ok(all)
}

/// The seed of episode `episode` of a recording, which [`replay`] can use to repeat it.
#[must_use]
pub fn episode_seed(seed: u64, episode: u32) -> u64 {
    Stream::keyed(seed, &[episode, 0]).next_u64()
}

/// Records one episode of at most `max_steps` steps.
fn run<E: Environment, F: From<EnvironmentError>>(
    mut environment: E,
    seed: u64,
    episode: u32,
    max_steps: usize,
    policy: &impl Fn(&[f64], &mut Stream, &mut [f64]) -> Result<(), F>,
) -> Result<Transitions, F> {
    // Different keys, so that the policy's draws are independent of the environment's.
    environment.reset(episode_seed(seed, episode));
    let mut stream = Stream::keyed(seed, &[episode, 1]);
    let mut record = Transitions::new(Arc::clone(environment.schema()));
    let mut action = vec![0.0; environment.schema().action_slots().len()];
    record.begin_episode();
    while record.len() < max_steps {
        policy(environment.state(), &mut stream, &mut action)?;
        if take(&mut environment, &action, &mut record)? {
            return Ok(record);
        }
    }
    record.cut_short();
    Ok(record)
}

/// Records one step. Returns whether it was the last one of its episode.
fn take<E: Environment>(
    environment: &mut E,
    action: &[f64],
    record: &mut Transitions,
) -> Result<bool, EnvironmentError> {
    let state = environment.state().to_vec();
    let step = environment.step(action)?;
    record.push(&Row {
        state: &state,
        action,
        outcomes: step.outcomes,
        next: step.state,
        reward: step.reward,
        terminated: step.terminated,
        truncated: step.truncated,
    });
    Ok(step.terminated || step.truncated)
}

/// Records a given sequence of actions from a seed, until the episode or the sequence ends. Also
/// returns the environment in its last state.
///
/// # Errors
/// When an action is invalid.
pub fn replay<E: Environment>(
    mut environment: E,
    seed: u64,
    actions: &[Vec<f64>],
) -> Result<(Transitions, E), EnvironmentError> {
    environment.reset(seed);
    let mut record = Transitions::new(Arc::clone(environment.schema()));
    record.begin_episode();
    for action in actions {
        if take(&mut environment, action, &mut record)? {
            return Ok((record, environment));
        }
    }
    record.cut_short();
    Ok((record, environment))
}

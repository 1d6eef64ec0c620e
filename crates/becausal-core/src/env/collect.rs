//! Recording what happens in an environment.

use std::sync::Arc;

use rayon::prelude::*;

use super::action::random_action;
use super::environment::{Environment, EnvironmentError};
use crate::Stream;
use crate::data::{Row, Transitions};

/// Episodes run at once, at most.
const WAVE: usize = 64;

/// Records `rows` transitions and hands them on in pieces, whole episodes in order.
///
/// Episode `e` is seeded with a number derived from (`seed`, e), and so is the stream that the
/// policy draws from: the record does not depend on the number of threads. The last episode is
/// truncated where the rows are full. `policy` writes its action for a state.
///
/// # Errors
/// What `policy` or `sink` return, and impossible actions.
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
        // As many at once as the rows still missing will take, going by the episodes so far.
        let mean = if episode == 0 { rows } else { (done / episode as usize).max(1) };
        let count = ((rows - done) / mean).clamp(1, WAVE);
        let copies: Vec<(u32, E)> =
            (episode..).take(count).map(|number| (number, environment.clone())).collect();
        let wave = copies
            .into_par_iter()
            .map(|(number, copy)| run(copy, seed, number, rows - done, &policy))
            .collect::<Result<Vec<Transitions>, F>>()?;
        for mut record in wave {
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
/// When an action has no bounds to draw between.
pub fn record_at_random<E: Environment>(
    environment: &E,
    rows: usize,
    seed: u64,
) -> Result<Transitions, EnvironmentError> {
    let schema = environment.schema();
    let mut record = Transitions::new(Arc::clone(schema));
    collect::<_, EnvironmentError>(
        environment,
        rows,
        seed,
        |_state, stream, action| random_action(schema, stream, action),
        |episode| {
            record.append(episode);
            Ok(())
        },
    )?;
    Ok(record)
}

/// The seed with which episode `episode` of a recording begins: [`replay`] can begin it again.
#[must_use]
pub fn episode_seed(seed: u64, episode: u32) -> u64 {
    Stream::keyed(seed, &[episode, 0]).next_u64()
}

/// One episode, of at most `most` steps.
fn run<E: Environment, F: From<EnvironmentError>>(
    mut environment: E,
    seed: u64,
    episode: u32,
    most: usize,
    policy: &impl Fn(&[f64], &mut Stream, &mut [f64]) -> Result<(), F>,
) -> Result<Transitions, F> {
    // Two keys: what the policy draws tells nothing about what the environment draws.
    environment.reset(episode_seed(seed, episode));
    let mut stream = Stream::keyed(seed, &[episode, 1]);
    let mut record = Transitions::new(Arc::clone(environment.schema()));
    let mut action = vec![0.0; environment.schema().action_slots().len()];
    record.begin_episode();
    while record.len() < most {
        policy(environment.state(), &mut stream, &mut action)?;
        if take(&mut environment, &action, &mut record)? {
            return Ok(record);
        }
    }
    record.cut_short();
    Ok(record)
}

/// Records one step; whether it was the last of its episode.
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

/// Records a given sequence of actions from a seed, until the episode or the sequence ends, and gives
/// back the environment as it is then.
///
/// # Errors
/// When an action is impossible.
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

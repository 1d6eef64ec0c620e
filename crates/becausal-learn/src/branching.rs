//! What other actions lead to, tried in the states of a recording.
//!
//! People ask about the actions that an agent does not take. A recording hardly shows them, least of all where the agent
//! stays for long: of 20,000 steps in which a trained lander stood on both legs, its main engine ran in 357. So the
//! environment is brought back to states of the recording, and takes other actions there.

use std::sync::Arc;

use becausal_core::data::{Coverage, Transitions};
use becausal_core::env::{AnyEnvironment, Environment, every_action, random_action};
use becausal_core::schema::Schema;
use becausal_core::{Policy, Stream};

use super::error::LearningError;
use super::interaction::{Exploration, episode_seed, interact, take};

/// Steps of a branch: one with another action, then those of the agent. Explanations look as far ahead by default.
const BRANCH_STEPS: usize = 5;

/// The most other actions that are tried in a state.
const MAX_TRIED: usize = 4;

/// The most actions that are listed to choose from.
const MAX_LISTED: usize = 4096;

/// Records about `rows` transitions: one half along episodes, as [`interact`] does, the other half in branches.
///
/// Where there is no other action, or only one episode, all of them are along episodes. The states from which a branch leaves are drawn evenly over the kinds of states ([`Coverage`]). A branch has other noise than
/// the episode it leaves, where the environment can draw it anew. It is an episode of its own and part of the same
/// recording.
///
/// # Errors
/// When an episode does not end, or a state is NaN or infinite.
pub fn interact_with_branches(
    environment: &AnyEnvironment,
    policy: &dyn Policy,
    rows: usize,
    exploration: Exploration,
    seed: u64,
) -> Result<Transitions, LearningError> {
    let schema = Arc::clone(environment.schema());
    let interact = |rows| interact(environment, policy, (rows, usize::MAX), exploration, seed);
    let actions = every_action(&schema, MAX_LISTED);
    let others = actions.as_ref().map_or(MAX_TRIED, |all| all.len().saturating_sub(1));
    let others = others.min(MAX_TRIED);
    let along = interact(rows.div_ceil(2))?;
    // Parts of a single recording could not be held out together.
    if others == 0 || along.episodes() < 2 {
        return interact(rows);
    }
    let mut record = Transitions::new(Arc::clone(&schema));
    let mut stream = Stream::keyed(seed, &[u32::MAX, 0]);
    let coverage = Coverage::of(&along);
    let mut branchings = vec![0_usize; along.len()];
    for _ in 0..(rows / 2) / (others * BRANCH_STEPS) {
        branchings[coverage.draw(&mut stream)] += 1;
    }
    let mut copy = environment.clone();
    for (episode, number) in (0..along.episodes()).zip(0..) {
        record.append(&along.select_episodes(&[episode]));
        copy.reset(episode_seed(seed, number));
        for row in along.episode(episode) {
            let taken: Vec<f64> =
                schema.action_slots().map(|slot| along.column(slot).get(row)).collect();
            for _ in 0..branchings[row] {
                for other in other_actions(&schema, actions.as_deref(), &taken, &mut stream)? {
                    let mut branch = copy.clone();
                    branch.renew_noise(stream.next_u64());
                    record.begin_part();
                    follow(&mut branch, policy, other, &mut record)?;
                }
            }
            copy.step(&taken)?;
        }
    }
    Ok(record)
}

/// Records an action and what the agent does after it.
fn follow(
    branch: &mut AnyEnvironment,
    policy: &dyn Policy,
    mut action: Vec<f64>,
    record: &mut Transitions,
) -> Result<(), LearningError> {
    for step in 1..=BRANCH_STEPS {
        if take(branch, &action, step == BRANCH_STEPS, record)? {
            break;
        }
        action = policy.mode(branch.state());
    }
    Ok(())
}

/// At most [`MAX_TRIED`] actions other than the one taken: drawn from all actions, or at random where these cannot be
/// listed.
fn other_actions(
    schema: &Schema,
    all: Option<&[Vec<f64>]>,
    taken: &[f64],
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, LearningError> {
    if let Some(all) = all {
        let order = stream.permutation(all.len());
        let others = order.into_iter().map(|at| &all[at]).filter(|action| action[..] != *taken);
        return Ok(others.take(MAX_TRIED).cloned().collect());
    }
    let mut others = vec![taken.to_vec(); MAX_TRIED];
    for other in &mut others {
        random_action(schema, stream, other)?;
    }
    others.retain(|other| other[..] != *taken);
    Ok(others)
}

#[cfg(test)]
mod tests {
    use becausal_core::RandomPolicy;
    use becausal_core::env::Options;
    use becausal_envs::find;

    use super::*;

    fn recorded(id: &str, rows: usize) -> (AnyEnvironment, Transitions, Transitions) {
        let environment = find(id).expect("built in").make(&Options::default()).expect("built in");
        let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("a policy");
        let exploration = Exploration { longest: 60, ..Exploration::NONE };
        let record = interact_with_branches(&environment, &policy, rows, exploration, 3);
        let along = interact(&environment, &policy, (rows.div_ceil(2), usize::MAX), exploration, 3);
        (environment, record.expect("a record"), along.expect("a record"))
    }

    #[test]
    fn branches_leave_from_states_of_their_recording_with_another_action() {
        let (environment, record, along) = recorded("LunarLander-v3", 2000);
        assert_eq!(record.recordings(), along.episodes());
        assert!((1800..2400).contains(&record.len()), "{} rows", record.len());
        let schema = environment.schema();
        let values = |row: usize, slots: std::ops::Range<usize>| -> Vec<f64> {
            slots.map(|slot| record.column(slot).get(row)).collect()
        };
        let mut whole = None;
        let mut branches = 0;
        for episode in 0..record.episodes() {
            let rows = record.episode(episode);
            if episode == 0 || record.recording_of(episode) != record.recording_of(episode - 1) {
                whole = Some(rows);
                continue;
            }
            branches += 1;
            assert!(rows.len() <= BRANCH_STEPS);
            let last = rows.end - 1;
            assert!(record.terminated()[last] || record.truncated()[last], "a branch ends");
            let state = values(rows.start, schema.state_slots());
            let from = whole
                .clone()
                .expect("an episode comes first")
                .find(|&row| values(row, schema.state_slots()) == state);
            let from = from.expect("a branch leaves from a state of its episode");
            let slots = schema.action_slots();
            assert_ne!(values(from, slots.clone()), values(rows.start, slots));
        }
        assert!(branches > 150, "{branches} branches");
    }

    #[test]
    fn one_episode_has_no_branches() {
        let (_, record, _) = recorded("LunarLander-v3", 40);
        assert_eq!((record.episodes(), record.recordings()), (1, 1));
    }

    #[test]
    fn the_same_seed_gives_the_same_record_and_numbers_are_drawn() {
        let (_, record, _) = recorded("LunarLanderContinuous-v3", 400);
        let (environment, again, along) = recorded("LunarLanderContinuous-v3", 400);
        assert_eq!(record, again);
        assert!(record.len() > along.len() + 100);
        let slot = environment.schema().action_slots().start;
        assert!(record.column(slot).to_numbers().iter().all(|value| value.abs() <= 1.0));
    }
}

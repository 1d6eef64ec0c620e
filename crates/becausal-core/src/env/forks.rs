//! The same moment twice: an environment that is copied, and takes another action, or continues from a changed state, while
//! it meets the same noise.

use std::sync::Arc;

use rayon::prelude::*;

use super::action::{every_action, random_action, typical_actions};
use super::environment::{Environment, EnvironmentError};
use super::world::{play_episode, rollout};
use crate::data::{Coverage, Transitions};
use crate::policy::Policy;
use crate::progress::{Listener, Tracker};
use crate::random::Stream;
use crate::schema::{Role, Schema, Variable};
use crate::trajectory::{Step, Trajectory};

/// Two courses with the same noise: what happened, and what happened in a copy of the environment that took another
/// action, or began in a changed state.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// What happened.
    pub recorded: Vec<Step>,
    /// What happened in the copy. It may end earlier or later.
    pub other: Trajectory,
    /// The episode of the state. Forks of one episode are not independent of each other.
    pub episode: usize,
}

/// How forks are recorded.
#[derive(Debug, Clone)]
pub struct ForkParams<'a> {
    /// States in which something else is tried: half of them drawn evenly over the kinds of states, half from all steps.
    pub states: usize,
    /// The most other actions that are tried in a state.
    pub actions: usize,
    /// The most changes of a state that are tried, where the environment can be [put into](Environment::set_state) it.
    pub changes: usize,
    /// Rows whose values a state variable is changed to.
    pub values: Option<&'a Transitions>,
    /// How many steps a copy is followed.
    pub horizon: usize,
    /// The most steps of an episode.
    pub longest_episode: usize,
    /// The seed of all that is random.
    pub seed: u64,
    /// Receives the progress and may stop the work.
    pub progress: Listener,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forks {
    /// The forks, by episode.
    pub forks: Vec<Fork>,
    /// Steps of the episodes and of the copies, each counted once.
    pub steps: usize,
}

/// States per episode. More episodes show more of what an agent meets; each costs its steps.
const STATES_OF_EPISODE: usize = 8;

/// The most actions that are listed to choose from; an action that is a number is also tried at as many strengths
/// between its bounds as at these.
const MAX_ACTIONS: usize = 16;

/// Actions that are drawn at least, where not all can be listed.
const MIN_DRAWN: usize = 3;

/// What a stream is for, beside the number of an episode.
const EPISODES: u32 = 0;
const PLACES: u32 = 1;
const ACTIONS: u32 = 2;

impl Forks {
    /// What happened in the copies. The courses of one episode are one recording: they are not independent of each other.
    #[must_use]
    pub fn transitions(&self, schema: &Arc<Schema>) -> Transitions {
        let mut transitions = Transitions::new(schema.clone());
        for forks in self.forks.chunk_by(|fork, next| fork.episode == next.episode) {
            transitions.begin_episode();
            for fork in forks {
                transitions.begin_stretch();
                fork.other.append_to(&mut transitions);
            }
        }
        transitions
    }
}

/// Plays episodes of a policy's most likely actions, and other actions in copies of the environment. A copy meets the
/// same noise; after its first action it follows the policy's most likely actions, too.
///
/// The result does not depend on the number of threads. It is `None` when the listener stops the work.
///
/// # Errors
/// When the environment refuses an action.
pub fn forks<E: Environment>(
    environment: &E,
    policy: &dyn Policy,
    params: &ForkParams<'_>,
) -> Result<Option<Forks>, EnvironmentError> {
    let episodes = params.states.div_ceil(STATES_OF_EPISODE);
    let tracker = Tracker::begin(&params.progress, "try", "episodes", 2 * episodes);
    let play = |episode: usize| {
        let mut copy = environment.clone();
        let mut actor = |_: usize, state: &[f64]| Some(policy.mode(state));
        let limit = if tracker.is_stopped() { 0 } else { params.longest_episode };
        let seed = params.stream(EPISODES, episode).next_u64();
        let played = play_episode(&mut copy, seed, limit, &mut actor);
        tracker.advance(1.0, "");
        played
    };
    let played = (0..episodes).into_par_iter().map(play).collect::<Result<Vec<_>, _>>()?;
    let places = places(environment.schema(), &played, params);
    let fork = |(episode, places): (usize, Vec<usize>)| {
        let mut found = Vec::new();
        let mut copy = environment.clone();
        copy.reset(params.stream(EPISODES, episode).next_u64());
        let mut stream = params.stream(ACTIONS, episode);
        let mut at = 0;
        for place in places.into_iter().take_while(|_| !tracker.is_stopped()) {
            let steps = played[episode].steps();
            for step in &steps[at..place] {
                copy.step(&step.action)?;
            }
            at = place;
            for other in others(&copy, policy, &steps[at], params, &mut stream)? {
                let recorded = steps[at..].iter().take(params.horizon).cloned().collect();
                found.push(Fork { recorded, other, episode });
            }
        }
        tracker.advance(1.0, "");
        Ok(found)
    };
    let found =
        places.into_par_iter().enumerate().map(fork).collect::<Result<Vec<Vec<Fork>>, _>>()?;
    let forks = found.concat();
    let steps = played.iter().map(Trajectory::len).sum::<usize>()
        + forks.iter().map(|fork| fork.other.len()).sum::<usize>();
    Ok((!tracker.is_stopped()).then_some(Forks { forks, steps }))
}

impl ForkParams<'_> {
    fn stream(&self, purpose: u32, episode: usize) -> Stream {
        let episode = u32::try_from(episode).unwrap_or(u32::MAX);
        Stream::keyed(self.seed, &[purpose, episode])
    }
}

/// The steps of each episode in which other actions are tried, in order. One may be drawn twice.
fn places(schema: &Arc<Schema>, played: &[Trajectory], params: &ForkParams<'_>) -> Vec<Vec<usize>> {
    let mut steps = Transitions::new(schema.clone());
    // An episode may be over before its first step.
    let lasting: Vec<usize> = (0..played.len()).filter(|&at| !played[at].is_empty()).collect();
    for &episode in &lasting {
        played[episode].append_to(&mut steps);
    }
    let mut places = vec![Vec::new(); played.len()];
    if steps.is_empty() {
        return places;
    }
    let coverage = Coverage::of(&steps);
    let mut stream = params.stream(PLACES, 0);
    for state in 0..params.states {
        let by_kind = state % 2 == 0;
        let row = if by_kind { coverage.draw(&mut stream) } else { stream.below(steps.len()) };
        let episode = steps.episode_of(row);
        places[lasting[episode]].push(row - steps.episode(episode).start);
    }
    for places in &mut places {
        places.sort_unstable();
    }
    places
}

/// What follows from some other actions, and from some changes of the state, where the environment stands before `step`
/// is taken.
fn others<E: Environment>(
    environment: &E,
    policy: &dyn Policy,
    step: &Step,
    params: &ForkParams<'_>,
    stream: &mut Stream,
) -> Result<Vec<Trajectory>, EnvironmentError> {
    let schema = environment.schema();
    let actions = other_actions(schema, &step.action, stream)?;
    let follow = |mut copy: E, action: &[f64]| {
        let mut actor = |step: usize, state: &[f64]| {
            Some(if step == 0 { action.to_vec() } else { policy.mode(state) })
        };
        rollout(&mut copy, Trajectory::begin(schema), params.horizon, &mut actor)
    };
    let mut found = Vec::new();
    for at in stream.permutation(actions.len()).into_iter().take(params.actions) {
        found.push(follow(environment.clone(), &actions[at])?);
    }
    for change in 0..params.changes {
        let Some(state) = params.values.and_then(|rows| changed(schema, &step.state, rows, stream))
        else {
            continue;
        };
        // Every other one also takes another action: a state that is hardly ever met shows little of what actions do there.
        let other = change % 2 == 1 && !actions.is_empty();
        let action = if other { &actions[stream.below(actions.len())] } else { &step.action };
        let mut copy = environment.clone();
        if copy.set_state(&state) {
            found.push(follow(copy, action)?);
        }
    }
    Ok(found)
}

/// A state in which one variable has the value of another row; `None` where that is the same value.
fn changed(
    schema: &Schema,
    state: &[f64],
    rows: &Transitions,
    stream: &mut Stream,
) -> Option<Vec<f64>> {
    if rows.is_empty() {
        return None;
    }
    let sizes: Vec<usize> = schema.of_role(Role::State).map(Variable::elements).collect();
    let (row, variable) = (stream.below(rows.len()), stream.below(sizes.len()));
    let first: usize = sizes[..variable].iter().sum();
    let slots = schema.state_slots().skip(first).take(sizes[variable]);
    let mut changed = state.to_vec();
    for (value, slot) in changed[first..].iter_mut().zip(slots) {
        *value = rows.column(slot).get(row);
    }
    (changed != state).then_some(changed)
}

/// Other actions to choose from: all of them; of actions that are numbers, or too many to be listed, the typical ones and as
/// many drawn ones, at least three.
fn other_actions(
    schema: &Schema,
    taken: &[f64],
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, EnvironmentError> {
    let mut actions = typical_actions(schema, MAX_ACTIONS);
    if let Some(all) = every_action(schema, MAX_ACTIONS) {
        actions = all;
    } else {
        for _ in 0..actions.len().max(MIN_DRAWN) {
            let mut drawn = taken.to_vec();
            random_action(schema, stream, &mut drawn)?;
            if !actions.contains(&drawn) {
                actions.push(drawn);
            }
        }
    }
    actions.retain(|action| action != taken);
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::StepResult;
    use crate::policy::RandomPolicy;

    /// A walk that is pushed by the same random number whichever way it goes, and ends beyond 6.
    #[derive(Clone)]
    struct Walk {
        schema: Arc<Schema>,
        state: Vec<f64>,
        stream: Stream,
    }

    impl Walk {
        fn new() -> Self {
            let text = "name = \"walk\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
                        way = { kind = \"categorical\", labels = [\"left\", \"stay\", \"right\"] }\n\
                        [reward]\nfar = \"x\"\n[termination]\nwhen = \"abs(x) > 6\"\n";
            let schema = Arc::new(Schema::parse(text).expect("a schema"));
            Self { schema, state: vec![0.0], stream: Stream::new(0) }
        }
    }

    impl Environment for Walk {
        fn schema(&self) -> &Arc<Schema> {
            &self.schema
        }

        fn reset(&mut self, seed: u64) {
            self.stream = Stream::new(seed);
            self.state[0] = self.stream.normal();
        }

        fn state(&self) -> &[f64] {
            &self.state
        }

        fn set_state(&mut self, state: &[f64]) -> bool {
            self.state = state.to_vec();
            state[0].abs() <= 6.0
        }

        fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
            self.state[0] += action[0] - 1.0 + 0.3 * self.stream.normal();
            let terminated = self.state[0].abs() > 6.0;
            let reward = self.state[0];
            Ok(StepResult {
                state: &self.state,
                outcomes: &[],
                reward,
                terminated,
                truncated: false,
            })
        }
    }

    fn params(states: usize) -> ForkParams<'static> {
        ForkParams {
            states,
            actions: 2,
            changes: 0,
            values: None,
            horizon: 4,
            longest_episode: 30,
            seed: 3,
            progress: Listener::default(),
        }
    }

    fn found(states: usize) -> Forks {
        let walk = Walk::new();
        let policy = RandomPolicy::new(walk.schema.clone()).expect("a policy");
        forks(&walk, &policy, &params(states)).expect("possible actions").expect("not stopped")
    }

    #[test]
    fn both_courses_of_a_fork_meet_the_same_noise() {
        let found = found(40);
        assert_eq!(found.forks.len(), 80);
        for fork in &found.forks {
            let (recorded, other) = (&fork.recorded, fork.other.steps());
            assert_eq!(recorded[0].state, other[0].state);
            assert_ne!(recorded[0].action, other[0].action);
            for (recorded, other) in recorded.iter().zip(other) {
                let noise = |step: &Step| step.next[0] - step.state[0] - (step.action[0] - 1.0);
                assert!((noise(recorded) - noise(other)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn every_other_action_is_tried_once_and_followed_as_far_as_asked() {
        let found = found(40);
        for pair in found.forks.chunks(2) {
            let tried = pair.iter().map(|fork| fork.other.steps()[0].action[0]);
            let mut actions: Vec<f64> = tried.chain([pair[0].recorded[0].action[0]]).collect();
            actions.sort_by(f64::total_cmp);
            assert_eq!(actions, [0.0, 1.0, 2.0]);
        }
        let lengths = found.forks.iter().map(|fork| fork.other.len());
        assert!(lengths.clone().all(|length| length <= 4) && lengths.max() == Some(4));
    }

    #[test]
    fn a_changed_state_takes_the_values_of_other_rows_where_that_is_possible() {
        let walk = Walk::new();
        let policy = RandomPolicy::new(walk.schema.clone()).expect("a policy");
        let mut rows = Transitions::new(walk.schema.clone());
        for x in [4.0, -5.0, 7.0] {
            rows.push(&crate::data::Row {
                state: &[x],
                action: &[0.0],
                outcomes: &[],
                next: &[x],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        let params = ForkParams { actions: 0, changes: 6, values: Some(&rows), ..params(40) };
        let found = forks(&walk, &policy, &params).expect("possible actions").expect("not stopped");
        // A third of the values is beyond the end of the walk.
        assert!((130..190).contains(&found.forks.len()), "{}", found.forks.len());
        let begun = |fork: &Fork| fork.other.steps()[0].clone();
        assert!(found.forks.iter().all(|fork| [4.0, -5.0].contains(&begun(fork).state[0])));
        let own = |fork: &&Fork| begun(fork).action == fork.recorded[0].action;
        let share = found.forks.iter().filter(own).count() as f64 / found.forks.len() as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
        for fork in &found.forks {
            let noise = |step: &Step| step.next[0] - step.state[0] - (step.action[0] - 1.0);
            assert!((noise(&fork.recorded[0]) - noise(&begun(fork))).abs() < 1e-12);
        }
    }

    #[test]
    fn forks_of_one_episode_are_one_recording() {
        let found = found(40);
        let transitions = found.transitions(&Walk::new().schema);
        assert_eq!(transitions.episodes(), 80);
        let episodes: std::collections::BTreeSet<usize> =
            found.forks.iter().map(|fork| fork.episode).collect();
        assert_eq!(transitions.recordings(), episodes.len());
        let rows: usize = found.forks.iter().map(|fork| fork.other.len()).sum();
        assert_eq!(transitions.len(), rows);
        assert!(found.steps > rows);
    }

    #[test]
    fn threads_change_nothing() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [one, three] = [1, 3].map(|threads| pool(threads).install(|| found(24)));
        assert_eq!(one, three);
    }

    #[test]
    fn who_listens_may_stop_it() {
        let walk = Walk::new();
        let policy = RandomPolicy::new(walk.schema.clone()).expect("a policy");
        let stop = |_: &crate::progress::Advance<'_>| std::ops::ControlFlow::Break(());
        let params = ForkParams { progress: Listener::new(stop), ..params(8) };
        assert_eq!(forks(&walk, &policy, &params), Ok(None));
    }
}

//! A pilot for the landers that follows rules, as a baseline for learned policies.

use std::sync::Arc;

use crate::find;
use becausal_core::Policy;
use becausal_core::Stream;
use becausal_core::schema::Schema;

/// The heuristic pilot that comes with Gymnasium's LunarLander: lean towards the pad, keep a height
/// in proportion to the distance from it, and on the ground only brake.
#[derive(Debug, Clone)]
pub struct Pilot {
    schema: Arc<Schema>,
}

/// The labels of the engines, in the order of the schema.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Engine {
    None,
    Left,
    Main,
    Right,
}

impl Pilot {
    /// The environments that it flies in: one with engines to choose, one with engines to throttle.
    pub const ENVIRONMENTS: [&'static str; 2] = ["LunarLander-v3", "LunarLanderContinuous-v3"];

    /// The pilot, if the schema is that of a lander.
    #[must_use]
    pub fn of(schema: &Arc<Schema>) -> Option<Self> {
        let is_lander = |id: &&str| find(id).is_ok_and(|entry| *entry.schema() == **schema);
        Self::ENVIRONMENTS.iter().any(is_lander).then(|| Self { schema: Arc::clone(schema) })
    }
}

/// How far to turn and to climb, in a state of eight numbers.
fn course(state: &[f64]) -> (f64, f64) {
    let &[x, y, vx, vy, angle, v_angle, left, right] = state else { return (0.0, 0.0) };
    if left != 0.0 || right != 0.0 {
        return (0.0, -0.5 * vy);
    }
    let lean = (0.5 * x + vx).clamp(-0.4, 0.4);
    (0.5 * (lean - angle) - v_angle, 0.5 * (0.55 * x.abs() - y - vy))
}

/// The engine for a course: the one that is needed most, if any is.
fn engine(turn: f64, climb: f64) -> Engine {
    const NEEDED: f64 = 0.05;
    if climb > turn.abs() && climb > NEEDED {
        Engine::Main
    } else if turn < -NEEDED {
        Engine::Right
    } else if turn > NEEDED {
        Engine::Left
    } else {
        Engine::None
    }
}

impl Policy for Pilot {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        let (turn, climb) = course(state);
        if self.schema.action_slots().len() == 1 {
            return vec![f64::from(engine(turn, climb) as u8)];
        }
        vec![(20.0 * climb - 1.0).clamp(-1.0, 1.0), (-20.0 * turn).clamp(-1.0, 1.0)]
    }

    /// The rules are deterministic.
    fn sample(&self, state: &[f64], _stream: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }
}

#[cfg(test)]
mod tests {
    use becausal_core::Environment;
    use becausal_core::env::{MAX_EPISODE_STEPS, Options, play_episode};

    use super::*;

    #[test]
    fn the_pilot_lands_both_landers_and_flies_nothing_else() {
        for id in Pilot::ENVIRONMENTS {
            let mut environment =
                find(id).expect("built in").make(&Options::default()).expect("made");
            let pilot = Pilot::of(environment.schema()).expect("a lander");
            assert_eq!(environment.schema().effects()[7..], ["fuel", "crash", "rest"]);
            let mut rested = 0;
            for seed in 0..5 {
                let mut actor = |_: usize, state: &[f64]| Some(pilot.mode(state));
                let episode = play_episode(&mut environment, seed, MAX_EPISODE_STEPS, &mut actor);
                let episode = episode.expect("possible actions");
                let last = episode.steps().last().expect("steps");
                rested += usize::from(last.outcomes[2] == 1.0);
            }
            assert!(rested >= 4, "{id}: {rested} of 5 landings");
        }
        assert!(Pilot::of(&find("CartPole-v1").expect("built in").schema()).is_none());
    }
}

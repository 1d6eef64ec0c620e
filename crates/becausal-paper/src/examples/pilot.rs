//! A pilot for the lander that follows rules.

use std::sync::Arc;

use becausal::{Policy, Schema, Stream};

/// The heuristic pilot that comes with Gymnasium's LunarLander: lean towards the pad, keep a height
/// in proportion to the distance from it, and on the ground only brake.
pub struct Pilot(pub Arc<Schema>);

impl Policy for Pilot {
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        let &[x, y, vx, vy, angle, v_angle, left, right] = state else {
            return vec![0.0; 2];
        };
        let lean = (0.5 * x + vx).clamp(-0.4, 0.4);
        let (mut turn, mut climb) =
            (0.5 * (lean - angle) - v_angle, 0.5 * (0.55 * x.abs() - y - vy));
        if left != 0.0 || right != 0.0 {
            (turn, climb) = (0.0, -0.5 * vy);
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
    use becausal::Environment;
    use becausal::env::{MAX_EPISODE_STEPS, Options, find, play_episode};

    use super::*;

    #[test]
    fn the_pilot_lands() {
        let entry = find("LunarLanderContinuous-v3").expect("known");
        let mut environment = entry.make(&Options::default()).expect("made");
        let pilot = Pilot(Arc::clone(environment.schema()));
        let outcomes: Vec<String> = environment.schema().effects().split_off(7);
        assert_eq!(outcomes, ["fuel", "crash", "rest"]);
        let mut rested = 0;
        for seed in 0..5 {
            let mut actor = |_: usize, state: &[f64]| Some(pilot.mode(state));
            let episode = play_episode(&mut environment, seed, MAX_EPISODE_STEPS, &mut actor);
            let episode = episode.expect("possible actions");
            let last = episode.steps().last().expect("steps");
            rested += usize::from(last.outcomes[2] == 1.0);
        }
        assert!(rested >= 4, "{rested} of 5 landings");
    }
}

//! What causes what, found by trying: causal graphs by intervention.
//!
//! An environment that can be put into a state needs no rules on paper. At moments of random episodes one
//! variable at a time gets the value that it had at another moment. The other variables stay, the noise too, and
//! one step shows which effects move.

use std::ops::Range;

use becausal_core::env::{AnyEnvironment, Environment, EnvironmentError, random_action};
use becausal_core::schema::{Kind, Role, Schema, Variable};
use becausal_core::{Shape, Stream, Transitions};

/// Episodes from which the moments are taken.
const EPISODES: u64 = 60;
/// Moments of each episode at which every variable is changed: 1,200 in all, so that a rule which acts at one
/// moment in a hundred is met about ten times.
const MOMENTS: usize = 20;
/// Moments of a log, as many as of random episodes.
const LOG_MOMENTS: usize = 1_200;
/// Other values that a variable gets at each moment.
const VALUES: usize = 4;
/// Steps for which a random action is kept, at most: a craft that dithers visits few states.
const LONGEST_URGE: usize = 20;
/// Steps of an episode, at most; random landers are down long before.
const LONGEST_EPISODE: usize = 1_000;

/// A causal graph by intervention, for several circumstances.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Names of the causes: states, then actions.
    pub causes: Vec<String>,
    /// Names of the effects: next states with a prime, then outcomes.
    pub effects: Vec<String>,
    /// What was found in each circumstance.
    pub circumstances: Vec<Circumstance>,
}

/// What was found in one circumstance.
#[derive(Debug, Clone, PartialEq)]
pub struct Circumstance {
    /// Its name, for instance "high in the air".
    pub name: &'static str,
    /// `[effects][causes]`: how far the effect moves on average, as a share of its usual change in a step
    /// (of a label or flag, how often it changes); `None` where the cause could not be changed, or the effect never
    /// changes and yet moved.
    pub moves: Vec<Vec<Option<f64>>>,
}

impl Circumstance {
    /// The causes that move an effect by more than this share of its usual change.
    #[must_use]
    pub fn parents(&self, effect: usize, share: f64) -> Vec<usize> {
        let moves = self.moves[effect].iter().enumerate();
        moves
            .filter(|(_, moved)| moved.is_some_and(|moved| moved > share))
            .map(|(at, _)| at)
            .collect()
    }

    /// The causes that could not be changed.
    #[must_use]
    pub fn untried(&self) -> Vec<usize> {
        let causes = self.moves.first().map_or(0, Vec::len);
        (0..causes).filter(|&cause| self.moves.iter().all(|row| row[cause].is_none())).collect()
    }
}

impl Trial {
    /// `[effects]`: whether any action moves the effect by more than this share of its usual change, in any
    /// circumstance.
    #[must_use]
    pub fn acted_on(&self, share: f64) -> Vec<bool> {
        let states = self.effects.iter().filter(|name| name.ends_with('\'')).count();
        let moved = |effect: usize| {
            let mut each = self.circumstances.iter();
            each.any(|found| {
                found.parents(effect, share).last().is_some_and(|&last| last >= states)
            })
        };
        (0..self.effects.len()).map(moved).collect()
    }
}

/// The circumstances of an environment, each told apart by a step; the last one that applies in either of two
/// compared worlds is the one that counts.
#[derive(Clone, Copy)]
pub(super) struct Circumstances {
    /// Their names.
    pub names: &'static [&'static str],
    /// The circumstance of a step, from the state before it and the effects (next state, then outcomes).
    pub of: fn(&[f64], &[f64]) -> usize,
}

impl Trial {
    /// Tries every cause at moments of random episodes.
    ///
    /// # Errors
    /// When an action has no bounds to draw from.
    pub(super) fn of(
        environment: &AnyEnvironment,
        circumstances: Circumstances,
    ) -> Result<Self, EnvironmentError> {
        let mut random = Stream::new(0);
        let moments = moments(environment, &mut random)?;
        Self::at(&moments, environment.schema(), circumstances, &mut random)
    }

    /// Tries every cause at moments of a log that are in the first circumstance, with the values of other such
    /// moments: what moves an effect in random flights may hardly move it in those of a trained agent.
    ///
    /// # Errors
    /// When an action of the log is not one of the environment's.
    pub(super) fn of_log(
        environment: &AnyEnvironment,
        circumstances: Circumstances,
        log: &Transitions,
    ) -> Result<Self, EnvironmentError> {
        let schema = environment.schema();
        let values = |slots: &mut dyn Iterator<Item = usize>, row: usize| -> Vec<f64> {
            slots.map(|slot| log.column(slot).get(row)).collect()
        };
        let mut random = Stream::new(0);
        let mut moments = Vec::new();
        for row in random.permutation(log.len()) {
            let state = values(&mut schema.state_slots(), row);
            let effects = values(&mut schema.next_slots().chain(schema.outcome_slots()), row);
            let mut environment = environment.clone();
            if moments.len() < LOG_MOMENTS && (circumstances.of)(&state, &effects) == 0 {
                environment.reset(row as u64);
                if environment.set_state(&state) {
                    let action = values(&mut schema.action_slots(), row);
                    moments.push(Moment { environment, action });
                }
            }
        }
        Self::at(&moments, schema, circumstances, &mut random)
    }

    /// Tries every cause at some moments, with the values of others.
    fn at(
        moments: &[Moment],
        schema: &Schema,
        circumstances: Circumstances,
        random: &mut Stream,
    ) -> Result<Self, EnvironmentError> {
        let slots = Slots::of(schema);
        let mut tallies = vec![Tally::new(&slots); circumstances.names.len()];
        for moment in moments {
            let base = moment.step()?;
            let here = (circumstances.of)(moment.environment.state(), &base);
            tallies[here].observe(&slots, moment.environment.state(), &base);
            for cause in 0..slots.causes() {
                for _ in 0..VALUES {
                    let other = &moments[random.below(moments.len())];
                    let Some(changed) = moment.with(&slots, cause, other) else { continue };
                    let moved = changed.step()?;
                    let there = (circumstances.of)(changed.environment.state(), &moved);
                    tallies[here.max(there)].compare(&slots, cause, &base, &moved);
                }
            }
        }
        let names = |role| schema.of_role(role).map(|variable: &Variable| variable.name.clone());
        let next = names(Role::State).map(|state| format!("{state}'"));
        Ok(Self {
            causes: names(Role::State).chain(names(Role::Action)).collect(),
            effects: next.chain(names(Role::Outcome)).collect(),
            circumstances: circumstances
                .names
                .iter()
                .zip(&tallies)
                .map(|(&name, tally)| Circumstance { name, moves: tally.moves(&slots) })
                .collect(),
        })
    }
}

/// A moment of an episode, and what is done in it.
struct Moment {
    environment: AnyEnvironment,
    action: Vec<f64>,
}

impl Moment {
    /// The effects of the action: next state, then outcomes.
    fn step(&self) -> Result<Vec<f64>, EnvironmentError> {
        let mut environment = self.environment.clone();
        let result = environment.step(&self.action)?;
        Ok([result.state, result.outcomes].concat())
    }

    /// The same moment, with one cause as it was at another one; `None` if it cannot be, or is the same.
    fn with(&self, slots: &Slots, cause: usize, other: &Self) -> Option<Self> {
        let mut changed =
            Self { environment: self.environment.clone(), action: self.action.clone() };
        if let Some(action) = cause.checked_sub(slots.states.len()) {
            let range = slots.actions[action].clone();
            changed.action[range.clone()].copy_from_slice(&other.action[range]);
            return (changed.action != self.action).then_some(changed);
        }
        let range = slots.states[cause].clone();
        let mut state = self.environment.state().to_vec();
        state[range.clone()].copy_from_slice(&other.environment.state()[range]);
        let differs = state != self.environment.state();
        (differs && changed.environment.set_state(&state)).then_some(changed)
    }
}

/// Moments of random episodes, as many of each.
fn moments(
    environment: &AnyEnvironment,
    random: &mut Stream,
) -> Result<Vec<Moment>, EnvironmentError> {
    let schema = environment.schema().clone();
    let mut moments = Vec::new();
    let mut environment = environment.clone();
    for seed in 0..EPISODES {
        environment.reset(seed);
        let mut episode = Vec::new();
        let mut action = vec![0.0; schema.action_slots().len()];
        let mut urge = 0;
        for _ in 0..LONGEST_EPISODE {
            if urge == 0 {
                random_action(&schema, random, &mut action)?;
                urge = 1 + random.below(LONGEST_URGE);
            }
            urge -= 1;
            // A state is put in with the precision in which it is told, so it is told to both worlds.
            let mut told = environment.clone();
            let state = told.state().to_vec();
            if !told.set_state(&state) {
                told = environment.clone();
            }
            episode.push(Moment { environment: told, action: action.clone() });
            let result = environment.step(&action)?;
            if result.terminated || result.truncated {
                break;
            }
        }
        // The last step is always among them: it is where an episode ends.
        let last = episode.len() - 1;
        let mut chosen: Vec<usize> =
            random.permutation(last).into_iter().take(MOMENTS - 1).collect();
        chosen.push(last);
        chosen.sort_unstable();
        let mut at = 0;
        episode.retain(|_| {
            at += 1;
            chosen.binary_search(&(at - 1)).is_ok()
        });
        moments.append(&mut episode);
    }
    Ok(moments)
}

/// Where the variables are in a state, in an action and among the effects.
struct Slots {
    states: Vec<Range<usize>>,
    actions: Vec<Range<usize>>,
    /// Next states, then outcomes.
    effects: Vec<Range<usize>>,
    /// Of each effect, whether it is a label or a flag.
    labels: Vec<bool>,
}

impl Slots {
    fn of(schema: &Schema) -> Self {
        let Shape { states, actions, outcomes, .. } = Shape::of(schema);
        let offset = schema.state_slots().len();
        let outcomes = outcomes.iter().map(|range| range.start + offset..range.end + offset);
        let effects = states.iter().cloned().chain(outcomes).collect();
        let variables = schema.of_role(Role::State).chain(schema.of_role(Role::Outcome));
        let label =
            |variable: &Variable| matches!(variable.kind, Kind::Boolean | Kind::Categorical(_));
        Self { states, actions, effects, labels: variables.map(label).collect() }
    }

    fn causes(&self) -> usize {
        self.states.len() + self.actions.len()
    }
}

/// What was seen in one circumstance.
#[derive(Clone)]
struct Tally {
    /// Of each effect, the sum of its absolute changes in a step.
    changes: Vec<f64>,
    steps: usize,
    /// `[effects][causes]`: the sum of how far the effect moved.
    moves: Vec<Vec<f64>>,
    /// `[causes]`: how often the cause was changed.
    tries: Vec<usize>,
}

impl Tally {
    fn new(slots: &Slots) -> Self {
        let effects = slots.effects.len();
        Self {
            changes: vec![0.0; effects],
            steps: 0,
            moves: vec![vec![0.0; slots.causes()]; effects],
            tries: vec![0; slots.causes()],
        }
    }

    /// Notes the usual change of a step: of a state from before, of an outcome from 0.
    fn observe(&mut self, slots: &Slots, before: &[f64], effects: &[f64]) {
        self.steps += 1;
        for (effect, range) in slots.effects.iter().enumerate() {
            let from = |at: usize| before.get(at).copied().unwrap_or(0.0);
            self.changes[effect] +=
                range.clone().map(|at| (effects[at] - from(at)).abs()).sum::<f64>();
        }
    }

    /// Notes how far the effects are apart after a cause was changed.
    fn compare(&mut self, slots: &Slots, cause: usize, base: &[f64], moved: &[f64]) {
        self.tries[cause] += 1;
        for (effect, range) in slots.effects.iter().enumerate() {
            let apart: f64 = range.clone().map(|at| (base[at] - moved[at]).abs()).sum();
            self.moves[effect][cause] += if slots.labels[effect] { apart.min(1.0) } else { apart };
        }
    }

    fn moves(&self, slots: &Slots) -> Vec<Vec<Option<f64>>> {
        let of_effect = |effect: usize| {
            let usual = if slots.labels[effect] {
                1.0
            } else {
                self.changes[effect] / self.steps.max(1) as f64
            };
            let of_cause = |cause: usize| {
                let tries = self.tries[cause];
                let mean = self.moves[effect][cause] / tries.max(1) as f64;
                let share = if mean == 0.0 { 0.0 } else { mean / usual };
                (tries > 0 && share.is_finite()).then_some(share)
            };
            (0..slots.causes()).map(of_cause).collect()
        };
        (0..slots.effects.len()).map(of_effect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use becausal_core::env::Options;

    const ALWAYS: Circumstances = Circumstances { names: &["always"], of: |_, _| 0 };

    fn by_rules_and_by_trying(id: &str) -> (Vec<Vec<bool>>, Vec<Vec<bool>>) {
        let entry = find(id).expect("built in");
        let environment = entry.make(&Options::default()).expect("default options");
        let trial = Trial::of(&environment, ALWAYS).expect("random actions");
        let truth = entry.truth().expect("known rules");
        assert_eq!((&trial.causes, &trial.effects), (&truth.causes, &truth.effects), "{id}");
        let is_moved = |share: &Option<f64>| share.is_some_and(|share| share > 0.0);
        let rows = trial.circumstances[0].moves.iter();
        let tried = rows.map(|row| row.iter().map(is_moved).collect());
        (truth.graph, tried.collect())
    }

    #[test]
    fn trying_finds_the_graphs_of_the_rules() {
        for id in ["CartPole-v1", "AimTest-v0", "Vacuum-v0"] {
            let (rules, tried) = by_rules_and_by_trying(id);
            assert_eq!(rules, tried, "{id}");
        }
    }

    #[test]
    fn nothing_moves_that_the_rules_of_build_marine_do_not_move() {
        let (rules, tried) = by_rules_and_by_trying("BuildMarine-v0");
        let (mut found, mut known) = (0, 0);
        for (rules, tried) in rules.iter().flatten().zip(tried.iter().flatten()) {
            assert!(*rules || !tried);
            found += usize::from(*tried);
            known += usize::from(*rules);
        }
        assert!(found * 10 >= known * 8, "{found} of {known}");
    }

    #[test]
    fn a_lander_in_the_air_obeys_its_engines_and_its_inertia() {
        for id in ["LunarLander-v3", "LunarLanderContinuous-v3"] {
            let trial = find(id).expect("built in").trial().expect("tried");
            let [high, near, standing] = &trial.circumstances[..] else { panic!("three of them") };
            let place = |names: &[String], name: &str| {
                names.iter().position(|known| known == name).expect("a variable")
            };
            let share = |found: &Circumstance, cause: &str, effect: &str| {
                found.moves[place(&trial.effects, effect)][place(&trial.causes, cause)]
            };
            let main = if id == "LunarLander-v3" { "engine" } else { "main" };
            assert!(share(high, main, "vy'").expect("tried") > 0.3, "{id}");
            assert!(share(high, "vx", "x'").expect("tried") > 0.3, "{id}");
            assert!(share(high, "x", "vy'").expect("tried") < 0.01, "{id}");
            assert!(share(high, "vy", "v_angle'").expect("tried") < 0.01, "{id}");
            assert!(share(near, "y", "legs'").expect("tried") > 0.01, "{id}");
            assert_eq!(share(high, "legs", "vy'"), None, "{id}");
            assert_eq!(
                share(standing, "y", "vy'"),
                None,
                "{id}: what it leans on is not in its state"
            );
            assert!(share(standing, main, "fuel").is_some(), "{id}");
            let acted_on = trial.acted_on(0.01);
            assert!(
                acted_on[place(&trial.effects, "vy'")] && acted_on[place(&trial.effects, "fuel")]
            );
            assert!(!acted_on[place(&trial.effects, "rest")], "{id}");
        }
    }
}

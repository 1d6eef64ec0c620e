//! Courses that are possible: drawn where the model, or what the record shows of the noise, leaves them open.

use rayon::prelude::*;

use super::agent::Agent;
use super::calibration::Calibration;
use super::interval::Interval;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_core::{Stream, normal_quantile, student_quantile};
use becausal_model::{Dynamics, Noise, PossibleNoise, Prediction};

/// Courses that are drawn, in all: two on either side of an interval that leaves out a twentieth there.
const DRAWS: usize = 40;

/// The same for an agent that answers one state at a time, such as a plain Python function: every step of every course
/// asks it.
const DRAWS_OF_SLOW: usize = 10;

/// The seed of what is drawn.
const SEED: u64 = 1;

/// Of fewer than this share of the courses nothing is said: the others left the numbers that a computer has.
const MIN_LEFT: f64 = 0.5;

/// The share of the draws that an interval leaves out, at each end: it holds nine in ten.
const TAIL: f64 = 0.05;

/// Places at which the disagreement of the members is tried, evenly spaced in probability.
const PLACES: usize = 20;

/// Two courses that are possible at the same time: what follows from the action taken, and from the change.
#[derive(Debug, Clone, PartialEq)]
struct Draw {
    /// The member of the model that it comes from.
    member: usize,
    /// What follows from the action taken; `None` where all of it was recorded.
    factual: Option<Trajectory>,
    /// What follows from the change.
    other: Trajectory,
}

/// Possible courses. Each follows one member of the model; the noise is the recorded one as far as the record
/// shows it, and drawn beyond.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// What was recorded.
    factual: Trajectory,
    /// How many models there are.
    members: usize,
    pairs: Vec<Draw>,
    /// How much wider intervals have to be, by an audit.
    calibration: Calibration,
}

/// What a number may be, in no order.
#[derive(Debug, Clone, PartialEq)]
pub struct Possible(Vec<f64>);

/// What is asked: the course that happened, the change, and how far to look.
pub(super) struct Question<'a> {
    pub agent: Agent<'a>,
    pub dynamics: &'a dyn Dynamics,
    pub factual: &'a Trajectory,
    pub state: &'a [f64],
    pub action: &'a [f64],
    pub horizon: usize,
}

impl Draws {
    /// Draws courses with noise that is possible: `[members][draws][steps]`.
    pub(super) fn of(question: &Question<'_>, noise: Vec<Vec<Vec<Noise>>>) -> Self {
        let Question { dynamics, factual, .. } = *question;
        let members = dynamics.members().max(1);
        let of_member = |(member, drawn): (usize, Vec<Vec<Noise>>)| {
            drawn.into_iter().map(move |noise| (member, noise))
        };
        let courses: Vec<(usize, Vec<Noise>)> =
            noise.into_iter().enumerate().flat_map(of_member).collect();
        let recorded: Vec<Step> = factual.steps().iter().filter(|s| s.recorded).cloned().collect();
        let all = recorded.len() == factual.len();
        let (factuals, courses) = if all {
            (vec![None; courses.len()], courses)
        } else {
            let start = recorded.last().map(|step| step.next.clone());
            let start = start.or_else(|| factual.state(0).map(<[f64]>::to_vec));
            let first = factual.steps().first().map(|step| step.action.clone());
            let begun = (start.unwrap_or_default(), first.unwrap_or_default());
            let played = question.play(&courses, &recorded, &begun);
            let courses = question.coupled(courses, &played);
            (played.into_iter().map(Some).collect(), courses)
        };
        let begun = (question.state.to_vec(), question.action.to_vec());
        let others = question.play(&courses, &[], &begun);
        let trajectory = |steps: Vec<Step>| {
            Trajectory::new(factual.schema().clone(), factual.first(), steps).ok()
        };
        let draws = courses.iter().zip(factuals).zip(others).filter_map(
            |(((member, _), factual), other)| {
                let factual = match factual {
                    Some(steps) => Some(trajectory(steps?)?),
                    None => None,
                };
                Some(Draw { member: *member, factual, other: trajectory(other?)? })
            },
        );
        let mut draws: Vec<Draw> = draws.collect();
        if (draws.len() as f64) < MIN_LEFT * courses.len() as f64 {
            draws.clear();
        }
        let calibration = Calibration::default();
        Self { factual: factual.clone(), members, pairs: draws, calibration }
    }

    /// The only course that is possible, because it was tried.
    pub(super) fn tried(factual: &Trajectory, other: &Trajectory) -> Self {
        let pairs = vec![Draw { member: 0, factual: None, other: other.clone() }];
        Self { factual: factual.clone(), members: 1, pairs, calibration: Calibration::default() }
    }

    /// The same draws, with intervals as wide as an audit found that they have to be.
    #[must_use]
    pub(super) fn calibrated(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// How much wider the intervals of each quantity have to be than the draws make them.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The largest of a number over all draws; 0 without draws.
    pub(super) fn most(&self, number: impl Fn(&Trajectory, &Trajectory) -> usize) -> usize {
        let of = |draw: &Draw| number(draw.factual.as_ref().unwrap_or(&self.factual), &draw.other);
        self.pairs.iter().map(of).max().unwrap_or(0)
    }

    /// The same draws, with only their first steps.
    #[must_use]
    pub(super) fn shortened(self, steps: usize) -> Self {
        let draws = self.pairs.into_iter().map(|draw| Draw {
            factual: draw.factual.map(|factual| factual.shortened(steps)),
            other: draw.other.shortened(steps),
            ..draw
        });
        let draws = draws.collect();
        Self { factual: self.factual.shortened(steps), pairs: draws, ..self }
    }

    /// Whether there is nothing to judge by: every course left the numbers that a computer has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// What a number would be in each draw, with the member that it comes from. The function gets what follows
    /// from the action taken, and from the change.
    fn numbers(
        &self,
        number: impl Fn(&Trajectory, &Trajectory) -> Option<f64>,
    ) -> Vec<(usize, f64)> {
        let of = |draw: &Draw| {
            let number = number(draw.factual.as_ref().unwrap_or(&self.factual), &draw.other)?;
            Some((draw.member, number))
        };
        self.pairs.iter().filter_map(of).filter(|(_, number)| number.is_finite()).collect()
    }

    /// The share of the draws in which something is so; 0 if nothing is known.
    #[must_use]
    pub fn share(&self, is_so: impl Fn(&Trajectory, &Trajectory) -> bool) -> f64 {
        let of = |draw: &&Draw| is_so(draw.factual.as_ref().unwrap_or(&self.factual), &draw.other);
        self.pairs.iter().filter(of).count() as f64 / self.pairs.len().max(1) as f64
    }

    /// What a number may be: the mean of the members, what one of many more members would be apart
    /// from it (Student's t distribution, because there are few of them), and what noise makes of it. Draws in which
    /// there is no such number do not count.
    #[must_use]
    pub fn possible(&self, number: impl Fn(&Trajectory, &Trajectory) -> Option<f64>) -> Possible {
        let numbers = self.numbers(number);
        let means: Vec<Option<f64>> = (0..self.members)
            .map(|member| mean(numbers.iter().filter(|(m, _)| *m == member).map(|(_, n)| *n)))
            .collect();
        let known: Vec<f64> = means.iter().flatten().copied().collect();
        let Some(middle) = mean(known.iter().copied()) else { return Possible(Vec::new()) };
        let count = known.len() as f64;
        let noise: Vec<f64> =
            numbers.iter().map(|(member, n)| n - means[*member].unwrap_or(middle)).collect();
        let apart = if known.len() < 2 {
            0.0
        } else {
            let squares: f64 = known.iter().map(|mean| (mean - middle).powi(2)).sum();
            // What the means of some draws differ by is noise, too.
            let freedom = (numbers.len() - known.len()).max(1) as f64;
            let of_noise = noise.iter().map(|noise| noise * noise).sum::<f64>() / freedom;
            let of_means = of_noise * count / numbers.len() as f64;
            let between = squares / (count - 1.0) - of_means;
            (between.max(0.0) * (1.0 + 1.0 / count)).sqrt()
        };
        let numbers = if apart > 0.0 {
            let places = (0..PLACES).map(|at| (at as f64 + 0.5) / PLACES as f64);
            let places: Vec<f64> = places
                .map(|share| middle + apart * student_quantile(share, known.len() - 1))
                .collect();
            let with = |noise: &f64| places.iter().map(|place| place + noise).collect::<Vec<_>>();
            noise.iter().flat_map(with).collect()
        } else {
            numbers.iter().map(|(_, number)| *number).collect()
        };
        Possible(numbers)
    }
}

impl Possible {
    /// The middle nine in ten of what the number may be; `None` if nothing is known.
    #[must_use]
    pub fn interval(&mut self) -> Option<Interval> {
        let mut at = |share| quantile(&mut self.0, share);
        Some(Interval { low: at(TAIL)?, median: at(0.5)?, high: at(1.0 - TAIL)? })
    }

    /// How probable it is that the number is above 0, where what it may be is stretched by a factor, as its
    /// [interval](Interval::stretched) is: above 1 by normal noise as wide as what is missing, below 1 towards the median. A
    /// half if nothing is known.
    #[must_use]
    pub fn positive(&mut self, factor: f64) -> f64 {
        let Some(interval) = self.interval() else { return 0.5 };
        let missing = (factor - 1.0) * 0.5 * interval.width() / normal_quantile(1.0 - TAIL);
        if missing > 0.0 {
            self.0.sort_by(f64::total_cmp);
        }
        let count = self.0.len() as f64;
        let stretched = |(place, number): (usize, &f64)| {
            if missing > 0.0 {
                number + missing * normal_quantile((place as f64 + 0.5) / count)
            } else {
                interval.median + factor * (number - interval.median)
            }
        };
        let weight = |number: f64| match number {
            number if number > 0.0 => 1.0,
            number if number < 0.0 => 0.0,
            _ => 0.5,
        };
        self.0.iter().enumerate().map(stretched).map(weight).sum::<f64>() / count
    }
}

impl Question<'_> {
    /// The noise of the factual steps, and noise to draw courses with. Every question draws the same random numbers, so
    /// that answers can be compared.
    pub(super) fn noise(&self) -> PossibleNoise {
        let count = if self.agent.is_quick() { DRAWS } else { DRAWS_OF_SLOW };
        let each = count.div_ceil(self.dynamics.members().max(1));
        let recorded = |step: usize| self.factual.steps().get(step).filter(|step| step.recorded);
        let steps: Vec<Option<&Step>> = (0..self.horizon).map(recorded).collect();
        self.dynamics.possible_noise(&steps, each, SEED)
    }

    /// The same courses with noise for what follows from the change: beyond the record it goes together with that of the
    /// factual course as it does within, where some of it belongs to the action. What was drawn there counts as recorded.
    fn coupled(
        &self,
        courses: Vec<(usize, Vec<Noise>)>,
        factuals: &[Option<Vec<Step>>],
    ) -> Vec<(usize, Vec<Noise>)> {
        // The same random numbers for every member: they differ only in what they have learned.
        let mut drawn_before = vec![0_u32; self.dynamics.members()];
        let mut place_of = |&(member, _): &(usize, Vec<Noise>)| {
            drawn_before[member] += 1;
            drawn_before[member]
        };
        let places: Vec<u32> = courses.iter().map(&mut place_of).collect();
        let couple = |(at, (member, mut noise)): (usize, (usize, Vec<Noise>))| {
            let steps = factuals[at].iter().flatten().enumerate();
            let predicted: Vec<(usize, &Step)> = steps.filter(|(_, step)| !step.recorded).collect();
            let steps: Vec<&Step> = predicted.iter().map(|(_, step)| *step).collect();
            let mut stream = Stream::keyed(SEED, &[places[at]]);
            let drawn = self.dynamics.noise_of_predicted(member, &steps, &mut stream);
            for ((step, _), drawn) in predicted.into_iter().zip(drawn) {
                noise[step] = drawn;
            }
            (member, noise)
        };
        courses.into_par_iter().enumerate().map(couple).collect()
    }

    /// The steps of every course: those begun with, and what follows from a state, whose first action is given
    /// where no step is begun with. `None` for a course with numbers that a computer does not have.
    fn play(
        &self,
        courses: &[(usize, Vec<Noise>)],
        begun: &[Step],
        (state, action): &(Vec<f64>, Vec<f64>),
    ) -> Vec<Option<Vec<Step>>> {
        let schema = self.dynamics.schema();
        let mut played: Vec<Option<Vec<Step>>> = vec![Some(begun.to_vec()); courses.len()];
        let mut states = vec![state.clone(); courses.len()];
        let mut live: Vec<usize> = (0..courses.len()).collect();
        if begun.last().is_some_and(|step| step.terminated) {
            live.clear();
        }
        for step in begun.len()..self.horizon {
            if live.is_empty() {
                break;
            }
            let here: Vec<Vec<f64>> = live.iter().map(|&course| states[course].clone()).collect();
            let actions = if step == 0 {
                Some(vec![action.clone(); here.len()])
            } else {
                self.agent.act_all(schema, self.factual.steps().get(step), &here)
            };
            let Some(actions) = actions else { break };
            let mut ended = Vec::new();
            let of_member = |a: &usize, b: &usize| courses[live[*a]].0 == courses[live[*b]].0;
            let places: Vec<usize> = (0..live.len()).collect();
            let groups: Vec<&[usize]> = places.chunk_by(of_member).collect();
            let results = groups.into_par_iter().map(|group| {
                let range = group[0]..group[group.len() - 1] + 1;
                let member = courses[live[group[0]]].0;
                let noise: Vec<&Noise> =
                    live[range.clone()].iter().map(|&course| &courses[course].1[step]).collect();
                self.dynamics.steps_of(member, &here[range.clone()], &actions[range], &noise)
            });
            let results: Vec<Vec<Prediction>> = results.collect();
            let steps = here.iter().zip(&actions).zip(results.into_iter().flatten());
            for (&course, ((state, action), Prediction { outcomes, next })) in
                live.iter().zip(steps)
            {
                let step = Step::new(schema, [state, action, &outcomes, &next], None);
                let numbers = step.outcomes.iter().chain(&step.next).chain(&step.rewards);
                if !numbers.into_iter().all(|number| number.is_finite()) {
                    played[course] = None;
                    ended.push(course);
                    continue;
                }
                if step.terminated {
                    ended.push(course);
                }
                states[course] = next;
                played[course].get_or_insert_default().push(step);
            }
            live.retain(|course| !ended.contains(course));
        }
        played
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for number in numbers {
        (sum, count) = (sum + number, count + 1);
    }
    (count > 0).then(|| sum / count as f64)
}

/// A quantile of some numbers, in between two of them where it must be. Their order changes.
fn quantile(numbers: &mut [f64], share: f64) -> Option<f64> {
    let place = share * (numbers.len().checked_sub(1)? as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = place.floor() as usize;
    let part = place - place.floor();
    let (_, low, above) = numbers.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    Some(*low + part * (high - *low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::schema::Schema;
    use std::sync::Arc;

    /// Courses of one step in which the reward is the given number.
    fn draws(schema: &Arc<Schema>, members: &[Vec<f64>]) -> Draws {
        let course = |reward: f64| {
            let step = Step::new(schema, [&[0.0], &[0.0], &[], &[reward]], None);
            Trajectory::new(Arc::clone(schema), 0, vec![step]).expect("a step")
        };
        let draws = members
            .iter()
            .enumerate()
            .flat_map(|(member, numbers)| numbers.iter().map(move |number| (member, *number)));
        let draws = draws
            .map(|(member, number)| Draw { member, factual: None, other: course(number) })
            .collect();
        let calibration = Calibration::default();
        Draws { factual: course(0.0), members: members.len(), pairs: draws, calibration }
    }

    fn reward(_: &Trajectory, other: &Trajectory) -> Option<f64> {
        other.steps().first().map(|step| step.rewards[0])
    }

    fn schema() -> Arc<Schema> {
        let text = "name = \"test\"\n[state]\nx = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n\
                    [reward]\nr = \"x'\"\n";
        Arc::new(Schema::parse(text).expect("a schema"))
    }

    #[test]
    fn nine_in_ten_intervals_hold_another_member_and_its_noise() {
        let schema = schema();
        let mut stream = Stream::new(4);
        for (members, noise) in [(3, 0.0), (5, 0.0), (5, 1.0), (3, 2.0)] {
            let mut held = 0;
            for _ in 0..400 {
                let numbers: Vec<Vec<f64>> = (0..members)
                    .map(|_| {
                        let mean = stream.normal();
                        (0..8).map(|_| mean + noise * stream.normal()).collect()
                    })
                    .collect();
                let truth = stream.normal() + noise * stream.normal();
                let drawn = draws(&schema, &numbers).possible(reward).interval();
                let Interval { low, high, .. } = drawn.expect("draws");
                held += usize::from(low <= truth && truth <= high);
            }
            // Four standard errors of 400 cases are 24.
            assert!((336..=390).contains(&held), "{members} members, noise {noise}: {held} of 400");
        }
    }

    #[test]
    fn members_that_agree_leave_no_doubt() {
        let draws = draws(&schema(), &[vec![2.0; 4], vec![2.0; 4]]);
        let sure = Interval { low: 2.0, median: 2.0, high: 2.0 };
        assert_eq!(draws.possible(reward).interval(), Some(sure));
        assert_eq!(draws.possible(reward).positive(1.0), 1.0);
        assert_eq!(draws.possible(|this, other| Some(-reward(this, other)?)).positive(1.0), 0.0);
    }

    #[test]
    fn a_stretched_interval_makes_an_answer_less_sure() {
        // Nine in ten from 1.1 to 2.9 in the draws; stretched by 4 from -1.6 to 5.6.
        let draws = draws(&schema(), &[(0..=20).map(|at| 1.0 + 0.1 * f64::from(at)).collect()]);
        let mut possible = draws.possible(reward);
        assert_eq!(possible.positive(1.0), 1.0);
        let unsure = possible.positive(4.0);
        assert!((unsure - 0.8).abs() < 0.06, "{unsure}");
    }

    #[test]
    fn a_narrower_interval_never_turns_an_answer() {
        // Four of five courses earn 2 more, the last one crashes.
        let draws = draws(&schema(), &[vec![2.0, 2.0, 2.0, 2.0, -100.0]]);
        let sure = [1.0, 0.5, 0.01].map(|factor| draws.possible(reward).positive(factor));
        assert!(sure[0] == 0.8 && sure.is_sorted() && sure[2] == 1.0, "{sure:?}");
    }

    #[test]
    fn an_answer_is_sure_where_its_interval_leaves_out_0() {
        let mut stream = Stream::new(5);
        let schema = schema();
        for _ in 0..200 {
            // Skewed as by a crash that may happen.
            let numbers: Vec<f64> = (0..40)
                .map(|_| if stream.unit() < 0.1 { -20.0 } else { 4.0 + stream.normal() })
                .collect();
            let mut possible = draws(&schema, &[numbers]).possible(reward);
            let factor = 0.5 + 2.0 * stream.unit();
            let [low, high] = possible.interval().expect("draws").stretched(factor);
            let positive = possible.positive(factor);
            // The ends of the interval lie between two of forty draws.
            assert!(low < 0.0 || positive >= 0.92, "{low} {positive}");
            assert!(low > 0.0 || high < 0.0 || positive <= 0.98, "{low} {positive}");
        }
    }
}

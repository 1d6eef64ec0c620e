//! Courses that are possible: drawn where the model, or what the record shows of the noise, leaves them open.

use super::agent::Agent;
use becausal_core::Stream;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_model::{Dynamics, Noise, Prediction};

/// Courses that are drawn, in all: enough for the twentieth on either side.
const DRAWS: usize = 60;

/// The share of the draws that an interval leaves out, at each end: it holds nine in ten.
const TAIL: f64 = 0.05;

/// The 95 % quantile of Student's t distribution divided by that of the normal one, by degrees of freedom
/// from 1. Few members show less of what models can disagree about than there is.
const STUDENT: [f64; 10] = [3.838, 1.775, 1.431, 1.296, 1.225, 1.181, 1.152, 1.130, 1.114, 1.102];

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
    draws: Vec<Draw>,
}

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
    /// Draws courses. Every question draws the same random numbers, so that answers can be compared.
    pub(super) fn of(question: &Question<'_>) -> Self {
        let Question { dynamics, factual, horizon, .. } = *question;
        let members = dynamics.members().max(1);
        let each = DRAWS.div_ceil(members);
        let steps: Vec<Option<&Step>> = (0..horizon)
            .map(|step| factual.steps().get(step).filter(|step| step.recorded))
            .collect();
        let mut courses = Vec::with_capacity(members * each);
        for member in 0..members {
            let mut stream = Stream::keyed(1, &[u32::try_from(member).unwrap_or(u32::MAX)]);
            let drawn = dynamics.draw_noise(member, &steps, each, &mut stream);
            courses.extend(drawn.into_iter().map(|noise| (member, noise)));
        }
        let begun = (question.state.to_vec(), question.action.to_vec());
        let others = question.play(&courses, &[], &begun);
        let recorded: Vec<Step> = factual.steps().iter().filter(|s| s.recorded).cloned().collect();
        let all = recorded.len() == factual.len();
        let factuals = if all {
            vec![None; courses.len()]
        } else {
            let start = recorded.last().map(|step| step.next.clone());
            let start = start.or_else(|| factual.state(0).map(<[f64]>::to_vec));
            let first = factual.steps().first().map(|step| step.action.clone());
            let begun = (start.unwrap_or_default(), first.unwrap_or_default());
            question.play(&courses, &recorded, &begun).into_iter().map(Some).collect()
        };
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
        let draws = draws.collect();
        Self { factual: factual.clone(), members, draws }
    }

    /// The same draws, with only their first steps.
    #[must_use]
    pub(super) fn shortened(self, steps: usize) -> Self {
        let draws = self.draws.into_iter().map(|draw| Draw {
            factual: draw.factual.map(|factual| factual.shortened(steps)),
            other: draw.other.shortened(steps),
            ..draw
        });
        let draws = draws.collect();
        Self { factual: self.factual.shortened(steps), draws, ..self }
    }

    /// Whether there is nothing to judge by: every course left the numbers that a computer has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
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
        self.draws.iter().filter_map(of).filter(|(_, number)| number.is_finite()).collect()
    }

    /// The interval that holds a number in nine of ten cases. Draws in which there is no such number do not
    /// count; `None` if there is none in any.
    #[must_use]
    pub fn interval(
        &self,
        number: impl Fn(&Trajectory, &Trajectory) -> Option<f64>,
    ) -> Option<[f64; 2]> {
        let numbers = self.widened(number);
        Some([quantile(&numbers, TAIL)?, quantile(&numbers, 1.0 - TAIL)?])
    }

    /// How probable it is that a number is above 0; a half if nothing is known.
    #[must_use]
    pub fn positive(&self, number: impl Fn(&Trajectory, &Trajectory) -> Option<f64>) -> f64 {
        let numbers = self.widened(number);
        if numbers.is_empty() {
            return 0.5;
        }
        let weight = |number: &f64| match number {
            number if *number > 0.0 => 1.0,
            number if *number < 0.0 => 0.0,
            _ => 0.5,
        };
        numbers.iter().map(weight).sum::<f64>() / numbers.len() as f64
    }

    /// The share of the draws in which something is so; 0 if nothing is known.
    #[must_use]
    pub fn share(&self, is_so: impl Fn(&Trajectory, &Trajectory) -> bool) -> f64 {
        let of = |draw: &&Draw| is_so(draw.factual.as_ref().unwrap_or(&self.factual), &draw.other);
        self.draws.iter().filter(of).count() as f64 / self.draws.len().max(1) as f64
    }

    /// A number in all draws, in ascending order. What separates the members is widened: a few of them differ
    /// less from each other than from a truth that they all missed.
    fn widened(&self, number: impl Fn(&Trajectory, &Trajectory) -> Option<f64>) -> Vec<f64> {
        let numbers = self.numbers(number);
        let means: Vec<Option<f64>> = (0..self.members)
            .map(|member| mean(numbers.iter().filter(|(m, _)| *m == member).map(|(_, n)| *n)))
            .collect();
        let known = means.iter().flatten().count();
        let Some(middle) = mean(means.iter().flatten().copied()) else { return Vec::new() };
        let factor = match known {
            0 | 1 => 1.0,
            many => {
                let student = STUDENT.get(many - 2).copied().unwrap_or(1.1);
                student * (1.0 + 1.0 / many as f64).sqrt()
            }
        };
        let mut widened: Vec<f64> = numbers
            .iter()
            .map(|(member, number)| {
                let of_member = means[*member].unwrap_or(middle);
                number + (factor - 1.0) * (of_member - middle)
            })
            .collect();
        widened.sort_by(f64::total_cmp);
        widened
    }
}

impl Question<'_> {
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
            let here: Vec<Vec<f64>> = live.iter().map(|&course| states[course].clone()).collect();
            let actions = if step == 0 {
                Some(vec![action.clone(); here.len()])
            } else {
                self.agent.act_all(schema, self.factual.steps().get(step), &here)
            };
            let Some(actions) = actions.filter(|_| !here.is_empty()) else { break };
            let mut ended = Vec::new();
            let of_member = |a: &usize, b: &usize| courses[live[*a]].0 == courses[live[*b]].0;
            let places: Vec<usize> = (0..live.len()).collect();
            for group in places.chunk_by(of_member) {
                let range = group[0]..group[group.len() - 1] + 1;
                let member = courses[live[group[0]]].0;
                let noise: Vec<&Noise> =
                    live[range.clone()].iter().map(|&course| &courses[course].1[step]).collect();
                let (here, actions) = (&here[range.clone()], &actions[range.clone()]);
                let results = self.dynamics.steps_of(member, here, actions, &noise);
                let steps = here.iter().zip(actions).zip(results);
                for (&course, ((state, action), Prediction { outcomes, next })) in
                    live[range].iter().zip(steps)
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

/// A quantile of ascending numbers, in between two of them where it must be.
fn quantile(numbers: &[f64], share: f64) -> Option<f64> {
    let place = share * (numbers.len().checked_sub(1)? as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = place.floor() as usize;
    let above = (below + 1).min(numbers.len() - 1);
    let part = place - place.floor();
    Some(numbers[below] + part * (numbers[above] - numbers[below]))
}

//! The findings of an audit case: which claims are right and which are wrong.

use becausal_core::Node;
use becausal_core::data::label_slots;
use becausal_core::schema::Circle;
use becausal_core::trajectory::{Step, Trajectory};

use super::case::{AuditAnswer, AuditCase, Auditor};
use super::influence::Voice;
use super::score::{Measure, Sums};
use super::unscored::Unscored;
use crate::calibration::Quantity;
use crate::interval::Interval;
use crate::tally::Tally;

/// Who claims something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The explanations under audit.
    Explanations,
    /// Every variable changes.
    Everything,
    /// What depends on the action changes, in the first step.
    Direct,
    /// The environment, with other noise.
    Twin,
    /// The rules, and the noise of recorded steps with the same action.
    Reachable,
    /// The rules, and all noise that the record shows.
    Ideal,
}

impl Source {
    pub const ALL: [Self; 6] = [
        Self::Explanations,
        Self::Everything,
        Self::Direct,
        Self::Twin,
        Self::Reachable,
        Self::Ideal,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explanations => "explanations",
            Self::Everything => "everything",
            Self::Direct => "direct",
            Self::Twin => "twin",
            Self::Reachable => "reachable",
            Self::Ideal => "ideal",
        }
    }

    /// The course that it expects; `None` if it only says what changes.
    fn course(self, answer: &AuditAnswer) -> Option<&Trajectory> {
        match self {
            Self::Explanations => Some(&answer.claimed.courses[1]),
            Self::Everything | Self::Direct => None,
            Self::Twin => answer.twin.as_ref(),
            Self::Reachable => answer.reachable.as_ref(),
            Self::Ideal => answer.ideal.as_ref(),
        }
    }
}

/// The findings in one state.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    pub episode: usize,
    /// The labels and flags of the state.
    pub group: Vec<f64>,
    /// How many other actions were tried.
    pub cases: usize,
    /// In the order of [`Source::ALL`].
    pub sources: [Sums; Source::ALL.len()],
    /// What the explanations say about every effect.
    pub variables: Vec<Sums>,
    /// The claims of the explanations at every threshold.
    pub curve: Vec<Tally>,
    /// Claims about single influences, in the order of [`Voice::ALL`]; `None` where they cannot be tried.
    pub influences: Option<[Sums; Voice::ALL.len()]>,
    /// What depends on how wide intervals are: not yet among the sums.
    pub unscored: Vec<Unscored>,
}

const CHANGES: [Measure; 2] = [Measure::Precision, Measure::Recall];
const TERMS: [Measure; 2] = [Measure::TermPrecision, Measure::TermRecall];

impl Findings {
    /// Those of an episode before anything was found.
    pub fn empty(episode: usize) -> Self {
        Self {
            episode,
            group: Vec::new(),
            cases: 0,
            sources: [Sums::default(); Source::ALL.len()],
            variables: Vec::new(),
            curve: Vec::new(),
            influences: None,
            unscored: Vec::new(),
        }
    }

    /// Compares the claims with what happened. `direct` says which effects depend on the action.
    pub fn of(case: &AuditCase, episode: usize, direct: &[bool], auditor: &Auditor<'_>) -> Self {
        let mut findings = Self {
            group: labels(case),
            cases: case.answers.len(),
            variables: vec![Sums::default(); auditor.scale.effects()],
            curve: vec![Tally::default(); auditor.params.thresholds.len()],
            ..Self::empty(episode)
        };
        for answer in &case.answers {
            for step in 0..case.horizon {
                findings.compare_step(answer, step, direct, auditor);
            }
            findings.compare_curve(answer, case.horizon, auditor);
            findings.compare_rewards(answer, auditor);
        }
        findings.compare_actions(case, auditor);
        findings
    }

    /// Compares the variables of one step.
    fn compare_step(
        &mut self,
        answer: &AuditAnswer,
        step: usize,
        direct: &[bool],
        auditor: &Auditor<'_>,
    ) {
        let factual = effects(&answer.claimed.courses[0], step);
        let real = effects(&answer.real, step);
        let differ = |effect, other: &Option<Vec<f64>>| {
            differs(auditor, effect, factual.as_deref(), other.as_deref(), auditor.params.threshold)
        };
        for (source, sums) in Source::ALL.into_iter().zip(&mut self.sources) {
            let course = source.course(answer);
            let expected = course.and_then(|course| effects(course, step));
            for (effect, variable) in self.variables.iter_mut().enumerate() {
                let changed = differ(effect, &real);
                let claimed = match (source, course) {
                    (_, Some(_)) => differ(effect, &expected),
                    (Source::Everything, _) => factual.is_some() || real.is_some(),
                    (Source::Direct, _) => step == 0 && direct[effect],
                    // A reference that there is none of.
                    _ => continue,
                };
                let mut own = Sums::default();
                own.claim(CHANGES, claimed, changed);
                if let (Some(factual), Some(real), Some(expected)) = (&factual, &real, &expected) {
                    let (scale, courses) = (auditor.scale, [&factual[..], real, expected]);
                    let right = scale.same_direction(effect, courses, auditor.params.threshold);
                    if claimed && changed {
                        own.of(Measure::Direction).count(right);
                    }
                    if source == Source::Explanations && claimed {
                        let up_to = answer.claimed.told_up_to(node(answer, step, effect));
                        let is_right = changed && right;
                        self.unscored.push(Unscored::Told { effect, up_to, is_right });
                    }
                    if let Some([error, size]) = scale.sizes(effect, courses) {
                        let ratio = own.of(Measure::ChangeError);
                        (ratio.part, ratio.whole) = (error, size);
                    }
                }
                if source == Source::Explanations {
                    if changed || claimed {
                        self.unscored.extend(values_held(answer, step, effect, auditor));
                    }
                    variable.add(&own);
                }
                sums.add(&own);
            }
        }
    }

    /// Counts the claims of the explanations at every threshold.
    fn compare_curve(&mut self, answer: &AuditAnswer, horizon: usize, auditor: &Auditor<'_>) {
        for step in 0..horizon {
            let [factual, real, claimed] =
                [&answer.claimed.courses[0], &answer.real, &answer.claimed.courses[1]]
                    .map(|course| effects(course, step));
            for (&share, tally) in auditor.params.thresholds.iter().zip(&mut self.curve) {
                for effect in 0..auditor.scale.effects() {
                    let differ = |other: &Option<Vec<f64>>| {
                        differs(auditor, effect, factual.as_deref(), other.as_deref(), share)
                    };
                    tally.count(differ(&claimed), differ(&real));
                }
            }
        }
    }

    /// Compares the reward terms, their sum, and the end of the episode.
    fn compare_rewards(&mut self, answer: &AuditAnswer, auditor: &Auditor<'_>) {
        let discount = auditor.params.discount;
        let negligible = auditor.scale.reward(auditor.params.threshold);
        let factual = terms(&answer.claimed.courses[0], discount);
        let real = terms(&answer.real, discount);
        let differs = |other: &[f64], term: usize| (factual[term] - other[term]).abs() > negligible;
        let difference =
            |other: &[f64]| -> f64 { factual.iter().sum::<f64>() - other.iter().sum::<f64>() };
        let true_difference = difference(&real);
        for (source, sums) in Source::ALL.into_iter().zip(&mut self.sources) {
            let claimed = source.course(answer).map(|course| terms(course, discount));
            for term in 0..real.len() {
                let says = match (&claimed, source) {
                    (Some(claimed), _) => differs(claimed, term),
                    (None, Source::Everything) => true,
                    (None, _) => continue,
                };
                sums.claim(TERMS, says, differs(&real, term));
            }
            let says = match (&claimed, source) {
                (Some(claimed), _) => difference(claimed),
                (None, Source::Direct) => {
                    let first = |course: &Trajectory| terms(&course.clone().shortened(1), discount);
                    let [taken, other] = [&answer.claimed.courses[0], &answer.real].map(first);
                    taken.iter().sum::<f64>() - other.iter().sum::<f64>()
                }
                (None, _) => continue,
            };
            sums.sign(says, true_difference, negligible);
            if source == Source::Explanations
                && (says.abs() > negligible || true_difference.abs() > negligible)
            {
                // A difference that is nothing has no sign to be right about.
                let is_right = true_difference.abs() > negligible && says * true_difference > 0.0;
                let agreement = answer.claimed.agreement();
                self.unscored.push(Unscored::Sign { agreement, is_right });
                let drawn = answer.claimed.drawn_worth(None);
                let numbers = [says, true_difference];
                self.unscored
                    .extend(drawn.map(|drawn| held(Quantity::Reward, drawn, numbers, negligible)));
            }
            if let Some(course) = source.course(answer) {
                sums.size(says, true_difference);
                let right = course.len() == answer.real.len()
                    && course.terminated() == answer.real.terminated();
                sums.of(Measure::Ends).count(right);
            }
        }
    }

    /// Compares which action is best.
    fn compare_actions(&mut self, case: &AuditCase, auditor: &Auditor<'_>) {
        let discount = auditor.params.discount;
        let negligible = auditor.scale.reward(auditor.params.threshold);
        let Some(first) = case.answers.first() else { return };
        let taken = first.claimed.courses[0].discounted(discount);
        for (source, sums) in Source::ALL.into_iter().zip(&mut self.sources) {
            let claims = case.answers.iter().map(|answer| {
                let claimed = source.course(answer)?.discounted(discount);
                Some((answer.real.discounted(discount), claimed))
            });
            let Some(mut returns) = claims.collect::<Option<Vec<(f64, f64)>>>() else { continue };
            returns.insert(0, (taken, taken));
            sums.best_action(&returns, negligible);
        }
    }
}

/// The labels and flags of the state asked about.
fn labels(case: &AuditCase) -> Vec<f64> {
    let schema = case.moment.record().schema();
    label_slots(schema).into_iter().map(|slot| case.moment.state()[slot]).collect()
}

/// The node of an effect in a step.
fn node(answer: &AuditAnswer, step: usize, effect: usize) -> Node {
    let states = answer.real.shape().states.len();
    match effect.checked_sub(states) {
        None => Node::state(step + 1, effect),
        Some(outcome) => Node::outcome(step, outcome),
    }
}

/// How far an interval has to be stretched to hold a real number. It always holds the estimate, too. Where possible courses
/// differ by a negligible amount only, a number is told as if it were exact, and no factor applies. Which of the two a number
/// is depends on the interval as it was drawn, so a factor cannot choose what it is scored by.
fn held(
    quantity: Quantity,
    drawn: Interval,
    [estimate, real]: [f64; 2],
    negligible: f64,
) -> Unscored {
    if drawn.width() <= negligible {
        return Unscored::Exact { is_right: (real - estimate).abs() <= negligible };
    }
    let [low, high] = [drawn.median.min(estimate), drawn.median.max(estimate)];
    let stretch = if low <= real && real <= high { 0.0 } else { drawn.stretch_to(real) };
    Unscored::Held { quantity, stretch }
}

/// How far the intervals of the numbers of an effect have to be stretched to hold the real ones. Labels, intervals that
/// leave nothing open, and courses that are over do not count.
fn values_held(
    answer: &AuditAnswer,
    step: usize,
    effect: usize,
    auditor: &Auditor<'_>,
) -> Vec<Unscored> {
    let node = node(answer, step, effect);
    let Some(real) = answer.real.value(node) else { return Vec::new() };
    let Some(estimates) = answer.claimed.courses[1].value(node) else { return Vec::new() };
    let circle = answer.claimed.circle(node);
    let negligible = auditor.scale.negligible(effect, auditor.params.threshold);
    let numbers = real.iter().zip(estimates).zip(negligible).enumerate();
    let of_element = |(element, ((&real, &estimate), negligible))| {
        let drawn = answer.claimed.drawn(1, node, element)?;
        let near = |circle: Circle| circle.near(real, drawn.median);
        let real = circle.map_or(real, near);
        Some(held(Quantity::Effect(effect), drawn, [estimate, real], negligible?))
    };
    numbers.filter_map(of_element).collect()
}

/// The values of all effects in a step: next state, then outcomes; `None` after the end.
fn effects(course: &Trajectory, step: usize) -> Option<Vec<f64>> {
    let values = |step: &Step| [&step.next[..], &step.outcomes].concat();
    course.steps().get(step).map(values)
}

/// Whether an effect differs between two courses. If one of them is over, it does.
fn differs(
    auditor: &Auditor<'_>,
    effect: usize,
    left: Option<&[f64]>,
    right: Option<&[f64]>,
    share: f64,
) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => auditor.scale.differs(effect, left, right, share),
        (None, None) => false,
        _ => true,
    }
}

/// The discounted sum of every reward term.
fn terms(course: &Trajectory, discount: f64) -> Vec<f64> {
    let mut sums = vec![0.0; course.schema().rewards().len()];
    let mut factor = 1.0;
    for step in course.steps() {
        sums.iter_mut().zip(&step.rewards).for_each(|(sum, reward)| *sum += factor * reward);
        factor *= discount;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_counts_by_the_width_that_it_was_drawn_with() {
        let found = |drawn: Interval, numbers: [f64; 2]| match held(
            Quantity::Reward,
            drawn,
            numbers,
            0.1,
        ) {
            Unscored::Held { stretch, .. } => Ok(stretch),
            Unscored::Exact { is_right } => Err(is_right),
            other => panic!("{other:?}"),
        };
        let drawn = Interval { low: 1.0, median: 2.0, high: 3.0 };
        assert_eq!(found(drawn, [2.0, 3.0]), Ok(1.0));
        assert_eq!(found(drawn, [2.0, 4.0]), Ok(2.0));
        assert_eq!(found(drawn, [5.0, 4.0]), Ok(0.0), "the estimate is always held");
        assert_eq!(found(drawn, [5.0, 6.0]), Ok(4.0));
        let narrow = Interval { low: 1.0, median: 1.0, high: 1.05 };
        assert_eq!(found(narrow, [1.0, 1.05]), Err(true), "it leaves nothing open");
        assert_eq!(found(narrow, [1.0, 3.0]), Err(false));
    }
}

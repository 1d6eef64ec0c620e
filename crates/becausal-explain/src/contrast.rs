//! Contrasts: what happened, and what would have happened instead.

use std::ops::Deref;

use super::calibration::Quantity;
use super::change::Change;
use super::credit::{Credit, CreditPart};
use super::draws::{Draws, Possible};
use super::evidence::Doubt;
use super::explainer::Why;
use super::explanan::{Explanan, Fact, differ};
use super::interval::Interval;
use super::predicted::Predicted;
use super::scale::Scale;
use crate::audit::Track;
use crate::chain::Node;
use becausal_core::schema::Circle;
use becausal_core::trajectory::Trajectory;
use becausal_discovery::Reason;

/// The minimally complete contrastive explanation (`x_diff`, `y_diff`, `x_r`) of the paper's appendix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContrastiveExplanan {
    /// `x_diff`: facts of the factual explanan that the other lacks or has with another value.
    pub factual: Vec<Fact>,
    /// `y_diff`: facts of the counterfactual explanan that the other lacks or has with another value.
    pub counterfactual: Vec<Fact>,
    /// `x_r`: the rewards in the factual chain.
    pub rewards: Vec<Fact>,
}

impl ContrastiveExplanan {
    /// The differences between two explanans; `differs` compares two values of a node.
    #[must_use]
    pub fn of(
        factual: &Explanan,
        counterfactual: &Explanan,
        differs: impl Fn(Node, &[f64], &[f64]) -> bool,
    ) -> Self {
        Self {
            factual: without(factual, counterfactual, &differs),
            counterfactual: without(counterfactual, factual, &differs),
            rewards: factual.rewards.clone(),
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.factual.is_empty() && self.counterfactual.is_empty()
    }
}

/// The facts of `this` that `other` lacks or has with another value.
fn without(
    this: &Explanan,
    other: &Explanan,
    differs: &impl Fn(Node, &[f64], &[f64]) -> bool,
) -> Vec<Fact> {
    let mut others: Vec<&Fact> = other.facts().collect();
    others.sort_by_key(|fact| fact.node);
    let is_different = |fact: &&Fact| match others.binary_search_by_key(&fact.node, |o| o.node) {
        Ok(found) => differs(fact.node, &fact.value, &others[found].value),
        Err(_) => true,
    };
    this.facts().filter(is_different).cloned().collect()
}

/// Two courses and their reward difference, before they are explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What happened, continued by the most likely course, and what would have happened instead, under the same noise.
    pub courses: [Trajectory; 2],
    /// The reward difference and where it comes from.
    pub credit: Credit,
    /// Courses that are possible as well.
    pub draws: Draws,
}

/// Why this and not that: two explanations, their differences, and the reward difference. What a [`Comparison`] tells,
/// it tells, too.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// The change asked about.
    pub change: Change,
    /// What happened, or would most likely happen. The chain may show only the first steps of the course.
    pub factual: Why,
    /// What would have happened instead, under the same noise.
    pub counterfactual: Why,
    /// Both courses over the whole horizon.
    pub comparison: Comparison,
    /// What the agent expects to earn after each of the courses, by its own estimate; `None` where it does not say.
    pub later: Option<[f64; 2]>,
    /// What differs between the two minimal explanans.
    pub minimal: ContrastiveExplanan,
    /// Caveats about the contrast as a whole.
    pub doubts: Vec<Doubt>,
    /// The standard deviations of the variables, if known, and the share of them that is negligible.
    pub scale: Option<(Scale, f64)>,
    /// How often such answers were right in an audit; `None` where there was none, and where the state is another one.
    pub track: Option<Track>,
    /// What the model alone says, where the other course was tried in a copy of the environment that met the same noise.
    /// The courses, their reward difference and the steps of the chains are then what happened; the influences
    /// are always the model's. `None` where the model predicts the other course.
    pub predicted: Option<Predicted>,
}

impl Deref for Contrast {
    type Target = Comparison;

    fn deref(&self) -> &Comparison {
        &self.comparison
    }
}

/// How sure an answer is about which action earns more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// In fewer than three of four possible courses.
    Guess,
    /// In at least three of four.
    Likely,
    /// In at least nineteen of twenty.
    Sure,
}

impl Certainty {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Guess, Self::Likely, Self::Sure];

    /// How sure an answer is that is right with this probability.
    #[must_use]
    pub fn of(probability: f64) -> Self {
        match probability {
            sure if sure >= CERTAIN => Self::Sure,
            likely if likely >= PROBABLE => Self::Likely,
            _ => Self::Guess,
        }
    }

    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Guess => "a guess",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// In how many possible courses a reward difference has the sign of its estimate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Agreement {
    /// Both earn the same in this share of them.
    Same(f64),
    /// What the difference may be, and whether the estimate is above 0.
    Sign { possible: Possible, is_positive: bool },
}

impl Agreement {
    /// How probable it is that the estimate has the right sign, where intervals are stretched by a factor.
    pub fn probability(&mut self, factor: f64) -> f64 {
        match self {
            Self::Same(share) => *share,
            Self::Sign { possible, is_positive: true } => possible.positive(factor),
            Self::Sign { possible, is_positive: false } => 1.0 - possible.positive(factor),
        }
    }
}

impl Comparison {
    /// How probable it is that the action that seems to earn more really does; where both earn the same, that they do.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.agreement().probability(self.reward_factor(usize::MAX))
    }

    /// In how many possible courses the action that seems to earn more does.
    pub(super) fn agreement(&self) -> Agreement {
        let difference =
            |this: &Trajectory, other: &Trajectory| self.credit.difference_of(this, other, None);
        match self.credit.difference() {
            0.0 => Agreement::Same(self.draws.share(|this, other| difference(this, other) == 0.0)),
            estimate => Agreement::Sign {
                possible: self.draws.possible(|this, other| Some(difference(this, other))),
                is_positive: estimate > 0.0,
            },
        }
    }

    /// How probable it is that a reward term's difference has the sign of an estimate.
    #[must_use]
    pub fn probability_of(&self, term: usize, estimate: f64) -> f64 {
        self.agreeing(estimate, Some(term), usize::MAX)
    }

    /// How probable it is that the difference over the first steps has the sign of an estimate, of one term or of all
    /// that were asked about.
    fn agreeing(&self, estimate: f64, term: Option<usize>, steps: usize) -> f64 {
        let possible = self
            .draws
            .possible(|this, other| Some(self.credit.difference_within(this, other, term, steps)));
        let factor = self.reward_factor(steps);
        Agreement::Sign { possible, is_positive: estimate > 0.0 }.probability(factor)
    }

    /// How many steps were compared.
    #[must_use]
    pub fn steps(&self) -> usize {
        let possible = self.draws.most(|this, other| this.len().max(other.len()));
        self.courses.iter().map(Trajectory::len).max().unwrap_or(0).max(possible)
    }

    /// The same over the first steps only.
    #[must_use]
    pub fn shortened(&self, steps: usize) -> Self {
        let parts = self.credit.parts.iter().filter(|part| part.step < steps).copied().collect();
        Self {
            courses: self.courses.clone().map(|course| course.shortened(steps)),
            credit: Credit { parts, ..self.credit },
            draws: self.draws.clone().shortened(steps),
        }
    }

    /// How surely it can be told over the first steps which action earns more.
    fn certainty_over(&self, steps: usize) -> Certainty {
        let parts = self.credit.parts.iter().filter(|part| part.step < steps);
        match parts.map(CreditPart::difference).sum() {
            0.0 => Certainty::Guess,
            estimate => Certainty::of(self.agreeing(estimate, None, steps)),
        }
    }

    /// The interval of the reward difference that holds it in nine of ten cases, of one term or of all that
    /// were asked about. It holds the estimate, too.
    #[must_use]
    pub fn worth(&self, term: Option<usize>) -> Option<[f64; 2]> {
        let parts = self.credit.by_term();
        let terms = parts.iter().filter(|(reward, _)| term.is_none_or(|term| term == *reward));
        let estimate: f64 = terms.map(|(_, difference)| difference).sum();
        let drawn = self.drawn_worth(term)?;
        let [low, high] = drawn.stretched(self.reward_factor(usize::MAX));
        Some([low.min(estimate), high.max(estimate)])
    }

    /// The interval of the reward difference as the draws make it.
    pub(super) fn drawn_worth(&self, term: Option<usize>) -> Option<Interval> {
        let difference = |this: &Trajectory, other: &Trajectory| {
            Some(self.credit.difference_of(this, other, term))
        };
        self.draws.possible(difference).interval()
    }

    /// The interval of a number of the other course that holds it in nine of ten cases. It holds the estimate, too. On a
    /// circle it may reach beyond the ends of what a value is written as.
    #[must_use]
    pub fn range(&self, node: Node, element: usize) -> Option<[f64; 2]> {
        self.range_in(1, node, element)
    }

    /// The same of one of the two courses, by its place in [`courses`](Self::courses).
    #[must_use]
    pub fn range_in(&self, course: usize, node: Node, element: usize) -> Option<[f64; 2]> {
        let estimate = *self.courses[course].value(node)?.get(element)?;
        let [low, high] = self.drawn(course, node, element)?.stretched(self.factor(node));
        Some([low.min(estimate), high.max(estimate)])
    }

    /// The interval of a number of one of the courses, as the draws make it.
    pub(super) fn drawn(&self, course: usize, node: Node, element: usize) -> Option<Interval> {
        let estimate = *self.courses[course].value(node)?.get(element)?;
        let circle = self.circle(node);
        let placed = |value| circle.map_or(value, |circle| circle.near(value, estimate));
        let number = |this: &Trajectory, other: &Trajectory| {
            let course = if course == 0 { this } else { other };
            course.value(node)?.get(element).copied().map(placed)
        };
        self.draws.possible(number).interval()
    }

    /// By what factor the intervals of reward differences over the first steps are stretched.
    fn reward_factor(&self, steps: usize) -> f64 {
        self.draws.calibration().of_reward_over(self.steps().min(steps))
    }

    /// By what factor the intervals of a node are stretched.
    fn factor(&self, node: Node) -> f64 {
        let quantity = Quantity::of(node, self.courses[0].shape());
        quantity.map_or(1.0, |quantity| self.draws.calibration().factor(quantity))
    }

    /// Whether possible courses agree that a node differs: the interval of a number's difference leaves out 0, or
    /// half of the courses have another label, or only one of the two courses has the node.
    #[must_use]
    pub fn tells(&self, node: Node) -> bool {
        self.factor(node) < self.told_up_to(node)
    }

    /// By what factor intervals have to be stretched until it cannot be told any more that a node differs; infinite
    /// where it does not depend on them.
    pub(super) fn told_up_to(&self, node: Node) -> f64 {
        let draws = &self.draws;
        let always = |is_told: bool| if is_told { f64::INFINITY } else { 0.0 };
        let one_is_over =
            draws.share(|this, other| this.value(node).is_some() != other.value(node).is_some());
        if draws.is_empty() || one_is_over >= USUAL {
            return always(true);
        }
        if self.is_label(node) {
            let differing = draws.share(|this, other| this.value(node) != other.value(node));
            return always(differing >= USUAL);
        }
        let elements = self.courses[0].value(node).map_or(1, <[f64]>::len);
        let kind = node.variable(self.courses[0].schema()).map(|variable| &variable.kind);
        let of_element = |element: usize| {
            let difference = |this: &Trajectory, other: &Trajectory| {
                let (this, other) =
                    (this.value(node)?.get(element)?, other.value(node)?.get(element)?);
                let difference = kind.map_or(this - other, |kind| kind.difference(*this, *other));
                Some(if differ(&[*this], &[*other]) { difference } else { 0.0 })
            };
            Some(draws.possible(difference).interval()?.stretch_to(0.0))
        };
        (0..elements).filter_map(of_element).fold(0.0, f64::max)
    }

    /// The flags and categories of the other course that are up to chance, with the probability of the
    /// value that they have there.
    #[must_use]
    pub fn chances(&self) -> Vec<(Node, f64)> {
        let shape = self.courses[0].shape();
        let nodes = |step: usize| {
            let states = (0..shape.states.len()).map(move |index| Node::state(step + 1, index));
            states.chain((0..shape.outcomes.len()).map(move |index| Node::outcome(step, index)))
        };
        let all = (0..self.courses[1].len()).flat_map(nodes);
        all.filter_map(|node| Some((node, self.chance(node)?))).collect()
    }

    /// How probable the value of a node is in the other course, if it is up to chance.
    #[must_use]
    pub fn chance(&self, node: Node) -> Option<f64> {
        let asked = self.is_label(node) && !self.draws.is_empty();
        let value = self.courses[1].value(node).filter(|_| asked)?;
        let share = self.draws.share(|_, other| other.value(node) == Some(value));
        (share < CERTAIN).then_some(share)
    }

    /// The circle of a circular variable.
    pub(super) fn circle(&self, node: Node) -> Option<Circle> {
        node.variable(self.courses[0].schema())?.kind.circle()
    }

    fn is_label(&self, node: Node) -> bool {
        let variable = node.variable(self.courses[0].schema());
        variable.is_some_and(|variable| variable.kind.is_label())
    }
}

impl Contrast {
    /// Whether the two values of a node differ by more than a negligible amount, and possible courses agree
    /// that they do; `None` unless both courses have the node.
    #[must_use]
    pub fn differs(&self, node: Node) -> Option<bool> {
        let [this, other] = &self.courses;
        let (this, other) = (this.value(node)?, other.value(node)?);
        Some(differ_by(self.scale.as_ref(), node, this, other) && self.tells(node))
    }

    /// The same over the first steps only; the chains stay.
    #[must_use]
    pub fn over(&self, steps: usize) -> Self {
        Self { comparison: self.comparison.shortened(steps), ..self.clone() }
    }

    /// Whether the agent expects the action that earns less to make up for it later, and more.
    #[must_use]
    pub fn is_outweighed_later(&self) -> bool {
        let difference = self.credit.difference();
        self.later.is_some_and(|[this, other]| difference * (difference + this - other) < 0.0)
    }

    /// How many steps the chains show.
    #[must_use]
    pub fn chain_steps(&self) -> usize {
        let steps = |why: &Why| why.chain.trajectory().len();
        steps(&self.factual).max(steps(&self.counterfactual))
    }

    /// How sure the answer is. A guess about a variable that never varies in the data, whatever the draws say: no
    /// network has seen what it does.
    #[must_use]
    pub fn certainty(&self) -> Certainty {
        match self.never_varied().filter(|_| !self.is_tried()) {
            Some(_) => Certainty::Guess,
            None => Certainty::of(self.probability()),
        }
    }

    /// A variable that the question is about and that is constant in the data.
    #[must_use]
    pub fn never_varied(&self) -> Option<Node> {
        self.factual.evidence.doubts.iter().find_map(|doubt| match doubt {
            Doubt::Confounded {
                node,
                reason: Reason::Constant { .. } | Reason::NeverVaried { .. },
            } => Some(*node),
            _ => None,
        })
    }

    /// Over how many steps it can be told which action earns more, and how surely: over all, or else over those of the
    /// chain; *sure* rather than *likely*. `None` if it is a guess over either. (To try every number of steps and take one
    /// that tells would be to find what chance has put there.)
    #[must_use]
    pub fn claim(&self) -> Option<(usize, Certainty)> {
        if self.never_varied().is_some() && !self.is_tried() {
            return None;
        }
        let told =
            [self.steps(), self.chain_steps()].map(|steps| (steps, self.certainty_over(steps)));
        let wanted = [Certainty::Sure, Certainty::Likely].into_iter();
        wanted.flat_map(|wanted| told.into_iter().filter(move |(_, found)| *found == wanted)).next()
    }
}

/// A label that is more probable than this is not called a matter of chance, and an answer is sure.
const CERTAIN: f64 = 0.95;

/// A label of the other course that is less probable than this is a caveat: at even odds of three labels, as on
/// slippery ice, it is a guess. So is an answer.
pub(super) const PROBABLE: f64 = 0.75;

/// A difference of labels is told where at least this share of the possible courses have it.
const USUAL: f64 = 0.5;

/// Whether two values of a node differ by more than a negligible amount.
pub(super) fn differ_by(
    scale: Option<&(Scale, f64)>,
    node: Node,
    this: &[f64],
    other: &[f64],
) -> bool {
    match scale {
        Some((scale, share)) => scale.differs_at(node, this, other, *share),
        None => differ(this, other),
    }
}

//! The strength of each state variable's influence on each effect: the action influence model
//! (AIM).

/// The influence of every state variable on every effect, under an action or in a single state.
///
/// The paper's weights alpha and the weights by effect both have this type: numbers from 0 to 1, to
/// be compared with a threshold tau. Each member of an ensemble has its own weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Influence {
    states: usize,
    effects: usize,
    /// `[members][effects][states]`, flattened.
    weights: Vec<f64>,
}

impl Influence {
    /// Creates it from the weights of each member, `[members][effects * states]`, effect by effect.
    ///
    /// # Panics
    /// When there is no member, or a member has a different number of weights.
    #[must_use]
    pub fn new(effects: usize, states: usize, members: &[Vec<f64>]) -> Self {
        assert!(!members.is_empty(), "an influence needs at least one member");
        assert!(members.iter().all(|weights| weights.len() == effects * states));
        Self { states, effects, weights: members.concat() }
    }

    /// The number of state variables.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// The number of effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.effects
    }

    /// The number of members.
    #[must_use]
    pub fn members(&self) -> usize {
        self.weights.len() / (self.states * self.effects).max(1)
    }

    /// The weight of a state variable for an effect, from 0 to 1; averaged over the members.
    #[must_use]
    pub fn weight(&self, effect: usize, state: usize) -> f64 {
        self.of_members(effect, state).sum::<f64>() / self.members() as f64
    }

    /// The number of members with a weight above `tau`.
    #[must_use]
    pub fn agreeing(&self, effect: usize, state: usize, tau: f64) -> usize {
        self.of_members(effect, state).filter(|&weight| weight > tau).count()
    }

    /// `PA_a(v_j)` = {`s_i` : weight > tau}, by index.
    #[must_use]
    pub fn parents(&self, effect: usize, tau: f64) -> Vec<usize> {
        (0..self.states).filter(|&state| self.weight(effect, state) > tau).collect()
    }

    fn of_members(&self, effect: usize, state: usize) -> impl Iterator<Item = f64> {
        let at = effect * self.states + state;
        self.weights.iter().skip(at).step_by((self.states * self.effects).max(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_depend_on_the_mean_weight_of_the_members() {
        let influence =
            Influence::new(2, 2, &[vec![0.0, 0.9, 0.2, 0.05], vec![0.1, 0.7, 0.0, 0.05]]);
        assert_eq!((influence.effects(), influence.states(), influence.members()), (2, 2, 2));
        assert_eq!(influence.weight(0, 1), 0.8);
        assert_eq!(influence.agreeing(1, 0, 0.1), 1);
        assert_eq!(influence.parents(0, 0.1), [1]);
        assert_eq!(influence.parents(1, 0.04), [0, 1]);
    }
}

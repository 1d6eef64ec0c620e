//! The order of the numbers of a transition: states, actions, outcomes, next states.

use super::variable::{Role, Slot, Variable};

/// All slots of a transition in order. `variables` must be ordered by role.
pub(super) fn slots(variables: &[Variable]) -> Vec<Slot> {
    let now = variables.iter().enumerate().map(|(index, variable)| (index, variable, false));
    let next = now.clone().filter(|(_, variable, _)| variable.role == Role::State);
    now.chain(next.map(|(index, variable, _)| (index, variable, true)))
        .flat_map(|(index, variable, next)| {
            let prime = if next { "'" } else { "" };
            (0..variable.elements()).map(move |element| Slot {
                variable: index,
                element: variable.size.map(|_| element),
                next,
                name: match variable.size {
                    Some(_) => format!("{}{prime}[{element}]", variable.name),
                    None => format!("{}{prime}", variable.name),
                },
            })
        })
        .collect()
}

/// The index of a slot.
pub(super) fn slot_of(
    variables: &[Variable],
    variable: usize,
    element: usize,
    next: bool,
) -> usize {
    let before: usize = variables[..variable].iter().map(Variable::elements).sum();
    let all: usize = variables.iter().map(Variable::elements).sum();
    before + element + if next { all } else { 0 }
}

//! What the networks compute from the action alone, kept from one question to the next.

use std::sync::OnceLock;

use super::network::ActionPart;
use super::world_model::WorldModel;

/// What every member computes from each of the possible actions; nothing where they are too many to be listed. For a
/// single state that is two thirds of all work.
#[derive(Debug, Default)]
pub(super) struct Kept(OnceLock<Option<Vec<ActionPart>>>);

/// A copy of a model may be fitted further, so it begins with nothing.
impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl WorldModel {
    /// What a member computes from each of the possible actions, in the order of the
    /// [table](super::encoding::Encoding::action_table).
    pub(super) fn action_part(&self, member: usize) -> Option<&ActionPart> {
        let compute = || {
            let actions = self.encoding.table_inputs()?;
            let part = |member: &super::member::Member| {
                member.action_part(actions.clone(), &self.structure)
            };
            self.members.iter().map(part).collect()
        };
        self.kept.0.get_or_init(compute).as_ref()?.get(member)
    }
}

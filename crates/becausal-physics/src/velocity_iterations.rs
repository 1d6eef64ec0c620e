//! The velocity iterations of an island, with replay.
//!
//! The velocities of an island settle long before the last iteration, but the impulses of its
//! joints may not: a motor that presses a joint against its limit adds to both impulses in every
//! iteration. Once the velocities repeat, the iterations are no longer solved. The impulses of one
//! period are recorded and then added again, as long as every decision (the maximum torque of the
//! motor, the rounding of its impulse, the sign at the limit) is as recorded. The result is the
//! same to the last bit.

use crate::contact_solver::ContactVelocity;
use crate::island::Island;
use crate::joint::JointImpulses;
use crate::joint_velocities::JointRecord;
use crate::motion::Velocity;
use crate::repetition::Watch;

/// Maximum period that is replayed, in iterations. Longer ones are not worth recording.
const MAX_PERIOD: usize = 16;

/// Buffers for replaying, reused from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replay {
    records: Vec<JointRecord>,
    /// The impulses of each joint, and after how many periods.
    replayed: Vec<(JointImpulses, usize)>,
}

impl Island {
    /// Iterates over joints and contacts.
    pub fn solve_velocities(&mut self, iterations: usize) {
        let mut watch = Watch::new(iterations);
        while let Some(period) = self.iterate_until_repeated(&mut watch) {
            if period <= MAX_PERIOD && watch.remaining() >= 2 * period {
                let done = self.record_and_replay(period, watch.remaining());
                watch = Watch::new(watch.remaining() - done);
            }
        }
    }

    /// Iterates until the velocities are those of an earlier iteration, and returns how many iterations ago that was;
    /// `None` when there are no more.
    fn iterate_until_repeated(&mut self, watch: &mut Watch) -> Option<usize> {
        if let Some(slots) = self.hull_and_legs() {
            return self.iterate_legs(slots, watch);
        }
        while watch.next_iteration() {
            self.iterate_velocities();
            let velocities = self.velocities.iter().flat_map(Velocity::numbers);
            let impulses = self.contact_velocities.iter().flat_map(ContactVelocity::numbers);
            let repeated = watch.repeats(velocities.chain(impulses), &mut self.memory);
            if repeated.is_some() {
                return repeated;
            }
        }
        None
    }

    /// The slots of three bodies that two joints hold together in the air, the one in the middle first, if that is all
    /// there is.
    fn hull_and_legs(&self) -> Option<[usize; 3]> {
        let [first, second] = &self.joint_velocities[..] else { return None };
        let ([hull, left], [same, right]) = (first.slots(), second.slots());
        let alone = self.velocities.len() == 3 && self.contact_velocities.is_empty();
        (alone && hull == same && left != right).then_some([hull, left, right])
    }

    /// The same for such bodies.
    ///
    /// Every operation waits for the one before it. Velocities that stay in registers need not wait for memory, too.
    fn iterate_legs(
        &mut self,
        [hull, left, right]: [usize; 3],
        watch: &mut Watch,
    ) -> Option<usize> {
        let [first, second] = &mut self.joint_velocities[..] else { return None };
        let [mut at_hull, mut at_left, mut at_right] =
            [hull, left, right].map(|slot| self.velocities[slot]);
        while watch.next_iteration() {
            first.solve_bodies(&mut at_hull, &mut at_left);
            second.solve_bodies(&mut at_hull, &mut at_right);
            self.velocities[hull] = at_hull;
            self.velocities[left] = at_left;
            self.velocities[right] = at_right;
            let velocities = self.velocities.iter().flat_map(Velocity::numbers);
            let repeated = watch.repeats(velocities, &mut self.memory);
            if repeated.is_some() {
                return repeated;
            }
        }
        None
    }

    /// One iteration.
    #[inline]
    pub fn iterate_velocities(&mut self) {
        for joint in &mut self.joint_velocities {
            joint.solve(&mut self.velocities);
        }
        for contact in &mut self.contact_velocities {
            contact.solve(&mut self.velocities);
        }
    }

    /// Records one period and replays it as long as it repeats exactly. Returns the number of
    /// iterations done, at most `remaining`.
    fn record_and_replay(&mut self, period: usize, remaining: usize) -> usize {
        let Replay { mut records, mut replayed } = std::mem::take(&mut self.replay);
        records.clear();
        for _ in 0..period {
            for joint in &mut self.joint_velocities {
                records.push(joint.solve(&mut self.velocities));
            }
            for contact in &mut self.contact_velocities {
                contact.solve(&mut self.velocities);
            }
        }
        let mut done = period;
        let velocities = self.velocities.iter().flat_map(Velocity::numbers);
        let impulses = self.contact_velocities.iter().flat_map(ContactVelocity::numbers);
        let state = velocities.chain(impulses).map(f32::to_bits);
        if state.eq(self.memory.iter().copied()) {
            let joints = self.joint_velocities.len();
            let own = |at: usize| records[at..].iter().step_by(joints);
            // Joints do not depend on each other here: all go as far as the one that goes least far.
            let mut periods = (remaining - period) / period;
            replayed.clear();
            for (at, joint) in self.joint_velocities.iter().enumerate() {
                replayed.push(joint.replayed(&own(at), periods));
                periods = replayed[at].1;
            }
            for (at, joint) in self.joint_velocities.iter_mut().enumerate() {
                let (impulses, reached) = replayed[at];
                joint.impulses =
                    if reached == periods { impulses } else { joint.replayed(&own(at), periods).0 };
            }
            done += periods * period;
        }
        self.replay = Replay { records, replayed };
        done
    }
}

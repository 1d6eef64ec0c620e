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
    backup: Vec<JointImpulses>,
}

impl Island {
    /// Iterates over joints and contacts.
    pub fn solve_velocities(&mut self, iterations: usize) {
        let mut watch = Watch::new(iterations);
        while watch.next_iteration() {
            self.iterate_velocities();
            let velocities = self.velocities.iter().flat_map(Velocity::numbers);
            let impulses = self.contact_velocities.iter().flat_map(ContactVelocity::numbers);
            match watch.repeats(velocities.chain(impulses), &mut self.memory) {
                Some(period) if period <= MAX_PERIOD && watch.remaining() >= 2 * period => {
                    let done = self.record_and_replay(period, watch.remaining());
                    let left = watch.remaining() - done;
                    watch = Watch::new(left);
                }
                _ => {}
            }
        }
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
        let Replay { mut records, mut backup } = std::mem::take(&mut self.replay);
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
            while done + period <= remaining {
                backup.clear();
                backup.extend(self.joint_velocities.iter().map(|joint| joint.impulses));
                if !self.replay_period(&records) {
                    for (joint, &impulses) in self.joint_velocities.iter_mut().zip(&backup) {
                        joint.impulses = impulses;
                    }
                    break;
                }
                done += period;
            }
        }
        self.replay = Replay { records, backup };
        done
    }

    #[inline]
    fn replay_period(&mut self, records: &[JointRecord]) -> bool {
        let mut same = true;
        for iteration in records.chunks_exact(self.joint_velocities.len().max(1)) {
            for (joint, record) in self.joint_velocities.iter_mut().zip(iteration) {
                same &= joint.replay(record);
            }
        }
        same
    }
}

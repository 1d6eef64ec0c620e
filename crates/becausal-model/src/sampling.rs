//! Batches of random steps of a world model, for dreams.

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_nn::{Block, Distribution};

use super::member::{CHUNK_ROWS, Member};
use super::world_model::{WorldModel, index};

impl WorldModel {
    /// Samples the results of many rows at once, each from a random member.
    ///
    /// `value(row, slot)` returns states and actions. The result contains, row by row, the outcomes
    /// and then the next state, in the order of the schema's slots. The noise of continuous numbers
    /// is multiplied by `noise`: 1 for samples from the distribution, 0 for the means.
    ///
    /// # Panics
    /// When the model has no members.
    #[must_use]
    pub fn sample(
        &self,
        rows: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        noise: f64,
        stream: &mut Stream,
    ) -> Vec<f64> {
        let mut of_member = vec![Vec::new(); self.members.len()];
        for row in 0..rows {
            of_member[stream.below(self.members.len())].push(row);
        }
        let chunks: Vec<(usize, &[usize], Stream)> = of_member
            .iter()
            .enumerate()
            .flat_map(|(member, rows)| rows.chunks(CHUNK_ROWS).map(move |rows| (member, rows)))
            .map(|(member, rows)| (member, rows, Stream::new(stream.next_u64())))
            .collect();
        let width = self.encoding.targets().len();
        let drawn: Vec<Vec<f64>> = chunks
            .into_par_iter()
            .map(|(member, rows, mut stream)| {
                let inputs = self.encoding.inputs(rows.len(), |row, slot| value(rows[row], slot));
                let mut outputs = self.members[member].predict(&inputs, &self.structure);
                self.encoding.apply_stops(&mut outputs);
                self.draw(&outputs, rows.len(), noise, &mut stream)
            })
            .collect();
        let mut all = vec![0.0; rows * width];
        let mut drawn = drawn.into_iter();
        for rows in of_member.iter().flat_map(|rows| rows.chunks(CHUNK_ROWS)) {
            let chunk = drawn.next().expect("one result per chunk");
            for (from, &row) in chunk.chunks_exact(width).zip(rows) {
                all[row * width..][..width].copy_from_slice(from);
            }
        }
        all
    }

    /// Samples the results of every member with the same noise. They differ only where the members
    /// disagree.
    #[must_use]
    pub fn sample_each(
        &self,
        rows: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        noise: f64,
        stream: &mut Stream,
    ) -> Vec<Vec<f64>> {
        let seed = stream.next_u64();
        let starts: Vec<usize> = (0..rows).step_by(CHUNK_ROWS).collect();
        let inputs: Vec<_> = starts
            .iter()
            .map(|from| {
                let count = CHUNK_ROWS.min(rows - from);
                (count, self.encoding.inputs(count, |row, slot| value(from + row, slot)))
            })
            .collect();
        let of_member = |member: &Member| {
            let values = inputs.iter().zip(&starts).flat_map(|((count, inputs), from)| {
                let mut outputs = member.predict(inputs, &self.structure);
                self.encoding.apply_stops(&mut outputs);
                let mut stream = Stream::keyed(seed, &[index(*from)]);
                self.draw(&outputs, *count, noise, &mut stream)
            });
            values.collect()
        };
        self.members.par_iter().with_max_len(1).map(of_member).collect()
    }

    /// Samples the values of all targets of every row, in the order of their slots.
    fn draw(&self, outputs: &Block, rows: usize, factor: f64, stream: &mut Stream) -> Vec<f64> {
        let targets = self.encoding.targets();
        let first = self.schema().outcome_slots().start;
        let mut drawn = vec![0.0; rows * targets.len()];
        let mut noise = vec![0.0; outputs.shape.columns.max(1)];
        for row in 0..rows {
            for (at, target) in targets.iter().enumerate() {
                let distribution = target.head.distribution;
                distribution.draw(stream, &mut noise);
                if matches!(
                    distribution,
                    Distribution::Normal { .. }
                        | Distribution::Tailed { .. }
                        | Distribution::Cut { .. }
                ) {
                    noise[0] *= factor;
                }
                let value = distribution.value(target.head.parameters(outputs, row), &noise);
                let into = row * targets.len() + target.slot - first;
                drawn[into] = self.encoding.decode(at, value);
            }
        }
        drawn
    }
}

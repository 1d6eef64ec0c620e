//! Mining: workers walk between a base and mineral fields. Each field is mined by one at a time.
//!
//! A queue per field is enough to reproduce what is known of the game: about 42 minerals per worker
//! and minute with up to two workers per field, and about 102 per field and minute with three or
//! more.

use std::collections::VecDeque;

use becausal_core::Stream;

/// Game loops for which a worker occupies a field.
const MINING_LOOPS: f64 = 44.6;
/// Loops lost when the next worker had to wait: a field then yields 5 in 47 loops, 102 per minute.
const HANDOVER_LOOPS: f64 = 2.45;
/// Loops to walk to a field and back. Half of the fields are near the base, half are far.
const WALK_LOOPS: [f64; 2] = [107.0 - MINING_LOOPS, 123.0 - MINING_LOOPS];
/// Minerals carried at a time.
const LOAD: u32 = 5;
/// Number of mineral fields.
const FIELDS: usize = 8;
/// Minerals in a field at the start.
const CONTENT: u32 = 1800;

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    Idle,
    /// Walking to a field.
    Going {
        field: usize,
        until: f64,
    },
    /// In the queue of a field.
    Waiting {
        field: usize,
    },
    Mining {
        field: usize,
        until: f64,
    },
    /// Walking back with a load.
    Returning {
        field: usize,
        until: f64,
    },
    /// Constructing a building; idle afterwards.
    Building {
        until: f64,
    },
}

#[derive(Debug, Clone)]
struct Field {
    content: u32,
    busy: bool,
    queue: VecDeque<usize>,
    walk_loops: f64,
}

/// The workers and their mineral fields.
#[derive(Debug, Clone)]
pub(super) struct Minerals {
    fields: Vec<Field>,
    workers: Vec<Task>,
    /// Game loops since the start.
    now: f64,
    /// Minerals delivered since the last [`Minerals::take_delivered`].
    delivered: u32,
}

impl Minerals {
    /// Workers spread evenly over the fields, each at a random point of its cycle.
    pub(super) fn new(workers: usize, stream: &mut Stream) -> Self {
        let fields = (0..FIELDS)
            .map(|field| Field {
                content: CONTENT,
                busy: false,
                queue: VecDeque::new(),
                walk_loops: WALK_LOOPS[field % WALK_LOOPS.len()],
            })
            .collect();
        let mut minerals = Self { fields, workers: Vec::new(), now: 0.0, delivered: 0 };
        for _ in 0..workers {
            minerals.add_worker();
        }
        minerals.send_idle(stream);
        for worker in &mut minerals.workers {
            if let Task::Going { until, .. } = worker {
                *until = stream.uniform(0.0, 2.0 * WALK_LOOPS[1]);
            }
        }
        minerals
    }

    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// A new worker, idle.
    pub(super) fn add_worker(&mut self) {
        self.workers.push(Task::Idle);
    }

    /// Changes the number of workers. New ones walk to the least crowded fields; those who go are the last
    /// who neither mine nor wait.
    pub(super) fn set_workers(&mut self, count: usize) {
        while self.workers.len() < count {
            let crowds = self.crowds();
            let open = (0..FIELDS).filter(|&field| self.fields[field].content > 0);
            let Some(field) = open.min_by_key(|&field| crowds[field]) else {
                self.workers.push(Task::Idle);
                continue;
            };
            let until = self.now + self.fields[field].walk_loops / 2.0;
            self.workers.push(Task::Going { field, until });
        }
        while self.workers.len() > count {
            let free = |task: &Task| !matches!(task, Task::Mining { .. } | Task::Waiting { .. });
            let last = self.workers.len() - 1;
            let gone = self.workers.iter().rposition(free).unwrap_or(last);
            match self.workers[gone] {
                Task::Waiting { field } => {
                    self.fields[field].queue.retain(|&worker| worker != gone);
                }
                Task::Mining { field, .. } => self.leave(field),
                _ => {}
            }
            self.workers.remove(gone);
            for field in &mut self.fields {
                field.queue.iter_mut().filter(|worker| **worker > gone).for_each(|w| *w -= 1);
            }
        }
    }

    pub(super) fn has_idle(&self) -> bool {
        self.workers.contains(&Task::Idle)
    }

    /// Sends every idle worker to one of the least crowded fields.
    pub(super) fn send_idle(&mut self, stream: &mut Stream) {
        for worker in 0..self.workers.len() {
            if self.workers[worker] != Task::Idle {
                continue;
            }
            let crowds = self.crowds();
            let open = |field: &usize| self.fields[*field].content > 0;
            let Some(least) = (0..FIELDS).filter(open).map(|field| crowds[field]).min() else {
                return; // nothing left to mine
            };
            let best: Vec<usize> =
                (0..FIELDS).filter(open).filter(|&field| crowds[field] == least).collect();
            let field = best[stream.below(best.len())];
            self.workers[worker] =
                Task::Going { field, until: self.now + self.fields[field].walk_loops / 2.0 };
        }
    }

    /// How many workers each field has.
    fn crowds(&self) -> [usize; FIELDS] {
        let mut crowds = [0; FIELDS];
        for worker in &self.workers {
            match worker {
                Task::Going { field, .. }
                | Task::Waiting { field }
                | Task::Mining { field, .. }
                | Task::Returning { field, .. } => crowds[*field] += 1,
                Task::Idle | Task::Building { .. } => {}
            }
        }
        crowds
    }

    /// Makes a worker build for `loops`: an idle one if there is one, otherwise preferably one that
    /// carries nothing. Returns `false` if all are already building.
    pub(super) fn take_builder(&mut self, loops: f64) -> bool {
        let preference = |task: &Task| match task {
            Task::Idle => Some(0),
            Task::Going { .. } => Some(1),
            Task::Waiting { .. } => Some(2),
            Task::Returning { .. } => Some(3),
            Task::Mining { .. } => Some(4),
            Task::Building { .. } => None,
        };
        let candidates = self.workers.iter().enumerate();
        let best = candidates
            .filter_map(|(worker, task)| preference(task).map(|rank| (rank, worker)))
            .min();
        let Some((_, worker)) = best else {
            return false;
        };
        match self.workers[worker] {
            Task::Waiting { field } => self.fields[field].queue.retain(|&other| other != worker),
            Task::Mining { field, .. } => self.leave(field),
            _ => {}
        }
        self.workers[worker] = Task::Building { until: self.now + loops };
        true
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, loops: f64) {
        let end = self.now + loops;
        while let Some((time, worker)) = self.next_event().filter(|(time, _)| *time <= end) {
            self.now = time;
            self.finish_task(worker);
        }
        self.now = end;
    }

    /// Minerals delivered since the last call.
    pub(super) fn take_delivered(&mut self) -> u32 {
        std::mem::take(&mut self.delivered)
    }

    /// The first worker to finish what it is doing.
    fn next_event(&self) -> Option<(f64, usize)> {
        let mut first: Option<(f64, usize)> = None;
        for (worker, task) in self.workers.iter().enumerate() {
            let until = match *task {
                Task::Going { until, .. }
                | Task::Mining { until, .. }
                | Task::Returning { until, .. }
                | Task::Building { until } => until,
                Task::Idle | Task::Waiting { .. } => continue,
            };
            if first.is_none_or(|(time, _)| until < time) {
                first = Some((until, worker));
            }
        }
        first
    }

    fn finish_task(&mut self, worker: usize) {
        match self.workers[worker] {
            Task::Going { field, .. } if self.fields[field].busy => {
                self.fields[field].queue.push_back(worker);
                self.workers[worker] = Task::Waiting { field };
            }
            Task::Going { field, .. } => self.begin_mining(worker, field, MINING_LOOPS),
            Task::Mining { field, .. } => {
                self.fields[field].content = self.fields[field].content.saturating_sub(LOAD);
                let until = self.now + self.fields[field].walk_loops / 2.0;
                self.workers[worker] = Task::Returning { field, until };
                self.leave(field);
            }
            Task::Returning { field, .. } => {
                self.delivered += LOAD;
                let until = self.now + self.fields[field].walk_loops / 2.0;
                self.workers[worker] = Task::Going { field, until };
            }
            Task::Building { .. } => self.workers[worker] = Task::Idle,
            Task::Idle | Task::Waiting { .. } => {}
        }
    }

    fn begin_mining(&mut self, worker: usize, field: usize, loops: f64) {
        if self.fields[field].content == 0 {
            self.workers[worker] = Task::Idle;
            return;
        }
        self.fields[field].busy = true;
        self.workers[worker] = Task::Mining { field, until: self.now + loops };
    }

    /// Frees a field; the next worker in its queue begins.
    fn leave(&mut self, field: usize) {
        self.fields[field].busy = false;
        while let Some(next) = self.fields[field].queue.pop_front() {
            self.begin_mining(next, field, MINING_LOOPS + HANDOVER_LOOPS);
            if self.fields[field].busy {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minerals per minute (960 loops) over five minutes, after one minute to settle.
    fn income(workers: usize) -> f64 {
        let mut minerals = Minerals::new(workers, &mut Stream::new(7));
        minerals.pass(960.0);
        minerals.take_delivered();
        minerals.pass(5.0 * 960.0);
        f64::from(minerals.take_delivered()) / 5.0
    }

    fn assert_near(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 0.1 * expected, "expected about {expected}, got {got}");
    }

    #[test]
    fn with_up_to_two_workers_per_field_each_mines_39_to_45_per_minute() {
        for workers in [1, 4, 8, 12, 16] {
            let each = income(workers) / workers as f64;
            assert!((39.0 * 0.9..=45.0 * 1.1).contains(&each), "{workers} workers: {each}");
        }
        assert_near(income(16), 672.0);
    }

    #[test]
    fn with_three_or_more_workers_per_field_the_fields_limit_income() {
        assert_near(income(24), 816.0);
        assert_near(income(40), 816.0);
        assert!(income(24) / 8.0 > 95.0);
    }

    #[test]
    fn fields_run_out_and_workers_go_idle() {
        let mut minerals = Minerals::new(24, &mut Stream::new(1));
        minerals.pass(30.0 * 960.0);
        assert_eq!(minerals.take_delivered() as usize, FIELDS * CONTENT as usize);
        assert!(minerals.workers.iter().all(|task| *task == Task::Idle));
        minerals.send_idle(&mut Stream::new(1));
        assert!(minerals.has_idle());
    }

    #[test]
    fn a_builder_is_idle_when_done_and_the_queue_moves_up() {
        let mut minerals = Minerals::new(24, &mut Stream::new(1));
        minerals.pass(960.0);
        for _ in 0..24 {
            assert!(minerals.take_builder(100.0));
        }
        assert!(!minerals.take_builder(100.0), "no worker is left");
        minerals.take_delivered();
        minerals.pass(99.0);
        assert!(!minerals.has_idle());
        minerals.pass(1.0);
        assert!(minerals.workers.iter().all(|task| *task == Task::Idle));
        assert_eq!(minerals.take_delivered(), 0);
        assert!(minerals.fields.iter().all(|field| !field.busy && field.queue.is_empty()));
    }
}

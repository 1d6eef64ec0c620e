//! A limit on how many do something at the same time; others wait.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So many seats, and who waits for one.
#[derive(Clone)]
pub struct Seats(Arc<Room>);

struct Room {
    limit: usize,
    taken: Mutex<usize>,
    left: Condvar,
}

/// A seat; free again when it is dropped.
pub struct Seat(Arc<Room>);

impl Seats {
    /// A room with this many seats, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = limit.max(1);
        Self(Arc::new(Room { limit, taken: Mutex::new(0), left: Condvar::new() }))
    }

    /// Waits for a seat, but not for longer than this.
    pub fn take(&self, patience: Duration) -> Option<Seat> {
        let room = &self.0;
        let mut taken = room.wait(patience, |taken| taken < room.limit)?;
        *taken += 1;
        Some(Seat(Arc::clone(room)))
    }

    /// Waits until nobody sits any more, but not for longer than this.
    pub fn emptied(&self, patience: Duration) -> bool {
        self.0.wait(patience, |taken| taken == 0).is_some()
    }
}

impl Room {
    /// Waits until so many sit; `None` when it takes too long.
    fn wait(
        &self,
        patience: Duration,
        enough: impl Fn(usize) -> bool,
    ) -> Option<MutexGuard<'_, usize>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (taken, late) = self
            .left
            .wait_timeout_while(taken, patience, |taken| !enough(*taken))
            .unwrap_or_else(PoisonError::into_inner);
        (!late.timed_out()).then_some(taken)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn never_more_than_the_limit_sit() {
        let (seats, sitting, most) = (Seats::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let _seat = seats.take(Duration::from_mins(1)).expect("soon free");
                    most.fetch_max(sitting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    sitting.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((most.load(Ordering::SeqCst), sitting.load(Ordering::SeqCst)), (3, 0));
    }

    #[test]
    fn nobody_waits_for_ever() {
        let (seats, moment) = (Seats::new(1), Duration::from_millis(5));
        assert!(seats.emptied(moment));
        let seat = seats.take(moment);
        assert!(seat.is_some());
        assert!(seats.take(moment).is_none() && !seats.emptied(moment));
        drop(seat);
        assert!(seats.emptied(moment) && seats.take(moment).is_some());
    }
}

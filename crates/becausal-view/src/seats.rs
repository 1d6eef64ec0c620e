//! A limit on how many do something at the same time; others wait.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

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

    /// Waits for a seat.
    pub fn take(&self) -> Seat {
        let room = &self.0;
        let taken = room.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |taken: &mut usize| *taken >= room.limit;
        let mut taken = room.left.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Seat(Arc::clone(room))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.left.notify_one();
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
                    let _seat = seats.take();
                    most.fetch_max(sitting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    sitting.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((most.load(Ordering::SeqCst), sitting.load(Ordering::SeqCst)), (3, 0));
    }
}

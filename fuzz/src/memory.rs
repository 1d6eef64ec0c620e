//! A limit on the memory that a reader may ask for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes in use.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that may be in use at most.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

#[global_allocator]
static METER: Meter = Meter;

/// The system's allocator, but one that refuses what is above the limit.
///
/// A refused request ends the process, and libFuzzer keeps the input. libFuzzer's own limits work
/// only with a sanitizer, which makes most targets half as fast.
struct Meter;

impl Meter {
    fn fits(more: usize) -> bool {
        USED.load(Relaxed).saturating_add(more) <= LIMIT.load(Relaxed)
    }
}

// SAFETY: every call goes to the system's allocator with the arguments given, or returns null, which
// means that there is no memory.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !Self::fits(layout.size()) {
            return std::ptr::null_mut();
        }
        USED.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !Self::fits(layout.size()) {
            return std::ptr::null_mut();
        }
        USED.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !Self::fits(size - layout.size()) {
            return std::ptr::null_mut();
        }
        USED.fetch_add(size, Relaxed);
        USED.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs a reader, which may use at most this many bytes more than are in use now.
pub fn bounded<T>(bytes: usize, read: impl FnOnce() -> T) -> T {
    LIMIT.store(USED.load(Relaxed).saturating_add(bytes), Relaxed);
    let result = read();
    LIMIT.store(usize::MAX, Relaxed);
    result
}

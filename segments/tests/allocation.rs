//! Measures what a piece of work allocates, so that damage which asks for memory is caught.
//!
//! Not here: limits; each test states its own. Counted per thread: tests run side by side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread holds, and the most that it held.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Measured;

fn account(change: isize) {
    // A thread that is going away allocates without being measured.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now.saturating_add(change);
        held.set((now, most.max(now)));
    });
}

// SAFETY: every call is handed to the system's allocator as it came; only sizes are noted, in a
// cell that needs neither allocation nor a destructor.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        account(layout.size() as isize);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        account(-(layout.size() as isize));
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        account(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static MEASURED: Measured = Measured;

/// Runs `work` and says how many bytes it held at most, beyond what was held before.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let done = work();
    let (_, most) = HELD.get();
    (done, (most - before).max(0) as usize)
}

#[test]
fn a_promise_of_memory_is_measured() {
    let (_, peak) = peak_of(|| drop(Vec::<u8>::with_capacity(1 << 20)));
    assert!((1 << 20..1 << 21).contains(&peak), "{peak}");
}

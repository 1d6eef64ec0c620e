//! Long work on threads of its own, while the caller's thread listens for Ctrl-C and shows the progress.
//!
//! Work that calls back into Python must not hold the interpreter: every thread of the pool may need it.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use becausal::Error;
use becausal::progress::{Advance, Listener};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error;
use crate::policy::Callbacks;

/// How often the caller's thread looks for Ctrl-C and shows the progress.
const LOOK: Duration = Duration::from_millis(50);

/// How far the work is.
#[derive(Clone)]
struct Told {
    task: String,
    unit: &'static str,
    done: usize,
    total: usize,
    note: String,
}

/// What the threads of some work share with the one that waits for it.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    latest: Mutex<Option<Told>>,
}

impl Shared {
    fn listener(self: &Arc<Self>) -> Listener {
        let shared = Arc::clone(self);
        Listener::new(move |at: &Advance<'_>| {
            let told = Told {
                task: at.task.to_owned(),
                unit: at.unit,
                done: at.done,
                total: at.total,
                note: at.note.to_owned(),
            };
            *shared.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
            if shared.stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Tells Python what was heard since the last time.
    fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((told, progress)) = latest.zip(progress) {
            progress.call1(py, (told.task, told.done, told.total, told.unit, told.note))?;
        }
        Ok(())
    }
}

/// Does some work. `progress` is what the user gave: `None` for a bar, `False` for nothing, or a function of
/// task, done, total, unit and note. What it raises stops the work, and so does Ctrl-C; then `callbacks` are
/// called no more.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    callbacks: Option<&Callbacks>,
    job: impl FnOnce(Listener) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let helper = py.import("becausal._progress")?;
    let progress = helper.call_method1("shown", (progress,))?;
    let heard = (!progress.is_none()).then(|| progress.clone().unbind());
    let shared = Arc::new(Shared::default());
    let result = run(py, &shared, heard.as_ref(), callbacks, job);
    let closed = helper.call_method1("close", (progress,));
    let value = result?;
    closed?;
    Ok(value)
}

/// The same for quick work: no progress is shown.
pub fn quick<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(Listener) -> Result<T, Error> + Send,
) -> PyResult<T> {
    run(py, &Arc::new(Shared::default()), None, None, job)
}

fn run<T: Send>(
    py: Python<'_>,
    shared: &Arc<Shared>,
    progress: Option<&Py<PyAny>>,
    callbacks: Option<&Callbacks>,
    job: impl FnOnce(Listener) -> Result<T, Error> + Send,
) -> PyResult<T> {
    // A policy or environment may itself ask a run. Its thread belongs to the pool, whose other threads may be
    // waiting for it: they cannot help.
    let pool = if rayon::current_thread_index().is_some() { started(1)? } else { pool()? };
    let listener = shared.listener();
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel::<()>();
            let worker = scope.spawn(move || {
                let _sender = sender;
                catch_unwind(AssertUnwindSafe(|| pool.install(|| job(listener))))
            });
            while receiver.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_some() {
                    continue;
                }
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    shared.tell(py, progress)
                });
                if let Err(exception) = heard {
                    shared.stop.store(true, Ordering::Relaxed);
                    callbacks.into_iter().for_each(Callbacks::stop);
                    raised = Some(exception);
                }
            }
            worker.join().unwrap_or_else(Err)
        })
    });
    if let Some(exception) = raised {
        return Err(exception);
    }
    match outcome {
        Ok(Ok(value)) => {
            shared.tell(py, progress)?;
            Ok(value)
        }
        Ok(Err(error)) => Err(error::of(error)),
        Err(panic) => Err(internal(&*panic)),
    }
}

/// What `job` returns; a panic is an error.
pub fn caught<T>(job: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|panic| internal(&*panic))
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    error::raised("Error", format!("internal error: {}", words(panic)))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

/// That many threads, or with 0 as many as there are cores.
fn started(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let failed = |problem| error::raised("Error", format!("cannot start threads: {problem}"));
    pool.map(Arc::new).map_err(failed)
}

/// The threads of this process. A forked process has none of its parent's, and makes its own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some((owner, pool)) if *owner == process => Ok(Arc::clone(pool)),
        other => {
            // The threads of another process cannot be joined: their pool is left alone.
            if let Some((_, pool)) = other {
                std::mem::forget(Arc::clone(pool));
            }
            let pool = started(0)?;
            *kept = Some((process, Arc::clone(&pool)));
            Ok(pool)
        }
    }
}

//! The server: one thread accepts, and one thread per connection answers, of which there are only so many.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use becausal::Run;

use crate::failures::{Failures, NoFailures};
use crate::guard::Guard;
use crate::http::{self, Response};
use crate::seats::{Seat, Seats};
use crate::site::Site;

/// Connections that are served at the same time. A browser opens 6; others wait in the system's queue. One that is slow
/// is given up after 15 seconds, so nobody waits for long.
const MAX_CONNECTIONS: usize = 64;

/// How often a blocking view looks whether to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a view that ends waits for the answers on their way.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long the server waits after the system refused it a connection or a thread.
const PAUSE: Duration = Duration::from_millis(20);

/// How to serve a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewParams {
    /// The port; 0 for one that is free.
    pub port: u16,
}

/// A view that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The port is taken, or may not be used.
    #[error(
        "cannot listen on 127.0.0.1, port {port}: {error}; choose another port, or 0 for one that is free"
    )]
    Port {
        /// The port.
        port: u16,
        /// What the system says.
        error: io::Error,
    },
    /// The system has no random numbers for the token.
    #[error("the system gives no random numbers for the address: {0}")]
    Token(getrandom::Error),
    /// The system gives no thread.
    #[error("cannot start the server: {0}")]
    Thread(io::Error),
}

/// A run that is being viewed. It ends when it is dropped.
#[derive(Debug)]
pub struct View {
    address: String,
    port: u16,
    ends: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
    /// The process that serves it. One that was forked from it has a copy of this value, but not of the threads.
    process: u32,
}

impl View {
    /// Serves a run from now on, on threads of its own.
    ///
    /// # Errors
    /// When the port is taken, or the system gives no random numbers or threads.
    pub fn start(run: Arc<Run>, params: &ViewParams) -> Result<Self, ViewError> {
        Self::start_watched(run, params, Box::new(NoFailures))
    }

    /// The same for a run whose policy or environment may fail, as code in another language does: an answer during
    /// which one of them failed is not given.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_watched(
        run: Arc<Run>,
        params: &ViewParams,
        failures: Box<dyn Failures>,
    ) -> Result<Self, ViewError> {
        let wrong = |error| ViewError::Port { port: params.port, error };
        // Never on another address: whoever reaches the server may ask it to work.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, params.port)).map_err(wrong)?;
        let port = listener.local_addr().map_err(wrong)?.port();
        let guard = Guard::new(port).map_err(ViewError::Token)?;
        let address = guard.address();
        let site = Arc::new(Site::new(run, guard, failures));
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let acceptor = thread::Builder::new()
            .name("becausal-view".to_owned())
            .spawn(move || accept(&listener, &site, &told))
            .map_err(ViewError::Thread)?;
        let process = std::process::id();
        Ok(Self { address, port, ends, acceptor: Some(acceptor), process })
    }

    /// The address of the page, with its token.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends the view. Answers on their way are still sent, if they take no longer than ten seconds.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        if self.process != std::process::id() {
            return;
        }
        self.ends.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which waits for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = acceptor.join();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.end();
    }
}

/// Serves a run until `ends` says so. `begun` is told the address first.
///
/// # Errors
/// As [`View::start`].
pub fn serve(
    run: Arc<Run>,
    params: &ViewParams,
    begun: impl FnOnce(&str),
    ends: impl Fn() -> bool,
) -> Result<(), ViewError> {
    let view = View::start(run, params)?;
    begun(view.address());
    while !ends() {
        thread::sleep(LOOK);
    }
    view.stop();
    Ok(())
}

fn accept(listener: &TcpListener, site: &Arc<Site>, ends: &AtomicBool) {
    let seats = Seats::new(MAX_CONNECTIONS);
    for stream in listener.incoming() {
        if ends.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else {
            thread::sleep(PAUSE);
            continue;
        };
        let Some(seat) = seat(&seats, ends) else { break };
        let site = Arc::clone(site);
        let answering =
            thread::Builder::new().name("becausal-answer".to_owned()).spawn(move || {
                let _seat = seat;
                // The other side may be gone at any time; there is nobody to tell.
                let _ = http::exchange(&stream, |request| {
                    catch_unwind(AssertUnwindSafe(|| site.respond(request))).unwrap_or_else(|_| {
                        Response::refusal(500, "the question made the server fail")
                    })
                });
            });
        if answering.is_err() {
            thread::sleep(PAUSE);
        }
    }
    seats.emptied(LAST_ANSWERS);
}

/// Waits for a seat; `None` if the view ends first.
fn seat(seats: &Seats, ends: &AtomicBool) -> Option<Seat> {
    while !ends.load(Ordering::SeqCst) {
        if let Some(seat) = seats.take(LOOK) {
            return Some(seat);
        }
    }
    None
}

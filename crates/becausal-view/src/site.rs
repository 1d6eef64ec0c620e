//! What the server answers to which address.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use becausal::{Environment, Run, Worth};
use serde_json::Value;

use crate::api;
use crate::episodes::Episodes;
use crate::failures::Failures;
use crate::guard::Guard;
use crate::http::{Request, Response};
use crate::panel;
use crate::question::QuestionKind;
use crate::refusal::Refusal;
use crate::seats::Seats;

const JSON: &str = "application/json";

/// How long a question waits for its turn. Whoever asks knows by then that others are being answered.
const PATIENCE: Duration = Duration::from_mins(1);

const PAGE: &str = include_str!("page/view.html");
const STYLE: &str = include_str!("page/view.css");
const ICON: &str = include_str!("page/icon.svg");

/// The page's script: what it has in common with a report's, then its own parts, in the order in which they use each
/// other.
const SCRIPTS: [&str; 9] = [
    becausal::render::html::SHARED_SCRIPT,
    include_str!("page/server.js"),
    include_str!("page/address.js"),
    include_str!("page/controls.js"),
    include_str!("page/worlds.js"),
    include_str!("page/play.js"),
    include_str!("page/map.js"),
    include_str!("page/share.js"),
    include_str!("page/view.js"),
];

/// A run with all that is served about it.
pub struct Site {
    /// The run.
    pub run: Arc<Run>,
    /// The episodes played lately.
    pub episodes: Episodes,
    guard: Guard,
    failures: Box<dyn Failures>,
    /// Questions that are worked on at the same time: more would only take more memory.
    turns: Seats,
    draws: OnceLock<bool>,
    scores: OnceLock<Value>,
    /// The decisions worth a look of each kind, once somebody asked for them.
    worth: [Mutex<Option<Value>>; Worth::ALL.len()],
}

impl Site {
    /// The site of a run.
    pub fn new(run: Arc<Run>, guard: Guard, failures: Box<dyn Failures>) -> Self {
        Self {
            run,
            episodes: Episodes::default(),
            guard,
            failures,
            turns: Seats::new(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
            draws: OnceLock::new(),
            scores: OnceLock::new(),
            worth: Default::default(),
        }
    }

    /// The response to a request. Addresses are compared as they are: nothing is decoded, and none leads to a file.
    pub fn respond(&self, request: &Request) -> Response {
        let path = match self.guard.admit(request) {
            Ok(path) => path,
            Err(refusal) => return refusal,
        };
        let is_get = match request.method.as_str() {
            "GET" => true,
            "POST" => false,
            _ => return Response::refusal(405, "expected GET or POST"),
        };
        // The type may be followed by parameters: `application/json; charset=utf-8`.
        let kind = |kind: &str| kind.split(';').next().unwrap_or_default().trim() == JSON;
        if !is_get && !request.header("content-type").is_some_and(kind) {
            return Response::refusal(415, "expected a body of the type application/json");
        }
        if let Some(part) = is_get.then(|| part_of_page(path)).flatten() {
            return part;
        }
        let Some(_turn) = self.turns.take(PATIENCE) else {
            return Response::refusal(503, "other questions are still being answered: ask again");
        };
        let failed = self.failures.count();
        let response = self.answer(is_get, path, &request.body);
        if self.failures.count() == failed {
            return response;
        }
        let words = format!("the agent or its environment failed: {}", self.failures.take());
        // What was kept meanwhile may have come of it.
        self.episodes.forget();
        for kept in &self.worth {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        told(path, Refusal::unanswered(words))
    }

    /// The response to a request that is let in.
    fn answer(&self, is_get: bool, path: &str, body: &[u8]) -> Response {
        let answered = match (is_get, path) {
            (true, "api/run") => Ok(api::run(self)),
            (false, "api/why") => api::answer(self, QuestionKind::Why, body),
            (false, "api/why-not") => api::answer(self, QuestionKind::WhyNot, body),
            (false, "api/what-if") => api::answer(self, QuestionKind::WhatIf, body),
            (false, "api/replay") => api::replay(self, body),
            (true, "page/graph") => Ok(panel::graph(self)),
            (true, "page/about") => panel::about(self),
            (true, "page/scores") => Ok(self.scores()),
            (false, "page/decisions") => panel::decisions(self, body),
            (false, "page/episode") => panel::episode(self, body),
            (false, "page/moment") => panel::moment(self, body),
            (false, "page/answer") => panel::answer(self, body),
            (false, "page/scenes") => panel::scenes(self, body),
            (false, "page/real") => panel::real(self, body),
            (false, "page/play") => panel::play(self, body),
            (false, "page/pair") => panel::pair(self, body),
            (false, "page/acts") => panel::acts(self, body),
            (false, "page/png") => match panel::png(self, body) {
                Ok(png) => return Response::of("image/png", png),
                Err(refusal) => Err(refusal),
            },
            _ => return Response::refusal(404, "there is nothing at this address"),
        };
        match answered {
            Ok(value) => Response::of(JSON, format!("{value}\n")),
            Err(refusal) => told(path, refusal),
        }
    }

    /// Whether the environment draws itself.
    pub fn draws(&self) -> bool {
        let drawn = || self.run.environment().and_then(Environment::scene).is_some();
        *self.draws.get_or_init(drawn)
    }

    /// How well the model predicts; of a large run that takes seconds, so it is found once.
    fn scores(&self) -> Value {
        self.scores.get_or_init(|| panel::scores(&self.run)).clone()
    }

    /// The decisions worth a look of one kind, found once. Whoever asks meanwhile waits for the same ones.
    ///
    /// # Errors
    /// When they cannot be found.
    pub fn worth(
        &self,
        worth: Worth,
        find: impl FnOnce() -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        let place = Worth::ALL.iter().position(|known| *known == worth).unwrap_or(0);
        let mut kept = self.worth[place].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*kept {
            return Ok(found.clone());
        }
        let found = find()?;
        *kept = Some(found.clone());
        Ok(found)
    }
}

/// What never changes.
fn part_of_page(path: &str) -> Option<Response> {
    Some(match path {
        "" => Response::of("text/html; charset=utf-8", PAGE),
        "view.css" => {
            let style = [becausal::render::html::STYLE, STYLE].concat();
            Response::of("text/css; charset=utf-8", style)
        }
        "view.js" => Response::of("text/javascript; charset=utf-8", SCRIPTS.concat()),
        "icon.svg" => Response::of("image/svg+xml", ICON),
        _ => return None,
    })
}

/// A refusal. A browser's console tells every status of failure, so to the page it is an answer: the page itself tells
/// what cannot be answered.
fn told(path: &str, refusal: Refusal) -> Response {
    let refused = Response::from(refusal);
    if path.starts_with("page/") { Response { status: 200, ..refused } } else { refused }
}

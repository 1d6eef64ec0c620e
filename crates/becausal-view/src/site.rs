//! What the server answers to which address.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use becausal::Run;
use serde_json::Value;

use crate::api;
use crate::decisions;
use crate::episodes::Episodes;
use crate::guard::Guard;
use crate::http::{Request, Response};
use crate::panel;
use crate::question::QuestionKind;
use crate::refusal::Refusal;
use crate::seats::Seats;

const JSON: &str = "application/json";
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
    /// Questions that are worked on at the same time: more would only take more memory.
    turns: Seats,
    draws: OnceLock<bool>,
    scores: OnceLock<Value>,
    /// The decisions worth a look, once somebody asked for them.
    worth: Mutex<Option<Arc<Value>>>,
}

impl Site {
    /// The site of a run.
    pub fn new(run: Arc<Run>, guard: Guard) -> Self {
        Self {
            run,
            episodes: Episodes::default(),
            guard,
            turns: Seats::new(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
            draws: OnceLock::new(),
            scores: OnceLock::new(),
            worth: Mutex::new(None),
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
        if !is_get && request.header("content-type") != Some(JSON) {
            return Response::refusal(415, "expected a body of the type application/json");
        }
        let body = &request.body[..];
        let _turn = if is_get { None } else { Some(self.turns.take()) };
        let answered = match (is_get, path) {
            (true, "") => return Response::of("text/html; charset=utf-8", PAGE),
            (true, "view.css") => {
                let style = [becausal::render::html::STYLE, STYLE].concat();
                return Response::of("text/css; charset=utf-8", style);
            }
            (true, "view.js") => {
                return Response::of("text/javascript; charset=utf-8", SCRIPTS.concat());
            }
            (true, "icon.svg") => return Response::of("image/svg+xml", ICON),
            (true, "api/run") => Ok(api::run(self)),
            (false, "api/why") => api::answer(self, QuestionKind::Why, body),
            (false, "api/why-not") => api::answer(self, QuestionKind::WhyNot, body),
            (false, "api/what-if") => api::answer(self, QuestionKind::WhatIf, body),
            (false, "api/replay") => api::replay(self, body),
            (true, "page/graph") => Ok(panel::graph(self)),
            (true, "page/about") => panel::about(self),
            (true, "page/scores") => Ok(self.scores()),
            (true, "page/decisions") => self.worth().map(|worth| (*worth).clone()),
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
            Err(refusal) => {
                let refused = Response::from(refusal);
                // A browser's console tells every status of failure; the page itself tells what cannot be answered.
                if path.starts_with("page/") {
                    Response { status: 200, ..refused }
                } else {
                    refused
                }
            }
        }
    }

    /// Whether the environment draws itself.
    pub fn draws(&self) -> bool {
        *self.draws.get_or_init(|| decisions::draws(&self.run))
    }

    /// How well the model predicts; of a large run that takes seconds, so it is found once.
    fn scores(&self) -> Value {
        self.scores.get_or_init(|| panel::scores(&self.run)).clone()
    }

    /// The decisions worth a look. Whoever asks while they are being found waits for the same ones.
    fn worth(&self) -> Result<Arc<Value>, Refusal> {
        let mut worth = self.worth.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*worth {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(decisions::worth_a_look(&self.run, &self.episodes)?);
        *worth = Some(Arc::clone(&found));
        Ok(found)
    }
}

//! Who may ask: only pages of this server, and only whoever knows its token.

use std::fmt::Write;

use crate::http::{Request, Response};

/// Random bytes of a token: too many to guess.
const TOKEN_BYTES: usize = 16;

/// Checks every request before anything else is done with it.
#[derive(Debug, Clone)]
pub struct Guard {
    port: u16,
    token: String,
}

impl Guard {
    /// A guard with a token of its own, from the operating system.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let mut token = String::new();
        for byte in bytes {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { port, token })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// What a request asks for, without the token; or why it is refused.
    ///
    /// The `Host` has to be this server's: a foreign name that leads to 127.0.0.1 is an attack (DNS rebinding). The
    /// `Origin` has to be, too: a foreign page may send requests here.
    ///
    /// # Errors
    /// With the refusal.
    pub fn admit<'a>(&self, request: &'a Request) -> Result<&'a str, Response> {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !request.header("host").is_some_and(|host| names.iter().any(|name| name == host)) {
            return Err(Response::refusal(403, "another host name than this server's"));
        }
        if let Some(origin) = request.header("origin")
            && !names.iter().any(|name| origin == format!("http://{name}"))
        {
            return Err(Response::refusal(403, "a page of another origin may not ask"));
        }
        let path = request.target.strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or_default();
        let is_own =
            matches!(request.header("sec-fetch-site"), None | Some("same-origin" | "none"));
        if !(is_own || rest.is_empty() && is_link(request)) {
            return Err(Response::refusal(403, "a page of another site may not ask"));
        }
        if self.knows(token) {
            return Ok(rest);
        }
        Err(Response::refusal(
            403,
            "the token is missing or wrong: open the address that `becausal view` printed",
        ))
    }

    /// Compares without telling by its time how much of a token is right.
    fn knows(&self, token: &str) -> bool {
        let pairs = token.bytes().zip(self.token.bytes());
        let difference = pairs.fold(0, |difference, (left, right)| difference | (left ^ right));
        token.len() == self.token.len() && difference == 0
    }
}

/// Whether somebody follows a link, for instance from a notebook: a page of another site cannot read what it opens.
fn is_link(request: &Request) -> bool {
    request.method == "GET"
        && request.header("sec-fetch-mode") == Some("navigate")
        && request.header("sec-fetch-dest") == Some("document")
}

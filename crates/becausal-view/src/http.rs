//! Requests and responses of HTTP/1.1, as much of it as a page of our own needs.
//!
//! One request per connection, bodies with a `Content-Length` only. Every size has a limit, and a request or a
//! response that is not through by its deadline is given up.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most bytes of a request's first line and headers. Browsers send 1 to 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The most bytes of a body: an episode of 100,000 actions by hand takes less.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long a whole request may take to arrive.
const READ_TIME: Duration = Duration::from_secs(5);

/// How long a whole response may take to be read.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// How long the rest of a refused request is read, so that its sender sees the refusal.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// What is asked for, as it was sent: nothing is decoded.
    pub target: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// What was sent with it.
    pub body: Vec<u8>,
}

impl Request {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The type of the content.
    pub kind: &'static str,
    /// The content.
    pub body: Vec<u8>,
}

impl Response {
    /// Content of a type.
    pub fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, kind, body: body.into() }
    }

    /// A refusal, in words.
    pub fn refusal(status: u16, words: &str) -> Self {
        let body = format!("{}\n", serde_json::json!({ "error": { "message": words } }));
        Self { status, kind: "application/json", body: body.into_bytes() }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            413 => "Content Too Large",
            415 => "Unsupported Media Type",
            422 => "Unprocessable Content",
            431 => "Request Header Fields Too Large",
            501 => "Not Implemented",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        }
    }
}

/// What a page may do: use its own script, style and answers, and nothing else. Pictures have attributes of style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
                      connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// A connection that gives up at a moment.
struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Reads the one request of a connection, lets somebody respond, and sends the response.
///
/// # Errors
/// When the other side is gone, or does not read.
pub fn exchange(stream: &TcpStream, respond: impl FnOnce(&Request) -> Response) -> io::Result<()> {
    let mut reader = Timed { stream, until: Instant::now() + READ_TIME };
    let (response, whole) = match read_request(&mut reader) {
        Ok(request) => {
            let mut response = respond(&request);
            if request.method == "HEAD" {
                // Whoever asks for the head alone takes a body for the next response.
                response.body.clear();
            }
            (response, true)
        }
        Err(Unread::Gone) => return Ok(()),
        Err(Unread::Refused(response)) => (response, false),
    };
    let mut writer = Timed { stream, until: Instant::now() + WRITE_TIME };
    write_response(&mut writer, &response)?;
    stream.shutdown(Shutdown::Write)?;
    if !whole {
        drain(stream);
    }
    Ok(())
}

/// Why there is no request.
enum Unread {
    /// The other side sent nothing, or hung up.
    Gone,
    /// It is too large, too slow, or not HTTP.
    Refused(Response),
}

fn refused(status: u16, words: &str) -> Unread {
    Unread::Refused(Response::refusal(status, words))
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                refused(408, "the request did not arrive in time")
            }
            _ => Self::Gone,
        }
    }
}

fn read_request(reader: &mut impl Read) -> Result<Request, Unread> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let end = loop {
        let count = reader.read(&mut chunk)?;
        if count == 0 {
            return Err(Unread::Gone);
        }
        let seen = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(at) = bytes[seen..].windows(4).position(|four| four == b"\r\n\r\n") {
            break seen + at;
        }
        if bytes.len() > MAX_HEAD_BYTES {
            return Err(refused(431, "the headers are too large"));
        }
    };
    let mut body = bytes.split_off(end + 4);
    let mut request = parse_head(&bytes[..end])?;
    if request.header("transfer-encoding").is_some() {
        return Err(refused(501, "send a body with a Content-Length"));
    }
    let length = match request.header("content-length") {
        None => 0,
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse::<usize>().unwrap_or(usize::MAX)
        }
        Some(_) => return Err(refused(400, "the Content-Length is not a number")),
    };
    if length > MAX_BODY_BYTES {
        return Err(refused(413, "the body is larger than 1 MB"));
    }
    body.truncate(length);
    while body.len() < length {
        let want = (length - body.len()).min(chunk.len());
        let count = reader.read(&mut chunk[..want])?;
        if count == 0 {
            return Err(Unread::Gone);
        }
        body.extend_from_slice(&chunk[..count]);
    }
    request.body = body;
    Ok(request)
}

/// The first line and the headers. What could be read in two ways is refused.
fn parse_head(head: &[u8]) -> Result<Request, Unread> {
    let text = std::str::from_utf8(head).map_err(|_| refused(400, "the headers are not text"))?;
    let mut lines = text.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1" | "HTTP/1.0"] = first[..] else {
        return Err(refused(400, "this is not a request of HTTP/1.1"));
    };
    let is_visible = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
    if !is_visible(method) || !is_visible(target) || !target.starts_with('/') {
        return Err(refused(400, "the address is not one of this server"));
    }
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in lines {
        let wrong = || refused(400, "a header cannot be read");
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name = name.to_ascii_lowercase();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!#$%&'*+^`|".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_name) || value.contains(['\r', '\n', '\0']) {
            return Err(wrong());
        }
        let is_single = ["host", "origin", "content-length", "content-type", "sec-fetch-site"];
        if is_single.contains(&name.as_str()) && headers.iter().any(|(known, _)| *known == name) {
            return Err(refused(400, "a header is given twice"));
        }
        headers.push((name, value.trim().to_owned()));
    }
    let (method, target) = (method.to_owned(), target.to_owned());
    Ok(Request { method, target, headers, body: Vec::new() })
}

fn write_response(writer: &mut impl Write, response: &Response) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        response.status,
        response.reason(),
        response.kind,
        response.body.len()
    );
    writer.write_all(head.as_bytes())?;
    writer.write_all(&response.body)?;
    writer.flush()
}

/// Reads what a refused sender is still sending: otherwise the system may throw the refusal away.
fn drain(stream: &TcpStream) {
    let mut reader = Timed { stream, until: Instant::now() + DRAIN_TIME };
    let mut chunk = [0; 4096];
    while matches!(reader.read(&mut chunk), Ok(count) if count > 0) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Request, u16> {
        read_request(&mut &text[..]).map_err(|unread| match unread {
            Unread::Gone => 0,
            Unread::Refused(response) => response.status,
        })
    }

    #[test]
    fn a_request_is_read_with_its_body() {
        let text =
            b"POST /t/api/why HTTP/1.1\r\nHost: localhost:1\r\ncontent-length: 4\r\n\r\n{\"a\"rest";
        let request = read(text).expect("a request");
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/t/api/why"));
        assert_eq!(request.header("host"), Some("localhost:1"));
        assert_eq!(request.body, b"{\"a\"", "no byte more than announced");
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        let cases: [(&[u8], u16); 12] = [
            (b"", 0),
            (b"GET / HTTP/1.1\r\n", 0),
            (b"GET / HTTP/2\r\n\r\n", 400),
            (b"hello\r\n\r\n", 400),
            (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n folded\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost a\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        ];
        for (text, status) in cases {
            assert_eq!(read(text).err(), Some(status), "{}", String::from_utf8_lossy(text));
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD_BYTES * 2));
        assert_eq!(read(long.as_bytes()).err(), Some(431));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        // A small generator, so that the bytes are the same every time.
        let mut state = 7_u64;
        for _ in 0..3000 {
            let mut text =
                b"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc".to_vec();
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = usize::try_from(state >> 33).unwrap_or(0) % text.len();
                text[at] = u8::try_from(state >> 56).unwrap_or(0);
            }
            let _ = read(&text);
        }
    }
}

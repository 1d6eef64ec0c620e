//! What the server does with those who mean it no good, or are merely slow.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use becausal_view::{View, ViewError, ViewParams};

use crate::common::{RUN, get, path, post, sent, view};

/// A request for the run's description with these headers.
fn asked(view: &View, target: &str, headers: &str) -> u16 {
    let request = format!("GET {target} HTTP/1.1\r\n{headers}\r\n\r\n");
    sent(view.port(), request.as_bytes()).expect("a reply").status
}

#[test]
fn only_its_own_pages_are_served() {
    let view = view();
    let (port, run) = (view.port(), format!("{}api/run", path(&view)));
    let host = format!("Host: 127.0.0.1:{port}");
    assert_eq!(asked(&view, &run, &host), 200);
    assert_eq!(asked(&view, &run, &format!("Host: localhost:{port}")), 200);
    let own = format!("{host}\r\nOrigin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin");
    assert_eq!(asked(&view, &run, &own), 200);
    let refused = [
        (run.clone(), String::new()),
        (run.clone(), "Host: evil.example".to_owned()),
        (run.clone(), format!("Host: evil.example:{port}")),
        (run.clone(), "Host: 127.0.0.1".to_owned()),
        (run.clone(), format!("{host}\r\nOrigin: http://evil.example")),
        (run.clone(), format!("{host}\r\nOrigin: null")),
        (run.clone(), format!("{host}\r\nOrigin: https://127.0.0.1:{port}")),
        (run.clone(), format!("{host}\r\nSec-Fetch-Site: cross-site")),
        ("/api/run".to_owned(), host.clone()),
        ("/".to_owned(), host.clone()),
        (format!("/{}/api/run", "0".repeat(32)), host.clone()),
        (format!("//{}", &run[1..]), host.clone()),
    ];
    for (target, headers) in refused {
        assert_eq!(asked(&view, &target, &headers), 403, "{target} {headers}");
    }
    // A link in a notebook leads to the page, and to nothing else.
    let link = format!(
        "{host}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"
    );
    assert_eq!(asked(&view, &path(&view), &link), 200);
    assert_eq!(asked(&view, &run, &link), 403);
    let framed = link.replace("document", "iframe");
    assert_eq!(asked(&view, &path(&view), &framed), 403);
}

#[test]
fn no_address_leads_to_a_file() {
    let view = view();
    let host = format!("Host: 127.0.0.1:{}", view.port());
    for rest in [
        "../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..\\..\\etc\\passwd",
        "view.js/../api/run",
        "./api/run",
        "api//run",
        "api/run?x=1",
        "api/run%00",
        "file:///etc/passwd",
        "page/episode",
    ] {
        let status = asked(&view, &format!("{}{rest}", path(&view)), &host);
        assert_eq!(status, 404, "{rest}");
    }
}

#[test]
fn methods_and_types_are_checked() {
    let view = view();
    let host = format!("Host: 127.0.0.1:{}", view.port());
    for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"] {
        let request = format!("{method} {}api/run HTTP/1.1\r\n{host}\r\n\r\n", path(&view));
        let reply = sent(view.port(), request.as_bytes()).expect("a reply");
        assert_eq!(reply.status, 405);
        assert_eq!(reply.body.is_empty(), method == "HEAD");
    }
    // A form of a foreign page can send text, but not JSON.
    let form = format!(
        "POST {}api/why HTTP/1.1\r\n{host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}",
        path(&view)
    );
    assert_eq!(sent(view.port(), form.as_bytes()).expect("a reply").status, 415);
}

#[test]
fn the_page_may_load_nothing_from_elsewhere() {
    let view = view();
    let page = get(&view, "");
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
        "Cross-Origin-Resource-Policy: same-origin",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    assert!(!page.head.contains("Access-Control-Allow-Origin"));
    for (address, kind) in
        [("view.js", "text/javascript"), ("view.css", "text/css"), ("icon.svg", "image/svg+xml")]
    {
        let reply = get(&view, address);
        assert_eq!(reply.status, 200);
        assert!(reply.head.contains(&format!("Content-Type: {kind}")), "{}", reply.head);
        let foreign = reply.body.replace("http://www.w3.org/", "");
        assert!(!foreign.contains("http://") && !foreign.contains("https://"), "{address}");
    }
    assert!(!page.body.contains("http"), "the page itself names no other address");
}

#[test]
fn large_bodies_are_refused_unread() {
    let view = view();
    let head = format!(
        "POST {}api/why HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        path(&view),
        view.port(),
        10 * 1024 * 1024
    );
    let mut bytes = head.into_bytes();
    bytes.resize(bytes.len() + 10 * 1024 * 1024, b' ');
    let reply = sent(view.port(), &bytes).expect("a reply");
    assert_eq!(reply.status, 413);
    assert_eq!(get(&view, "api/run").status, 200, "it still serves");
}

#[test]
fn many_at_once_are_all_served() {
    let view = view();
    let answered: usize = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| (0..50).filter(|_| get(&view, "icon.svg").status == 200).count())
            })
            .collect();
        asking.into_iter().map(|one| one.join().expect("served")).sum()
    });
    assert_eq!(answered, 1000);
}

#[test]
fn those_who_never_read_or_never_write_hold_nobody_up() {
    let view = view();
    // More than there are seats.
    let idle: Vec<TcpStream> = (0..100)
        .map(|at| {
            let mut stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, view.port())).expect("it listens");
            if at % 2 == 0 {
                // Asks for a page and never reads it.
                let request = format!(
                    "GET {}view.js HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
                    path(&view),
                    view.port()
                );
                stream.write_all(request.as_bytes()).expect("sent");
            } else {
                stream.write_all(b"GET / HTT").expect("sent");
            }
            stream
        })
        .collect();
    let began = Instant::now();
    assert_eq!(post(&view, "api/why", r#"{"episode": 0, "step": 0}"#).status, 200);
    assert!(began.elapsed() < Duration::from_secs(30), "those who are slow are given up");
    drop(idle);
}

#[test]
fn a_request_that_does_not_arrive_is_given_up() {
    let view = view();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, view.port())).expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("sent");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it hangs up by itself");
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
}

#[test]
fn it_listens_on_this_machine_only_and_ends_when_told() {
    let view = view();
    let port = view.port();
    assert!(view.address().starts_with(&format!("http://127.0.0.1:{port}/")));
    let again = View::start(std::sync::Arc::clone(&RUN), &ViewParams { port });
    let error = again.expect_err("the port is taken");
    assert!(matches!(error, ViewError::Port { .. }), "{error}");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
    let other = view_token(&view);
    view.stop();
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "nobody listens");
    let view = self::view();
    assert_ne!(view_token(&view), other, "every view has a token of its own");
    assert_eq!(view_token(&view).len(), 32);
}

fn view_token(view: &View) -> String {
    path(view).trim_matches('/').to_owned()
}

//! Access: clients that name an origin, clients with credentials, and those without.

mod common;

use common::ports::free_port;
use common::{Folder, Reader, ask, get};
use sapwood_proxy::{AllowRule, Proxy};
use sapwood_serve::ServerOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

fn rule(text: &str) -> AllowRule {
    text.parse().unwrap()
}

/// The proxy used to wait for its own answer until the timeout.
#[test]
fn a_proxy_in_front_of_itself_is_refused() {
    let folder = Folder::new();
    for scheme in ["http", "root"] {
        let port = free_port();
        for bound in [SocketAddr::from(([127, 0, 0, 1], port)), SocketAddr::from(([0, 0, 0, 0], port))] {
            let server = match scheme {
                "http" => ServerOptions::default().http(Some(bound)),
                _ => ServerOptions::default().root(Some(bound)),
            };
            let options = folder.options(format!("{scheme}://localhost:{port}//dir")).server(server);
            let error = Proxy::start(options).err().expect("it leads to itself");
            assert!(error.to_string().contains("address of the proxy itself"), "{error}");
        }
    }
}

#[test]
fn clients_name_only_what_is_allowed() {
    let folder = Folder::new();
    folder.write("f", b"forwarded");
    let origin = folder.origin();
    let (http, root) = (origin.url(), origin.root_url().unwrap());
    let options = folder.options("").origins(Vec::new());
    let proxy = Proxy::start(options.allow(vec![rule(&http), rule(&root)])).unwrap();
    let (by_http, by_root) = (proxy.http_url().unwrap(), proxy.root_url().unwrap());
    assert_eq!(get(&format!("{by_http}{http}f")).body, b"forwarded");
    assert_eq!(get(&format!("{by_http}{root}f")).body, b"forwarded");
    let reader = Reader::open(&format!("{by_root}{root}f")).unwrap();
    assert_eq!(reader.read(&[(0, 9)]).unwrap()[0], &b"forwarded"[..]);
    let port = origin.addr().port();
    for bad in [
        format!("http://localhost:{port}/f"),
        format!("http://127.0.0.1:{}/f", port ^ 1),
        "http://127.0.0.1/f".to_owned(),
        format!("https://127.0.0.1:{port}/f"),
        format!("http://user:word@127.0.0.1:{port}/f"),
        format!("http://127.0.0.1:{port}@evil.example/f"),
        format!("http://127.0.0.1:{port}.evil.example/f"),
        format!("http://127.0.0.1:0{port}0/f"),
        "file:///etc/passwd".to_owned(),
        "f".to_owned(),
    ] {
        let answer = get(&format!("{by_http}{bad}"));
        assert!(matches!(answer.status, 400 | 403 | 404), "{bad}: {}", answer.status);
        assert!(Reader::open(&format!("{by_root}{bad}")).is_err(), "{bad}");
    }
    let before = origin.requests().len();
    get(&format!("{by_http}http://127.0.0.1:{port}/../../etc/passwd"));
    assert_eq!(origin.requests().len(), before);
}

/// An HTTP server that answers each request with this function of its head.
fn scripted(answer: impl Fn(&str) -> String + Send + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        let answer = Arc::new(Mutex::new(answer));
        for stream in listener.incoming() {
            let (mut stream, log, answer) = (BufReader::new(stream.unwrap()), Arc::clone(&log), Arc::clone(&answer));
            std::thread::spawn(move || {
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if stream.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    log.lock().unwrap().push(head.clone());
                    let text = (answer.lock().unwrap())(&head);
                    if stream.get_mut().write_all(text.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, seen)
}

/// A file of 26 letters for clients with this credential.
fn guarded(head: &str, credential: &str) -> String {
    let head = head.to_ascii_lowercase();
    if !head.contains(&credential.to_ascii_lowercase()) {
        return "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_owned();
    }
    let tags = "ETag: \"one\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let all = "abcdefghijklmnopqrstuvwxyz";
    let range = head.split("range: bytes=").nth(1).and_then(|r| r.split("\r\n").next());
    match range.map(|r| r.split_once('-').map(|(a, b)| (a.parse::<usize>(), b.parse::<usize>()))) {
        Some(Some((Ok(from), Ok(to)))) if from < all.len() => {
            let part = &all[from..=to.min(25)];
            let range = format!("Content-Range: bytes {from}-{}/26\r\n", from + part.len() - 1);
            format!("HTTP/1.1 206 Partial\r\n{tags}{range}Content-Length: {}\r\n\r\n{part}", part.len())
        }
        _ => format!("HTTP/1.1 200 OK\r\n{tags}Content-Length: 26\r\n\r\n{all}"),
    }
}

#[test]
fn what_came_with_a_credential_is_for_those_whose_the_origin_accepts() {
    let (url, seen) = scripted(|head| guarded(head, "authorization: bearer good"));
    let folder = Folder::new();
    let proxy = folder.proxy(&url);
    let http = proxy.http_url().unwrap() + "f";
    let with = |token: &str| ask("GET", &http, &format!("Authorization: Bearer {token}\r\n"));
    assert_eq!(with("GOOD").body, b"abcdefghijklmnopqrstuvwxyz");
    assert!(matches!(get(&http).status, 401 | 403), "without");
    assert!(matches!(with("BAD").status, 401 | 403));
    assert_eq!(with("GOOD").status, 200);
    let asked = seen.lock().unwrap().len();
    assert_eq!(with("GOOD").status, 200);
    assert_eq!(seen.lock().unwrap().len(), asked, "asked a moment ago");
    let root = proxy.root_url().unwrap();
    let reader = Reader::open(&format!("{root}f?authz=Bearer%20GOOD")).unwrap();
    assert_eq!(reader.read(&[(0, 3)]).unwrap()[0], &b"abc"[..]);
    assert!(Reader::open(&format!("{root}f")).is_err() && Reader::open(&format!("{root}f?authz=BAD")).is_err());
    for served in proxy.requests() {
        assert!(!format!("{served:?}").contains("GOOD"), "{served:?}");
    }
    let kept = std::process::Command::new("grep").args(["-r", "GOOD"]).arg(&folder.0).status().unwrap();
    assert!(!kept.success(), "the credential is on the disk");
}

#[test]
fn a_user_and_a_password_go_to_the_origin() {
    let (url, _) = scripted(|head| guarded(head, "authorization: basic dTpw"));
    let folder = Folder::new();
    let proxy = folder.proxy(&url);
    let http = proxy.http_url().unwrap() + "f";
    assert_eq!(ask("GET", &http, "Authorization: Basic dTpw\r\n").status, 200);
    assert!(matches!(ask("GET", &http, "Authorization: Basic dTpX\r\n").status, 401 | 403));
}

#[test]
fn a_redirect_leads_nowhere_that_is_not_allowed() {
    let (secret, seen) = scripted(|head| guarded(head, "GET"));
    let target = secret.clone();
    let (url, _) = scripted(move |_| format!("HTTP/1.1 302 Found\r\nLocation: {target}f\r\nContent-Length: 0\r\n\r\n"));
    let folder = Folder::new();
    let options = folder.options("").origins(Vec::new());
    let proxy = Proxy::start(options.allow(vec![rule(&url)])).unwrap();
    let answer = get(&format!("{}{url}f", proxy.http_url().unwrap()));
    assert!(answer.status == 403, "{}", answer.status);
    assert!(seen.lock().unwrap().is_empty());
    // one of the proxy's own origins may redirect
    let proxy = folder.proxy(&url);
    assert_eq!(get(&(proxy.http_url().unwrap() + "f")).status, 200);
}

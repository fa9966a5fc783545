//! A server's counters and reports, its status pages, and how it ends.

mod common;
#[path = "common/root.rs"]
mod root_client;

use common::{Client, Folder};
use root_client::RootClient;
use sapwood_serve::{
    Answer, ClientRequest, Files, FilesError, Found, Origin, OriginOptions, Server, ServerHandle, ServerOptions, Status,
};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn anywhere() -> Option<SocketAddr> {
    Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

/// Finds nothing; asked for `slow`, only after a while.
struct Nothing(Arc<Mutex<usize>>);

impl Files for Nothing {
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found> {
        *self.0.lock().unwrap() += 1;
        Box::pin(async move {
            if asked.path.parts() == [b"slow"] {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            Err(FilesError::NotFound)
        })
    }
}

struct Hook(Mutex<Result<(), String>>);

impl Status for Hook {
    fn metrics(&self, out: &mut String) {
        out.push_str("# HELP more More.\n# TYPE more gauge\nmore 7\n");
    }

    fn health(&self) -> Result<(), String> {
        self.0.lock().unwrap().clone()
    }
}

fn serve(options: ServerOptions) -> (ServerHandle, Arc<Mutex<usize>>) {
    let asked = Arc::default();
    (Server::start(Arc::new(Nothing(Arc::clone(&asked))), options).unwrap(), asked)
}

/// The value of a metric on the page.
fn figure(page: &str, name: &str) -> f64 {
    let line = page.lines().find(|line| line.starts_with(name) && line[name.len()..].starts_with(' '));
    line.unwrap_or_else(|| panic!("{name} in {page}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn figures_and_health_beside_the_files() {
    let hook = Arc::new(Hook(Mutex::new(Ok(()))));
    let status: Option<Arc<dyn Status>> = Some(Arc::clone(&hook) as Arc<dyn Status>);
    let (server, asked) = serve(ServerOptions::default().root(anywhere()).status(status));
    let mut http = Client::at(server.http_addr().unwrap());
    let mut root = RootClient::login_at(server.root_addr().unwrap());
    assert_eq!(http.get("/nothing", "").0, 404);
    root.open("/nothing").unwrap_err();
    // A request is counted when its answer has ended: the client may see it before that.
    let refused = "sapwood_server_requests_total{protocol=\"root\",outcome=\"refused\"}";
    let deadline = Instant::now() + Duration::from_secs(10);
    while figure(&http.get("/metrics", "").2, refused) < 1.0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (code, head, page) = http.get("/metrics", "");
    assert!(code == 200 && head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    assert_eq!(figure(&page, "sapwood_server_connections{protocol=\"http\"}"), 1.0);
    assert_eq!(figure(&page, "sapwood_server_connections{protocol=\"root\"}"), 1.0);
    assert_eq!(figure(&page, "sapwood_server_requests_total{protocol=\"http\",outcome=\"refused\"}"), 1.0);
    assert_eq!(figure(&page, "sapwood_server_requests_total{protocol=\"root\",outcome=\"refused\"}"), 1.0);
    assert!(figure(&page, "sapwood_server_sent_bytes_total{protocol=\"http\"}") >= "no such file\n".len() as f64);
    assert_eq!(figure(&page, "more"), 7.0);
    for line in page.lines() {
        assert!(line.starts_with("# ") || line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
    }
    assert_eq!(http.get("/health", "").0, 200);
    *hook.0.lock().unwrap() = Err("the disk is full".into());
    assert_eq!(http.get("/health", ""), {
        let (code, head, body) = http.get("/health", "");
        assert_eq!((code, body.as_str()), (503, "the disk is full\n"));
        (code, head, body)
    });
    assert_eq!(http.ask("HEAD", "/metrics", "").0, 200);
    let before = *asked.lock().unwrap();
    assert_eq!(before, 2, "the pages ask no file");
    for path in ["//metrics", "/./health", "/metrics/", "/x/metrics"] {
        assert_eq!(http.get(path, "").0, 404, "{path}");
    }
    assert_eq!(*asked.lock().unwrap(), before + 4, "a file of this name is not hidden");
}

#[test]
fn figures_at_an_address_of_their_own() {
    let (server, asked) = serve(ServerOptions::default().metrics(anywhere()));
    let mut http = Client::at(server.http_addr().unwrap());
    assert_eq!(http.get("/metrics", "").0, 404);
    assert_eq!(*asked.lock().unwrap(), 1, "this is a path as any other");
    let mut pages = Client::at(server.metrics_addr().unwrap());
    assert!(pages.get("/metrics", "").2.contains("sapwood_server_connections{"));
    assert_eq!((pages.get("/health", "").0, pages.get("/nothing", "").0), (200, 404));
    assert_eq!(*asked.lock().unwrap(), 1, "no file is served there");
}

#[test]
fn one_line_for_each_request() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let folder = Folder::new();
    std::fs::write(folder.0.join("root/large"), vec![7; 1_000_000]).unwrap();
    let kept = Arc::clone(&lines);
    let access: sapwood_serve::AccessListener = Arc::new(move |access| {
        let line = access.to_string();
        // all but the time
        kept.lock().unwrap().push(line.rsplit_once(' ').unwrap().0.to_owned());
    });
    let options =
        OriginOptions { bind_root: anywhere(), access: Some(access), ..OriginOptions::new(folder.0.join("root")) };
    let server = Origin::start(options).unwrap();
    let mut http = Client::new(&server);
    http.get("/digits?authz=SECRET", "Range: bytes=2-4\r\nAuthorization: Bearer SECRET\r\n");
    http.ask("HEAD", "/large", "");
    http.get("/gone", "");
    drop(http);
    let mut root = RootClient::login(&server);
    let handle = root.open("/large?authz=SECRET").unwrap();
    root.read(handle, 10, 900_000).unwrap();
    root.open("/https://me:SECRET@host/gone").unwrap_err();
    let deadline = Instant::now() + Duration::from_secs(10);
    while lines.lock().unwrap().len() < 6 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Answers end concurrently.
    let mut lines = lines.lock().unwrap().clone();
    lines.sort();
    assert_eq!(
        lines,
        [
            "127.0.0.1 http GET \"/digits\" 206 3",
            "127.0.0.1 http GET \"/gone\" 404 13",
            "127.0.0.1 http HEAD \"/large\" 200 0",
            "127.0.0.1 root open \"/https://host/gone\" 3011 0",
            "127.0.0.1 root open \"/large\" 0 0",
            "127.0.0.1 root read \"/large\" 0 900000",
        ]
    );
}

#[test]
fn requests_under_way_are_answered_before_the_end() {
    let (server, _) = serve(ServerOptions::default().root(anywhere()));
    let (http_at, root_at) = (server.http_addr().unwrap(), server.root_addr().unwrap());
    let mut idle = Client::at(http_at);
    idle.get("/nothing", "");
    let mut idle_session = RootClient::login_at(root_at);
    let mut half = TcpStream::connect(root_at).unwrap();
    half.write_all(&[0; 3]).unwrap();
    let asking = [
        std::thread::spawn(move || Client::at(http_at).get("/slow", "").0),
        std::thread::spawn(move || RootClient::login_at(root_at).open("/slow").unwrap_err() as u16),
    ];
    std::thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    server.stop_within(Duration::from_secs(20));
    assert!(begin.elapsed() < Duration::from_secs(10), "idle connections are not waited for");
    let answers = asking.map(|thread| thread.join().unwrap());
    assert_eq!(answers, [404, 3011]);
    assert_eq!(idle.0.read(&mut [0]).unwrap_or(0), 0, "idle connections are closed");
    assert!(idle_session.is_closed());
    assert!(TcpStream::connect(http_at).is_err() && TcpStream::connect(root_at).is_err(), "nothing new is taken");
}

#[test]
fn the_end_does_not_wait_for_ever() {
    let folder = Folder::new();
    std::fs::File::create(folder.0.join("root/large")).unwrap().set_len(256 << 20).unwrap();
    let server = Origin::start(OriginOptions::new(folder.0.join("root"))).unwrap();
    let mut stuck = TcpStream::connect(server.addr()).unwrap();
    stuck.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stuck.read_exact(&mut [0; 100]).unwrap();
    server.stop_within(Duration::from_millis(300));
    let mut rest = Vec::new();
    let _ = stuck.read_to_end(&mut rest);
    assert!(rest.len() < 256 << 20, "it was cut off");
}

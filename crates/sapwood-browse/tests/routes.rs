//! What the server answers, and what it refuses.

use sapwood::serve::{Origin, OriginOptions};
use sapwood::write::{FileOptions, Record, TreeOptions};
use sapwood_browse::{BrowseOptions, Browser};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Record)]
struct Row {
    x: f64,
    n: i32,
    list: Vec<f32>,
}

/// A temporary directory, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A directory with a tree in `in/a.root` and a file beside `in`.
fn files(name: &str, rows: u32) -> Folder {
    let root = std::env::temp_dir().join(format!("sapwood-browse-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("in")).unwrap();
    let path = root.join("in/a.root");
    let mut file = FileOptions::new().create(&path).unwrap();
    let mut tree = file.records::<Row>("<b>t", "<script>", TreeOptions::new()).unwrap();
    for i in 0..rows {
        tree.fill(&Row {
            x: f64::from(i.wrapping_mul(2_654_435_761)),
            n: i as i32 % 7,
            list: vec![0.5; if i < 1000 { 3 } else { 0 }],
        })
        .unwrap();
    }
    tree.finish().unwrap();
    file.finish().unwrap();
    std::fs::write(root.join("secret.root"), "no").unwrap();
    std::os::unix::fs::symlink(root.join("secret.root"), root.join("in/link.root")).unwrap();
    Folder(root)
}

fn server(target: &Path) -> Browser {
    Browser::start(&[target.to_str().unwrap().to_owned().into()], BrowseOptions::default()).unwrap()
}

/// Host and secret path of a server.
fn parts(server: &Browser) -> (&str, &str) {
    let rest = server.url().strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

fn connect(host: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Status and body of a request with these further header lines.
fn ask(server: &Browser, method: &str, route: &str, headers: &str, body: &str) -> (u16, String) {
    let (host, base) = parts(server);
    let named = if headers.contains("Host:") { String::new() } else { format!("Host: {host}\r\n") };
    let path = if route.starts_with('/') { route.to_owned() } else { format!("{base}{route}") };
    let length = body.len();
    let mut stream = connect(
        host,
        &format!(
            "{method} {path} HTTP/1.1\r\n{named}{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    );
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text.split_once("\r\n\r\n").unwrap().1.to_owned())
}

fn get(server: &Browser, route: &str) -> (u16, Value) {
    let (status, body) = ask(server, "GET", route, "", "");
    (status, serde_json::from_str(&body).unwrap())
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn trees_and_rows() {
    let root = files("trees", 1000);
    let server = server(&root.join("in"));
    assert_eq!(get(&server, "api/session").1["targets"][0]["kind"], "directory");
    let listed = get(&server, "api/ls?target=0").1;
    assert_eq!(listed["entries"][0]["name"], "a.root");
    let keys = get(&server, "api/ls?target=0&file=a.root").1;
    assert_eq!((&keys["entries"][0]["name"], &keys["entries"][0]["kind"]), (&json!("<b>t"), &json!("tree")));
    let tree = get(&server, "api/tree?target=0&file=a.root&object=%3Cb%3Et").1;
    assert_eq!(tree["branches"]["expression"], json!(["x", "n", "nlist", "list"]));
    assert_eq!(tree["entries"], 1000);
    let body = json!({ "target": 0, "file": "a.root", "object": "<b>t", "columns": "n", "cut": "n==6", "first": 0, "count": 2 }).to_string();
    let (status, rows) = ask(&server, "POST", "api/scan", JSON, &body);
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!((status, &rows["rows"][1]["entry"], &rows["next"]), (200, &json!(13), &json!(20)));
    // a page is full however the cut takes the rows of an entry
    let body = json!({ "target": 0, "file": "a.root", "object": "<b>t", "columns": "list", "cut": "Iteration$>0", "count": 5 });
    let (_, rows) = ask(&server, "POST", "api/scan", JSON, &body.to_string());
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!((rows["rows"].as_array().unwrap().len(), &rows["next"]), (6, &json!(3)), "{rows}");
}

#[test]
fn what_is_refused() {
    let root = files("refused", 10);
    let server = server(&root.join("in"));
    let status = |method, route: &str, headers: &str, body: &str| ask(&server, method, route, headers, body).0;
    let (host, base) = parts(&server);
    assert_eq!(status("GET", "", "", ""), 200);
    for path in ["/", "/api/session", "/wrong/api/session", &base[..base.len() - 2], &format!("{}0/", &base[..9])] {
        assert_eq!(status("GET", path, "", ""), 404, "{path}");
    }
    assert_eq!(status("GET", "api/session", "Host: evil.org\r\n", ""), 403);
    assert_eq!(status("GET", "api/session", "Origin: http://evil.org\r\n", ""), 403);
    assert_eq!(status("GET", "api/session", "Sec-Fetch-Site: cross-site\r\n", ""), 403);
    assert_eq!(status("GET", "api/session", &format!("Origin: http://{host}\r\n"), ""), 200);
    assert_eq!(status("POST", "api/draw", "Content-Type: text/plain\r\n", "{}"), 415);
    assert_eq!(status("POST", "api/draw", JSON, "[]"), 400);
    assert_eq!(status("POST", "api/scan", JSON, &" ".repeat((1 << 20) + 1)), 413);
    assert_eq!(status("POST", "api/open", JSON, "{\"url\":\"/etc\"}"), 400);
    assert_eq!(status("DELETE", "api/ls", "", ""), 405);
    for file in ["..%2Fsecret.root", "%2Fetc%2Fpasswd", "link.root", "a.root%2F..%2F..%2Fsecret.root", "."] {
        assert_eq!(status("GET", &format!("api/ls?target=0&file={file}"), "", ""), 404, "{file}");
    }
    assert_eq!(status("GET", "api/ls?target=0&file=a%00.root", "", ""), 404);
    assert_eq!(status("GET", "api/ls?target=0&file=absent.root", "", ""), 404);
}

#[test]
fn errors_name_field_and_column() {
    let root = files("errors", 10);
    let server = server(&root.join("in/a.root"));
    for (body, field, column) in [
        (json!({ "target": 0, "expression": "x+nosuch" }), "expression", json!(2)),
        (json!({ "target": 0, "expression": "x", "cut": "n>" }), "cut", json!(2)),
        (json!({ "target": 0, "expression": "x", "bins": "zero" }), "bins", Value::Null),
        (json!({ "target": 0, "expression": "x", "bins": "1000001,0,1" }), "bins", Value::Null),
        (json!({ "target": 0, "expression": "x:n>>h(1001,0,1,1000,0,1)" }), "expression", Value::Null),
    ] {
        let (_, text) = ask(&server, "POST", "api/draw", JSON, &body.to_string());
        assert!(text.contains("\"event\":\"error\""), "{text}");
        let at = text.find('{').unwrap();
        let event: Value = serde_json::from_str(&text[at..=text.rfind('}').unwrap()]).unwrap();
        assert_eq!((&event["field"], &event["column"]), (&json!(field), &column), "{event}");
    }
}

/// Whether something becomes true. Waits for up to a minute.
fn soon(check: impl Fn() -> bool) -> bool {
    (0..6000).any(|_| {
        check() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }
    })
}

#[test]
fn a_client_that_leaves_ends_its_draw() {
    let root = files("leaves", 2_000_000);
    let mut options = OriginOptions::new(root.join("in"));
    // all of it would take minutes
    options.bandwidth = Some(50_000);
    let origin = Origin::start(options).unwrap();
    let url = format!("{}a.root", origin.url());
    let server = Browser::start(&[url.into()], BrowseOptions::default()).unwrap();
    let (host, base) = parts(&server);
    let body = json!({ "target": 0, "expression": "x:n" }).to_string();
    let request =
        format!("POST {base}api/draw HTTP/1.1\r\nHost: {host}\r\n{JSON}Content-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(get(&server, "api/tree?target=0").0, 200);
    let streams: Vec<TcpStream> = (0..50).map(|_| connect(host, &request)).collect();
    assert!(soon(|| server.running() == 50), "{} draws", server.running());
    drop(streams);
    assert!(soon(|| server.running() == 0), "{} draws go on", server.running());
    assert_eq!(get(&server, "api/session").0, 200);
}

#[test]
fn requests_are_told_while_a_draw_goes_on() {
    let root = files("told", 2_000_000);
    let mut options = OriginOptions::new(root.join("in"));
    options.bandwidth = Some(3_000_000);
    let origin = Origin::start(options).unwrap();
    let server = Browser::start(&[format!("{}a.root", origin.url()).into()], BrowseOptions::default()).unwrap();
    let body = json!({ "target": 0, "expression": "x:n", "bins": "10,0,7,10,0,5e9" }).to_string();
    let (status, text) = ask(&server, "POST", "api/draw", JSON, &body);
    let at = |event: &str| text.find(&format!("\"event\":\"{event}\"")).unwrap();
    assert_eq!(status, 200);
    assert!(at("requests") < text.find("\"partial\":false").unwrap());
    assert!(at("requests") < at("done"));
}

#[test]
fn a_server_that_ends_ends_its_draws() {
    let root = files("ends", 2_000_000);
    let mut options = OriginOptions::new(root.join("in"));
    options.bandwidth = Some(50_000);
    let origin = Origin::start(options).unwrap();
    let server = Browser::start(&[format!("{}a.root", origin.url()).into()], BrowseOptions::default()).unwrap();
    let (host, base) = parts(&server);
    let body = json!({ "target": 0, "expression": "x:n" }).to_string();
    let request =
        format!("POST {base}api/draw HTTP/1.1\r\nHost: {host}\r\n{JSON}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = connect(host, &request);
    assert!(soon(|| server.running() == 1));
    drop(server);
    // the connection ends, too
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
}

#[test]
fn bytes_maps_and_costs() {
    let root = files("bytes", 100_000);
    let server = server(&root.join("in/a.root"));
    let (status, text) = ask(&server, "GET", "api/bytes?target=0", "Range: bytes=0-3\r\n", "");
    assert_eq!((status, text.as_str()), (206, "root"));
    assert_eq!(ask(&server, "GET", "api/bytes?target=0", "Range: bytes=99999999-\r\n", "").0, 416);
    let map = get(&server, "api/map?target=0").1;
    let size = std::fs::metadata(root.join("in/a.root")).unwrap().len();
    assert_eq!(map["size"], size);
    let kinds = map["regions"]["kind"].as_array().unwrap();
    let basket = kinds.iter().position(|kind| *kind == 0).unwrap();
    let key = get(&server, &format!("api/key?target=0&offset={}", map["regions"]["offset"][basket])).1;
    assert_eq!((&key["class"], &key["bytes"]), (&json!("TBasket"), &map["regions"]["bytes"][basket]));
    assert_eq!(get(&server, "api/key?target=0&offset=0").1["class"], "TFile");
    assert_eq!(get(&server, &format!("api/key?target=0&offset={size}")).0, 400);
    let body = json!({ "target": 0, "branches": ["x"], "rtt_ms": 100, "bandwidth_mbit": 1000 }).to_string();
    let (status, cost) = ask(&server, "POST", "api/cost", JSON, &body);
    let cost: Value = serde_json::from_str(&cost).unwrap();
    assert_eq!(status, 200);
    assert!(cost["now"]["seconds"].as_f64().unwrap() >= 0.1, "{cost}");
    assert!(get(&server, "api/doctor?target=0").1["optimize"].as_str().unwrap().starts_with("sapwood optimize "));
}

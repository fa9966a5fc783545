//! XRootD's own client presents its token over TLS, where the server asks for one.

use sapwood_serve::{Answer, ClientRequest, Files, FilesError, Found, Server, ServerOptions, Tls};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Records each request: path, token, whether over TLS.
#[derive(Default)]
struct Kept(Mutex<Vec<(String, Option<String>, bool)>>);

impl Files for Kept {
    fn find<'a>(&'a self, asked: &'a ClientRequest) -> Answer<'a, Found> {
        let path = String::from_utf8(asked.path.parts().join(&b'/')).unwrap();
        let token = asked.authorization.as_ref().map(|token| String::from_utf8(token.0.clone()).unwrap());
        self.0.lock().unwrap().push((path, token, asked.is_secure));
        Box::pin(std::future::ready(Err(FilesError::NotFound)))
    }
}

/// A certificate for localhost, its key, and a directory where OpenSSL finds it; none where a program is missing.
fn certificate(folder: &Path) -> Option<Tls> {
    std::fs::create_dir_all(folder.join("ca")).unwrap();
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/O=test/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .args([&key, Path::new("-out"), &certificate])
        .output();
    made.ok().filter(|made| made.status.success())?;
    let hashed = Command::new("openssl").args(["x509", "-noout", "-hash", "-in"]).arg(&certificate).output().unwrap();
    let name = format!("{}.0", String::from_utf8(hashed.stdout).unwrap().trim());
    std::fs::copy(&certificate, folder.join("ca").join(name)).unwrap();
    Some(Tls { certificate, key })
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_token_comes_with_the_login() {
    let folder = Scratch(std::env::temp_dir().join(format!("sapwood-tokens-{}", std::process::id())));
    let Some(tls) = certificate(&folder.0) else { return eprintln!("skipped: openssl is not installed") };
    let files = Arc::new(Kept::default());
    let root = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let options = ServerOptions::default().http(None).root(root).ask_tokens(true).tls(Some(tls));
    let server = Server::start(Arc::clone(&files) as Arc<dyn Files>, options).unwrap();
    assert_eq!(server.http_url(), None);
    let port = server.root_addr().unwrap().port();
    for (scheme, path, token) in
        [("roots", "/with", Some("eyJhTOKEN")), ("roots", "/without", None), ("root", "/plain", Some("eyJhTOKEN"))]
    {
        let mut command = Command::new("xrdfs");
        command.args([&format!("{scheme}://localhost:{port}"), "stat", path]);
        command.env("X509_CERT_DIR", folder.0.join("ca")).env("XDG_RUNTIME_DIR", &folder.0);
        command.env_remove("BEARER_TOKEN").env_remove("BEARER_TOKEN_FILE");
        command.envs(token.map(|token| ("BEARER_TOKEN", token)));
        if command.output().is_err() {
            return eprintln!("skipped: xrdfs is not installed");
        }
    }
    let kept = files.0.lock().unwrap();
    let of = |path: &str| kept.iter().find(|(p, ..)| p == path).map(|(_, token, secure)| (token.as_deref(), *secure));
    assert_eq!(of("with"), Some((Some("Bearer eyJhTOKEN"), true)));
    assert_eq!(of("without"), Some((None, true)));
    assert_eq!(of("plain"), Some((None, false)), "no token goes over a plain connection");
}

//! Real servers on free ports of this machine.

use super::ports::free_port;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A directory that every user may read (servers do not run as root); removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sapwood-source-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("root")).unwrap();
        for p in [path.clone(), path.join("root")] {
            fs::set_permissions(p, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(path)
    }

    /// Another directory with the same files.
    pub fn copy(&self) -> Self {
        let other = Self::new();
        for entry in fs::read_dir(self.0.join("root")).unwrap() {
            let path = entry.unwrap().path();
            other.put(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap());
        }
        other
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join("root").join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub struct Server {
    pub port: u16,
    pub folder: Folder,
    make: String,
    child: Child,
}

impl Server {
    /// Whether it is of this make.
    pub fn is(&self, make: &str) -> bool {
        self.make == make
    }

    /// Stops it; the directory stays.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn binary(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/bin"].map(PathBuf::from));
    let found = folders.map(|d| d.join(name)).find(|p| p.is_file());
    if found.is_none() {
        println!("skipped: {name} is not installed");
    }
    found
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.starts_with(b"0\n"))
}

fn start(folder: Folder, port: u16, command: &mut Command) -> Server {
    let log = fs::File::create(folder.0.join("out")).unwrap();
    let child = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    let make = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let server = Server { port, folder, make, child };
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || fs::read_to_string(server.folder.0.join("out")).unwrap_or_default();
        assert!(begin.elapsed() < Duration::from_secs(20), "{command:?} does not start: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

/// `extra`: further directives of the server block. With a certificate among them it offers HTTP/2, too.
pub fn nginx(folder: Folder, extra: &str) -> Option<Server> {
    let binary = binary("nginx")?;
    let (run, port) = (folder.0.display().to_string(), free_port());
    let user = if is_root() { "user root;" } else { "" };
    let temps: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|t| format!("{t}_temp_path {run}/t_{t};"))
        .collect();
    let listen = if extra.contains("ssl") { format!("{port} ssl http2") } else { port.to_string() };
    let config = format!(
        "daemon off; master_process off; {user} pid {run}/pid; error_log {run}/err; events {{ worker_connections 128; }}
         http {{ access_log off; {temps} server {{ listen 127.0.0.1:{listen}; root {run}/root; {extra} }} }}"
    );
    fs::write(folder.0.join("nginx.conf"), config).unwrap();
    Some(start(
        folder,
        port,
        Command::new(binary).arg("-e").arg(format!("{run}/err0")).arg("-c").arg(format!("{run}/nginx.conf")),
    ))
}

pub fn apache(folder: Folder) -> Option<Server> {
    let binary = binary("apache2")?;
    let modules = Path::new("/usr/lib/apache2/modules");
    let (run, port) = (folder.0.display().to_string(), free_port());
    let load: String = ["mpm_event", "authz_core", "unixd"]
        .iter()
        .filter(|m| modules.join(format!("mod_{m}.so")).exists())
        .map(|m| format!("LoadModule {m}_module {}/mod_{m}.so\n", modules.display()))
        .collect();
    let user = if is_root() { "User www-data\nGroup www-data\n" } else { "" };
    let config = format!(
        "ServerName localhost\nServerRoot {run}\nPidFile {run}/pid\nErrorLog {run}/err\nListen 127.0.0.1:{port}\n\
         {load}{user}DocumentRoot {run}/root\n<Directory {run}/root>\nRequire all granted\n</Directory>\n"
    );
    fs::write(folder.0.join("apache.conf"), config).unwrap();
    Some(start(folder, port, Command::new(binary).arg("-X").arg("-f").arg(format!("{run}/apache.conf"))))
}

/// XRootD's HTTP port.
pub fn xrootd(folder: Folder) -> Option<Server> {
    let door = free_port();
    xrootd_on(folder, free_port(), door, &format!("xrd.protocol http:{door} libXrdHttp.so\nxrootd.async off\n"))
}

/// XRootD itself; `extra`: further directives.
pub fn xrootd_native(folder: Folder, extra: &str) -> Option<Server> {
    let port = free_port();
    xrootd_on(folder, port, port, extra)
}

/// Restarts an XRootD that was killed.
pub fn revive(server: &mut Server) {
    let binary = binary("xrootd").unwrap();
    let run = server.folder.0.display().to_string();
    server.child = xrootd_command(&binary, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
}

/// XRootD on a given port.
pub fn xrootd_at(folder: Folder, port: u16, extra: &str) -> Option<Server> {
    xrootd_on(folder, port, port, extra)
}

fn xrootd_on(folder: Folder, port: u16, asked: u16, extra: &str) -> Option<Server> {
    let binary = binary("xrootd")?;
    let run = folder.0.display().to_string();
    fs::create_dir_all(folder.0.join("admin")).unwrap();
    let config = format!(
        "xrd.port {port}\nxrd.network nodnr\nall.export /\noss.localroot {run}/root\nall.adminpath {run}/admin\n\
         all.pidpath {run}/admin\n{extra}\n"
    );
    fs::write(folder.0.join("xrd.cfg"), config).unwrap();
    if is_root() {
        let owned = Command::new("chown").arg("-R").arg("xrootd").arg(folder.0.join("admin")).status();
        assert!(owned.unwrap().success());
    }
    Some(start(folder, asked, &mut xrootd_command(&binary, &run)))
}

fn xrootd_command(binary: &Path, run: &str) -> Command {
    let mut command = Command::new(binary);
    command.arg("-c").arg(format!("{run}/xrd.cfg")).arg("-l").arg(format!("{run}/admin/log"));
    if is_root() {
        command.arg("-R").arg("xrootd");
    }
    command
}

/// A self-signed certificate for localhost and 127.0.0.1, and its key; `basic` says whether it is marked as an
/// authority (`CA:TRUE`).
pub fn certificate(folder: &Folder, basic: &str) -> Option<()> {
    certificate_for(folder, basic, "DNS:localhost,IP:127.0.0.1")
}

/// The same for other names.
pub fn certificate_for(folder: &Folder, basic: &str, names: &str) -> Option<()> {
    let binary = binary("openssl")?;
    fs::create_dir_all(folder.0.join("ca")).unwrap();
    let made = Command::new(binary)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=sapwood test", "-addext", &format!("subjectAltName={names}")])
        .args(["-addext", &format!("basicConstraints=critical,{basic}")])
        .arg("-keyout")
        .arg(folder.0.join("key.pem"))
        .arg("-out")
        .arg(folder.0.join("ca/cert.pem"))
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    Some(())
}

/// XRootD requires its user to own the private key.
pub fn own_key(folder: &Folder) {
    if is_root() {
        let owned = Command::new("chown").arg("xrootd").arg(folder.0.join("key.pem")).status();
        assert!(owned.unwrap().success());
    }
}

//! The listener for producers in other processes.

use super::stale_directories::{self, SOCKET};
use super::wire::{self, BAD, END, GOOD, MAGIC, PIECE, VERSION};
use super::{Gathered, Merger, Registration, Schema, Summary, Waited};
use sapwood_span::defect::{caught, inject};
use sapwood_span::sync::{lock, wait};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes read at a time.
const BUFFER: usize = 64 << 10;
/// Pieces received at a time: one in transit while another goes to the tree. Others wait in their producers.
const ROOMS: usize = 2;
/// A producer that sends nothing for this long in the middle of a piece is lost: others wait for its buffer.
const STALLED: Duration = Duration::from_secs(60);
/// Time for connections to end after they were cut off.
const CUT_OFF: Duration = Duration::from_secs(60);
/// Grace period for a thread that is about to end.
const SHORT: Duration = Duration::from_millis(1);
/// Directories of mergers without a listener for this long are removed by the next one.
const ABANDONED: Duration = Duration::from_secs(60);

/// The listener for producers in other processes: a local socket, in a directory that only this user can enter.
///
/// Each producer has a thread here, which receives its pieces one by one, so that it waits while the tree does. When
/// dropped, it accepts no more and cuts off those still writing.
#[derive(Debug)]
pub struct ProducerListener {
    merger: Merger,
    inside: Arc<Inside>,
    address: PathBuf,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Inside {
    closed: AtomicBool,
    /// Producers still writing are cut off.
    cut: AtomicBool,
    /// The connections to producers, by their number.
    lines: Mutex<BTreeMap<u64, UnixStream>>,
    /// Unused buffers for pieces, and a signal for waiting threads.
    buffers: Mutex<Vec<Gathered>>,
    left: Condvar,
}

impl Inside {
    fn new(schema: &Schema) -> Self {
        let buffers = Mutex::new((0..ROOMS).map(|_| Gathered::new(schema)).collect());
        Self {
            closed: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            lines: Mutex::default(),
            buffers,
            left: Condvar::new(),
        }
    }

    /// Waits for a free buffer.
    fn room(&self) -> PieceBuffer<'_> {
        let mut buffers = lock(&self.buffers);
        loop {
            if let Some(gathered) = buffers.pop() {
                return PieceBuffer { inside: self, gathered: Some(gathered) };
            }
            buffers = wait(&self.left, buffers);
        }
    }
}

/// An empty buffer for a piece; released on drop.
struct PieceBuffer<'a> {
    inside: &'a Inside,
    /// Always there until it is dropped.
    gathered: Option<Gathered>,
}

impl Drop for PieceBuffer<'_> {
    fn drop(&mut self) {
        if let Some(mut gathered) = self.gathered.take() {
            gathered.clear(super::MOST);
            lock(&self.inside.buffers).push(gathered);
        }
        self.inside.left.notify_one();
    }
}

impl Merger {
    /// Accepts producers in other processes: they connect to the listener's address with
    /// [`Producer::connect`](super::Producer::connect).
    ///
    /// # Errors
    /// Errors of the operating system, also when the name of the temporary directory is too long for a socket.
    pub fn listen(&self) -> Result<ProducerListener> {
        let around = std::env::temp_dir();
        let machine = stale_directories::machine();
        let failed = |at: &Path, e| {
            Error::io(format!("cannot listen at {}", at.display()), e)
                .with_remedy("set TMPDIR to a writable directory with a short name")
        };
        let folder = new_folder(&around, &machine).map_err(|e| failed(&around, e))?;
        let address = folder.join(SOCKET);
        let listener = UnixListener::bind(&address).map_err(|e| {
            let _ = std::fs::remove_dir(&folder);
            failed(&address, e)
        })?;
        let own = folder.clone();
        // in a separate thread: it could wait for a stopped merger
        let sweeping = std::thread::Builder::new().name("sapwood-sweep".into());
        drop(sweeping.spawn(move || stale_directories::sweep(&own, &machine, ABANDONED)));
        let inside = Arc::new(Inside::new(&self.0.schema));
        let (merger, shared) = (self.clone(), inside.clone());
        let thread = std::thread::Builder::new().name("sapwood-gate".into());
        let listening = thread.spawn(move || listen(&listener, &merger, &shared)).map_err(|e| failed(&address, e))?;
        Ok(ProducerListener { merger: self.clone(), inside, address, listening: Some(listening) })
    }
}

/// Creates a directory with a unique name: processes may share a number, in containers or on other machines.
fn new_folder(around: &Path, machine: &str) -> std::io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = around.join(format!("{}{}-{n}", stale_directories::prefix(machine), std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

impl ProducerListener {
    /// The address for producers.
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// Accepts no more producers and waits at most this long for those still writing; then they are cut off and counted
    /// as lost. Returns the results of all so far.
    pub fn close(mut self, timeout: Duration) -> Summary {
        self.shut(timeout, &mut || true);
        self.merger.summary()
    }

    /// The same; `go_on` is called at least ten times a second, and ends the wait when it returns false. Returns
    /// whether all is done: if not, current producers continue, and this can be called again.
    pub fn close_while(&mut self, timeout: Duration, mut go_on: impl FnMut() -> bool) -> bool {
        self.shut(timeout, &mut go_on)
    }

    fn shut(&mut self, timeout: Duration, go_on: &mut dyn FnMut() -> bool) -> bool {
        let Some(listening) = &self.listening else { return true };
        self.inside.closed.store(true, Ordering::SeqCst);
        // connections made before this call are accepted, then the thread ends
        if UnixStream::connect(&self.address).is_ok() {
            while !listening.is_finished() {
                if !go_on() {
                    return false;
                }
                std::thread::sleep(SHORT);
            }
        }
        match self.merger.wait_for_processes(timeout, go_on) {
            Waited::AllGone => {}
            Waited::Interrupted => return false,
            Waited::TimeOver => {
                self.inside.cut.store(true, Ordering::SeqCst);
                for line in lock(&self.inside.lines).values() {
                    let _ = line.shutdown(Shutdown::Both);
                }
                // connections that were cut off end at once, unless the disk hangs
                if self.merger.wait_for_processes(CUT_OFF, go_on) == Waited::Interrupted {
                    return false;
                }
            }
        }
        self.listening = None;
        let _ = std::fs::remove_file(&self.address);
        if let Some(folder) = self.address.parent() {
            let _ = std::fs::remove_dir(folder);
        }
        true
    }
}

impl Drop for ProducerListener {
    fn drop(&mut self) {
        self.shut(Duration::ZERO, &mut || true);
    }
}

fn listen(listener: &UnixListener, merger: &Merger, inside: &Arc<Inside>) {
    for line in listener.incoming() {
        let closed = inside.closed.load(Ordering::SeqCst);
        let Ok(line) = line else {
            if closed {
                return;
            }
            // too many open files: some will be closed
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let Some(who) = greeting(&line) else {
            if closed {
                return;
            }
            continue;
        };
        let mut registration = merger.enter(format!("process {who}"), true);
        if let Ok(line) = line.try_clone() {
            lock(&inside.lines).insert(registration.id, line);
        }
        let inside = inside.clone();
        let thread = std::thread::Builder::new().name(format!("sapwood-take-{who}"));
        // without a thread the registration is dropped, and with it the connection, which the producer notices
        let _ = thread.spawn(move || {
            let served = caught(|| {
                inject::here("take");
                serve(&mut registration, &line, &inside)
            });
            registration.why = served.err().map(|e| {
                if inside.cut.load(Ordering::SeqCst) {
                    return "it was still writing when the merger was closed, and was disconnected".to_owned();
                }
                e.to_string()
            });
            lock(&inside.lines).remove(&registration.id);
        });
    }
}

/// The process ID of a connecting producer; none if it is not a producer, or closed again.
fn greeting(mut line: &UnixStream) -> Option<usize> {
    // a silent connection must not hold up the others
    line.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut magic = [0; 4];
    line.read_exact(&mut magic).ok()?;
    let (version, who) = (wire::get_u32(&mut line).ok()?, wire::get_u32(&mut line).ok()?);
    line.set_read_timeout(None).ok()?;
    if magic == MAGIC && version == VERSION as usize {
        return Some(who);
    }
    // it reads our version and reports it
    let _ = line.write_all(&[&MAGIC[..], &VERSION.to_le_bytes(), &0_u64.to_le_bytes()].concat());
    None
}

/// Receives a producer's pieces until it ends.
fn serve(registration: &mut Registration, mut line: &UnixStream, inside: &Inside) -> Result<()> {
    let said = |e: std::io::Error| {
        if wire::is_gone(&e) {
            Error::new(ErrorKind::Io, "its process ended or closed the connection without finishing")
        } else {
            Error::io("its connection failed without finishing", e)
        }
    };
    let schema = registration.merger.0.schema.clone();
    let bytes = wire::of_schema(&schema).map_err(said)?;
    let head = [&MAGIC[..], &VERSION.to_le_bytes(), &(bytes.len() as u64).to_le_bytes()].concat();
    line.write_all(&head).and_then(|()| line.write_all(&bytes)).map_err(said)?;
    wire::put_u64(&mut line, registration.merger.share() as u64).map_err(said)?;
    let mut from = BufReader::with_capacity(BUFFER, line);
    loop {
        let kind = wire::get_u8(&mut from).map_err(said)?;
        let done = match kind {
            PIECE => {
                let mut room = inside.room();
                line.set_read_timeout(Some(STALLED)).map_err(said)?;
                let taken = match &mut room.gathered {
                    Some(gathered) => wire::get_piece(&mut from, gathered).and_then(|()| registration.give(gathered)),
                    None => Ok(()),
                };
                line.set_read_timeout(None).map_err(said)?;
                taken
            }
            END => Ok(()),
            _ => Err(Error::corrupt("it sent something other than entries")),
        };
        if let Err(e) = done {
            let _ = line.write_all(&[BAD]).and_then(|()| wire::put_text(&mut line, &e.to_string()));
            return Err(e);
        }
        line.write_all(&[GOOD]).map_err(said)?;
        wire::put_u64(&mut line, registration.merger.share() as u64).map_err(said)?;
        if kind == END {
            return Ok(());
        }
    }
}

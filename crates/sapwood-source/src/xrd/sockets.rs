//! A session's sockets: bytes in, bytes out, TLS where it is wanted.

use super::failure::Broken;
use super::state::Core;
use crate::dial;
use crate::lock;
use crate::tcp_info::TcpInfo;
use bytes::BytesMut;
use sapwood_span::defect::{caught_async, inject};
use sapwood_span::{Error, ErrorKind, Result};
use sapwood_xrd::LinkId;
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

/// Bytes read from a socket in one call at most.
const READ: usize = 256 << 10;

/// Address and TLS settings.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub host: String,
    pub port: u16,
    pub tls: Option<Arc<ClientConfig>>,
    /// Which of the host's addresses has answered: data links must go to the same machine.
    pub address: Option<IpAddr>,
}

/// Opens the connection of a data link and runs it.
pub(super) async fn data_link(core: Weak<Core>, link: LinkId, way: Endpoint, time_limit: Duration) {
    let host = way.address.map_or_else(|| way.host.clone(), |ip| ip.to_string());
    match timeout(time_limit, dial::tcp(&host, way.port)).await {
        Ok(Ok((stream, _))) => {
            let eager = way.tls.is_none();
            run(core, link, stream, way, eager).await;
        }
        _ => {
            if let Some(core) = core.upgrade() {
                lock(&core.state).session.lost(link);
            }
        }
    }
}

/// Runs a link over this connection until it breaks.
pub(super) async fn run(core: Weak<Core>, link: LinkId, stream: TcpStream, way: Endpoint, eager: bool) {
    let result = caught_async(speak(&core, link, stream, way, eager)).await;
    if let (Some(core), Err(error)) = (core.upgrade(), result) {
        let mut state = lock(&core.state);
        let defect = error.kind() == ErrorKind::Defect;
        if link == 0 || defect {
            let denied = error.kind() == ErrorKind::Denied;
            let broken = Broken::new(error);
            core.die(&mut state, if denied || defect { broken.finally() } else { broken });
        } else {
            state.session.lost(link);
            drop(state);
            core.received(link, bytes::Bytes::new());
        }
    }
}

async fn speak(core: &Weak<Core>, link: LinkId, mut stream: TcpStream, way: Endpoint, eager: bool) -> Result<()> {
    inject::here("xrd link");
    // An eager link sends everything at once and cannot start TLS any more.
    let greeted = if eager { Ok(false) } else { greet(core, link, &mut stream).await };
    if let (false, 0, Some(core)) = (eager, link, core.upgrade()) {
        lock(&core.state).turns += 1;
    }
    let gauge = TcpInfo::of(&stream);
    match greeted {
        Ok(false) => pump(core, link, stream, gauge).await,
        Ok(true) => match way.tls.clone() {
            Some(config) => match dial::secure(config, stream, &way.host, way.port).await {
                Ok(stream) => {
                    if let Some(core) = core.upgrade() {
                        let mut state = lock(&core.state);
                        state.session.secured(link);
                        core.wake(&state);
                    }
                    pump(core, link, stream, gauge).await
                }
                Err(error) => Err(error),
            },
            None => Err(Error::new(ErrorKind::Denied, "the server requires TLS").with_remedy("use roots://")),
        },
        Err(error) => Err(error),
    }
}

/// Runs the protocol until the server has answered the greeting; returns whether TLS starts now.
async fn greet(core: &Weak<Core>, link: LinkId, stream: &mut TcpStream) -> Result<bool> {
    let mut buffer = BytesMut::with_capacity(4096);
    loop {
        let output = core.upgrade().and_then(|core| lock(&core.state).session.output(link));
        if let Some(bytes) = output {
            stream.write_all(&bytes).await.map_err(torn)?;
        }
        {
            let Some(core) = core.upgrade() else { return Ok(false) };
            let state = lock(&core.state);
            if state.dead.is_some() {
                return Ok(false);
            }
            if !state.session.is_greeting(link) {
                return Ok(state.session.wants_tls(link));
            }
        }
        if stream.read_buf(&mut buffer).await.map_err(torn)? == 0 {
            return Err(closed());
        }
        if let Some(core) = core.upgrade() {
            core.received(link, buffer.split().freeze());
        }
    }
}

async fn pump<S: AsyncRead + AsyncWrite + Send + 'static>(
    core: &Weak<Core>,
    link: LinkId,
    stream: S,
    gauge: Option<TcpInfo>,
) -> Result<()> {
    let (reader, writer) = split(stream);
    tokio::select! {
        ended = read(core, link, reader, gauge) => ended,
        ended = write(core, link, writer) => ended,
    }
}

async fn read<S: AsyncRead>(
    core: &Weak<Core>,
    link: LinkId,
    mut reader: ReadHalf<S>,
    mut gauge: Option<TcpInfo>,
) -> Result<()> {
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(READ / 4);
        let most = buffer.capacity().min(READ);
        let read = (&mut reader).take(most as u64).read_buf(&mut buffer).await.map_err(torn)?;
        if read == 0 {
            return Err(closed());
        }
        match core.upgrade() {
            Some(core) => {
                core.received(link, buffer.split().freeze());
                if let Some(gauge) = &mut gauge {
                    gauge.tell(&core.meter);
                }
            }
            None => return Ok(()),
        }
    }
}

async fn write<S: AsyncWrite>(core: &Weak<Core>, link: LinkId, mut writer: WriteHalf<S>) -> Result<()> {
    loop {
        let Some((output, wake)) = core.upgrade().and_then(|core| {
            let mut state = lock(&core.state);
            let wake = state.links.get(link).map(|l| Arc::clone(&l.wake))?;
            Some((state.session.output(link), wake))
        }) else {
            return Ok(());
        };
        match output {
            Some(bytes) => {
                writer.write_all(&bytes).await.map_err(torn)?;
                writer.flush().await.map_err(torn)?;
                if let (0, Some(core)) = (link, core.upgrade()) {
                    core.sent.fetch_add(bytes.len() as u64, Relaxed);
                }
            }
            None => wake.notified().await,
        }
    }
}

fn torn(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "the connection broke").with_source(error)
}

fn closed() -> Error {
    Error::new(ErrorKind::Io, "the server closed the connection")
}

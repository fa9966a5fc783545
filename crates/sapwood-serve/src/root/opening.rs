//! The start of a connection: the greeting, and TLS where the client wants it.

use crate::connections::Watched;
use crate::shared::Shared;
use crate::tls::Stream;
use bytes::BytesMut;
use sapwood_xrd::code::{self, client, server, status};
use sapwood_xrd::frame::encode_reply;
use sapwood_xrd::reply::Protocol;
use sapwood_xrd::{Arrived, Inbound, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// Bytes received at a time.
const RECEIVE: usize = 16 << 10;

/// A connection whose client has sent a message beyond greeting and protocol requests.
pub(super) struct Opened {
    pub stream: Stream,
    pub inbound: Inbound,
    /// That message.
    pub first: Arrived,
}

/// Answers the greeting and protocol requests; starts TLS where the client wants it and a certificate is given. None
/// where the client has gone, or its input makes no sense.
pub(super) async fn open(mut stream: Watched, shared: &Shared) -> Option<Opened> {
    let mut inbound = Inbound::default();
    let mut secure = None;
    loop {
        let mut out = Vec::new();
        while let Some(arrived) = inbound.arrived().ok()? {
            match arrived {
                Arrived::Greeting => out.extend(Inbound::greeting_reply()),
                Arrived::Request(stream_id, Request::Protocol { flags, .. }) if secure.is_none() => {
                    let acceptor = shared.tls.as_ref().filter(|_| flags & client::WANT_TLS != 0);
                    encode_reply(stream_id, status::OK, &protocol(shared, acceptor.is_some()), &mut out);
                    if let Some(acceptor) = acceptor {
                        // Plain text after the request cannot be attributed to the peer that continues over TLS.
                        if !inbound.is_at_rest() {
                            return None;
                        }
                        secure = Some(acceptor);
                    }
                }
                first if secure.is_none() => {
                    stream.write_all(&out).await.ok()?;
                    return Some(Opened { stream: Stream::Plain(stream), inbound, first });
                }
                _ => return None,
            }
        }
        stream.write_all(&out).await.ok()?;
        if let Some(acceptor) = secure {
            return over_tls(acceptor.accept(stream).await.ok()?, inbound).await;
        }
        inbound.received(receive(&mut stream, shared).await?);
    }
}

/// Continues over TLS.
async fn over_tls(mut stream: Stream, mut inbound: Inbound) -> Option<Opened> {
    loop {
        if let Some(first) = inbound.arrived().ok()? {
            return Some(Opened { stream, inbound, first });
        }
        let mut buffer = BytesMut::with_capacity(RECEIVE);
        if stream.read_buf(&mut buffer).await.ok()? == 0 {
            return None;
        }
        inbound.received(buffer.freeze());
    }
}

async fn receive(stream: &mut Watched, shared: &Shared) -> Option<bytes::Bytes> {
    let mut buffer = BytesMut::with_capacity(RECEIVE);
    if stream.read_buf(&mut buffer).await.ok()? == 0 {
        return None;
    }
    shared.wan.round_trip(Instant::now()).await;
    Some(buffer.freeze())
}

/// The server's protocol reply; TLS starts after it if `upgrade` is set.
pub(super) fn protocol(shared: &Shared, upgrade: bool) -> Vec<u8> {
    let mut flags = server::DATA | server::PAGES;
    if shared.tls.is_some() {
        flags |= server::HAVE_TLS;
    }
    if upgrade {
        // Also on data links, or the session's secrets would be visible there.
        flags |= server::GOTO_TLS | server::TLS_DATA;
    }
    Protocol { version: code::VERSION, flags }.encode()
}

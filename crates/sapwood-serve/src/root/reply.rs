//! The answer to one request: its link, and its counters.

use super::link::{Gone, Link};
use crate::exchange::Exchange;
use bytes::Bytes;
use sapwood_xrd::code::status;
use sapwood_xrd::frame::reply_head;
use sapwood_xrd::reply::Failure;
use std::sync::Arc;

pub(super) struct Reply {
    pub link: Arc<Link>,
    pub stream: u16,
    /// None for requests that are not counted.
    pub exchange: Option<Exchange>,
}

impl Reply {
    /// The last frame, without data.
    pub(super) async fn done(&mut self) -> Result<(), Gone> {
        self.link.done(self.stream).await
    }

    /// A frame of data.
    pub(super) async fn data(&mut self, status: u16, bytes: Bytes) -> Result<(), Gone> {
        let head = reply_head(self.stream, status, bytes.len() as u32);
        self.frame(&head, &[bytes]).await
    }

    /// A frame: its head, and its data.
    pub(super) async fn frame(&mut self, head: &[u8], data: &[Bytes]) -> Result<(), Gone> {
        self.link.send(head, data).await?;
        self.sent(data.iter().map(|bytes| bytes.len() as u64).sum());
        Ok(())
    }

    /// The last frame, with the reason for the failure.
    pub(super) async fn fail(&mut self, failure: &Failure) -> Result<(), Gone> {
        self.status(failure);
        self.link.fail(self.stream, failure).await
    }

    /// The last frame.
    pub(super) async fn ok(&mut self, body: &[u8]) -> Result<(), Gone> {
        self.link.reply(self.stream, status::OK, body).await?;
        self.sent(body.len() as u64);
        Ok(())
    }

    pub(super) fn sent(&mut self, bytes: u64) {
        if let Some(exchange) = &mut self.exchange {
            exchange.sent(bytes);
        }
    }

    pub(super) fn status(&mut self, failure: &Failure) {
        if let Some(exchange) = &mut self.exchange {
            exchange.status(u16::try_from(failure.number).unwrap_or(u16::MAX));
        }
    }
}

//! One connection of a session.

use crate::frame::ReplyDecoder;

/// One connection of a session: 0 is the control link, the others carry data.
pub type LinkId = usize;

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Greeting and protocol request are sent.
    Greeting,
    /// The driver must start TLS.
    Tls,
    /// Login or bind is sent.
    Entering,
    /// A credential is sent.
    Auth,
    /// It can be used.
    Ready,
    /// It is gone.
    Lost,
}

#[derive(Debug)]
pub(super) struct Link {
    pub phase: Phase,
    pub tls: bool,
    /// The answer to the greeting has arrived.
    pub greeted: bool,
    pub decoder: ReplyDecoder,
    /// Bytes to be sent.
    pub output: Vec<u8>,
    /// The received part of a small reply's body.
    pub body: Vec<u8>,
    /// The server's number for a data link.
    pub path_id: u8,
    /// Bytes requested that will come over it.
    pub load: u64,
    /// Grows with each byte of an answer to its requests, and with each answer's end.
    pub progress: u64,
}

impl Link {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Greeting,
            tls: false,
            greeted: false,
            decoder: ReplyDecoder::default(),
            output: Vec::new(),
            body: Vec::new(),
            path_id: 0,
            load: 0,
            progress: 0,
        }
    }
}

//! One connection of a session.

use crate::frame::ReplyDecoder;

/// One connection of a session: 0 is the control link, the others carry data.
pub type LinkId = usize;

/// What a link is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Greeting and protocol request are out.
    Greeting,
    /// The driver is to begin TLS.
    Tls,
    /// Login or bind is out.
    Entering,
    /// A credential is out.
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
    /// The answer to the greeting is here.
    pub greeted: bool,
    pub decoder: ReplyDecoder,
    /// Bytes to be sent.
    pub output: Vec<u8>,
    /// A small reply's body as far as it is here.
    pub body: Vec<u8>,
    /// The server's name of a data link.
    pub path_id: u8,
    /// Bytes asked for that are to come over it.
    pub load: u64,
    /// Grows with each byte of an answer that came of its requests, and with each answer's end.
    pub progress: u64,
}

impl Link {
    pub fn new() -> Self {
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

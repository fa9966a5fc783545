//! The open files of sessions, and how links find their session.

use super::link::Link;
use crate::client_request::ServedPath;
use crate::connections::FilePlace;
use crate::files::OpenFile;
use sapwood_span::sync::lock;
use sapwood_xrd::Handle;
use sapwood_xrd::answer::DATA_LINKS;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;

pub(super) type SessionId = [u8; 16];

/// All sessions of a server.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<SessionId, Weak<Session>>>);

/// One login.
pub(crate) struct Session {
    pub id: SessionId,
    /// It uses TLS.
    pub is_secure: bool,
    address: IpAddr,
    /// Another connection wants the session to end.
    pub end: Notify,
    /// Data links, by their number less one.
    links: Mutex<Vec<Weak<Link>>>,
}

impl Sessions {
    /// Starts one. Its name is random: a client that knows it may bind links to it.
    pub(super) fn begin(&self, address: IpAddr, is_secure: bool) -> Arc<Session> {
        let words = [RandomState::new().hash_one(0), RandomState::new().hash_one(1)].map(u64::to_ne_bytes);
        let mut id = [0; 16];
        id.copy_from_slice(words.as_flattened());
        let session = Arc::new(Session { id, is_secure, address, end: Notify::new(), links: Mutex::default() });
        let mut all = lock(&self.0);
        all.retain(|_, s| s.strong_count() > 0);
        all.insert(id, Arc::downgrade(&session));
        session
    }

    /// The session of this name, if it was begun from this address.
    pub(super) fn find(&self, id: &SessionId, address: IpAddr) -> Option<Arc<Session>> {
        let all = lock(&self.0);
        all.get(id)?.upgrade().filter(|s| s.address == address)
    }
}

impl Session {
    /// Adds a data link; returns its number, or none where there are too many.
    pub(super) fn bind(&self, link: &Arc<Link>) -> Option<u8> {
        let mut links = lock(&self.links);
        let free = links.iter().position(|l| l.strong_count() == 0);
        let at = free.unwrap_or(links.len());
        if at >= DATA_LINKS {
            return None;
        }
        match links.get_mut(at) {
            Some(place) => *place = Arc::downgrade(link),
            None => links.push(Arc::downgrade(link)),
        }
        u8::try_from(at + 1).ok()
    }

    /// The data link of this number.
    pub(super) fn link(&self, number: u8) -> Option<Arc<Link>> {
        let links = lock(&self.links);
        links.get(usize::from(number).checked_sub(1)?)?.upgrade()
    }

    /// All data links.
    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        let links = lock(&self.links);
        links.iter().filter_map(Weak::upgrade).collect()
    }
}

/// A file that a session has opened.
pub(super) struct Opened {
    pub path: ServedPath,
    pub file: Arc<dyn OpenFile>,
    _place: FilePlace,
}

/// A session's open files, by number. The lowest free one is taken: the first file of a session is 0.
#[derive(Default)]
pub(super) struct Handles(Vec<Option<Opened>>);

impl Handles {
    pub(super) fn open(&mut self, path: ServedPath, file: Arc<dyn OpenFile>, place: FilePlace) -> Handle {
        let opened = Some(Opened { path, file, _place: place });
        let free = self.0.iter().position(Option::is_none);
        let at = free.unwrap_or(self.0.len());
        match self.0.get_mut(at) {
            Some(slot) => *slot = opened,
            None => self.0.push(opened),
        }
        (at as u32).to_le_bytes()
    }

    pub(super) fn get(&self, handle: &Handle) -> Option<&Opened> {
        self.0.get(u32::from_le_bytes(*handle) as usize)?.as_ref()
    }

    /// Whether it was open.
    pub(super) fn close(&mut self, handle: &Handle) -> bool {
        self.0.get_mut(u32::from_le_bytes(*handle) as usize).is_some_and(|slot| slot.take().is_some())
    }
}

//! Matches answers to their requests.

use super::link::LinkId;
use super::pending_request::{Answer, Id, Owner, PendingRequest};
use super::{Event, Outcome, Session};
use crate::code::{action, status};
use crate::cursor::Cursor;
use crate::frame::{InvalidMessage, Part, REPLY_HEADER};
use crate::reply::{self, Failure, Open, Redirect};
use bytes::Bytes;
use std::time::Duration;

/// Replies that are not data, in bytes at most.
const MESSAGE: u32 = 64 << 10;
/// A late answer is wrapped whole into a message; servers divide longer ones into several.
const LATE: u32 = 16 << 20;
/// The bytes before a late answer in its message: the kind of message, four reserved bytes, the answer's own header.
const LATE_HEADER: usize = 8 + REPLY_HEADER;
/// Messages that answer nothing, in one session at most: servers rarely send unsolicited ones.
const MOST_UNSOLICITED: u32 = 256;
/// A request that is made to wait again is sent no earlier than this.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

impl Session {
    pub(super) fn part(&mut self, link: LinkId, part: Part, now: Duration) -> Result<(), InvalidMessage> {
        let greeted = self.links.get(link).is_some_and(|l| l.greeted);
        match part {
            Part::Reply { stream, status, len, bytes, .. } if !greeted => {
                if stream != 0 {
                    return Err(InvalidMessage("the response is not XRootD"));
                }
                self.greeted(link, status, len, &bytes)
            }
            Part::Reply { stream, status: s @ (status::OK | status::OKSOFAR), len, at, bytes } => {
                self.take_body(stream, s == status::OK, len, at, bytes)
            }
            Part::Reply { stream, status, len, at, bytes } => {
                let most = if status == status::ATTN { LATE } else { MESSAGE };
                if len > most {
                    return Err(InvalidMessage("a message is too long"));
                }
                let Some(here) = self.links.get_mut(link) else { return Ok(()) };
                here.body.extend_from_slice(&bytes);
                if status == status::ATTN {
                    self.check_message(link, len, bytes.len())?;
                }
                let Some(here) = self.links.get_mut(link) else { return Ok(()) };
                if at as usize + bytes.len() < len as usize {
                    return Ok(());
                }
                let body = std::mem::take(&mut here.body);
                self.message(stream, status, body.into(), now)
            }
            Part::Status(head) => {
                let asked = self.asked(head.stream)?;
                asked.answer.status(&head)?;
                asked.answer_is_final = head.kind == 0;
                if head.len == 0 && head.kind == 0 {
                    self.complete(head.stream)?;
                }
                Ok(())
            }
            Part::Data { stream, left, bytes } => {
                let asked = self.asked(stream)?;
                let mut out = Vec::new();
                asked.answer.data(&bytes, left == 0, &mut out)?;
                let complete = left == 0 && asked.answer_is_final;
                let over = asked.link;
                self.advance(over, bytes.len() as u64);
                self.hand_over(stream, out);
                if complete { self.complete(stream) } else { Ok(()) }
            }
        }
    }

    /// A part of an answer; `last` marks the last frame.
    fn take_body(&mut self, stream: u16, last: bool, len: u32, at: u32, bytes: Bytes) -> Result<(), InvalidMessage> {
        let end = at as usize + bytes.len() == len as usize;
        let asked = self.asked(stream)?;
        if u64::from(len - at) > asked.answer.left() {
            return Err(InvalidMessage("a reply is longer than requested"));
        }
        let (mut out, came) = (Vec::new(), bytes.len() as u64);
        asked.answer.push(bytes, &mut out)?;
        let over = asked.link;
        if asked.answer.is_long() {
            if came > 0 && matches!(asked.answer, Answer::Body { .. }) {
                // It is kept until it is complete; the progress is reported.
                out.push((0, Bytes::new()));
            }
            self.advance(over, came);
        }
        self.hand_over(stream, out);
        if end && last { self.complete(stream) } else { Ok(()) }
    }

    /// Bytes of the file have arrived: passes them on if the handle they were read by is confirmed.
    fn hand_over(&mut self, stream: u16, pieces: Vec<(u64, Bytes)>) {
        let Some(asked) = self.asked.get_mut(&stream) else { return };
        if asked.guessed.is_some() && !asked.mute {
            asked.mute = true;
            if let Owner::Caller(id) = asked.owner {
                self.events.push_back(Event::Done(id, Outcome::Unread));
            }
            return;
        }
        if let (Owner::Caller(id), false) = (asked.owner, asked.mute) {
            self.events.extend(pieces.into_iter().map(|(offset, bytes)| Event::Bytes(id, offset, bytes)));
        }
    }

    /// An answer is complete.
    fn complete(&mut self, stream: u16) -> Result<(), InvalidMessage> {
        let Some(mut asked) = self.remove(stream) else { return Ok(()) };
        self.advance(asked.link, 1);
        let damaged = asked.answer.damaged();
        let body = match &mut asked.answer {
            Answer::Body { kept, .. } => Bytes::from(std::mem::take(kept)),
            _ => Bytes::new(),
        };
        let outcome = if damaged > 0 { Outcome::Damaged(damaged) } else { Outcome::Ok(body) };
        self.settle(asked, outcome)
    }

    /// The outcome of a request is known.
    fn settle(&mut self, asked: PendingRequest, outcome: Outcome) -> Result<(), InvalidMessage> {
        match asked.owner {
            Owner::Setup(step) => self.set_up(asked.link, step, outcome),
            Owner::Caller(id) => {
                if let Some(guess) = asked.guess {
                    self.opened(id, guess, &outcome)?;
                }
                let outcome = if asked.guessed.is_some() { Outcome::Unread } else { outcome };
                self.done(&asked, outcome);
                Ok(())
            }
        }
    }

    /// An open is answered: reads by its guessed handle are valid, or void.
    fn opened(&mut self, open: Id, guess: u32, outcome: &Outcome) -> Result<(), InvalidMessage> {
        self.handles.remove(&guess);
        let mut right = false;
        if let Outcome::Ok(body) = outcome {
            let handle = u32::from_le_bytes(Open::parse(body)?.handle);
            self.handles.insert(handle);
            right = handle == guess;
        }
        self.confirm(open, right);
        Ok(())
    }

    fn confirm(&mut self, open: Id, right: bool) {
        for asked in self.asked.values_mut().filter(|a| a.guessed == Some(open)) {
            if right {
                asked.guessed = None;
            } else if !asked.mute {
                asked.mute = true;
                if let Owner::Caller(id) = asked.owner {
                    self.events.push_back(Event::Done(id, Outcome::Unread));
                }
            }
        }
    }

    /// A whole reply without file data.
    fn message(&mut self, stream: u16, status: u16, body: Bytes, now: Duration) -> Result<(), InvalidMessage> {
        if status == status::ATTN {
            return self.attention(&body, now);
        }
        let asked = self.asked(stream)?;
        match status {
            status::WAIT | status::WAITRESP => {
                let (mut seconds, why) = reply::wait(&body)?;
                if status == status::WAIT {
                    // A server that always answers "at once" is not asked as often as the path allows.
                    let shortest = if asked.delayed { SHORTEST_WAIT } else { Duration::ZERO };
                    asked.resend = Some(now.saturating_add(shortest.max(Duration::from_secs(u64::from(seconds)))));
                } else {
                    asked.late = true;
                    // an upper estimate of the time (ten minutes for a checksum): the answer may come at once
                    seconds = 0;
                }
                asked.delayed = true;
                let (owner, open) = (asked.owner, asked.guess.is_some());
                if let Owner::Caller(id) = owner {
                    if open {
                        self.confirm(id, false);
                    }
                    self.events.push_back(Event::Waiting(id, seconds, why));
                }
                return Ok(());
            }
            status::ERROR | status::REDIRECT | status::AUTHMORE => {}
            _ => return Err(InvalidMessage("a reply of an unknown kind")),
        }
        let Some(asked) = self.remove(stream) else { return Ok(()) };
        self.advance(asked.link, 1);
        let outcome = match status {
            status::ERROR => Outcome::Failed(Failure::parse(&body)?),
            status::REDIRECT => Outcome::Redirect(Redirect::parse(&body)?),
            _ => {
                let message = "the server requires a longer exchange than this client supports".to_owned();
                Outcome::Failed(Failure { number: crate::code::error::AUTH_FAILED, message })
            }
        };
        self.settle(asked, outcome)
    }

    /// Checks a message while it arrives; `new` bytes of it are the latest. Only the answer to a request may be long,
    /// and no longer than what was requested.
    fn check_message(&mut self, link: LinkId, len: u32, new: usize) -> Result<(), InvalidMessage> {
        let too_long = InvalidMessage("a message is too long");
        let Some(here) = self.links.get(link) else { return Ok(()) };
        let mut c = Cursor::new(&here.body);
        match c.u32() {
            Some(action::RESPONSE) => {}
            Some(_) if len > MESSAGE => return Err(too_long),
            _ => return Ok(()),
        }
        c.u32();
        let (Some(stream), Some(status), Some(_)) = (c.u16(), c.u16(), c.u32()) else { return Ok(()) };
        let here = here.body.len();
        let asked = self.asked(stream)?;
        let (over, left, is_long) = (asked.link, asked.answer.left(), asked.answer.is_long());
        let data = matches!(status, status::OK | status::OKSOFAR);
        let most = if data { left } else { u64::from(MESSAGE) };
        if u64::from(len) > most.saturating_add(LATE_HEADER as u64) {
            return Err(too_long);
        }
        if data && is_long {
            let brought = |len: usize| len.saturating_sub(LATE_HEADER) as u64;
            self.advance(over, brought(here) - brought(here.saturating_sub(new)));
        }
        Ok(())
    }

    /// An unsolicited message.
    fn attention(&mut self, body: &Bytes, now: Duration) -> Result<(), InvalidMessage> {
        let mut c = Cursor::new(body);
        match c.u32() {
            Some(action::RESPONSE) => {}
            Some(action::DISCONNECT | action::REDIRECT) => return Err(InvalidMessage("the server ends the session")),
            Some(_) => {
                self.unsolicited += 1;
                if self.unsolicited > MOST_UNSOLICITED {
                    return Err(InvalidMessage("the server keeps sending messages that belong to no request"));
                }
                return Ok(());
            }
            None => return Err(InvalidMessage("a message is truncated")),
        }
        c.u32();
        let header = (c.u16(), c.u16(), c.i32().and_then(|l| u32::try_from(l).ok()));
        let (Some(stream), Some(status), Some(len)) = header else {
            return Err(InvalidMessage("a deferred response is truncated"));
        };
        let bytes = body.get(LATE_HEADER..).map(|_| body.slice(LATE_HEADER..)).unwrap_or_default();
        if bytes.len() != len as usize {
            return Err(InvalidMessage("a deferred response does not have the length it states"));
        }
        if let Some(asked) = self.asked.get_mut(&stream) {
            asked.late = false;
        }
        match status {
            status::OK | status::OKSOFAR => self.take_body(stream, status == status::OK, len, 0, bytes),
            status::ATTN | status::STATUS => Err(InvalidMessage("a deferred response of an unknown kind")),
            _ => self.message(stream, status, bytes, now),
        }
    }
}

//! Greeting, protocol, TLS, login, authentication, data links.

use super::link::{Link, LinkId, Phase};
use super::pending_request::{Answer, Owner, PendingRequest, Step};
use super::{Event, Outcome, Pipelining, Refusal, Session};
use crate::auth::offers;
use crate::code::{client, server};
use crate::frame::InvalidMessage;
use crate::reply::{Failure, Login, Protocol};
use crate::request::{Request, SecretBytes, greeting};
use bytes::Bytes;

impl Session {
    pub(super) fn begin_control(&mut self) {
        self.begin_link(client::EXPECT_LOGIN, self.options.tls);
        if self.options.eager == Pipelining::WithHandshake && !self.options.tls {
            self.log_in();
        }
    }

    /// Starts another connection of this session, for data; nothing before the login is complete. When the link is
    /// ready, reads may name it.
    pub fn bind(&mut self) -> Option<LinkId> {
        self.session?;
        let tls = self.links.first().is_some_and(|l| l.tls);
        let link = self.begin_link(client::EXPECT_BIND, tls);
        if !tls {
            self.enter_data(link);
        }
        Some(link)
    }

    fn begin_link(&mut self, expect: u8, tls: bool) -> LinkId {
        let link = self.links.len();
        let mut new = Link::new();
        new.output.extend(greeting());
        self.links.push(new);
        let flags = client::ABLE_TLS | if tls { client::WANT_TLS } else { 0 };
        self.setup(link, Step::Protocol, &Request::Protocol { flags, expect });
        link
    }

    fn setup(&mut self, link: LinkId, step: Step, request: &Request) {
        let stream = self.free_stream();
        let mut encoded = Vec::new();
        request.encode(stream, &mut encoded);
        if let Some(link) = self.links.get_mut(link) {
            link.output.extend(&encoded);
        }
        let asked = PendingRequest {
            owner: Owner::Setup(step),
            link,
            encoded,
            answer: Answer::to(request),
            resend: None,
            delayed: false,
            late: false,
            answer_is_final: false,
            mute: false,
            guessed: None,
            guess: None,
            load: 0,
        };
        self.asked.insert(stream, asked);
    }

    /// TLS is established on this link.
    pub fn secured(&mut self, link: LinkId) {
        let Some(here) = self.links.get_mut(link).filter(|l| l.phase == Phase::Tls) else { return };
        here.tls = true;
        self.enter(link);
    }

    /// The greeting is answered, and TLS is established where wanted: logs in or binds.
    fn enter(&mut self, link: LinkId) {
        if link > 0 {
            return self.enter_data(link);
        }
        self.log_in();
        if self.may_send() {
            self.send_held();
        }
    }

    fn log_in(&mut self) {
        self.set_phase(0, Phase::Entering);
        let o = &self.options;
        let login = Request::Login { pid: o.pid, user: o.identity.user.clone(), token: o.login_token.clone() };
        self.setup(0, Step::Login, &login);
        let tls = self.links.first().is_some_and(|l| l.tls);
        let guess = self.options.guess.clone().filter(|_| self.options.eager != Pipelining::None);
        if let Some(credential) = guess.and_then(|name| self.options.identity.credential(&name, tls)) {
            self.auth = self.options.guess.clone();
            self.setup(0, Step::Auth(true), &Request::Auth(credential));
        }
    }

    fn enter_data(&mut self, link: LinkId) {
        self.set_phase(link, Phase::Entering);
        if let Some(session) = self.session {
            self.setup(link, Step::Bind, &Request::Bind { session });
        }
    }

    fn set_phase(&mut self, link: LinkId, phase: Phase) {
        if let Some(link) = self.links.get_mut(link) {
            link.phase = phase;
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.events.push_back(Event::Refused(refusal));
    }

    /// A setup step is answered.
    pub(super) fn set_up(&mut self, link: LinkId, step: Step, outcome: Outcome) -> Result<(), InvalidMessage> {
        match (step, outcome) {
            (Step::Protocol, Outcome::Ok(body)) => self.protocol(link, Protocol::parse(&body)?),
            (Step::Login, Outcome::Ok(body)) => self.logged_in(Login::parse(&body)?),
            (Step::Auth(_), Outcome::Ok(_)) => self.ready(),
            // Sent on a guess, and not wanted: the login's answer, which came first, has decided.
            (Step::Auth(true), Outcome::Failed(failure)) => {
                if self.phase() == Phase::Auth {
                    self.refused = Some(failure);
                    self.next_offer(true);
                }
            }
            (Step::Auth(false), Outcome::Failed(failure)) => {
                self.refused = Some(failure);
                self.next_offer(false);
            }
            (Step::Bind, Outcome::Ok(body)) => match body.first() {
                Some(&path_id) if path_id > 0 => {
                    if let Some(here) = self.links.get_mut(link) {
                        (here.phase, here.path_id) = (Phase::Ready, path_id);
                    }
                    self.events.push_back(Event::Ready(link, None));
                }
                _ => return Err(InvalidMessage("a data link was bound without a number")),
            },
            (_, Outcome::Failed(failure)) => {
                self.set_phase(link, Phase::Lost);
                self.refuse(Refusal::Failed(link, failure));
            }
            (_, Outcome::Redirect(to)) if link == 0 => self.refuse(Refusal::Redirect(to)),
            _ => return Err(InvalidMessage("the setup response is invalid")),
        }
        Ok(())
    }

    fn phase(&self) -> Phase {
        self.links.first().map_or(Phase::Lost, |l| l.phase)
    }

    fn protocol(&mut self, link: LinkId, reply: Protocol) {
        if link == 0 {
            self.flags = reply.flags;
        }
        let upgrade = reply.flags & server::GOTO_TLS != 0;
        if link == 0 && !upgrade && !self.options.tls && reply.flags & server::TLS_SESSION != 0 {
            // It would start TLS after the login; starting it before protects the login as well.
            return self.refuse(Refusal::TlsWanted);
        }
        let entered = self.links.get(link).is_some_and(|l| l.phase != Phase::Greeting);
        let wanted = if link == 0 { self.options.tls } else { self.links.first().is_some_and(|l| l.tls) };
        match (upgrade, entered) {
            (true, true) if link == 0 => self.refuse(Refusal::TlsWanted),
            (true, true) => {
                self.set_phase(link, Phase::Lost);
                let message = "the server requires TLS on data links only".to_owned();
                self.refuse(Refusal::Failed(link, Failure { number: crate::code::error::TLS_REQUIRED, message }));
            }
            (true, false) => {
                self.set_phase(link, Phase::Tls);
                self.events.push_back(Event::StartTls(link));
            }
            (false, _) if wanted => self.refuse(Refusal::NoTls),
            (false, false) => self.enter(link),
            (false, true) => {}
        }
    }

    fn logged_in(&mut self, login: Login) {
        self.session = Some(login.session);
        self.offers = offers(&login.security).into_iter().map(|o| o.name).collect();
        self.offered = self.offers.iter().cloned().collect();
        if self.offers.is_empty() {
            self.auth = None;
            return self.ready();
        }
        self.set_phase(0, Phase::Auth);
        // The answer to an offered guess comes next.
        let waits = self.asked.values().any(|a| a.owner == Owner::Setup(Step::Auth(true)));
        if let Some(guess) = self.auth.clone().filter(|guess| waits && self.offers.contains(guess)) {
            self.offers.retain(|o| *o != guess);
            return;
        }
        self.next_offer(waits || self.sent_early());
    }

    /// Whether requests were sent before the login was complete: a server that requires authentication first resets the
    /// connection then.
    fn sent_early(&self) -> bool {
        self.options.eager != Pipelining::None
            && self.asked.iter().any(|(s, a)| matches!(a.owner, Owner::Caller(_)) && !self.held.contains(s))
    }

    /// Tries the next authentication method that the server offers and this client supports.
    fn next_offer(&mut self, early: bool) {
        let tls = self.links.first().is_some_and(|l| l.tls);
        while let Some(name) = self.offers.pop_front() {
            let Some(credential) = self.options.identity.credential(&name, tls) else { continue };
            if early {
                return self.refuse(Refusal::PipeliningRefused);
            }
            self.auth = Some(name);
            self.set_phase(0, Phase::Auth);
            return self.setup(0, Step::Auth(false), &Request::Auth(SecretBytes(credential.0)));
        }
        let (offered, said) = (self.offered.clone(), self.refused.take());
        self.refuse(Refusal::Auth { offered, said });
    }

    fn ready(&mut self) {
        if self.phase() == Phase::Ready {
            return;
        }
        self.set_phase(0, Phase::Ready);
        self.events.push_back(Event::Ready(0, self.auth.clone()));
        self.send_held();
    }

    /// The answer to a greeting: eight bytes that hold nothing beyond the protocol reply.
    pub(super) fn greeted(&mut self, link: LinkId, status: u16, len: u32, bytes: &Bytes) -> Result<(), InvalidMessage> {
        let here = self.links.get_mut(link).ok_or(InvalidMessage("a reply on no link"))?;
        here.body.extend_from_slice(bytes);
        if status != 0 || len != 8 {
            return Err(InvalidMessage("the response is not XRootD"));
        }
        if here.body.len() == 8 {
            here.body.clear();
            here.greeted = true;
            here.progress += 1;
        }
        Ok(())
    }
}

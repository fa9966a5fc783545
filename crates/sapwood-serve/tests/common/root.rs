//! A client that writes raw messages of the XRootD protocol.
#![allow(dead_code)] // each test file uses its own share

use sapwood_serve::OriginHandle;
use sapwood_xrd::code::status;
use sapwood_xrd::reply::{Login, Open};
use sapwood_xrd::{Handle, Request, greeting};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No test waits longer for bytes: far beyond what the options here allow.
const NEVER: Duration = Duration::from_secs(30);

/// One connection to a server.
pub struct RootClient {
    pub stream: TcpStream,
    pub session: [u8; 16],
}

/// A frame of an answer.
#[derive(Debug)]
pub struct Frame {
    pub stream: u16,
    pub status: u16,
    pub body: Vec<u8>,
}

impl RootClient {
    /// A new connection, before the greeting.
    pub fn connect(server: &OriginHandle) -> Self {
        Self::at(server.root_addr().unwrap())
    }

    pub fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        Self { stream, session: [0; 16] }
    }

    /// One after the greeting was answered.
    pub fn greeted(server: &OriginHandle) -> Self {
        Self::greeted_at(server.root_addr().unwrap())
    }

    pub fn greeted_at(address: SocketAddr) -> Self {
        let mut client = Self::at(address);
        client.stream.write_all(&greeting()).unwrap();
        let hello = client.frame().unwrap();
        assert_eq!((hello.stream, hello.status, hello.body.len()), (0, 0, 8));
        client
    }

    pub fn login(server: &OriginHandle) -> Self {
        Self::login_at(server.root_addr().unwrap())
    }

    pub fn login_at(address: SocketAddr) -> Self {
        let mut client = Self::greeted_at(address);
        let login = Request::Login { pid: 1, user: "me".into(), token: "".into() };
        client.session = Login::parse(&client.ask(&login).unwrap()).unwrap().session;
        client
    }

    pub fn say(&mut self, stream: u16, request: &Request) {
        let mut bytes = Vec::new();
        request.encode(stream, &mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    /// The next frame; the data of a page read follow its head.
    pub fn frame(&mut self) -> io::Result<Frame> {
        let mut head = [0; 8];
        self.stream.read_exact(&mut head)?;
        let [a, b, c, d, len @ ..] = head;
        let mut body = vec![0; u32::from_be_bytes(len) as usize];
        self.stream.read_exact(&mut body)?;
        let status = u16::from_be_bytes([c, d]);
        if status == status::STATUS {
            let more = u32::from_be_bytes(body[12..16].try_into().unwrap()) as usize;
            let at = body.len();
            body.resize(at + more, 0);
            self.stream.read_exact(&mut body[at..])?;
        }
        Ok(Frame { stream: u16::from_be_bytes([a, b]), status, body })
    }

    /// All of an answer's body, or the number of the error.
    pub fn answer(&mut self) -> io::Result<Result<Vec<u8>, u32>> {
        let mut whole = Vec::new();
        loop {
            let frame = self.frame()?;
            match frame.status {
                status::OK | status::OKSOFAR => whole.extend(frame.body),
                status::ERROR => return Ok(Err(u32::from_be_bytes(frame.body[..4].try_into().unwrap()))),
                other => panic!("{other}"),
            }
            if frame.status == status::OK {
                return Ok(Ok(whole));
            }
        }
    }

    pub fn ask(&mut self, request: &Request) -> Result<Vec<u8>, u32> {
        self.say(7, request);
        self.answer().expect("it answers")
    }

    pub fn open(&mut self, path: &str) -> Result<Handle, u32> {
        let body = self.ask(&Request::Open { path: path.into(), options: 0x410 })?;
        Ok(Open::parse(&body).unwrap().handle)
    }

    pub fn read(&mut self, handle: Handle, offset: u64, len: u32) -> Result<Vec<u8>, u32> {
        self.ask(&Request::Read { handle, offset, len, path_id: 0 })
    }

    /// Whether the server has closed it, waiting for that if necessary.
    pub fn is_closed(&mut self) -> bool {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(e) => return e.kind() != io::ErrorKind::WouldBlock,
            }
        }
    }
}

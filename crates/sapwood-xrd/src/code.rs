//! The protocol's numbers.

/// The port of the protocol.
pub const PORT: u16 = 1094;
/// The end of a client's first twenty bytes.
pub const ROOTD_PQ: u32 = 2012;
/// The protocol version that this client speaks: 5.2.0.
pub const VERSION: u32 = 0x0520;
/// The first request number: status frames count from here.
pub const FIRST_REQUEST: u16 = 3000;
/// Data of a page in page reads, in bytes.
pub const PAGE: u64 = 4096;

/// Requests.
#[allow(missing_docs)] // the protocol's own names
pub mod request {
    pub const AUTH: u16 = 3000;
    pub const QUERY: u16 = 3001;
    pub const CHMOD: u16 = 3002;
    pub const CLOSE: u16 = 3003;
    pub const DIRLIST: u16 = 3004;
    pub const PROTOCOL: u16 = 3006;
    pub const LOGIN: u16 = 3007;
    pub const MKDIR: u16 = 3008;
    pub const MV: u16 = 3009;
    pub const OPEN: u16 = 3010;
    pub const PING: u16 = 3011;
    pub const CHKPOINT: u16 = 3012;
    pub const READ: u16 = 3013;
    pub const RM: u16 = 3014;
    pub const RMDIR: u16 = 3015;
    pub const SYNC: u16 = 3016;
    pub const STAT: u16 = 3017;
    pub const SET: u16 = 3018;
    pub const WRITE: u16 = 3019;
    pub const ENDSESS: u16 = 3023;
    pub const BIND: u16 = 3024;
    pub const READV: u16 = 3025;
    pub const PGWRITE: u16 = 3026;
    pub const LOCATE: u16 = 3027;
    pub const TRUNCATE: u16 = 3028;
    pub const PGREAD: u16 = 3030;
    pub const WRITEV: u16 = 3031;
}

/// The status at the beginning of a reply.
#[allow(missing_docs)]
pub mod status {
    pub const OK: u16 = 0;
    pub const OKSOFAR: u16 = 4000;
    pub const ATTN: u16 = 4001;
    pub const AUTHMORE: u16 = 4002;
    pub const ERROR: u16 = 4003;
    pub const REDIRECT: u16 = 4004;
    pub const WAIT: u16 = 4005;
    pub const WAITRESP: u16 = 4006;
    pub const STATUS: u16 = 4007;
}

/// The subject of an unsolicited message.
#[allow(missing_docs)]
pub mod action {
    pub const DISCONNECT: u32 = 5001;
    pub const MESSAGE: u32 = 5002;
    pub const REDIRECT: u32 = 5003;
    pub const RESPONSE: u32 = 5008;
}

/// Error numbers.
#[allow(missing_docs)]
pub mod error {
    pub const ARG_INVALID: u32 = 3000;
    pub const ARG_TOO_LONG: u32 = 3002;
    pub const FILE_LOCKED: u32 = 3003;
    pub const FILE_NOT_OPEN: u32 = 3004;
    pub const FS_ERROR: u32 = 3005;
    pub const INVALID_REQUEST: u32 = 3006;
    pub const IO_ERROR: u32 = 3007;
    pub const NO_MEMORY: u32 = 3008;
    pub const NOT_AUTHORIZED: u32 = 3010;
    pub const NOT_FOUND: u32 = 3011;
    pub const SERVER_ERROR: u32 = 3012;
    pub const UNSUPPORTED: u32 = 3013;
    pub const NO_SERVER: u32 = 3014;
    pub const NOT_FILE: u32 = 3015;
    pub const IS_DIRECTORY: u32 = 3016;
    pub const CANCELLED: u32 = 3017;
    pub const CHECKSUM: u32 = 3019;
    pub const SIGNATURE: u32 = 3022;
    pub const OVERLOADED: u32 = 3024;
    pub const READ_ONLY: u32 = 3025;
    pub const TLS_REQUIRED: u32 = 3028;
    pub const NO_REPLICAS: u32 = 3029;
    pub const AUTH_FAILED: u32 = 3030;
    pub const TIMED_OUT: u32 = 3034;
}

/// A client's flags in a protocol request.
#[allow(missing_docs)]
pub mod client {
    pub const ABLE_TLS: u8 = 0x02;
    pub const WANT_TLS: u8 = 0x04;
    pub const EXPECT_BIND: u8 = 1;
    pub const EXPECT_LOGIN: u8 = 3;
    /// Ability: full URLs in redirects, several protocols, redirects on read, IPv6 beside IPv4.
    pub const ABILITY: u8 = 1 | 2 | 4 | 8;
    /// Version 5, and support for asynchronous answers.
    pub const CAPABILITY: u8 = 0x80 | 5;
}

/// A server's flags in its protocol reply.
#[allow(missing_docs)]
pub mod server {
    pub const DATA: u32 = 0x0000_0001;
    pub const MANAGER: u32 = 0x0000_0002;
    pub const PROXY: u32 = 0x0000_0200;
    pub const PAGES: u32 = 0x0020_0000;
    pub const HAVE_TLS: u32 = 0x8000_0000;
    pub const GOTO_TLS: u32 = 0x4000_0000;
    pub const TLS_DATA: u32 = 0x0100_0000;
    pub const TLS_LOGIN: u32 = 0x0400_0000;
    pub const TLS_SESSION: u32 = 0x0800_0000;
}

/// How a file is opened.
#[allow(missing_docs)]
pub mod open {
    pub const READ: u16 = 0x0010;
    pub const ASYNC: u16 = 0x0040;
    pub const REFRESH: u16 = 0x0080;
    pub const RETSTAT: u16 = 0x0400;
    /// Any of these changes a file: delete, new, update, append, write only.
    pub const WRITES: u16 = 0x0002 | 0x0008 | 0x0020 | 0x0200 | 0x8000;
}

/// Bits of a stat's flags.
#[allow(missing_docs)]
pub mod stat {
    pub const SEARCHABLE: u32 = 1;
    pub const IS_DIR: u32 = 2;
    pub const OTHER: u32 = 4;
    pub const OFFLINE: u32 = 8;
    pub const READABLE: u32 = 16;
}

/// A query for a file's checksum.
pub const QUERY_CHECKSUM: u16 = 3;
/// A query for the server's settings.
pub const QUERY_CONFIG: u16 = 7;
/// A stat request about the server's space, not about a path.
pub const STAT_SPACE: u8 = 1;
/// A listing with size and kind of every entry.
pub const DIRLIST_STAT: u8 = 2;
/// A listing with the checksum of every entry.
pub const DIRLIST_CHECKSUM: u8 = 4;

/// The protocol's own name of an error number.
pub fn error_name(number: u32) -> &'static str {
    const NAMES: [&str; 36] = [
        "invalid argument",
        "argument missing",
        "argument too long",
        "file locked",
        "file not open",
        "file system error",
        "invalid request",
        "I/O error",
        "no memory",
        "no space",
        "not authorized",
        "not found",
        "server error",
        "not supported",
        "no server",
        "not a file",
        "is a directory",
        "cancelled",
        "exists already",
        "checksum error",
        "in progress",
        "over quota",
        "signature error",
        "decryption error",
        "overloaded",
        "read-only file system",
        "bad payload",
        "attribute not found",
        "TLS required",
        "no replicas",
        "authentication failed",
        "impossible",
        "conflict",
        "too many errors",
        "request timed out",
        "timer expired",
    ];
    let index = number.checked_sub(3000).and_then(|n| usize::try_from(n).ok());
    index.and_then(|i| NAMES.get(i)).copied().unwrap_or("unknown error")
}

//! Names without a server, as some catalogues have them.

/// The environment variable with the server in front of names such as `/store/…`, which a catalogue gives.
pub const REDIRECTOR: &str = "SAPWOOD_REDIRECTOR";

/// Names as CMS's catalogue has them, without a server.
pub(crate) const LOGICAL: &str = "/store/";

/// `root://server/` and `/store/a`: an XRootD path has its own slash behind that of the server.
pub(crate) fn join(server: &str, name: &str) -> String {
    let bare = server.trim_end_matches('/');
    if bare.starts_with("root") || bare.starts_with("xroot") {
        format!("{bare}/{name}")
    } else {
        format!("{bare}{name}")
    }
}

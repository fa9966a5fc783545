use bytes::Bytes;

/// What tells one version of a remote file from another, as far as opening it told.
///
/// Two files of the same version by this have the same bytes, as far as their servers keep to the rules: a strong ETag or
/// a time of change that a later write does not restore, or first bytes that differ, as those of two ROOT files do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginVersion {
    /// Size of the file in bytes.
    pub size: u64,
    /// Its ETag, without what calls it weak. A weak one may stay when bytes change: there is a time, too, then.
    pub etag: Option<String>,
    /// The time of its last change as the server writes it.
    pub modified: Option<String>,
    /// A checksum of the whole file, where the server tells one along with the answer.
    pub checksum: Option<String>,
    /// Whether its server tells changes: by a strong ETag or a time of change. Else only the file's own bytes do.
    pub is_told: bool,
    /// Its first bytes, 512 or more; fewer only if the file is shorter.
    pub beginning: Bytes,
}

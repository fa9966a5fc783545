use bytes::Bytes;

/// Identifies a version of a remote file, as far as known from opening it.
///
/// Two files that agree in this have the same bytes, as far as their servers keep to the rules: a strong ETag or a
/// modification time that a later write does not restore, or first bytes that differ, as those of two ROOT files do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginVersion {
    /// Size of the file in bytes.
    pub size: u64,
    /// Its ETag, without the weak mark. A weak one may stay when bytes change: then there is a time, too.
    pub etag: Option<String>,
    /// The modification time as the server writes it.
    pub modified: Option<String>,
    /// A checksum of the whole file, where the server sends one with the response.
    pub checksum: Option<String>,
    /// Whether its server reports changes: by a strong ETag or a modification time. Otherwise only the file's own bytes
    /// do.
    pub has_validator: bool,
    /// Its first bytes, 512 or more; fewer only if the file is shorter.
    pub beginning: Bytes,
}

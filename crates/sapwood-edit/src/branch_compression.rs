use sapwood_codec::Compression;

/// How a branch says that its baskets are compressed, with their bytes before and after; none where the file's setting
/// counts: uproot's branches say that they are not compressed when they are.
pub fn own_compression(settings: i32, total_bytes: u64, zip_bytes: u64) -> Option<Compression> {
    let says = Compression::from_settings(settings).ok()?;
    (says != Compression::NONE || zip_bytes >= total_bytes).then_some(says)
}

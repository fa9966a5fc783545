use sapwood_codec::Compression;

/// A branch's own compression setting, given the bytes of its baskets before and after; none where the file's setting
/// applies: uproot's branches are marked as uncompressed when they are compressed.
pub fn own_compression(settings: i32, total_bytes: u64, zip_bytes: u64) -> Option<Compression> {
    let says = Compression::from_settings(settings).ok()?;
    (says != Compression::NONE || zip_bytes >= total_bytes).then_some(says)
}

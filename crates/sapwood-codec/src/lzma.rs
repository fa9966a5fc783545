//! One xz stream in memory.

use crate::damage::Damage;
use liblzma::stream::{Action, Check, Error, Filters, LzmaOptions, Status, Stream};

/// Memory an xz decoder may use: level 9 takes 65 MiB; a header that requires more is damaged.
const MEMORY_LIMIT: u64 = 256 << 20;

/// Decompresses a whole xz stream into `out`; the bytes written, or what is wrong.
pub(crate) fn decompress(data: &[u8], out: &mut [u8]) -> Result<usize, Damage> {
    let damage = |e: Error| match e {
        Error::MemLimit | Error::Mem => Damage::Memory(MEMORY_LIMIT),
        _ => Damage::Invalid,
    };
    let mut stream = Stream::new_stream_decoder(MEMORY_LIMIT, 0).map_err(damage)?;
    loop {
        let (read, written) = (stream.total_in(), stream.total_out());
        let from = usize::try_from(read).ok().and_then(|n| data.get(n..)).unwrap_or_default();
        let to = usize::try_from(written).ok().and_then(|n| out.get_mut(n..)).unwrap_or_default();
        let status = stream.process(from, to, Action::Finish).map_err(damage)?;
        if status == Status::StreamEnd {
            return usize::try_from(stream.total_out()).map_err(|_| Damage::TooLong);
        }
        if stream.total_in() == read && stream.total_out() == written {
            // no progress: it needs more room or more data
            return Err(if to.is_empty() { Damage::TooLong } else { Damage::Invalid });
        }
    }
}

/// Compresses `data` as one xz stream into `out`, with ROOT's choices: the dictionary no larger than the data, a CRC32
/// at the end. `None` when it does not fit.
pub(crate) fn compress(data: &[u8], level: u8, out: &mut [u8]) -> Option<usize> {
    let mut options = LzmaOptions::new_preset(u32::from(level)).ok()?;
    // 4096 is the smallest dictionary of LZMA2.
    let whole = u32::try_from(data.len()).ok()?.max(4096);
    options.dict_size(whole.min(preset_dictionary(level)));
    let mut filters = Filters::new();
    filters.lzma2(&options);
    let mut stream = Stream::new_stream_encoder(&filters, Check::Crc32).ok()?;
    loop {
        let (read, written) = (stream.total_in(), stream.total_out());
        let from = data.get(usize::try_from(read).ok()?..)?;
        let to = out.get_mut(usize::try_from(written).ok()?..)?;
        let status = stream.process(from, to, Action::Finish).ok()?;
        if status == Status::StreamEnd {
            return usize::try_from(stream.total_out()).ok();
        }
        if stream.total_in() == read && stream.total_out() == written {
            return None;
        }
    }
}

/// The dictionary of each of xz's presets, in bytes (xz(1), "Preset levels").
fn preset_dictionary(level: u8) -> u32 {
    const MIB: [u32; 9] = [1, 2, 4, 4, 8, 8, 16, 32, 64];
    match level {
        0 => 256 << 10,
        n => MIB.get(usize::from(n) - 1).copied().unwrap_or(64) << 20,
    }
}

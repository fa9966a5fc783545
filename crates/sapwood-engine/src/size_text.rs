//! Sizes as people write them.

/// Bytes from `64000`, `64kB`, `10MB`, `1.5 GB` (powers of 1000) or `64KiB`, `1MiB` (powers of 1024).
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_number(text)?;
    let factor =
        byte_factor(unit).ok_or_else(|| format!("\"{text}\" is not a size; write for example 64kB, 10MB or 1GiB"))?;
    whole(number * factor, text)
}

/// A number and the unit behind it.
///
/// # Errors
/// In words, for text that does not begin with a number.
pub fn split_number(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| format!("\"{text}\" does not begin with a number"))?;
    Ok((number, unit.trim_start()))
}

fn byte_factor(unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1048576.0,
        "Gi" => 1073741824.0,
        "Ti" => 1099511627776.0,
        _ => return None,
    })
}

fn whole(value: f64, text: &str) -> Result<u64, String> {
    // 2^53: beyond it not every number of bytes exists as a double
    if value <= 9007199254740992.0 { Ok(value.round() as u64) } else { Err(format!("\"{text}\" is too much")) }
}

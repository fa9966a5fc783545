use sapwood_span::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The algorithm that compresses a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Stored uncompressed.
    None,
    /// zlib (deflate), ROOT's number 1.
    #[default]
    Zlib,
    /// LZMA in an xz stream, ROOT's number 2.
    Lzma,
    /// LZ4, and LZ4HC from level 4 on, ROOT's number 4.
    Lz4,
    /// Zstandard, ROOT's number 5.
    Zstd,
}

impl Algorithm {
    /// The name used on the command line and in Python: `none`, `zlib`, `lzma`, `lz4`, `zstd`.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::None => "none",
            Algorithm::Zlib => "zlib",
            Algorithm::Lzma => "lzma",
            Algorithm::Lz4 => "lz4",
            Algorithm::Zstd => "zstd",
        }
    }

    /// ROOT's recommended level (`ROOT::RCompressionSetting::EDefaults`): zlib 1, lzma 7, lz4 4, zstd 5.
    pub const fn default_level(self) -> u8 {
        match self {
            Algorithm::None => 0,
            Algorithm::Zlib => 1,
            Algorithm::Lzma => 7,
            Algorithm::Lz4 => 4,
            Algorithm::Zstd => 5,
        }
    }

    /// ROOT's number of the algorithm (`ROOT::RCompressionSetting::EAlgorithm`).
    const fn number(self) -> i32 {
        match self {
            Algorithm::None => 0,
            Algorithm::Zlib => 1,
            Algorithm::Lzma => 2,
            Algorithm::Lz4 => 4,
            Algorithm::Zstd => 5,
        }
    }
}

/// An algorithm with its level, 1 (fast) to 9 (small).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compression {
    algorithm: Algorithm,
    level: u8,
}

impl Default for Compression {
    /// zlib 1, ROOT's default (101).
    fn default() -> Self {
        Self::new(Algorithm::Zlib, 1)
    }
}

impl Compression {
    /// No compression.
    pub const NONE: Self = Self { algorithm: Algorithm::None, level: 0 };

    /// An algorithm and a level; level 0 means no compression, levels beyond 9 mean 9.
    pub const fn new(algorithm: Algorithm, level: u8) -> Self {
        match (algorithm, level) {
            (Algorithm::None, _) | (_, 0) => Self::NONE,
            (_, 1..=9) => Self { algorithm, level },
            _ => Self { algorithm, level: 9 },
        }
    }

    /// From the number that ROOT stores as `fCompress`: 100 · algorithm + level; below 100 it is a zlib level, as in
    /// files before 2011; algorithm 3 is ROOT's first deflate, called zlib here.
    ///
    /// An error for numbers that ROOT never writes.
    pub fn from_settings(settings: i32) -> Result<Self> {
        let level = u8::try_from(settings.rem_euclid(100)).unwrap_or(0);
        let algorithm = match settings.div_euclid(100) {
            0 | 1 | 3 => Algorithm::Zlib,
            2 => Algorithm::Lzma,
            4 => Algorithm::Lz4,
            5 => Algorithm::Zstd,
            _ => {
                return Err(Error::unsupported(format!("no compression algorithm has the setting {settings}"))
                    .with_remedy("use 100 · algorithm + level with algorithm 1 zlib, 2 lzma, 4 lz4 or 5 zstd"));
            }
        };
        Ok(Self::new(algorithm, level))
    }

    /// The number that ROOT stores as `fCompress`; 0 for no compression.
    pub const fn settings(self) -> i32 {
        100 * self.algorithm.number() + self.level as i32
    }

    /// The algorithm.
    pub const fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// The level, 1 to 9; 0 for no compression.
    pub const fn level(self) -> u8 {
        self.level
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.algorithm {
            Algorithm::None => f.write_str("none"),
            a => write!(f, "{} {}", a.name(), self.level),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// `zstd` (at ROOT's usual level), `zstd:5`, `zlib-1`, `lz4 4`, `none`, or ROOT's number, `505`.
    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            Error::invalid(format!("\"{text}\" is not a compression setting{why}"))
                .with_remedy("use none, zlib, lzma, lz4 or zstd, with a level as in zstd:5")
        };
        if let Ok(number) = text.parse::<i32>() {
            return Self::from_settings(number);
        }
        let (name, level) = match text.split_once([':', '-', ' ']) {
            Some((name, level)) => (name, Some(level)),
            None => (text, None),
        };
        let algorithm = match name.to_ascii_lowercase().as_str() {
            "none" => Algorithm::None,
            "zlib" | "deflate" => Algorithm::Zlib,
            "lzma" | "xz" => Algorithm::Lzma,
            "lz4" => Algorithm::Lz4,
            "zstd" => Algorithm::Zstd,
            _ => return Err(bad("")),
        };
        let level = match level.map(str::parse::<u8>) {
            None => None,
            Some(Ok(level @ 0..=9)) => Some(level),
            Some(_) => return Err(bad(": the level must be 0 to 9")),
        };
        Ok(Self::new(algorithm, level.unwrap_or(algorithm.default_level())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_levels_are_called_levels() {
        let said = |text: &str| text.parse::<Compression>().unwrap_err().what().to_owned();
        for text in ["zstd:99", "zlib-10", "lz4 x"] {
            assert_eq!(said(text), format!("\"{text}\" is not a compression setting: the level must be 0 to 9"));
        }
        assert_eq!(said("brotli:99"), "\"brotli:99\" is not a compression setting");
    }

    #[test]
    fn roots_numbers() {
        for (number, text) in [(101, "zlib 1"), (207, "lzma 7"), (404, "lz4 4"), (505, "zstd 5"), (0, "none")] {
            let c = Compression::from_settings(number).unwrap();
            assert_eq!((c.to_string(), c.settings()), (text.to_owned(), number));
            assert_eq!(text.parse::<Compression>().unwrap(), c);
            assert_eq!(number.to_string().parse::<Compression>().unwrap(), c);
        }
        assert_eq!(Compression::from_settings(6).unwrap().to_string(), "zlib 6");
        assert_eq!(Compression::from_settings(100).unwrap(), Compression::NONE);
        for number in [-1, 600, i32::MIN, i32::MAX] {
            assert!(Compression::from_settings(number).is_err(), "{number}");
        }
    }

    #[test]
    fn words() {
        assert_eq!("zstd".parse::<Compression>().unwrap().to_string(), "zstd 5");
        assert_eq!("zlib-9".parse::<Compression>().unwrap().settings(), 109);
        assert_eq!("XZ:1".parse::<Compression>().unwrap().settings(), 201);
        for text in ["", "brotli", "zstd:", "zstd:10", "zstd:x", "700"] {
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
    }
}

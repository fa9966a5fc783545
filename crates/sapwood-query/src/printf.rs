//! Numbers as C's `printf` prints them, for the columns of TTree::Scan.

/// What a format makes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// `%g`
    General,
    /// `%f`
    Fixed,
    /// `%e`
    Exponent,
    /// `%d`
    Decimal,
    /// `%u`
    Unsigned,
    /// `%x`
    Hexadecimal,
    /// `%o`
    Octal,
    /// `%c`
    Character,
    /// `%s`, for strings only
    Text,
}

/// The whole number that a value is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// 16 bits
    Short,
    /// 32 bits
    Int,
    /// 64 bits
    Long,
}

/// A format of C's `printf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zeros: bool,
    /// Characters at least.
    pub width: Option<usize>,
    /// Digits behind the point, significant digits, or digits at least.
    pub precision: Option<usize>,
    /// Of whole numbers.
    pub size: Size,
    /// What it makes.
    pub conversion: Conversion,
}

/// A number that is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number that a double may not hold.
    Whole(i128),
    /// Any other.
    Real(f64),
}

impl Format {
    /// `%g`
    pub(crate) const GENERAL: Self = Self {
        alternate: false,
        zeros: false,
        width: None,
        precision: None,
        size: Size::Int,
        conversion: Conversion::General,
    };

    /// The text of a number; none for `%s`.
    pub(crate) fn number(&self, number: Number) -> Option<String> {
        let real = match number {
            Number::Whole(n) => n as f64,
            Number::Real(x) => x,
        };
        let precision = self.precision.unwrap_or(6);
        let (sign, digits) = match self.conversion {
            Conversion::Text => return None,
            Conversion::Character => {
                let byte = self.signed(number) as u8;
                let text = if byte == 0 { String::new() } else { char::from(byte).to_string() };
                return Some(format!("{text:>width$}", width = self.width.unwrap_or(0)));
            }
            _ if self.is_real() && !real.is_finite() => {
                let name = if real.is_nan() { "nan" } else { "inf" };
                let name = if real.is_sign_negative() { format!("-{name}") } else { name.to_owned() };
                return Some(format!("{name:>width$}", width = self.width.unwrap_or(0)));
            }
            Conversion::General => split_sign(real, |x| general(x, precision, self.alternate)),
            Conversion::Fixed => split_sign(real, |x| with_point(format!("{x:.precision$}"), self.alternate)),
            Conversion::Exponent => split_sign(real, |x| exponent(x, precision, self.alternate)),
            Conversion::Decimal => {
                let n = self.signed(number);
                (if n < 0 { "-" } else { "" }, self.digits(n.unsigned_abs().to_string(), n == 0))
            }
            Conversion::Unsigned => ("", self.digits(self.unsigned(number).to_string(), self.unsigned(number) == 0)),
            Conversion::Hexadecimal => {
                let n = self.unsigned(number);
                (if self.alternate && n != 0 { "0x" } else { "" }, self.digits(format!("{n:x}"), n == 0))
            }
            Conversion::Octal => {
                let n = self.unsigned(number);
                let digits = self.digits(format!("{n:o}"), n == 0);
                (if self.alternate && !digits.starts_with('0') { "0" } else { "" }, digits)
            }
        };
        let width = self.width.unwrap_or(0);
        // a precision of whole numbers turns the flag off
        if self.zeros && (self.is_real() || self.precision.is_none()) {
            let left = width.saturating_sub(sign.len());
            return Some(format!("{sign}{digits:0>left$}"));
        }
        Some(format!("{:>width$}", format!("{sign}{digits}")))
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self.conversion, Conversion::General | Conversion::Fixed | Conversion::Exponent)
    }

    /// Digits of a whole number, at least as many as the precision; none of 0 with a precision of 0.
    fn digits(&self, digits: String, is_zero: bool) -> String {
        match self.precision {
            Some(0) if is_zero => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        }
    }

    /// The number as C++ converts it to a whole one on x86: what does not fit is the smallest one.
    fn signed(&self, number: Number) -> i64 {
        let whole = match number {
            Number::Whole(n) if self.size == Size::Long => return n as i64,
            Number::Whole(n) => n as f64,
            Number::Real(x) => x.trunc(),
        };
        let int = || if (-2147483648.0..2147483648.0).contains(&whole) { whole as i32 } else { i32::MIN };
        match self.size {
            Size::Long => long(whole),
            Size::Int => i64::from(int()),
            Size::Short => i64::from(int() as i16),
        }
    }

    fn unsigned(&self, number: Number) -> u64 {
        /// 2^63
        const HALF: f64 = 9223372036854775808.0;
        let whole = match number {
            Number::Whole(n) => n as u64,
            Number::Real(x) if self.size == Size::Long && x >= HALF => (long(x - HALF) as u64) ^ (1 << 63),
            Number::Real(x) if self.size == Size::Short => self.signed(Number::Real(x)) as u64,
            Number::Real(x) => long(x.trunc()) as u64,
        };
        match self.size {
            Size::Long => whole,
            Size::Int => u64::from(whole as u32),
            Size::Short => u64::from(whole as u16),
        }
    }
}

fn long(whole: f64) -> i64 {
    if (-9223372036854775808.0..9223372036854775808.0).contains(&whole) { whole as i64 } else { i64::MIN }
}

fn split_sign(x: f64, text: impl Fn(f64) -> String) -> (&'static str, String) {
    (if x.is_sign_negative() { "-" } else { "" }, text(x.abs()))
}

fn with_point(mut text: String, alternate: bool) -> String {
    if alternate && !text.contains('.') {
        text.push('.');
    }
    text
}

/// `%e` of a number that is not negative.
fn exponent(x: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{x:.precision$e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |p| ('-', p));
    format!("{}e{sign}{power:0>2}", with_point(digits.to_owned(), alternate))
}

/// `%g` of a number that is not negative.
fn general(x: f64, precision: usize, alternate: bool) -> String {
    let digits = precision.max(1);
    let scientific = format!("{x:.*e}", digits - 1);
    let power = scientific.split_once('e').and_then(|(_, p)| p.parse::<i64>().ok()).unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= digits as i64 {
        let text = exponent(x, digits - 1, alternate);
        return match text.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", trimmed(mantissa)),
            None => text,
        };
    }
    let behind = usize::try_from(digits as i64 - 1 - power).unwrap_or(0);
    trimmed(&with_point(format!("{x:.behind$}"), alternate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside what glibc's `printf` prints.
    #[test]
    fn numbers_as_printf_prints_them() {
        let real = |conversion, alternate, zeros, width: usize, precision: Option<usize>, x: f64| {
            let format = Format { alternate, zeros, width: Some(width), precision, size: Size::Int, conversion };
            format.number(Number::Real(x)).unwrap()
        };
        use Conversion::{Decimal, Exponent, Fixed, General, Hexadecimal, Octal, Unsigned};
        for (x, precision, expected) in [
            (0.1, 9, "0.1"),
            (-12345.6789, 3, "-1.23e+04"),
            (1e20, 9, "1e+20"),
            (0.0001, 6, "0.0001"),
            (0.00001234, 6, "1.234e-05"),
            (999999.5, 6, "1e+06"),
            (123456.0, 6, "123456"),
            (-0.0, 6, "-0"),
            (0.1, 18, "0.100000000000000006"),
            (5.0, 0, "5"),
            (f64::NEG_INFINITY, 6, "-inf"),
            (1e-300, 4, "1e-300"),
        ] {
            assert_eq!(real(General, false, false, 0, Some(precision), x), expected, "{x}");
        }
        assert_eq!(real(General, true, false, 8, Some(3), 0.1), "   0.100");
        assert_eq!(real(Fixed, false, false, 10, Some(3), -12345.6789), "-12345.679");
        assert_eq!(real(Fixed, true, false, 0, Some(0), 2.5), "2.");
        assert_eq!(real(Exponent, false, true, 12, Some(2), -1e-12), "-0001.00e-12");
        assert_eq!(real(Decimal, false, true, 8, None, -12345.6), "-0012345");
        assert_eq!(real(Decimal, false, false, 8, Some(8), -12345.6), "-00012345");
        assert_eq!(real(Decimal, false, false, 0, None, 1e20), "-2147483648");
        assert_eq!(real(Unsigned, false, false, 0, None, -12345.6), "4294954951");
        assert_eq!(real(Hexadecimal, true, false, 0, None, 255.0), "0xff");
        assert_eq!(real(Hexadecimal, true, false, 0, None, 0.0), "0");
        assert_eq!(real(Octal, true, false, 0, None, 8.0), "010");
        let long = Format { size: Size::Long, conversion: Decimal, ..Format::GENERAL };
        assert_eq!(long.number(Number::Whole((1 << 53) + 1)).unwrap(), "9007199254740993");
        assert_eq!(long.number(Number::Real(f64::NAN)).unwrap(), i64::MIN.to_string());
    }
}

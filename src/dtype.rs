//! The types of numbers that tensors are made of, and how densely they pack.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, ErrorKind};

/// The type of a tensor's elements.
///
/// Every type has a *block*: [`block_len`](Self::block_len) elements stand in
/// [`block_bytes`](Self::block_bytes) bytes. For most that is one element in its own bytes; F4 packs two
/// elements in a byte, the F6 types four in three.
///
/// The order of the variants has no meaning. Names are the format's exact strings.
///
/// | Dtype | Bits | Rust type | Widens to | Range, finite | Smallest normal | Defined by |
/// |---|---|---|---|---|---|---|
/// | `BOOL` | 8 | `bool` | `f32` | 0, 1 | | one byte; 0 is false, 1 is true |
/// | `U8` | 8 | `u8` | `f32` | 0 to 255 | | unsigned integer |
/// | `I8` | 8 | `i8` | `f32` | −128 to 127 | | two's complement |
/// | `U16` | 16 | `u16` | `f32` | 0 to 65535 | | unsigned integer |
/// | `I16` | 16 | `i16` | `f32` | −32768 to 32767 | | two's complement |
/// | `U32` | 32 | `u32` | `f64` | 0 to 2³² − 1 | | unsigned integer |
/// | `I32` | 32 | `i32` | `f64` | −2³¹ to 2³¹ − 1 | | two's complement |
/// | `U64` | 64 | `u64` | | 0 to 2⁶⁴ − 1 | | unsigned integer |
/// | `I64` | 64 | `i64` | | −2⁶³ to 2⁶³ − 1 | | two's complement |
/// | `F4` | 4 | | `f32` | ±6 | 1 | E2M1 of [OCP MX] |
/// | `F6_E2M3` | 6 | | | ±7.5 | 1 | [OCP MX] |
/// | `F6_E3M2` | 6 | | | ±28 | 0.25 | [OCP MX] |
/// | `F8_E4M3` | 8 | [`F8E4M3`] | `f32` | ±448; no infinities | 2⁻⁶ | [OCP OFP8] |
/// | `F8_E5M2` | 8 | [`F8E5M2`] | `f32` | ±57344 | 2⁻¹⁴ | [OCP OFP8] |
/// | `F8_E4M3FNUZ` | 8 | [`F8E4M3Fnuz`] | `f32` | ±240; no infinities, no −0 | 2⁻⁷ | [arXiv 2206.02915] |
/// | `F8_E5M2FNUZ` | 8 | [`F8E5M2Fnuz`] | `f32` | ±57344; no infinities, no −0 | 2⁻¹⁵ | [arXiv 2206.02915] |
/// | `F8_E8M0` | 8 | [`F8E8M0`] | `f32` | 2⁻¹²⁷ to 2¹²⁷, powers of two | 2⁻¹²⁷ | [OCP MX] |
/// | `F16` | 16 | [`half::f16`] | `f32` | ±65504 | 2⁻¹⁴ | IEEE 754 binary16 |
/// | `BF16` | 16 | [`half::bf16`] | `f32` | ±(2 − 2⁻⁷) · 2¹²⁷ ≈ ±3.39e38 | 2⁻¹²⁶ | the upper half of a binary32 |
/// | `F32` | 32 | `f32` | `f32` | ±(2 − 2⁻²³) · 2¹²⁷ ≈ ±3.40e38 | 2⁻¹²⁶ | IEEE 754 binary32 |
/// | `F64` | 64 | `f64` | `f64` | ±(2 − 2⁻⁵²) · 2¹⁰²³ ≈ ±1.80e308 | 2⁻¹⁰²² | IEEE 754 binary64 |
/// | `C64` | 64 | `[f32; 2]` | | each part as F32 | as F32 | real part, imaginary part |
///
/// *Rust type* is what [`as_slice`](crate::TensorView::as_slice), [`iter`](crate::TensorView::iter) and
/// [`read`](crate::TensorView::read) give. *Widens to* is what
/// [`iter_f32`](crate::TensorView::iter_f32) and [`read_f32`](crate::TensorView::read_f32) give, or else
/// [`iter_f64`](crate::TensorView::iter_f64) and [`read_f64`](crate::TensorView::read_f64), which take the former
/// too; it never rounds, so 64-bit integers do not widen. F6 has no Rust type and does not widen because nothing
/// defines how its elements are packed. Sign, exponent and mantissa of the small floats, code by code, are in
/// [`float`](crate::float).
///
/// [`F8E4M3`]: crate::F8E4M3
/// [`F8E5M2`]: crate::F8E5M2
/// [`F8E8M0`]: crate::F8E8M0
/// [`F8E4M3Fnuz`]: crate::F8E4M3Fnuz
/// [`F8E5M2Fnuz`]: crate::F8E5M2Fnuz
/// [OCP MX]: https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf
/// [OCP OFP8]: https://www.opencompute.org/documents/ocp-8-bit-floating-point-specification-ofp8-revision-1-0-2023-12-01-pdf-1
/// [arXiv 2206.02915]: https://arxiv.org/abs/2206.02915
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dtype {
    /// One byte a truth value: 0 or 1. Files hold other bytes too; nothing checks them before they are read.
    Bool,
    /// 4-bit float, E2M1, two in a byte.
    F4,
    /// 6-bit float, E2M3, four in three bytes.
    F6E2M3,
    /// 6-bit float, E3M2, four in three bytes.
    F6E3M2,
    /// 8-bit unsigned integer.
    U8,
    /// 8-bit signed integer.
    I8,
    /// 8-bit float, E5M2, with infinities and NaNs.
    F8E5M2,
    /// 8-bit float, E4M3 ("FN": no infinities).
    F8E4M3,
    /// 8-bit exponent alone: a power of two, or NaN.
    F8E8M0,
    /// 8-bit float, E4M3 without infinities and negative zero.
    F8E4M3Fnuz,
    /// 8-bit float, E5M2 without infinities and negative zero.
    F8E5M2Fnuz,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// IEEE 754 half precision.
    F16,
    /// bfloat16: the upper 16 bits of a single.
    BF16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// IEEE 754 single precision.
    F32,
    /// Complex of two singles, real part first.
    C64,
    /// IEEE 754 double precision.
    F64,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
}

impl Dtype {
    /// Every dtype.
    pub const ALL: &'static [Self] = &[
        Self::Bool,
        Self::F4,
        Self::F6E2M3,
        Self::F6E3M2,
        Self::U8,
        Self::I8,
        Self::F8E5M2,
        Self::F8E4M3,
        Self::F8E8M0,
        Self::F8E4M3Fnuz,
        Self::F8E5M2Fnuz,
        Self::I16,
        Self::U16,
        Self::F16,
        Self::BF16,
        Self::I32,
        Self::U32,
        Self::F32,
        Self::C64,
        Self::F64,
        Self::I64,
        Self::U64,
    ];

    /// The dtype's name in a safetensors file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "BOOL",
            Self::F4 => "F4",
            Self::F6E2M3 => "F6_E2M3",
            Self::F6E3M2 => "F6_E3M2",
            Self::U8 => "U8",
            Self::I8 => "I8",
            Self::F8E5M2 => "F8_E5M2",
            Self::F8E4M3 => "F8_E4M3",
            Self::F8E8M0 => "F8_E8M0",
            Self::F8E4M3Fnuz => "F8_E4M3FNUZ",
            Self::F8E5M2Fnuz => "F8_E5M2FNUZ",
            Self::I16 => "I16",
            Self::U16 => "U16",
            Self::F16 => "F16",
            Self::BF16 => "BF16",
            Self::I32 => "I32",
            Self::U32 => "U32",
            Self::F32 => "F32",
            Self::C64 => "C64",
            Self::F64 => "F64",
            Self::I64 => "I64",
            Self::U64 => "U64",
        }
    }

    /// The dtype with that name, case-sensitive.
    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        // What nearly every file has.
        Some(match name {
            b"F32" => Self::F32,
            b"BF16" => Self::BF16,
            b"F16" => Self::F16,
            b"F8_E4M3" => Self::F8E4M3,
            b"U8" => Self::U8,
            b"I64" => Self::I64,
            _ => return Self::from_any_name(name),
        })
    }

    /// A function of its own, so that the usual names are compared where they are read.
    #[inline(never)]
    fn from_any_name(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.as_str().as_bytes() == name)
    }

    /// Bits an element takes.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F4 => 4,
            Self::F6E2M3 | Self::F6E3M2 => 6,
            Self::Bool
            | Self::U8
            | Self::I8
            | Self::F8E5M2
            | Self::F8E4M3
            | Self::F8E8M0
            | Self::F8E4M3Fnuz
            | Self::F8E5M2Fnuz => 8,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::C64 | Self::F64 | Self::I64 | Self::U64 => 64,
        }
    }

    /// Elements in a block: the fewest that fill whole bytes.
    #[must_use]
    pub const fn block_len(self) -> u32 {
        match self {
            Self::F4 => 2,
            Self::F6E2M3 | Self::F6E3M2 => 4,
            _ => 1,
        }
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> u32 {
        match self {
            Self::F4 => 1,
            Self::F6E2M3 | Self::F6E3M2 => 3,
            // At least 8 bits from here on, and a multiple of 8.
            other => other.bits() >> 3,
        }
    }

    /// Whether its elements are floating-point numbers. C64's are pairs of such, and not numbers of this kind.
    ///
    /// ```
    /// use weightview::Dtype;
    ///
    /// assert!(Dtype::BF16.is_float() && Dtype::F8E8M0.is_float());
    /// assert!(!Dtype::I8.is_float() && !Dtype::C64.is_float());
    /// ```
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.min_normal_exponent().is_some() || matches!(self, Self::F8E8M0)
    }

    /// Whether it has numbers below 0: all floats but `F8_E8M0`, `I8` to `I64`, and the parts of C64.
    ///
    /// ```
    /// use weightview::Dtype;
    ///
    /// assert!(Dtype::I8.is_signed() && Dtype::F4.is_signed());
    /// assert!(!Dtype::U8.is_signed() && !Dtype::F8E8M0.is_signed());
    /// ```
    #[must_use]
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::Bool | Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::F8E8M0)
    }

    /// The largest finite `f64` that is a number of this dtype: what it holds without overflow, and exactly.
    ///
    /// For floats and for integers of up to 32 bits that is their largest number; 1 for BOOL, and for C64 that of
    /// either part. The largest of I64 and U64 are no `f64`: here they are 2⁶³ − 2¹⁰ and 2⁶⁴ − 2¹¹.
    ///
    /// ```
    /// use weightview::Dtype;
    ///
    /// assert_eq!(Dtype::F16.max_finite(), 65504.0);
    /// assert_eq!(Dtype::F8E4M3.max_finite(), 448.0);
    /// assert_eq!(Dtype::I16.max_finite(), 32767.0);
    /// ```
    #[must_use]
    pub const fn max_finite(self) -> f64 {
        match self {
            Self::Bool => 1.0,
            Self::U8 => u8::MAX as f64,
            Self::I8 => i8::MAX as f64,
            Self::U16 => u16::MAX as f64,
            Self::I16 => i16::MAX as f64,
            Self::U32 => u32::MAX as f64,
            Self::I32 => i32::MAX as f64,
            Self::U64 => (u64::MAX << 11) as f64,
            Self::I64 => (i64::MAX >> 10 << 10) as f64,
            Self::F4 => 6.0,
            Self::F6E2M3 => 7.5,
            Self::F6E3M2 => 28.0,
            Self::F8E4M3 => 448.0,
            Self::F8E4M3Fnuz => 240.0,
            Self::F8E5M2 | Self::F8E5M2Fnuz => 57344.0,
            Self::F8E8M0 => f32::from_bits(0x7F00_0000) as f64,
            Self::F16 => 65504.0,
            Self::BF16 => f32::from_bits(0x7F7F_0000) as f64,
            Self::F32 | Self::C64 => f32::MAX as f64,
            Self::F64 => f64::MAX,
        }
    }

    /// The smallest normal number of a float is 2^this: what is smaller, and not 0, is subnormal. `None` of the
    /// types that have no subnormal numbers.
    pub(crate) const fn min_normal_exponent(self) -> Option<i32> {
        Some(match self {
            Self::F4 | Self::F6E2M3 => 0,
            Self::F6E3M2 => -2,
            Self::F8E4M3 => -6,
            Self::F8E4M3Fnuz => -7,
            Self::F8E5M2 | Self::F16 => -14,
            Self::F8E5M2Fnuz => -15,
            Self::BF16 | Self::F32 => -126,
            Self::F64 => -1022,
            Self::F8E8M0 | Self::C64 => return None,
            Self::Bool | Self::U8 | Self::U16 | Self::U32 | Self::U64 => return None,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => return None,
        })
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Dtype {
    type Err = Error;

    /// The dtype with exactly that name; [`ErrorKind::UnknownDtype`] otherwise.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::from_name(name.as_bytes()).ok_or(Error::call(ErrorKind::UnknownDtype))
    }
}

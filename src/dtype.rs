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
/// | Dtype | Bits | Numbers |
/// |---|---|---|
/// | `BOOL` | 8 | 0 or 1 |
/// | `U8` `U16` `U32` `U64` | 8–64 | unsigned integers |
/// | `I8` `I16` `I32` `I64` | 8–64 | two's complement integers |
/// | `F16` `F32` `F64` | 16–64 | IEEE 754 binary16, binary32, binary64 |
/// | `BF16` | 16 | the upper half of a binary32 |
/// | `C64` | 64 | complex: two binary32, real part first |
/// | `F8_E4M3` `F8_E5M2` | 8 | OCP 8-bit floats |
/// | `F8_E4M3FNUZ` `F8_E5M2FNUZ` | 8 | the same without infinities and negative zero |
/// | `F8_E8M0` | 8 | powers of two (scales) |
/// | `F6_E2M3` `F6_E3M2` | 6 | OCP 6-bit floats |
/// | `F4` | 4 | OCP E2M1 |
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
        Some(match name {
            b"F32" => Self::F32,
            b"BF16" => Self::BF16,
            b"F16" => Self::F16,
            b"BOOL" => Self::Bool,
            b"F4" => Self::F4,
            b"F6_E2M3" => Self::F6E2M3,
            b"F6_E3M2" => Self::F6E3M2,
            b"U8" => Self::U8,
            b"I8" => Self::I8,
            b"F8_E5M2" => Self::F8E5M2,
            b"F8_E4M3" => Self::F8E4M3,
            b"F8_E8M0" => Self::F8E8M0,
            b"F8_E4M3FNUZ" => Self::F8E4M3Fnuz,
            b"F8_E5M2FNUZ" => Self::F8E5M2Fnuz,
            b"I16" => Self::I16,
            b"U16" => Self::U16,
            b"I32" => Self::I32,
            b"U32" => Self::U32,
            b"C64" => Self::C64,
            b"F64" => Self::F64,
            b"I64" => Self::I64,
            b"U64" => Self::U64,
            _ => return None,
        })
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

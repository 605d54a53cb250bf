//! The Rust types that elements can be read as.

use core::fmt;

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

use crate::dtype::Dtype;
use crate::float;

/// A Rust type that a tensor's elements can be read as, one to one: see [`DTYPE`](Self::DTYPE).
///
/// | Rust | Dtype |
/// |---|---|
/// | `f32`, `f64` | `F32`, `F64` |
/// | [`half::f16`], [`half::bf16`] | `F16`, `BF16` |
/// | `i8` to `i64`, `u8` to `u64` | `I8` to `I64`, `U8` to `U64` |
/// | `[f32; 2]`: real, imaginary | `C64` |
/// | `bool` | `BOOL`; a byte other than 0 and 1 is an error |
/// | [`F8E4M3`], [`F8E5M2`], [`F8E8M0`], [`F8E4M3Fnuz`], [`F8E5M2Fnuz`] | the 8-bit floats |
///
/// F4 and F6 have no type of their own: their elements do not stand in whole bytes.
pub trait Element: sealed::Element {
    /// The dtype whose elements these are.
    const DTYPE: Dtype;
}

pub(crate) mod sealed {
    /// See [`super::Element`].
    pub trait Element: bytemuck::CheckedBitPattern + Copy + Send + Sync + 'static {
        /// Its bytes.
        const SIZE: usize;

        /// The element that `bytes`, little-endian, spell; `None` when they spell none, or are too few.
        fn from_le(bytes: &[u8]) -> Option<Self>;
    }
}

macro_rules! elements {
    ($($type:ty: $dtype:ident, $bytes:ident => $value:expr;)*) => {$(
        impl sealed::Element for $type {
            const SIZE: usize = size_of::<Self>();

            #[inline]
            fn from_le(bytes: &[u8]) -> Option<Self> {
                let $bytes = *bytes.first_chunk::<{ size_of::<Self>() }>()?;
                $value
            }
        }

        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}

elements! {
    f32: F32, bytes => Some(Self::from_le_bytes(bytes));
    f64: F64, bytes => Some(Self::from_le_bytes(bytes));
    f16: F16, bytes => Some(Self::from_le_bytes(bytes));
    bf16: BF16, bytes => Some(Self::from_le_bytes(bytes));
    i8: I8, bytes => Some(Self::from_le_bytes(bytes));
    i16: I16, bytes => Some(Self::from_le_bytes(bytes));
    i32: I32, bytes => Some(Self::from_le_bytes(bytes));
    i64: I64, bytes => Some(Self::from_le_bytes(bytes));
    u8: U8, bytes => Some(Self::from_le_bytes(bytes));
    u16: U16, bytes => Some(Self::from_le_bytes(bytes));
    u32: U32, bytes => Some(Self::from_le_bytes(bytes));
    u64: U64, bytes => Some(Self::from_le_bytes(bytes));
    bool: Bool, bytes => match bytes {
        [0] => Some(false),
        [1] => Some(true),
        _ => None,
    };
    [f32; 2]: C64, bytes => {
        let [a, b, c, d, e, f, g, h] = bytes;
        Some([f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h])])
    };
    F8E4M3: F8E4M3, bytes => Some(Self::from_bits(u8::from_le_bytes(bytes)));
    F8E5M2: F8E5M2, bytes => Some(Self::from_bits(u8::from_le_bytes(bytes)));
    F8E8M0: F8E8M0, bytes => Some(Self::from_bits(u8::from_le_bytes(bytes)));
    F8E4M3Fnuz: F8E4M3Fnuz, bytes => Some(Self::from_bits(u8::from_le_bytes(bytes)));
    F8E5M2Fnuz: F8E5M2Fnuz, bytes => Some(Self::from_bits(u8::from_le_bytes(bytes)));
}

macro_rules! small_floats {
    ($($(#[$doc:meta])* $name:ident: $decode:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The number with that code.
            #[must_use]
            pub const fn from_bits(code: u8) -> Self {
                Self(code)
            }

            /// Its code.
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Its value, exactly.
            #[must_use]
            pub const fn to_f32(self) -> f32 {
                $decode(self.0)
            }
        }

        impl From<$name> for f32 {
            fn from(small: $name) -> f32 {
                small.to_f32()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    )*};
}

small_floats! {
    /// An 8-bit float of dtype `F8_E4M3`. Equality is of codes.
    F8E4M3: float::f8_e4m3_to_f32;
    /// An 8-bit float of dtype `F8_E5M2`. Equality is of codes.
    F8E5M2: float::f8_e5m2_to_f32;
    /// A power of two of dtype `F8_E8M0`. Equality is of codes.
    F8E8M0: float::f8_e8m0_to_f32;
    /// An 8-bit float of dtype `F8_E4M3FNUZ`. Equality is of codes.
    F8E4M3Fnuz: float::f8_e4m3fnuz_to_f32;
    /// An 8-bit float of dtype `F8_E5M2FNUZ`. Equality is of codes.
    F8E5M2Fnuz: float::f8_e5m2fnuz_to_f32;
}

/// Why a tensor cannot be read in the way asked for. Each names the call that works instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CastError {
    /// The tensor has another dtype than the call reads. Use the Rust type of `actual`, or `iter_f32` and
    /// `read_f32` (`iter_f64`, `read_f64`), which widen, where the dtype does.
    Dtype {
        /// What the call reads: `None` when it takes several, this one not among them.
        expected: Option<Dtype>,
        /// What the tensor has.
        actual: Dtype,
    },
    /// The bytes do not lie at a multiple of the type's alignment. Use `iter` or `read`, which take any
    /// alignment, or `to_cow`, which copies when it must.
    Alignment {
        /// The alignment that the type needs, in bytes.
        required: usize,
    },
    /// The buffer has another length than the tensor has elements. Give it exactly the tensor's, or read a part
    /// of the tensor.
    Size {
        /// The tensor's elements.
        expected: usize,
        /// The buffer's length.
        actual: usize,
    },
    /// The file's bytes are little-endian, and this host is not. Use `iter` or `read`, which swap them.
    ByteOrder,
    /// A byte is no value of the type: a `bool` that is neither 0 nor 1. Read the tensor as `u8` through
    /// [`TensorView::data`](crate::TensorView::data).
    Value {
        /// The element.
        index: usize,
    },
    /// There is no memory for a copy of the elements. Read them piece by piece into a buffer (`chunks` and
    /// `read_f32`), or one by one (`iter`).
    Memory {
        /// The elements that the copy would have.
        elements: usize,
        /// The bytes that each of them takes.
        size: usize,
    },
}

impl fmt::Display for CastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Dtype { expected: Some(expected), actual } => {
                write!(
                    f,
                    "the tensor is {actual}, not {expected}; read it as {actual}, or widen it with iter_f32 or read_f32"
                )
            }
            Self::Dtype { expected: None, actual: actual @ (Dtype::F6E2M3 | Dtype::F6E3M2) } => write!(
                f,
                "{actual} has no defined packing, so its elements cannot be told apart; single codes can be decoded (see weightview::float)"
            ),
            Self::Dtype { expected: None, actual } => {
                write!(f, "not every {actual} is exactly a number of the type asked for; read the tensor as {actual}")
            }
            Self::Alignment { required } => write!(
                f,
                "the tensor's bytes are not aligned to {required}; use iter or read, which take any alignment"
            ),
            Self::Size { expected, actual } => {
                write!(f, "the tensor has {expected} elements, but the buffer has room for {actual}")
            }
            Self::ByteOrder => {
                f.write_str("the file is little-endian and this host is not; use iter or read, which swap the bytes")
            }
            Self::Value { index } => {
                write!(f, "element {index} is no bool: its byte is neither 0 nor 1; read the bytes through data")
            }
            Self::Memory { elements, size } => write!(
                f,
                "there is no memory for {elements} elements of {size} bytes; read them piece by piece, with chunks, or one by one, with iter"
            ),
        }
    }
}

impl core::error::Error for CastError {}

/// A vector of that many zeros, or the error that says there is no memory for it. The allocator zeroes it, so large
/// ones are written to once only.
#[cfg(feature = "alloc")]
pub(crate) fn zeros<T: bytemuck::Zeroable>(elements: usize) -> Result<alloc::vec::Vec<T>, CastError> {
    let zeros = bytemuck::allocation::try_zeroed_vec(elements);
    zeros.map_err(|()| CastError::Memory { elements, size: size_of::<T>() })
}

/// An empty vector with room for that many elements, or the error that says there is no memory for it.
#[cfg(feature = "alloc")]
pub(crate) fn room<T>(elements: usize) -> Result<alloc::vec::Vec<T>, CastError> {
    let mut room = alloc::vec::Vec::new();
    let reserved = room.try_reserve_exact(elements);
    reserved.map_err(|_| CastError::Memory { elements, size: size_of::<T>() })?;
    Ok(room)
}

//! Narrowing to 16 bits, explicit and counted: nothing overflows, vanishes or is rounded unawares.
//!
//! Each function takes a slice and fills another of the same length, rounding to the nearest number, to the one
//! with an even last bit where two are as near (as IEEE 754 does by default). It returns what that cost as
//! [`Counts`].
//!
//! | Number | Becomes |
//! |---|---|
//! | finite, within the narrower range once rounded | the nearest |
//! | finite, but rounded past the largest finite number | by [`Overflow`]: that largest number or infinity, with its sign |
//! | ±∞ | ±∞, whatever `Overflow` says: it was no overflow here |
//! | NaN | a quiet NaN of the same sign, with the upper bits of its payload |
//! | ±0, or rounded to 0 | ±0, with its sign |
//!
//! BF16 reaches 3.4e38 and F16 65504, so a model that is cast from the one to the other can be ruined by a few
//! large numbers, or by many small ones that become 0:
//!
//! ```
//! use half::{bf16, f16};
//! use weightview::narrow::{self, Overflow};
//!
//! let weights = [bf16::from_f32(0.5), bf16::from_f32(1e5), bf16::from_f32(1e-9)];
//! let mut out = [f16::ZERO; 3];
//! let counts = narrow::bf16_to_f16(&weights, &mut out, Overflow::Saturate)?;
//! assert_eq!(out.map(f32::from), [0.5, 65504.0, 0.0]);
//! assert_eq!((counts.overflowed, counts.underflowed), (1, 1));
//! # Ok::<(), weightview::CastError>(())
//! ```

use core::ops::AddAssign;

use half::{bf16, f16};

use crate::element::CastError;

/// What becomes of finite numbers that are rounded past the largest finite number of the narrower type. Infinities
/// stay infinite with either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The largest finite number, of the same sign.
    Saturate,
    /// Infinity, of the same sign: what IEEE 754, C and numpy do.
    Infinity,
}

/// What narrowing cost: numbers of each kind. One number can be of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Counts {
    /// Finite numbers that rounded past the largest finite number, and became that or infinity.
    pub overflowed: u64,
    /// Numbers other than 0 that became 0.
    pub underflowed: u64,
    /// Numbers that became subnormal ones, not counting those that became 0: they have fewer digits, some
    /// processors take them for 0, and others are slow with them.
    pub subnormal: u64,
    /// Finite numbers that became a number of another value; those that overflowed or underflowed are among them.
    /// With no `inexact` and no `nans`, nothing was lost.
    pub inexact: u64,
    /// NaNs. They stay NaNs, but their payloads are cut.
    pub nans: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.overflowed = self.overflowed.saturating_add(other.overflowed);
        self.underflowed = self.underflowed.saturating_add(other.underflowed);
        self.subnormal = self.subnormal.saturating_add(other.subnormal);
        self.inexact = self.inexact.saturating_add(other.inexact);
        self.nans = self.nans.saturating_add(other.nans);
    }
}

/// F32 to BF16. Its range is that of F32, so only numbers from 3.396e38 on overflow, and only F32's subnormal
/// numbers become subnormal or 0.
///
/// ```
/// use half::bf16;
/// use weightview::narrow::{self, Overflow};
///
/// let mut out = [bf16::ZERO; 2];
/// let counts = narrow::f32_to_bf16(&[1.0, 1.0 / 3.0], &mut out, Overflow::Infinity)?;
/// assert_eq!(out.map(f32::from), [1.0, 0.333984375]);
/// assert_eq!(counts.inexact, 1);
/// # Ok::<(), weightview::CastError>(())
/// ```
///
/// # Errors
/// [`CastError::Size`] when the slices differ in length; nothing is then written.
pub fn f32_to_bf16(numbers: &[f32], out: &mut [bf16], overflow: Overflow) -> Result<Counts, CastError> {
    narrow(numbers, out, overflow, f32::to_bits)
}

/// F32 to F16: numbers of 65520 and more overflow, those below 2⁻¹⁴ become subnormal, and those of 2⁻²⁵ and less
/// become 0.
///
/// ```
/// use half::f16;
/// use weightview::narrow::{self, Overflow};
///
/// let mut out = [f16::ZERO; 3];
/// let counts = narrow::f32_to_f16(&[65519.0, 65520.0, f32::INFINITY], &mut out, Overflow::Saturate)?;
/// assert_eq!(out.map(f32::from), [65504.0, 65504.0, f32::INFINITY]);
/// assert_eq!((counts.overflowed, counts.inexact), (1, 2));
/// # Ok::<(), weightview::CastError>(())
/// ```
///
/// # Errors
/// [`CastError::Size`] when the slices differ in length; nothing is then written.
pub fn f32_to_f16(numbers: &[f32], out: &mut [f16], overflow: Overflow) -> Result<Counts, CastError> {
    narrow(numbers, out, overflow, f32::to_bits)
}

/// BF16 to F16, which has more digits but far less range: between 2⁻¹⁴ and 65504 nothing is lost.
///
/// ```
/// use half::{bf16, f16};
/// use weightview::narrow::{self, Overflow};
///
/// let weights = [0.1, -3e38].map(bf16::from_f32);
/// let mut out = [f16::ZERO; 2];
/// let counts = narrow::bf16_to_f16(&weights, &mut out, Overflow::Infinity)?;
/// assert_eq!(out.map(f32::from), [f32::from(weights[0]), f32::NEG_INFINITY]);
/// assert_eq!((counts.overflowed, counts.inexact), (1, 1));
/// # Ok::<(), weightview::CastError>(())
/// ```
///
/// # Errors
/// [`CastError::Size`] when the slices differ in length; nothing is then written.
pub fn bf16_to_f16(numbers: &[bf16], out: &mut [f16], overflow: Overflow) -> Result<Counts, CastError> {
    narrow(numbers, out, overflow, |number| u32::from(number.to_bits()) << 16)
}

/// Numbers that are converted before their counts are widened to 64 bits.
const BLOCK: usize = 1 << 16;

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;

/// Numbers whose bits as an `f32` are given by `bits`. There are no branches in the loop, so that it becomes vector
/// code.
fn narrow<N: Copy, T: Target>(
    numbers: &[N],
    out: &mut [T],
    overflow: Overflow,
    bits: impl Fn(N) -> u32,
) -> Result<Counts, CastError> {
    if numbers.len() != out.len() {
        return Err(CastError::Size { expected: numbers.len(), actual: out.len() });
    }
    let limit = match overflow {
        Overflow::Saturate => T::INFINITY.wrapping_sub(1),
        Overflow::Infinity => T::INFINITY,
    };
    let mut counts = Counts::default();
    for (numbers, out) in numbers.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let [mut overflowed, mut underflowed, mut subnormal, mut inexact, mut nans] = [0u32; 5];
        for (&number, out) in numbers.iter().zip(out) {
            let bits = bits(number);
            let magnitude = bits & !SIGN;
            let (finite, nan) = (magnitude < INFINITY, magnitude > INFINITY);
            let (code, value) = T::round(magnitude);
            let over = finite & (code >= T::INFINITY);
            let narrowed = if over { limit } else { code.min(T::INFINITY) };
            let narrowed = if nan { T::nan(magnitude) } else { narrowed };
            *out = T::from_code((narrowed | (bits & SIGN) >> 16) as u16);

            overflowed = overflowed.wrapping_add(u32::from(over));
            underflowed = underflowed.wrapping_add(u32::from((magnitude != 0) & (narrowed == 0)));
            subnormal = subnormal.wrapping_add(u32::from((narrowed != 0) & (narrowed < T::NORMAL)));
            inexact = inexact.wrapping_add(u32::from(over | finite & (value != magnitude)));
            nans = nans.wrapping_add(u32::from(nan));
        }
        counts.add_assign(Counts {
            overflowed: overflowed.into(),
            underflowed: underflowed.into(),
            subnormal: subnormal.into(),
            inexact: inexact.into(),
            nans: nans.into(),
        });
    }
    Ok(counts)
}

/// A type to narrow to. Codes are without the sign.
trait Target {
    /// The code of infinity; the largest finite number is right below it.
    const INFINITY: u32;
    /// The code of the smallest normal number.
    const NORMAL: u32;

    /// The code of the nearest number, which from `INFINITY` on says that there is none; and, below that, the bits
    /// of the number as an `f32`. Of no NaN.
    fn round(magnitude: u32) -> (u32, u32);

    /// The quiet NaN with the upper bits of the payload.
    fn nan(magnitude: u32) -> u32;

    fn from_code(code: u16) -> Self;
}

impl Target for bf16 {
    const INFINITY: u32 = 0x7F80;
    const NORMAL: u32 = 0x0080;

    fn round(magnitude: u32) -> (u32, u32) {
        let rounded = round_off::<16>(magnitude);
        (rounded >> 16, rounded)
    }

    fn nan(magnitude: u32) -> u32 {
        magnitude >> 16 | 0x0040
    }

    fn from_code(code: u16) -> Self {
        Self::from_bits(code)
    }
}

impl Target for f16 {
    const INFINITY: u32 = 0x7C00;
    const NORMAL: u32 = 0x0400;

    fn round(magnitude: u32) -> (u32, u32) {
        const SMALLEST: u32 = 113 << 23; // 2^-14
        let rounded = round_off::<13>(magnitude);
        let normal = (rounded >> 13).wrapping_sub(112 << 10);
        // Beside a half, the last bit of an f32 is worth as much as that of a subnormal: the addition rounds.
        let beside = f32::from_bits(magnitude) + 0.5;
        let subnormal = beside.to_bits().wrapping_sub(0.5f32.to_bits());
        let small = magnitude < SMALLEST;
        let value = if small { (beside - 0.5).to_bits() } else { rounded };
        (if small { subnormal } else { normal }, value)
    }

    fn nan(magnitude: u32) -> u32 {
        magnitude >> 13 & 0x03FF | 0x7E00
    }

    fn from_code(code: u16) -> Self {
        Self::from_bits(code)
    }
}

/// Rounds so many bits off, to the nearest, and to even between two. That a carry goes into the exponent is right.
fn round_off<const BITS: u32>(magnitude: u32) -> u32 {
    let half = (1u32 << BITS >> 1).wrapping_sub(1);
    let odd = magnitude >> BITS & 1;
    magnitude.wrapping_add(half).wrapping_add(odd) & (u32::MAX << BITS)
}

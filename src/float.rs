//! Single codes of the small floats, decoded. Every code of every type here is exactly an `f32`.
//!
//! | Dtype | Sign, exponent, mantissa bits | Bias | Infinities | NaNs | Defined by |
//! |---|---|---|---|---|---|
//! | `F16` | 1, 5, 10 | 15 | yes | exponent 31 | IEEE 754 binary16 |
//! | `BF16` | 1, 8, 7 | 127 | yes | exponent 255 | the upper half of binary32 |
//! | `F8_E5M2` | 1, 5, 2 | 15 | yes | exponent 31 | OCP 8-bit floating point, 1.0 |
//! | `F8_E4M3` | 1, 4, 3 | 7 | no | `0x7f`, `0xff` | OCP 8-bit floating point, 1.0 |
//! | `F8_E5M2FNUZ` | 1, 5, 2 | 16 | no | `0x80` | arXiv 2206.02915 |
//! | `F8_E4M3FNUZ` | 1, 4, 3 | 8 | no | `0x80` | arXiv 2206.02915 |
//! | `F8_E8M0` | 0, 8, 0 | 127 | no | `0xff` | OCP microscaling formats, 1.0 |
//! | `F6_E3M2` | 1, 3, 2 | 3 | no | no | OCP microscaling formats, 1.0 |
//! | `F6_E2M3` | 1, 2, 3 | 1 | no | no | OCP microscaling formats, 1.0 |
//! | `F4` (E2M1) | 1, 2, 1 | 1 | no | no | OCP microscaling formats, 1.0 |
//!
//! The functions have no branches that depend on the code, so that a loop over them becomes vector code; and no
//! arithmetic on subnormal numbers, which some processors do slowly and some flush to zero.

/// Decodes the bits below the sign: `MAN` bits of mantissa, the exponent above them, its bias `BIAS`. Neither
/// infinities nor NaNs.
const fn magnitude<const MAN: u32, const BIAS: u32>(code: u32) -> u32 {
    let aligned = code << (f32::MANTISSA_DIGITS.wrapping_sub(1).wrapping_sub(MAN));
    let normal = aligned.wrapping_add(127u32.wrapping_sub(BIAS) << 23);
    // A subnormal is m steps of the smallest normal's spacing: 2^k·(1 + m·step) − 2^k, exact and all normal. Of
    // others 0 is taken away, which changes nothing: one subtraction for both is quicker than a choice.
    let subnormal = (code >> MAN == 0) as u32;
    let smallest = (128u32.wrapping_sub(BIAS) << 23) & 0u32.wrapping_sub(subnormal);
    (f32::from_bits(normal.wrapping_add(subnormal << 23)) - f32::from_bits(smallest)).to_bits()
}

const NAN: u32 = 0x7FC0_0000;

/// IEEE half precision. NaNs keep their payload and become quiet, as processors convert them.
#[must_use]
pub const fn f16_to_f32(code: u16) -> f32 {
    let code = code as u32;
    let mag = code & 0x7FFF;
    // As if exponent 31 were one more power of two; then it becomes 255, and NaNs quiet, without arithmetic on them.
    let special = (112 << 23) & 0u32.wrapping_sub((mag >= 0x7C00) as u32);
    let quiet = ((mag > 0x7C00) as u32) << 22;
    f32::from_bits((code & 0x8000) << 16 | magnitude::<10, 15>(mag).wrapping_add(special) | quiet)
}

/// bfloat16: 16 zero bits below, and nothing else; NaNs stay as they are.
#[must_use]
pub const fn bf16_to_f32(code: u16) -> f32 {
    f32::from_bits((code as u32) << 16)
}

/// OCP E4M3 ("FN"): no infinities, one NaN of each sign.
#[must_use]
pub const fn f8_e4m3_to_f32(code: u8) -> f32 {
    let code = code as u32;
    let mag = code & 0x7F;
    f32::from_bits((code & 0x80) << 24 | if mag == 0x7F { NAN } else { magnitude::<3, 7>(mag) })
}

/// OCP E5M2: the upper half of an IEEE half.
#[must_use]
pub const fn f8_e5m2_to_f32(code: u8) -> f32 {
    f16_to_f32((code as u16) << 8)
}

/// A power of two, 2^(code − 127), or NaN.
#[must_use]
pub const fn f8_e8m0_to_f32(code: u8) -> f32 {
    let exponent = code as u32;
    let power = if exponent == 0 { 0x0040_0000 } else { exponent << 23 };
    f32::from_bits(if exponent == 0xFF { NAN } else { power })
}

/// E4M3 without infinities and negative zero, whose code is the NaN.
#[must_use]
pub const fn f8_e4m3fnuz_to_f32(code: u8) -> f32 {
    let code = code as u32;
    let value = (code & 0x80) << 24 | magnitude::<3, 8>(code & 0x7F);
    f32::from_bits(if code == 0x80 { NAN } else { value })
}

/// E5M2 without infinities and negative zero, whose code is the NaN.
#[must_use]
pub const fn f8_e5m2fnuz_to_f32(code: u8) -> f32 {
    let code = code as u32;
    let value = (code & 0x80) << 24 | magnitude::<2, 16>(code & 0x7F);
    f32::from_bits(if code == 0x80 { NAN } else { value })
}

/// OCP E3M2, in the low 6 bits; the upper 2 are ignored.
#[must_use]
pub const fn f6_e3m2_to_f32(code: u8) -> f32 {
    let code = code as u32;
    f32::from_bits((code & 0x20) << 26 | magnitude::<2, 3>(code & 0x1F))
}

/// OCP E2M3, in the low 6 bits; the upper 2 are ignored.
#[must_use]
pub const fn f6_e2m3_to_f32(code: u8) -> f32 {
    let code = code as u32;
    f32::from_bits((code & 0x20) << 26 | magnitude::<3, 1>(code & 0x1F))
}

/// OCP E2M1, in the low 4 bits; the upper 4 are ignored. Two stand in a byte, the first in its low half.
#[must_use]
pub const fn f4_to_f32(code: u8) -> f32 {
    let code = code as u32;
    f32::from_bits((code & 0x8) << 28 | magnitude::<1, 1>(code & 0x7))
}

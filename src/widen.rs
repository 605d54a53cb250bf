//! Whole runs of elements, widened: exact, and at the speed of memory.
//!
//! Each loop is over a decoder of `float` without branches, which the compiler makes vector code of. Only F16
//! on processors with instructions for it goes through `half`, where the standard library can tell.

#[cfg_attr(not(feature = "std"), path = "widen/f16_core.rs")]
#[cfg_attr(feature = "std", path = "widen/f16_std.rs")]
mod f16_bulk;

use crate::dtype::Dtype;
use crate::float;

/// Widens the elements at the head of `bytes` to fill `out`. The caller has seen that there are enough, that
/// for F4 they start on a byte, and that the dtype [`is_f32`].
pub(crate) fn to_f32(dtype: Dtype, bytes: &[u8], out: &mut [f32]) {
    match dtype {
        Dtype::F32 => map4(bytes, out, f32::from_le_bytes),
        Dtype::BF16 => map2(bytes, out, |code| float::bf16_to_f32(u16::from_le_bytes(code))),
        Dtype::F16 => f16_bulk::to_f32(bytes, out),
        Dtype::F8E4M3 => map1(bytes, out, float::f8_e4m3_to_f32),
        Dtype::F8E5M2 => map1(bytes, out, float::f8_e5m2_to_f32),
        Dtype::F8E8M0 => map1(bytes, out, float::f8_e8m0_to_f32),
        Dtype::F8E4M3Fnuz => map1(bytes, out, float::f8_e4m3fnuz_to_f32),
        Dtype::F8E5M2Fnuz => map1(bytes, out, float::f8_e5m2fnuz_to_f32),
        Dtype::F4 => map_f4(bytes, out),
        Dtype::I8 => map1(bytes, out, |byte| f32::from(i8::from_le_bytes([byte]))),
        Dtype::U8 => map1(bytes, out, f32::from),
        Dtype::I16 => map2(bytes, out, |pair| f32::from(i16::from_le_bytes(pair))),
        Dtype::U16 => map2(bytes, out, |pair| f32::from(u16::from_le_bytes(pair))),
        Dtype::Bool => map1(bytes, out, truth),
        _ => {}
    }
}

/// The same to `f64`, for dtypes that [`is_f64`].
pub(crate) fn to_f64(dtype: Dtype, bytes: &[u8], out: &mut [f64]) {
    match dtype {
        Dtype::F64 => map8(bytes, out, f64::from_le_bytes),
        Dtype::I32 => map4(bytes, out, |four| f64::from(i32::from_le_bytes(four))),
        Dtype::U32 => map4(bytes, out, |four| f64::from(u32::from_le_bytes(four))),
        _ => {
            // Through f32, a little at a time: every f32 is an f64.
            let mut block = [0f32; 64];
            let mut rest = bytes;
            for out in out.chunks_mut(block.len()) {
                let block = block.get_mut(..out.len()).unwrap_or_default();
                to_f32(dtype, rest, block);
                out.iter_mut().zip(block).for_each(|(wide, narrow)| *wide = f64::from(*narrow));
                rest = rest.get(bytes_of(dtype, out.len())..).unwrap_or_default();
            }
        }
    }
}

/// Whether every value of the dtype is an `f32`, and how its elements are packed is defined.
pub(crate) const fn is_f32(dtype: Dtype) -> bool {
    match dtype {
        Dtype::F32 | Dtype::F16 | Dtype::BF16 | Dtype::F4 => true,
        Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::F8E8M0 | Dtype::F8E4M3Fnuz | Dtype::F8E5M2Fnuz => true,
        Dtype::I8 | Dtype::U8 | Dtype::I16 | Dtype::U16 | Dtype::Bool => true,
        Dtype::F6E2M3 | Dtype::F6E3M2 | Dtype::I32 | Dtype::U32 => false,
        Dtype::C64 | Dtype::F64 | Dtype::I64 | Dtype::U64 => false,
    }
}

/// Whether every value of the dtype is an `f64`, and how its elements are packed is defined.
pub(crate) const fn is_f64(dtype: Dtype) -> bool {
    is_f32(dtype) || matches!(dtype, Dtype::F64 | Dtype::I32 | Dtype::U32)
}

/// Bytes that so many elements take, the last perhaps in part. They are there, so this cannot overflow.
pub(crate) const fn bytes_of(dtype: Dtype, elements: usize) -> usize {
    match dtype {
        Dtype::F4 => elements.div_ceil(2),
        _ => elements.saturating_mul(dtype.bits() as usize >> 3),
    }
}

/// The element at `index`, widened: one at a time, in any place. The slow twin of [`to_f32`].
pub(crate) fn f32_at(dtype: Dtype, bytes: &[u8], index: usize) -> Option<f32> {
    let one = |decode: fn(u8) -> f32| bytes.get(index).map(|&code| decode(code));
    let two = || bytes.get(index.checked_mul(2)?..)?.first_chunk::<2>().copied();
    Some(match dtype {
        Dtype::F32 => f32::from_le_bytes(*bytes.get(index.checked_mul(4)?..)?.first_chunk::<4>()?),
        Dtype::BF16 => float::bf16_to_f32(u16::from_le_bytes(two()?)),
        Dtype::F16 => float::f16_to_f32(u16::from_le_bytes(two()?)),
        Dtype::F8E4M3 => one(float::f8_e4m3_to_f32)?,
        Dtype::F8E5M2 => one(float::f8_e5m2_to_f32)?,
        Dtype::F8E8M0 => one(float::f8_e8m0_to_f32)?,
        Dtype::F8E4M3Fnuz => one(float::f8_e4m3fnuz_to_f32)?,
        Dtype::F8E5M2Fnuz => one(float::f8_e5m2fnuz_to_f32)?,
        Dtype::F4 => {
            let pair = *bytes.get(index >> 1)?;
            float::f4_to_f32(if index & 1 == 0 { pair & 0xF } else { pair >> 4 })
        }
        Dtype::I8 => one(|byte| f32::from(i8::from_le_bytes([byte])))?,
        Dtype::U8 => one(f32::from)?,
        Dtype::I16 => f32::from(i16::from_le_bytes(two()?)),
        Dtype::U16 => f32::from(u16::from_le_bytes(two()?)),
        Dtype::Bool => one(truth)?,
        _ => return None,
    })
}

/// The element at `index`, widened to `f64`.
pub(crate) fn f64_at(dtype: Dtype, bytes: &[u8], index: usize) -> Option<f64> {
    let four = || bytes.get(index.checked_mul(4)?..)?.first_chunk::<4>().copied();
    Some(match dtype {
        Dtype::F64 => f64::from_le_bytes(*bytes.get(index.checked_mul(8)?..)?.first_chunk::<8>()?),
        Dtype::I32 => f64::from(i32::from_le_bytes(four()?)),
        Dtype::U32 => f64::from(u32::from_le_bytes(four()?)),
        _ => f64::from(f32_at(dtype, bytes, index)?),
    })
}

/// A byte of BOOL, widened: any byte but 0 is 1, as in C and numpy.
fn truth(byte: u8) -> f32 {
    f32::from(u8::from(byte != 0))
}

fn map1<T>(bytes: &[u8], out: &mut [T], decode: impl Fn(u8) -> T) {
    out.iter_mut().zip(bytes).for_each(|(out, &code)| *out = decode(code));
}

fn map2<T>(bytes: &[u8], out: &mut [T], decode: impl Fn([u8; 2]) -> T) {
    out.iter_mut().zip(bytes.as_chunks().0).for_each(|(out, &code)| *out = decode(code));
}

fn map4<T>(bytes: &[u8], out: &mut [T], decode: impl Fn([u8; 4]) -> T) {
    out.iter_mut().zip(bytes.as_chunks().0).for_each(|(out, &code)| *out = decode(code));
}

fn map8<T>(bytes: &[u8], out: &mut [T], decode: impl Fn([u8; 8]) -> T) {
    out.iter_mut().zip(bytes.as_chunks().0).for_each(|(out, &code)| *out = decode(code));
}

/// Two elements a byte, the first in its low half.
fn map_f4(bytes: &[u8], out: &mut [f32]) {
    let (pairs, last) = out.as_chunks_mut::<2>();
    for (pair, &byte) in pairs.iter_mut().zip(bytes) {
        *pair = [float::f4_to_f32(byte & 0xF), float::f4_to_f32(byte >> 4)];
    }
    if let ([last], Some(&byte)) = (last, bytes.get(pairs.len())) {
        *last = float::f4_to_f32(byte & 0xF);
    }
}

//! F16 in integer steps, which any processor's vector unit has.

use crate::float;

pub(super) fn to_f32(bytes: &[u8], out: &mut [f32]) {
    crate::widen::map2(bytes, out, |code| float::f16_to_f32(u16::from_le_bytes(code)));
}

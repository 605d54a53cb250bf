//! F16 through the processor's own instructions where it has them, which the standard library can ask. `half`
//! has the safe calls for them.

#[path = "f16_core.rs"]
mod core;

use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// Elements that are moved to an aligned place at once.
const BLOCK: usize = 2048;

pub(super) fn to_f32(bytes: &[u8], out: &mut [f32]) {
    if !has_instructions() {
        return core::to_f32(bytes, out);
    }
    let bytes = bytes.get(..out.len().saturating_mul(2)).unwrap_or(bytes);
    match bytemuck::try_cast_slice::<u8, f16>(bytes) {
        Ok(aligned) if cfg!(target_endian = "little") => aligned.convert_to_f32_slice(out),
        _ => {
            let mut block = [f16::ZERO; BLOCK];
            for (bytes, out) in bytes.chunks(size_of_val(&block)).zip(out.chunks_mut(BLOCK)) {
                let block = block.get_mut(..out.len()).unwrap_or_default();
                crate::widen::map2(bytes, block, f16::from_le_bytes);
                block.convert_to_f32_slice(out);
            }
        }
    }
}

/// Whether `half` uses instructions here; elsewhere its loop goes element by element.
fn has_instructions() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::is_x86_feature_detected!("f16c");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("fp16");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

//! The npy format, version 1.0, as far as it is written:
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use weightview::Dtype;

/// numpy's name for the dtype, little-endian; none for what numpy has no type for.
pub(crate) fn descr(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::Bool => "|b1",
        Dtype::I8 => "|i1",
        Dtype::U8 => "|u1",
        Dtype::I16 => "<i2",
        Dtype::U16 => "<u2",
        Dtype::I32 => "<i4",
        Dtype::U32 => "<u4",
        Dtype::I64 => "<i8",
        Dtype::U64 => "<u8",
        Dtype::F16 => "<f2",
        Dtype::F32 => "<f4",
        Dtype::F64 => "<f8",
        Dtype::C64 => "<c8",
        _ => return None,
    })
}

/// What stands before the data: at most 16 dims, so that its length fits the format's 16 bits.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let dims: String = shape.iter().map(|dim| format!("{dim}, ")).collect();
    // A tuple of one has a comma, longer ones and none do not.
    let dims = if shape.len() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}");
    let before = 10 + text.len() + 1; // magic, version, length; the line's end
    text.push_str(&" ".repeat(before.next_multiple_of(64) - before));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

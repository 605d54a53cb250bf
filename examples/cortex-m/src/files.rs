//! The files in flash: the model, the same at an odd address, and the images that it was not trained on.

/// As the linker places it, in front of `FILE`.
#[repr(C)]
struct Placed<A, const BEFORE: usize, const LEN: usize> {
    align: [A; 0],
    before: [u8; BEFORE],
    file: [u8; LEN],
}

const MODEL: &[u8; 6200] = include_bytes!("../../../tests/data/digits.safetensors");

static ALIGNED: Placed<u64, 0, { MODEL.len() }> = Placed { align: [], before: [], file: *MODEL };
static MISALIGNED: Placed<u64, 1, { MODEL.len() }> = Placed { align: [], before: [0], file: *MODEL };

/// The model, where its numbers can be used in place.
pub fn model() -> &'static [u8] {
    opaque(&ALIGNED.file)
}

/// The model, one byte behind.
pub fn misaligned_model() -> &'static [u8] {
    opaque(&MISALIGNED.file)
}

/// Images, labels, and the answers of the host that made the file.
pub fn held_out() -> &'static [u8] {
    opaque(include_bytes!("../../../tests/data/digits_held_out.safetensors"))
}

/// The bytes, in a way that the compiler cannot see through: it would read the files while it compiles.
fn opaque(bytes: &'static [u8]) -> &'static [u8] {
    core::hint::black_box(bytes)
}

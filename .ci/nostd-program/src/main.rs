//! A program of nothing but `core` and weightview: no std, no allocator, no libc. That it links is the proof
//! that the no-heap build needs none of them; that it exits with 0 says that it works.

#![no_std]
#![no_main]

use weightview::error::ErrorKind;
use weightview::safetensors::{Header, ParseOptions, header_len};
use weightview::{Dtype, Error, SafeTensors, Slot};

mod bare;

static MODEL: &[u8] = include_bytes!("../../../tests/data/digits.safetensors");

/// What the program exits with: 0, or the number of the check that failed.
fn run() -> u8 {
    match check() {
        Ok(Ok(())) => 0,
        Ok(Err(step)) => step,
        Err(_) => 100,
    }
}

fn check() -> Result<Result<(), u8>, Error> {
    // A volatile read, so that nothing below is worked out by the compiler.
    let bytes = bare::opaque(&MODEL);
    let model = SafeTensors::parse(bytes)?;
    let expected: [(&str, Dtype, &[usize]); 4] = [
        ("fc1.bias", Dtype::F32, &[32]),
        ("fc1.weight", Dtype::BF16, &[32, 64]),
        ("fc2.bias", Dtype::F32, &[10]),
        ("fc2.weight", Dtype::BF16, &[10, 32]),
    ];
    if model.len() != expected.len() {
        return Ok(Err(1));
    }

    let mut slots = [Slot::default(); 8];
    let index = model.index_in(&mut slots)?;
    for (name, dtype, shape) in expected {
        for tensor in [model.tensor(name)?, index.tensor(name)?] {
            let elements: usize = shape.iter().product();
            if tensor.dtype() != dtype
                || tensor.shape() != shape
                || tensor.data().len() * 8 != elements * dtype.bits() as usize
            {
                return Ok(Err(2));
            }
        }
    }
    if model.tensors().map(|tensor| tensor.data().len()).sum::<usize>() != bytes.len() - model.data_start() as usize {
        return Ok(Err(3));
    }
    if model.tensor("fc3.weight").is_ok() || model.metadata().count() == 0 {
        return Ok(Err(4));
    }

    // The head alone, and small limits.
    let Some(first) = bytes.first_chunk::<8>() else { return Ok(Err(5)) };
    let head = bytes.get(..8 + header_len(first)? as usize).unwrap_or_default();
    if Header::parse(head)?.file_len() != bytes.len() as u64 {
        return Ok(Err(6));
    }
    let few = ParseOptions { max_tensors: 3, ..ParseOptions::strict() };
    if few.parse(bytes).err().map(|error| error.kind()) != Some(ErrorKind::TooManyTensors { limit: 3 }) {
        return Ok(Err(7));
    }

    // A file that is cut at any byte is refused.
    if (0..bytes.len()).any(|len| bytes.get(..len).is_none_or(|cut| SafeTensors::parse(cut).is_ok())) {
        return Ok(Err(8));
    }
    Ok(Ok(()))
}

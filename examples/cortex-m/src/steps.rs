//! The calls that are measured, each a function of its own.

use weightview::{Error, SafeTensors, SliceError, TensorView};

#[inline(never)]
pub fn parse(file: &'static [u8]) -> Result<SafeTensors<'static>, Error> {
    SafeTensors::parse(file)
}

#[inline(never)]
pub fn look_up(model: &SafeTensors<'static>, name: &str) -> Result<TensorView<'static>, Error> {
    model.tensor(name)
}

/// Widens a tensor row by row: what firmware does that has room for a row and not for a matrix.
#[inline(never)]
pub fn widen(tensor: &TensorView<'_>, row: &mut [f32], mut each: impl FnMut(&[f32])) -> Result<(), SliceError> {
    for numbers in tensor.rows()? {
        numbers.read_f32(row)?;
        each(row);
    }
    Ok(())
}

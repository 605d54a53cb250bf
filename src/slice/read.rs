//! The numbers of a slice: one by one, or into a buffer.

use super::Slice;
use super::iter::{Iter, IterF32, IterF64, Widened};
use super::layout::{Walk, byte_range};
use crate::dtype::Dtype;
use crate::element::{CastError, Element};
use crate::widen;

impl<'a, 's> Slice<'a, 's> {
    /// The elements one by one, as they are: see [`TensorView::iter`](crate::TensorView::iter).
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use half::bf16;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let column = weight.slice(&[Axis::all(), Axis::at(5)])?;
    /// let upwards: Vec<bf16> = column.iter()?.rev().collect();
    /// assert_eq!(upwards.len(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or, for `bool`, `Value`.
    pub fn iter<T: Element>(&self) -> Result<Iter<'a, 's, T>, CastError> {
        expect_type::<T>(self.dtype)?;
        self.expect_values::<T>()?;
        Ok(Iter::new(self.data, self.layout))
    }

    /// The elements one by one, widened to `f32`, exactly: see
    /// [`TensorView::iter_f32`](crate::TensorView::iter_f32).
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let sum: f32 = weight.narrow(1, 8..16)?.iter_f32()?.sum();
    /// assert!(sum.is_finite());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError::Dtype`].
    pub fn iter_f32(&self) -> Result<IterF32<'a, 's>, CastError> {
        self.expect_wide::<f32>()?;
        Ok(Widened::new(self.dtype, self.data, self.layout))
    }

    /// The elements one by one, widened to `f64`, exactly: see
    /// [`TensorView::iter_f64`](crate::TensorView::iter_f64).
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let block = weight.narrow(1, 8..16)?;
    /// let mean = block.iter_f64()?.sum::<f64>() / block.elements() as f64;
    /// assert!(mean.abs() < 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError::Dtype`].
    pub fn iter_f64(&self) -> Result<IterF64<'a, 's>, CastError> {
        self.expect_wide::<f64>()?;
        Ok(Widened::new(self.dtype, self.data, self.layout))
    }

    /// The whole slice into the caller's buffer, as it is.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use half::bf16;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let mut block = [bf16::ZERO; 32 * 8];
    /// weight.narrow(1, 8..16)?.read(&mut block)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, `Size` when the buffer has not exactly the slice's length, or `Value`; the buffer is
    /// then as it was.
    pub fn read<T: Element>(&self, out: &mut [T]) -> Result<(), CastError> {
        expect_type::<T>(self.dtype)?;
        self.expect_len(out.len())?;
        self.expect_values::<T>()?;
        let mut out = out.iter_mut();
        Iter::<T>::new(self.data, self.layout).for_each(|element| {
            if let Some(out) = out.next() {
                *out = element;
            }
        });
        Ok(())
    }

    /// The whole slice into the caller's buffer, widened as [`iter_f32`](Self::iter_f32) does, but each line of it
    /// at the speed of memory.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let mut block = [0f32; 8 * 32];
    /// weight.slice(&[(..8).into(), (32..).into()])?.read_f32(&mut block)?; // a quarter of the columns
    /// assert_eq!(block[32], weight.element_f32(&[1, 32])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, or `Size` when the buffer has not exactly the slice's length.
    pub fn read_f32(&self, out: &mut [f32]) -> Result<(), CastError> {
        self.read_wide(out)
    }

    /// The whole slice into the caller's buffer, widened as [`iter_f64`](Self::iter_f64) does.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let mut block = [0f64; 32 * 8];
    /// weight.narrow(1, 8..16)?.read_f64(&mut block)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, or `Size` when the buffer has not exactly the slice's length.
    pub fn read_f64(&self, out: &mut [f64]) -> Result<(), CastError> {
        self.read_wide(out)
    }

    /// The whole slice in a vector of its own, as it is.
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, `Value` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_vec<T: Element>(&self) -> Result<alloc::vec::Vec<T>, CastError> {
        let elements = self.iter::<T>()?;
        let mut out = crate::element::room(elements.len())?;
        out.extend(elements);
        Ok(out)
    }

    /// The whole slice in a vector of its own, widened as [`read_f32`](Self::read_f32) does.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let rows = weight.slice(&[Axis::list(&[0, 31, 0])])?.to_f32_vec()?;
    /// assert_eq!(rows.len(), 3 * 64);
    /// assert_eq!(rows[..64], rows[128..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_f32_vec(&self) -> Result<alloc::vec::Vec<f32>, CastError> {
        self.wide_vec()
    }

    /// The whole slice in a vector of its own, widened as [`read_f64`](Self::read_f64) does.
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_f64_vec(&self) -> Result<alloc::vec::Vec<f64>, CastError> {
        self.wide_vec()
    }

    fn read_wide<F: Wide>(&self, out: &mut [F]) -> Result<(), CastError> {
        self.expect_wide::<F>()?;
        self.expect_len(out.len())?;
        fill(self.dtype, self.data, &mut Walk::new(self.layout), out);
        Ok(())
    }

    #[cfg(feature = "alloc")]
    fn wide_vec<F: Wide>(&self) -> Result<alloc::vec::Vec<F>, CastError> {
        self.expect_wide::<F>()?;
        let mut out = crate::element::zeros(self.elements())?;
        fill(self.dtype, self.data, &mut Walk::new(self.layout), &mut out);
        Ok(out)
    }

    fn expect_wide<F: Wide>(&self) -> Result<(), CastError> {
        if F::takes(self.dtype) { Ok(()) } else { Err(CastError::Dtype { expected: None, actual: self.dtype }) }
    }

    fn expect_len(&self, actual: usize) -> Result<(), CastError> {
        let expected = self.elements();
        if actual == expected { Ok(()) } else { Err(CastError::Size { expected, actual }) }
    }

    /// Only a `bool` has bytes that are no value. What the slice leaves out may be anything.
    fn expect_values<T: Element>(&self) -> Result<(), CastError> {
        if T::DTYPE != Dtype::Bool {
            return Ok(());
        }
        match Iter::<u8>::new(self.data, self.layout).position(|byte| byte > 1) {
            Some(index) => Err(CastError::Value { index }),
            None => Ok(()),
        }
    }
}

/// Whether the tensor's elements are of that type.
pub(super) fn expect_type<T: Element>(actual: Dtype) -> Result<(), CastError> {
    if actual == T::DTYPE { Ok(()) } else { Err(CastError::Dtype { expected: Some(T::DTYPE), actual }) }
}

/// A float that elements widen to.
pub trait Wide: Copy + Default + bytemuck::Zeroable {
    /// Whether every value of the dtype is one.
    fn takes(dtype: Dtype) -> bool;
    /// The element at a place.
    fn one(dtype: Dtype, bytes: &[u8], place: usize) -> Option<Self>;
    /// The elements at the head of `bytes`, where one starts, into all of `out`.
    fn many(dtype: Dtype, bytes: &[u8], out: &mut [Self]);
}

impl Wide for f32 {
    fn takes(dtype: Dtype) -> bool {
        widen::is_f32(dtype)
    }

    fn one(dtype: Dtype, bytes: &[u8], place: usize) -> Option<Self> {
        widen::f32_at(dtype, bytes, place)
    }

    fn many(dtype: Dtype, bytes: &[u8], out: &mut [Self]) {
        widen::to_f32(dtype, bytes, out);
    }
}

impl Wide for f64 {
    fn takes(dtype: Dtype) -> bool {
        widen::is_f64(dtype)
    }

    fn one(dtype: Dtype, bytes: &[u8], place: usize) -> Option<Self> {
        widen::f64_at(dtype, bytes, place)
    }

    fn many(dtype: Dtype, bytes: &[u8], out: &mut [Self]) {
        widen::to_f64(dtype, bytes, out);
    }
}

/// Widens the walk's next elements into all of `out`: whole lines at once where they lie in one piece.
pub(super) fn fill<F: Wide>(dtype: Dtype, data: &[u8], walk: &mut Walk<'_>, out: &mut [F]) {
    let mut rest = out;
    while let Some(stretch) = walk.stretch(rest.len()) {
        let Some((head, tail)) = core::mem::take(&mut rest).split_at_mut_checked(stretch.len()) else { return };
        rest = tail;
        match stretch.one_piece(walk.layout()) {
            Some(start) => fill_piece(dtype, data, start, head),
            None => {
                for (out, place) in head.iter_mut().zip(stretch.places(walk.layout())) {
                    *out = F::one(dtype, data, place).unwrap_or_default();
                }
            }
        }
    }
}

/// Widens what lies from `start` on.
fn fill_piece<F: Wide>(dtype: Dtype, data: &[u8], start: usize, out: &mut [F]) {
    // From the upper half of a byte on, when someone has walked up to there.
    let halves = usize::from(dtype == Dtype::F4 && start & 1 == 1);
    let Some((half, whole)) = out.split_at_mut_checked(halves) else { return };
    for out in half {
        *out = F::one(dtype, data, start).unwrap_or_default();
    }
    let start = byte_range(dtype, start.wrapping_add(halves), 0).start;
    F::many(dtype, data.get(start..).unwrap_or_default(), whole);
}

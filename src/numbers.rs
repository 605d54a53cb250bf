//! The numbers of a tensor: in place where that is sound, one by one, or into a buffer.

use bytemuck::checked::CheckedCastError;

use crate::dtype::Dtype;
use crate::element::{CastError, Element};
use crate::iter::{Iter, IterF32, IterF64};
use crate::view::TensorView;
use crate::widen;

impl<'a> TensorView<'a> {
    /// The elements in place, without a copy: dtype, alignment, byte order and, for `bool`, every byte are
    /// checked.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let bias = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?;
    /// match bias.as_slice::<f32>() {
    ///     Ok(numbers) => assert_eq!(numbers.len(), 32),
    ///     Err(why) => println!("{why}"), // misaligned here, or a big-endian host: iter and read work
    /// }
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, `Alignment`, `ByteOrder` or `Value`; each says which call works instead.
    pub fn as_slice<T: Element>(&self) -> Result<&'a [T], CastError> {
        self.expect_dtype::<T>()?;
        if cfg!(target_endian = "big") && T::SIZE > 1 {
            return Err(CastError::ByteOrder);
        }
        let data = self.data();
        if data.is_empty() {
            return Ok(&[]); // of any alignment
        }
        bytemuck::checked::try_cast_slice(data).map_err(|error| match error {
            CheckedCastError::InvalidBitPattern => self.bad_value::<T>(),
            CheckedCastError::PodCastError(_) => CastError::Alignment { required: align_of::<T>() },
        })
    }

    /// The elements: borrowed where [`as_slice`](Self::as_slice) can, else copied.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let bias = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?;
    /// let numbers = bias.to_cow::<f32>().unwrap();
    /// assert_eq!(numbers.len(), 32);
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, `Value` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_cow<T: Element>(&self) -> Result<alloc::borrow::Cow<'a, [T]>, CastError> {
        match self.as_slice() {
            Ok(borrowed) => Ok(borrowed.into()),
            Err(CastError::Alignment { .. } | CastError::ByteOrder) => Ok(self.to_vec()?.into()),
            Err(other) => Err(other),
        }
    }

    /// The elements one by one, as they are, whatever their alignment and this host's byte order.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// use half::bf16;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?;
    /// let first: bf16 = weight.iter().unwrap().next().unwrap();
    /// assert!(first.is_finite());
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or, for `bool`, `Value`.
    pub fn iter<T: Element>(&self) -> Result<Iter<'a, T>, CastError> {
        self.expect_dtype::<T>()?;
        self.expect_values::<T>()?;
        Ok(Iter::new(self.data()))
    }

    /// The elements one by one, widened to `f32`, exactly.
    ///
    /// It takes the dtypes whose every value is an `f32`: F32, F16, BF16, all F8, F4, I8, U8, I16, U16 and BOOL
    /// (any byte but 0 is 1). BF16 is a shift by 16 bits, NaNs and all; F16 NaNs become quiet; F4 has the first
    /// element in the low half of a byte.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16
    /// let sum: f32 = weight.iter_f32().unwrap().sum();
    /// assert!(sum.is_finite());
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError::Dtype`] for any other: for F6 because it has no defined packing, for the rest because some
    /// values would have to be rounded.
    pub fn iter_f32(&self) -> Result<IterF32<'a>, CastError> {
        self.expect(widen::is_f32(self.dtype()))?;
        Ok(IterF32::new(self.dtype(), self.data(), self.elements()))
    }

    /// The elements one by one, widened to `f64`, exactly: what [`iter_f32`](Self::iter_f32) takes, and F64,
    /// I32 and U32.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let bias = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?;
    /// let mean = bias.iter_f64().unwrap().sum::<f64>() / bias.elements() as f64;
    /// assert!(mean.abs() < 1.0);
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError::Dtype`].
    pub fn iter_f64(&self) -> Result<IterF64<'a>, CastError> {
        self.expect(widen::is_f64(self.dtype()))?;
        Ok(IterF64::new(self.dtype(), self.data(), self.elements()))
    }

    /// The whole tensor into the caller's buffer, as it is.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let mut buffer = [0f32; 32];
    /// weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?.read(&mut buffer).unwrap();
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, `Size` when the buffer has not exactly the tensor's length, or `Value`; the buffer
    /// is then as it was.
    pub fn read<T: Element>(&self, out: &mut [T]) -> Result<(), CastError> {
        self.expect_dtype::<T>()?;
        self.expect_len(out.len())?;
        self.expect_values::<T>()?;
        for (out, bytes) in out.iter_mut().zip(self.data().chunks_exact(T::SIZE)) {
            if let Some(element) = T::from_le(bytes) {
                *out = element;
            }
        }
        Ok(())
    }

    /// The whole tensor into the caller's buffer, widened as [`iter_f32`](Self::iter_f32) does, but at the speed
    /// of memory.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let model = weightview::SafeTensors::parse(&bytes)?;
    /// let mut row = [0f32; 64];
    /// for weights in model.tensor("fc1.weight")?.rows().unwrap() {
    ///     weights.read_f32(&mut row).unwrap();
    /// }
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, or `Size` when the buffer has not exactly the tensor's length.
    pub fn read_f32(&self, out: &mut [f32]) -> Result<(), CastError> {
        self.expect(widen::is_f32(self.dtype()))?;
        self.expect_len(out.len())?;
        widen::to_f32(self.dtype(), self.data(), out);
        Ok(())
    }

    /// The whole tensor into the caller's buffer, widened as [`iter_f64`](Self::iter_f64) does.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let mut buffer = [0f64; 32];
    /// weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?.read_f64(&mut buffer).unwrap();
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype`, or `Size` when the buffer has not exactly the tensor's length.
    pub fn read_f64(&self, out: &mut [f64]) -> Result<(), CastError> {
        self.expect(widen::is_f64(self.dtype()))?;
        self.expect_len(out.len())?;
        widen::to_f64(self.dtype(), self.data(), out);
        Ok(())
    }

    /// The whole tensor in a vector of its own, as it is.
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

    /// The whole tensor in a vector of its own, widened as [`read_f32`](Self::read_f32) does.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?;
    /// assert_eq!(weight.to_f32_vec().unwrap().len(), 32 * 64);
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_f32_vec(&self) -> Result<alloc::vec::Vec<f32>, CastError> {
        self.expect(widen::is_f32(self.dtype()))?;
        let mut out = crate::element::zeros(self.elements())?;
        widen::to_f32(self.dtype(), self.data(), &mut out);
        Ok(out)
    }

    /// The whole tensor in a vector of its own, widened as [`read_f64`](Self::read_f64) does.
    ///
    /// # Errors
    /// [`CastError`] `Dtype` or `Memory`.
    #[cfg(feature = "alloc")]
    pub fn to_f64_vec(&self) -> Result<alloc::vec::Vec<f64>, CastError> {
        self.expect(widen::is_f64(self.dtype()))?;
        let mut out = crate::element::zeros(self.elements())?;
        widen::to_f64(self.dtype(), self.data(), &mut out);
        Ok(out)
    }

    fn expect_dtype<T: Element>(&self) -> Result<(), CastError> {
        let actual = self.dtype();
        if actual == T::DTYPE { Ok(()) } else { Err(CastError::Dtype { expected: Some(T::DTYPE), actual }) }
    }

    fn expect(&self, widens: bool) -> Result<(), CastError> {
        if widens { Ok(()) } else { Err(CastError::Dtype { expected: None, actual: self.dtype() }) }
    }

    fn expect_len(&self, actual: usize) -> Result<(), CastError> {
        let expected = self.elements();
        if actual == expected { Ok(()) } else { Err(CastError::Size { expected, actual }) }
    }

    /// Only a `bool` has bytes that are no value.
    fn expect_values<T: Element>(&self) -> Result<(), CastError> {
        if T::DTYPE == Dtype::Bool && self.data().iter().any(|&byte| byte > 1) {
            return Err(self.bad_value::<T>());
        }
        Ok(())
    }

    /// Names the first element that is no value.
    fn bad_value<T: Element>(&self) -> CastError {
        let index = self.data().chunks_exact(T::SIZE).position(|bytes| T::from_le(bytes).is_none());
        CastError::Value { index: index.unwrap_or(0) }
    }
}

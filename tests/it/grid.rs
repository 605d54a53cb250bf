//! Bulk equals iterator equals single code, for every dtype that widens, at every alignment and length; and what
//! reading in place says when it cannot.

use std::fmt::Debug;

use half::{bf16, f16};
use weightview::{
    CastError, Dtype, Element, F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0, SafeTensors, TensorView, float,
};

/// A file of one tensor, whose data lie at a chosen offset from a multiple of 64.
pub(crate) struct Placed {
    memory: Vec<u8>,
    start: usize,
}

impl Placed {
    /// As many elements as the data make whole.
    pub(crate) fn new(dtype: Dtype, data: &[u8], at: usize) -> Self {
        let elements = data.len() / dtype.block_bytes() as usize * dtype.block_len() as usize;
        let header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":[{elements}],"data_offsets":[0,{}]}}}}"#, data.len());
        let len = (header.len() + 8).next_multiple_of(64) - 8;
        let mut memory = vec![0; 64 + at + 8 + len + data.len()];
        let start = memory.as_ptr().align_offset(64) + at;
        memory.truncate(start); // and what was there stays in place: the memory is reserved
        memory.extend_from_slice(&(len as u64).to_le_bytes());
        memory.extend_from_slice(format!("{header:len$}").as_bytes());
        memory.extend_from_slice(data);
        Self { memory, start }
    }

    pub(crate) fn tensor(&self) -> TensorView<'_> {
        let file = SafeTensors::parse(&self.memory[self.start..]).expect("well");
        file.tensor("x").expect("there")
    }
}

/// Bytes of every value, in no order that numbers would have.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The element at a place, by its definition.
pub(crate) fn single_f32(dtype: Dtype, data: &[u8], place: usize) -> Option<f32> {
    let two = || [data[2 * place], data[2 * place + 1]];
    Some(match dtype {
        Dtype::F32 => f32::from_le_bytes(data[4 * place..][..4].try_into().expect("4 bytes")),
        Dtype::F16 => float::f16_to_f32(u16::from_le_bytes(two())),
        Dtype::BF16 => float::bf16_to_f32(u16::from_le_bytes(two())),
        Dtype::F8E4M3 => float::f8_e4m3_to_f32(data[place]),
        Dtype::F8E5M2 => float::f8_e5m2_to_f32(data[place]),
        Dtype::F8E8M0 => float::f8_e8m0_to_f32(data[place]),
        Dtype::F8E4M3Fnuz => float::f8_e4m3fnuz_to_f32(data[place]),
        Dtype::F8E5M2Fnuz => float::f8_e5m2fnuz_to_f32(data[place]),
        Dtype::F4 if place.is_multiple_of(2) => float::f4_to_f32(data[place / 2] & 15),
        Dtype::F4 => float::f4_to_f32(data[place / 2] >> 4),
        Dtype::I8 => f32::from(data[place] as i8),
        Dtype::U8 => f32::from(data[place]),
        Dtype::I16 => f32::from(i16::from_le_bytes(two())),
        Dtype::U16 => f32::from(u16::from_le_bytes(two())),
        Dtype::Bool => f32::from(u8::from(data[place] != 0)),
        _ => return None,
    })
}

pub(crate) fn single_f64(dtype: Dtype, data: &[u8], place: usize) -> Option<f64> {
    let four = || data[4 * place..][..4].try_into().expect("4 bytes");
    Some(match dtype {
        Dtype::F64 => f64::from_le_bytes(data[8 * place..][..8].try_into().expect("8 bytes")),
        Dtype::I32 => f64::from(i32::from_le_bytes(four())),
        Dtype::U32 => f64::from(u32::from_le_bytes(four())),
        _ => f64::from(single_f32(dtype, data, place)?),
    })
}

/// Calls with every dtype, and its data at every alignment and of every length.
fn for_all(mut check: impl FnMut(TensorView<'_>)) {
    for &dtype in Dtype::ALL {
        let noise = noise(70 * 8, dtype.bits().into());
        for at in 0..16 {
            for blocks in 0..=70 / dtype.block_len() as usize {
                let len = blocks * dtype.block_bytes() as usize;
                check(Placed::new(dtype, &noise[..len], at).tensor());
            }
        }
    }
}

/// Bits, in which NaNs can be compared.
fn bits32(numbers: impl IntoIterator<Item = f32>) -> Vec<u32> {
    numbers.into_iter().map(f32::to_bits).collect()
}

/// The same; but f32's NaNs are not promised to keep their bits on the way to f64.
fn bits64(numbers: impl IntoIterator<Item = f64>) -> Vec<u64> {
    let bits = |number: f64| if number.is_nan() { u64::MAX } else { number.to_bits() };
    numbers.into_iter().map(bits).collect()
}

/// An iterator that can do all this does it alike.
fn assert_iterates<I, B: PartialEq + Debug>(
    iter: I,
    expected: &[B],
    bits: impl Fn(&mut dyn Iterator<Item = I::Item>) -> Vec<B>,
) where
    I: DoubleEndedIterator + ExactSizeIterator + Clone,
{
    let len = expected.len();
    assert_eq!((iter.len(), iter.size_hint(), iter.clone().count()), (len, (len, Some(len)), len));
    assert_eq!(bits(&mut iter.clone()), expected);
    assert!(bits(&mut iter.clone().rev()).iter().eq(expected.iter().rev()));
    assert_eq!(bits(&mut iter.clone().last().into_iter()), expected[len.saturating_sub(1)..]);
    let folded = iter.clone().fold(Vec::new(), |mut all, number| {
        all.push(number);
        all
    });
    assert_eq!(bits(&mut folded.into_iter()), expected);

    // Skipped to from both ends; then what is left.
    for skip in [0, 1, 2, 7, 33, 69, len, usize::MAX] {
        let (mut front, mut back) = (iter.clone(), iter.clone());
        let left = len.saturating_sub(skip).saturating_sub(1);
        assert_eq!(bits(&mut front.nth(skip).into_iter()), expected[len.min(skip)..len - left]);
        assert_eq!((front.len(), back.clone().nth_back(skip).is_some()), (left, skip < len));
        assert_eq!(bits(&mut front), expected[len - left..]);
        assert_eq!(bits(&mut back.nth_back(skip).into_iter()), expected[left..len.saturating_sub(skip)]);
        back.next();
        assert_eq!(bits(&mut back.clone()), expected[1.min(left)..left]);
        let folded = back.fold(Vec::new(), |mut all, number| {
            all.push(number);
            all
        });
        assert_eq!(bits(&mut folded.into_iter()), expected[1.min(left)..left]);
    }
    let mut ended = iter.clone();
    let ends: usize = (0..=len).filter_map(|turn| if turn % 2 == 0 { ended.next() } else { ended.next_back() }).count();
    assert_eq!((ends, ended.len()), (len, 0));
    assert!(ended.next().is_none() && ended.next_back().is_none() && ended.next().is_none());
}

#[test]
fn widened_to_f32() {
    for_all(|tensor| {
        let (dtype, data, len) = (tensor.dtype(), tensor.data(), tensor.elements());
        let mut bulk = vec![7.0; len];
        let expected: Option<Vec<_>> = (0..len).map(|place| single_f32(dtype, data, place)).collect();
        if single_f32(dtype, &[0; 8], 0).is_none() {
            let error = CastError::Dtype { expected: None, actual: dtype };
            assert_eq!((tensor.iter_f32().err(), tensor.read_f32(&mut bulk)), (Some(error), Err(error)));
            assert_eq!(bulk, vec![7.0; len], "untouched");
            return;
        }
        let expected = bits32(expected.expect("it widens"));
        assert_eq!(tensor.read_f32(&mut bulk), Ok(()));
        assert_eq!(bits32(bulk), expected, "{dtype}");
        assert_iterates(tensor.iter_f32().expect("it widens"), &expected, |numbers| bits32(numbers));
        #[cfg(feature = "alloc")]
        assert_eq!(bits32(tensor.to_f32_vec().expect("it widens")), expected);
    });
}

#[test]
fn widened_to_f64() {
    for_all(|tensor| {
        let (dtype, data, len) = (tensor.dtype(), tensor.data(), tensor.elements());
        let mut bulk = vec![7.0; len];
        let expected: Option<Vec<_>> = (0..len).map(|place| single_f64(dtype, data, place)).collect();
        if single_f64(dtype, &[0; 8], 0).is_none() {
            let error = CastError::Dtype { expected: None, actual: dtype };
            assert_eq!((tensor.iter_f64().err(), tensor.read_f64(&mut bulk)), (Some(error), Err(error)));
            assert_eq!(bulk, vec![7.0; len], "untouched");
            return;
        }
        let expected = bits64(expected.expect("it widens"));
        assert_eq!(tensor.read_f64(&mut bulk), Ok(()));
        assert_eq!(bits64(bulk), expected, "{dtype}");
        assert_iterates(tensor.iter_f64().expect("it widens"), &expected, |numbers| bits64(numbers));
        #[cfg(feature = "alloc")]
        assert_eq!(bits64(tensor.to_f64_vec().expect("it widens")), expected);
    });
}

/// Blocks end where they may: around every length at which a loop takes another path.
#[test]
fn of_many_blocks() {
    for &dtype in Dtype::ALL {
        let noise = noise(2200 * 8, 3);
        for elements in [64usize, 126, 128, 130, 510, 512, 514, 1022, 1024, 1026, 2050, 2200] {
            for at in [0, 1, 5] {
                let len = elements / dtype.block_len() as usize * dtype.block_bytes() as usize;
                let placed = Placed::new(dtype, &noise[..len], at);
                let tensor = placed.tensor();
                let (data, len) = (tensor.data(), tensor.elements());
                let narrow = |place| single_f32(dtype, data, place);
                if let Ok(numbers) = tensor.iter_f32() {
                    let mut bulk = vec![0.0; len];
                    tensor.read_f32(&mut bulk).expect("fits");
                    let expected = bits32((0..len).filter_map(narrow));
                    assert_eq!((bits32(bulk), bits32(numbers)), (expected.clone(), expected));
                }
                if let Ok(numbers) = tensor.iter_f64() {
                    let mut bulk = vec![0.0; len];
                    tensor.read_f64(&mut bulk).expect("fits");
                    let expected = bits64((0..len).filter_map(|place| single_f64(dtype, data, place)));
                    assert_eq!((bits64(bulk), bits64(numbers)), (expected.clone(), expected));
                }
            }
        }
    }
}

/// A view of a part of a tensor reads the same as that part of the whole.
#[test]
fn of_parts() {
    for &dtype in Dtype::ALL {
        let data = noise(60 * 8, 11);
        let data = &data[..60 * dtype.bits() as usize / 8];
        let placed = Placed::new(dtype, data, 3);
        let tensor = placed.tensor();
        let Ok(whole) = tensor.iter_f64() else { continue };
        let whole = bits64(whole);
        for n in (1..=61).filter(|n| n % dtype.block_len() as usize == 0) {
            let mut parts = Vec::new();
            for chunk in tensor.chunks(n).expect("whole bytes") {
                let mut bulk = vec![0.0; chunk.elements()];
                chunk.read_f64(&mut bulk).expect("fits");
                assert_eq!(bits64(bulk), bits64(chunk.iter_f64().expect("as the whole")));
                parts.extend(bits64(chunk.iter_f64().expect("as the whole")));
            }
            assert_eq!(parts, whole, "{dtype} by {n}");
        }
    }
}

#[test]
fn wrong_lengths_name_both() {
    let placed = Placed::new(Dtype::F32, &noise(40, 1), 0);
    let tensor = placed.tensor();
    for actual in [0, 9, 11, 40] {
        let error = CastError::Size { expected: 10, actual };
        assert_eq!(tensor.read_f32(&mut vec![0.0; actual]), Err(error));
        assert_eq!(tensor.read_f64(&mut vec![0.0; actual]), Err(error));
        assert_eq!(tensor.read::<f32>(&mut vec![0.0; actual]), Err(error));
        let text = error.to_string();
        assert!(text.contains("10") && text.contains(&actual.to_string()), "{text}");
    }
}

/// An element type on tensors of all dtypes, at all alignments. `spell` gives an element's bytes.
fn assert_element<T: Element + PartialEq + Debug>(spell: impl Fn(&T) -> Vec<u8>) {
    let size = size_of::<T>();
    let noise = match T::DTYPE {
        Dtype::Bool => noise(64 * size, 5).iter().map(|byte| byte & 1).collect(),
        _ => noise(64 * size, 5),
    };
    for at in 0..16 {
        for len in [0, 1, 2, 3, 17, 64] {
            let placed = Placed::new(T::DTYPE, &noise[..len * size], at);
            let tensor = placed.tensor();
            let data = tensor.data();
            let spelt = |elements: &[T]| elements.iter().flat_map(&spell).collect::<Vec<_>>();

            let elements: Vec<T> = tensor.iter().expect("its own type").collect();
            assert_eq!(spelt(&elements), data);
            assert!(
                tensor.iter::<T>().expect("its own type").rev().map(|x| spell(&x)).eq(data.chunks_exact(size).rev())
            );
            let bits = |numbers: &mut dyn Iterator<Item = T>| numbers.map(|x| spell(&x)).collect::<Vec<_>>();
            let expected: Vec<_> = data.chunks_exact(size).map(<[u8]>::to_vec).collect();
            assert_iterates(tensor.iter::<T>().expect("its own type"), &expected, bits);
            if let Some(&first) = elements.first() {
                let mut read = vec![first; len];
                tensor.read(&mut read).expect("its own type");
                assert_eq!(spelt(&read), data);
                let error = CastError::Size { expected: len, actual: len + 1 };
                assert_eq!(tensor.read(&mut vec![first; len + 1]), Err(error));
            }

            let misaligned = at % align_of::<T>() != 0 && len > 0;
            let in_place = tensor.as_slice::<T>();
            if cfg!(target_endian = "big") && size > 1 {
                assert_eq!(in_place, Err(CastError::ByteOrder));
            } else if misaligned {
                assert_eq!(in_place, Err(CastError::Alignment { required: align_of::<T>() }));
            } else {
                let in_place = in_place.expect("aligned");
                assert_eq!(spelt(in_place), data);
                assert!(len == 0 || in_place.as_ptr().cast() == data.as_ptr());
            }
            #[cfg(feature = "alloc")]
            {
                let cow = tensor.to_cow::<T>().expect("its own type");
                let borrowed = matches!(cow, std::borrow::Cow::Borrowed(_));
                assert_eq!(borrowed, tensor.as_slice::<T>().is_ok());
                assert_eq!(spelt(&cow), data);
                assert_eq!(spelt(&tensor.to_vec::<T>().expect("its own type")), data);
            }
        }
    }
    for &actual in Dtype::ALL.iter().filter(|&&dtype| dtype != T::DTYPE) {
        let placed = Placed::new(actual, &[1; 24], 0);
        let tensor = placed.tensor();
        let error = CastError::Dtype { expected: Some(T::DTYPE), actual };
        assert_eq!(tensor.as_slice::<T>().err(), Some(error));
        assert_eq!(tensor.iter::<T>().err(), Some(error));
        assert_eq!(tensor.read::<T>(&mut []), Err(error));
        #[cfg(feature = "alloc")]
        assert_eq!((tensor.to_cow::<T>().err(), tensor.to_vec::<T>().err()), (Some(error), Some(error)));
        let text = error.to_string();
        assert!(text.contains(actual.as_str()) && text.contains(T::DTYPE.as_str()), "{text}");
    }
}

macro_rules! elements {
    ($($name:ident: $type:ty, $element:ident => $bytes:expr;)*) => {$(
        #[test]
        fn $name() {
            assert_element::<$type>(|$element| $bytes.to_vec());
        }
    )*};
}

elements! {
    as_f32: f32, x => x.to_le_bytes();
    as_f64: f64, x => x.to_le_bytes();
    as_f16: f16, x => x.to_le_bytes();
    as_bf16: bf16, x => x.to_le_bytes();
    as_i8: i8, x => x.to_le_bytes();
    as_i16: i16, x => x.to_le_bytes();
    as_i32: i32, x => x.to_le_bytes();
    as_i64: i64, x => x.to_le_bytes();
    as_u8: u8, x => x.to_le_bytes();
    as_u16: u16, x => x.to_le_bytes();
    as_u32: u32, x => x.to_le_bytes();
    as_u64: u64, x => x.to_le_bytes();
    as_bool: bool, x => [u8::from(*x)];
    as_complex: [f32; 2], x => x.map(f32::to_le_bytes).as_flattened();
    as_f8_e4m3: F8E4M3, x => [x.to_bits()];
    as_f8_e5m2: F8E5M2, x => [x.to_bits()];
    as_f8_e8m0: F8E8M0, x => [x.to_bits()];
    as_f8_e4m3fnuz: F8E4M3Fnuz, x => [x.to_bits()];
    as_f8_e5m2fnuz: F8E5M2Fnuz, x => [x.to_bits()];
}

/// The first byte that is no `bool` is named, by each way to read; widened, it is 1.
#[test]
fn a_bool_that_is_2() {
    let placed = Placed::new(Dtype::Bool, &[0, 1, 2, 1, 255], 0);
    let tensor = placed.tensor();
    let error = CastError::Value { index: 2 };
    assert_eq!(tensor.as_slice::<bool>(), Err(error));
    assert_eq!(tensor.iter::<bool>().err(), Some(error));
    let mut read = [true; 5];
    assert_eq!(tensor.read(&mut read), Err(error));
    assert_eq!(read, [true; 5], "untouched");
    #[cfg(feature = "alloc")]
    assert_eq!((tensor.to_cow::<bool>().err(), tensor.to_vec::<bool>().err()), (Some(error), Some(error)));
    assert!(tensor.iter_f32().expect("it widens").eq([0.0, 1.0, 1.0, 1.0, 1.0]));
    assert!(tensor.iter_f64().expect("it widens").eq([0.0, 1.0, 1.0, 1.0, 1.0]));
}

/// Integers widen with their sign, to the ends of their range.
#[test]
fn integers_at_their_ends() {
    let wide =
        |dtype, data: &[u8]| Placed::new(dtype, data, 1).tensor().iter_f64().expect("it widens").collect::<Vec<_>>();
    assert_eq!(wide(Dtype::I8, &[0x80, 0xFF, 0x7F]), [-128.0, -1.0, 127.0]);
    assert_eq!(wide(Dtype::U8, &[0x80, 0xFF, 0x7F]), [128.0, 255.0, 127.0]);
    assert_eq!(wide(Dtype::I16, &[0, 0x80, 0xFF, 0xFF, 0xFF, 0x7F]), [-32768.0, -1.0, 32767.0]);
    assert_eq!(wide(Dtype::U16, &[0, 0x80, 0xFF, 0xFF]), [32768.0, 65535.0]);
    assert_eq!(wide(Dtype::I32, &[0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0x7F]), [-2_147_483_648.0, 2_147_483_647.0]);
    assert_eq!(wide(Dtype::U32, &[0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF]), [2_147_483_648.0, 4_294_967_295.0]);
}

#[test]
fn two_f4_a_byte_low_half_first() {
    let placed = Placed::new(Dtype::F4, &[0x21, 0xF7], 0);
    assert!(placed.tensor().iter_f32().expect("it widens").eq([0.5, 1.0, 6.0, -6.0]));
}

#[test]
fn complex_numbers_are_pairs() {
    let parts = [1.5f32, -2.0, f32::NAN, f32::INFINITY];
    let placed = Placed::new(Dtype::C64, parts.map(f32::to_le_bytes).as_flattened(), 2);
    let pairs: Vec<[f32; 2]> = placed.tensor().iter().expect("C64").collect();
    assert_eq!(pairs[0], [1.5, -2.0]);
    assert!(pairs[1][0].is_nan() && pairs[1][1] == f32::INFINITY);
}

/// F6 says why not, and what works.
#[test]
fn f6_has_no_packing() {
    for dtype in [Dtype::F6E2M3, Dtype::F6E3M2] {
        let placed = Placed::new(dtype, &[0; 3], 0);
        let text = placed.tensor().iter_f32().expect_err("no packing").to_string();
        assert!(text.contains(dtype.as_str()) && text.contains("packing") && text.contains("float"), "{text}");
    }
}

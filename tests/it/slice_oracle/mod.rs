//! What must hold of any part of any tensor: held against nested loops over lists of indices. The tests call this,
//! and so does the fuzz target `view`, which takes this file in as `#[path = "…"]`: it needs the crates `weightview`
//! and `half`, and nothing else of the tests.

#![allow(dead_code, reason = "the fuzz target uses one half of this file")]

mod case;
mod pieces;
mod spelling;
mod walks;

use std::fmt::Debug;
use std::ops::Bound;

use half::{bf16, f16};
use weightview::{CastError, Dtype, Element, F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0};
use weightview::{Slice, SliceError, TensorView};

pub(crate) use self::case::{Case, Take};
pub(crate) use self::pieces::assert_pieces;
use self::spelling::{Lists, axis};
pub(crate) use self::walks::assert_walks;

/// The most elements that a slice may have here.
const MOST: usize = 4096;

/// The case as the fuzzer gives it.
pub(crate) fn view(input: &[u8]) {
    let case = Case::from_bytes(input);
    assert_slice(&case);
    assert_pieces(&case);
}

/// `slice` against nested loops.
pub(crate) fn assert_slice(case: &Case) {
    let lists = Lists::new(&case.takes, case.spelling);
    let axes: Vec<_> = case.takes.iter().zip(&lists.0).map(|(take, list)| axis(take, list, case.spelling)).collect();
    case.with_tensor(|tensor| assert_is(tensor, tensor.slice(&axes), expected(case), case));
}

/// The shape of a slice, and the place of each of its elements; or why there is none. `None` when it has so many
/// that it is not looked at.
type Expected = Option<Result<(Vec<usize>, Vec<usize>), SliceError>>;

fn expected(case: &Case) -> Expected {
    let (given, rank) = (case.takes.len(), case.shape.len());
    if given > rank {
        return Some(Err(SliceError::Rank { given, rank }));
    }
    let mut axes = Vec::new();
    for (axis, &dim) in case.shape.iter().enumerate() {
        match case.takes.get(axis).map_or(Ok((false, (0..dim).collect())), |take| positions(axis, dim, take)) {
            Ok(taken) => axes.push(taken),
            Err(error) => return Some(Err(error)),
        }
    }
    if axes.iter().map(|(_, positions)| positions.len()).product::<usize>() > MOST {
        return None;
    }
    let mut places = vec![0];
    for ((_, positions), &dim) in axes.iter().zip(&case.shape) {
        places = places.iter().flat_map(|place| positions.iter().map(move |i| place * dim + i)).collect();
    }
    let shape: Vec<_> = axes.iter().filter(|(dropped, _)| !dropped).map(|(_, positions)| positions.len()).collect();
    Some(match partial_byte(case.dtype, &shape, &places) {
        Some(error) => Err(error),
        None => Ok((shape, places)),
    })
}

/// The positions that are taken of an axis, and whether the axis goes.
fn positions(axis: usize, dim: usize, take: &Take) -> Result<(bool, Vec<usize>), SliceError> {
    let shown = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
    let from_start = |number: i128| if number < 0 { number + dim as i128 } else { number };
    let on_axis = |&number: &i128| {
        let position = from_start(number);
        let index = SliceError::Index { axis, index: shown(number), dim };
        if (0..dim as i128).contains(&position) { Ok(position as usize) } else { Err(index) }
    };
    let bound = |number: i128, behind: bool| {
        let position = from_start(number) + i128::from(behind);
        let is_there = from_start(number) >= 0 && position <= dim as i128;
        if is_there { Ok(position as usize) } else { Err(SliceError::Bound { axis, bound: shown(number), dim }) }
    };
    match take {
        Take::At(index) => Ok((true, vec![on_axis(index)?])),
        Take::List(list) => Ok((false, list.iter().map(on_axis).collect::<Result<_, _>>()?)),
        Take::Range(_, _, 0) => Err(SliceError::Step { axis, step: 0 }),
        Take::Range(start, end, step) => {
            let start = match *start {
                Bound::Unbounded => 0,
                Bound::Included(start) => bound(start, false)?,
                Bound::Excluded(start) => bound(start, true)?,
            };
            let end = match *end {
                Bound::Unbounded => dim,
                Bound::Included(end) => bound(end, true)?,
                Bound::Excluded(end) => bound(end, false)?,
            };
            if start > end {
                return Err(SliceError::Reversed { axis, start, end });
            }
            Ok((false, (start..end).step_by(*step).collect()))
        }
        Take::Odd(take, 1) => positions(axis, dim, take),
        Take::Odd(_, step) => Err(SliceError::Step { axis, step: *step }),
    }
}

/// What is refused for its half bytes. The pieces are as many of the inner axes as lie one behind the other.
fn partial_byte(dtype: Dtype, shape: &[usize], places: &[usize]) -> Option<SliceError> {
    let block = dtype.block_len() as usize;
    let (first, len) = (*places.first()?, piece(shape, places));
    let pieces = places.iter().step_by(len);
    let is_partial = |start: usize| !start.is_multiple_of(block) || !len.is_multiple_of(block);
    pieces.copied().any(is_partial).then_some(SliceError::PartialByte { dtype, start: first, len })
}

fn piece(shape: &[usize], places: &[usize]) -> usize {
    let one_behind_the_other =
        |len: &usize| places.chunks(*len).all(|piece| piece.windows(2).all(|w| w[0] + 1 == w[1]));
    let lens = (0..=shape.len()).map(|axis| shape[axis..].iter().product::<usize>());
    lens.filter(one_behind_the_other).max().expect("one element is a piece")
}

/// Holds a slice against what it should be.
pub(crate) fn assert_is(
    tensor: TensorView<'_>,
    slice: Result<Slice<'_, '_>, SliceError>,
    expected: Expected,
    case: &Case,
) {
    match (slice, expected) {
        (_, None) => {}
        (Err(SliceError::PartialByte { dtype, start, len }), Some(Err(SliceError::PartialByte { len: piece, .. }))) => {
            let block = dtype.block_len() as usize;
            assert_eq!((dtype, len), (case.dtype, piece), "{case:?}");
            assert!(!start.is_multiple_of(block) || !len.is_multiple_of(block), "{case:?}");
        }
        (Err(error), Some(Err(expected))) => assert_eq!(error, expected, "{case:?}"),
        (Ok(slice), Some(Ok((shape, places)))) => {
            assert_eq!((slice.shape(), slice.elements()), (&shape[..], places.len()), "{case:?}");
            assert_eq!((slice.dtype(), slice.name().raw()), (tensor.dtype(), tensor.name().raw()));
            assert_bytes(tensor, &slice, &places, case);
            assert_numbers(tensor, &slice, &places, &case.script);
        }
        (slice, expected) => panic!("{slice:?}, expected {:?}: {case:?}", expected.map(|e| e.map(|e| e.0))),
    }
}

/// Runs of bytes, and the one that is a view.
fn assert_bytes(tensor: TensorView<'_>, slice: &Slice<'_, '_>, places: &[usize], case: &Case) {
    let bits = tensor.dtype().bits() as usize;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &place in places {
        match runs.last_mut() {
            Some((_, end)) if *end == place => *end += 1,
            _ => runs.push((place, place + 1)),
        }
    }
    let runs: Vec<_> = runs.iter().map(|(start, end)| &tensor.data()[start * bits / 8..end * bits / 8]).collect();
    let mut ours = slice.runs();
    for (done, run) in runs.iter().enumerate() {
        let (least, most) = ours.size_hint();
        assert!((least..=most.expect("a bound")).contains(&(runs.len() - done)), "{case:?}");
        assert!(ours.next().is_some_and(|ours| std::ptr::eq(ours, *run)), "{case:?}");
    }
    assert_eq!((ours.next(), ours.size_hint()), (None, (0, Some(0))), "{case:?}");
    assert_eq!(ours.next(), None);

    let one_piece = runs.len() < 2;
    match slice.as_view() {
        Some(view) => {
            assert!(one_piece, "{case:?}");
            assert_eq!((view.dtype(), view.shape()), (slice.dtype(), slice.shape()));
            assert_eq!(view.data(), runs.concat());
            assert!(runs.iter().all(|run| std::ptr::eq(*run, view.data())));
            assert!(TensorView::try_from(*slice).is_ok());
            let slice = Slice::from(view);
            assert!(
                slice.runs().eq(runs.iter().copied()) && slice.as_view().is_some_and(|same| same.data() == view.data())
            );
        }
        None => {
            assert!(!one_piece, "{case:?}");
            assert_eq!(TensorView::try_from(*slice).err(), Some(SliceError::NotContiguous));
        }
    }
}

/// Everything that reads.
fn assert_numbers(tensor: TensorView<'_>, slice: &Slice<'_, '_>, places: &[usize], script: &[u8]) {
    let refused = |expected| CastError::Dtype { expected, actual: slice.dtype() };
    match tensor.iter_f32() {
        Ok(all) => {
            let all: Vec<f32> = all.collect();
            let numbers: Vec<f32> = places.iter().map(|&place| all[place]).collect();
            let same = |a: &f32, b: &f32| a.to_bits() == b.to_bits();
            assert_walks(slice.iter_f32().expect("it widens"), &numbers, same, script);
            let mut out = vec![f32::MAX; numbers.len()];
            assert_eq!(slice.read_f32(&mut out), Ok(()));
            assert!(out.iter().zip(&numbers).all(|(a, b)| same(a, b)), "{slice:?}");
            assert_eq!(slice.read_f32(&mut vec![0.0; numbers.len() + 1]), Err(too_long(numbers.len())));
        }
        Err(_) => {
            assert_eq!(slice.iter_f32().map(|_| ()), Err(refused(None)));
            assert_eq!(slice.read_f32(&mut vec![0.0; places.len()]), Err(refused(None)));
        }
    }
    match tensor.iter_f64() {
        Ok(all) => {
            let all: Vec<f64> = all.collect();
            let numbers: Vec<f64> = places.iter().map(|&place| all[place]).collect();
            let same = |a: &f64, b: &f64| a.to_bits() == b.to_bits();
            assert_walks(slice.iter_f64().expect("it widens"), &numbers, same, script);
            let mut out = vec![f64::MAX; numbers.len()];
            assert_eq!(slice.read_f64(&mut out), Ok(()));
            assert!(out.iter().zip(&numbers).all(|(a, b)| same(a, b)), "{slice:?}");
            assert_eq!(slice.read_f64(&mut vec![0.0; numbers.len() + 1]), Err(too_long(numbers.len())));
        }
        Err(_) => {
            assert_eq!(slice.iter_f64().map(|_| ()), Err(refused(None)));
            assert_eq!(slice.read_f64(&mut vec![0.0; places.len()]), Err(refused(None)));
        }
    }
    let other = if slice.dtype() == Dtype::I64 { Dtype::U64 } else { Dtype::I64 };
    let error = if other == Dtype::I64 { slice.iter::<i64>().err() } else { slice.iter::<u64>().err() };
    assert_eq!(error, Some(refused(Some(other))));
    assert_elements(tensor, slice, places, script);
}

fn too_long(expected: usize) -> CastError {
    CastError::Size { expected, actual: expected + 1 }
}

/// The elements as they are, of whatever type.
fn assert_elements(tensor: TensorView<'_>, slice: &Slice<'_, '_>, places: &[usize], script: &[u8]) {
    macro_rules! by_dtype {
        ($($dtype:ident => $type:ty, $bytes:expr;)*) => {
            match slice.dtype() {
                $(Dtype::$dtype => assert_typed::<$type, _>(tensor, slice, places, script, $bytes),)*
                _ => {} // below a byte
            }
        };
    }
    by_dtype! {
        Bool => bool, |x: &bool| [u8::from(*x)];
        U8 => u8, |x: &u8| x.to_le_bytes();
        I8 => i8, |x: &i8| x.to_le_bytes();
        U16 => u16, |x: &u16| x.to_le_bytes();
        I16 => i16, |x: &i16| x.to_le_bytes();
        U32 => u32, |x: &u32| x.to_le_bytes();
        I32 => i32, |x: &i32| x.to_le_bytes();
        U64 => u64, |x: &u64| x.to_le_bytes();
        I64 => i64, |x: &i64| x.to_le_bytes();
        F16 => f16, |x: &f16| x.to_le_bytes();
        BF16 => bf16, |x: &bf16| x.to_le_bytes();
        F32 => f32, |x: &f32| x.to_bits().to_le_bytes();
        F64 => f64, |x: &f64| x.to_bits().to_le_bytes();
        C64 => [f32; 2], |x: &[f32; 2]| (u64::from(x[1].to_bits()) << 32 | u64::from(x[0].to_bits())).to_le_bytes();
        F8E4M3 => F8E4M3, |x: &F8E4M3| [x.to_bits()];
        F8E5M2 => F8E5M2, |x: &F8E5M2| [x.to_bits()];
        F8E8M0 => F8E8M0, |x: &F8E8M0| [x.to_bits()];
        F8E4M3Fnuz => F8E4M3Fnuz, |x: &F8E4M3Fnuz| [x.to_bits()];
        F8E5M2Fnuz => F8E5M2Fnuz, |x: &F8E5M2Fnuz| [x.to_bits()];
    }
}

fn assert_typed<T: Element + Debug, B: AsRef<[u8]>>(
    tensor: TensorView<'_>,
    slice: &Slice<'_, '_>,
    places: &[usize],
    script: &[u8],
    bytes_of: fn(&T) -> B,
) {
    let size = size_of::<T>();
    let bytes: Vec<_> = places.iter().map(|place| &tensor.data()[place * size..(place + 1) * size]).collect();
    if T::DTYPE == Dtype::Bool
        && let Some(index) = bytes.iter().position(|byte| byte[0] > 1)
    {
        let error = Some(CastError::Value { index });
        assert_eq!(slice.iter::<T>().err(), error);
        if let Some(sample) = tensor.data().iter().position(|&byte| byte < 2) {
            let sample: T = element_at(tensor, sample).expect("a bool");
            let mut out = vec![sample; places.len()];
            assert_eq!(slice.read(&mut out).err(), error);
            assert!(out.iter().all(|x| bytes_of(x).as_ref() == bytes_of(&sample).as_ref()), "untouched");
        }
        return;
    }
    let expected: Vec<T> = places.iter().map(|&place| element_at(tensor, place).expect("an element")).collect();
    assert!(expected.iter().zip(&bytes).all(|(x, bytes)| bytes_of(x).as_ref() == *bytes));
    let same = |a: &T, b: &T| bytes_of(a).as_ref() == bytes_of(b).as_ref();
    assert_walks(slice.iter::<T>().expect("its type"), &expected, same, script);
    if let Some(&first) = expected.first() {
        let mut out = vec![first; places.len()];
        assert_eq!(slice.read(&mut out), Ok(()));
        assert!(out.iter().zip(&expected).all(|(a, b)| same(a, b)));
        assert_eq!(slice.read(&mut vec![first; places.len() + 1]), Err(too_long(places.len())));
    }
}

/// The element at a place among all, by its index on each axis.
fn element_at<T: Element>(tensor: TensorView<'_>, place: usize) -> Result<T, SliceError> {
    tensor.element(&index_of(tensor.shape(), place))
}

/// The index on each axis of the element at a place among all.
pub(super) fn index_of(shape: &[usize], place: usize) -> Vec<usize> {
    let mut rest = place;
    let mut index = Vec::new();
    for dim in shape.iter().rev() {
        index.insert(0, rest % dim);
        rest /= dim;
    }
    index
}

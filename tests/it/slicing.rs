//! Views of views: parts of tensors, held against nested loops (`slice_oracle`), against the reference's slices, and
//! by name where something is refused or at an edge.

use std::ops::Bound::{Excluded, Included, Unbounded};

use proptest::prelude::*;
use safetensors::slice::{IndexOp as _, TensorIndexer};
use weightview::{Axis, CastError, Dtype, Slice, SliceError, TensorView};

use crate::build::Build;
use crate::slice_oracle::Take::{At, List, Odd, Range};
use crate::slice_oracle::{self, Case, Take, assert_pieces, assert_slice, assert_walks};

pub(crate) const ALL: Take = Range(Unbounded, Unbounded, 1);

/// From here up to there.
pub(crate) const fn range(start: i128, end: i128) -> Take {
    Range(Included(start), Excluded(end), 1)
}

/// What the selectors give, once held against the oracle: a view or not.
fn is_one_piece(dtype: Dtype, shape: &[usize], takes: &[Take], axes: &[Axis<'_>]) -> bool {
    let case = Case::new(dtype, shape, takes);
    assert_slice(&case);
    case.with_tensor(|tensor| tensor.slice(axes).expect("a slice").as_view().is_some())
}

/// Why the tensor is not sliced so.
pub(crate) fn refusal(dtype: Dtype, shape: &[usize], axes: &[Axis<'_>]) -> SliceError {
    Case::new(dtype, shape, &[]).with_tensor(|tensor| tensor.slice(axes).expect_err("a fault"))
}

/// The bytes 0, 1, 2 and so on, as a tensor.
fn with_u8<R>(shape: &[u64], check: impl FnOnce(TensorView<'_>) -> R) -> R {
    let len = shape.iter().product::<u64>();
    let file = Build::new().tensor("t", "U8", shape, 0..len).file(len as usize);
    check(file.parse().expect("a sound file").tensor("t").expect("its tensor"))
}

fn numbers(slice: Slice<'_, '_>) -> Vec<u8> {
    slice.iter().expect("bytes").collect()
}

/// A list may take a position many times: what one byte holds can be more than any memory.
#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
#[test]
fn a_copy_that_no_memory_can_hold_is_an_error() {
    let axes = [Axis::list(&[0; 16]); 14];
    with_u8(&[1; 14], |tensor| {
        let slice = tensor.slice(&axes).expect("a slice");
        let elements = 1usize << 56;
        assert_eq!(slice.elements(), elements);
        assert_eq!(slice.to_f64_vec(), Err(CastError::Memory { elements, size: 8 }));
        assert_eq!(slice.to_f32_vec(), Err(CastError::Memory { elements, size: 4 }));
        assert_eq!(slice.to_vec::<u8>(), Err(CastError::Memory { elements, size: 1 }));
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_are_what_nested_loops_make(input in prop::collection::vec(any::<u8>(), 0..120)) {
        slice_oracle::view(&input);
    }

    #[test]
    fn slices_of_every_dtype_in_many_ways(
        at in 0..Dtype::ALL.len(),
        shape in prop::collection::vec(0..=5usize, 0..=5),
        takes in prop::collection::vec(a_take(), 0..=5),
        skew in 0..16usize,
        spelling: u8,
        seed: u8,
        script in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut shape = shape;
        let block = Dtype::ALL[at].block_len() as usize;
        if shape.iter().product::<usize>() % block != 0 || shape.is_empty() {
            shape.push(block);
        }
        let case = Case { dtype: Dtype::ALL[at], shape, takes, seed, skew, spelling, script };
        assert_slice(&case);
        assert_pieces(&case);
    }

    #[test]
    fn slices_are_the_references(
        at in 0..Dtype::ALL.len(),
        shape in prop::collection::vec(1..=6usize, 1..=4),
        picks in prop::collection::vec((0..4u8, 0..6usize, 0..6usize, 1..4usize), 0..=4),
    ) {
        assert_is_references(Dtype::ALL[at], &shape, &picks);
    }
}

fn a_take() -> impl Strategy<Value = Take> {
    let number = -6..=6i128;
    let bound = prop_oneof![
        2 => Just(Unbounded),
        2 => number.clone().prop_map(Included),
        2 => number.clone().prop_map(Excluded),
    ];
    prop_oneof![
        3 => Just(ALL),
        3 => (-3..=2i128).prop_map(At),
        3 => (bound.clone(), bound, 1..=3usize).prop_map(|(start, end, step)| Range(start, end, step)),
        2 => (0..=2i128, 0..=3i128).prop_map(|(start, len)| range(start, start + len)),
        2 => prop::collection::vec(-3..=2i128, 0..=5).prop_map(List),
        1 => (0..=3i128, 0..=3i128).prop_map(|(start, len)| List((start..start + len).collect())),
    ]
}

/// What the reference's `TensorIndexer` takes, and gives.
fn assert_is_references(dtype: Dtype, shape: &[usize], picks: &[(u8, usize, usize, usize)]) {
    let mut shape = shape.to_vec();
    *shape.last_mut().expect("an axis") *= dtype.block_len() as usize;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (&dim, &(kind, a, b, step)) in shape.iter().zip(picks) {
        let (a, b) = (a % dim, b % dim);
        let step = if kind == 3 { step } else { 1 };
        if kind == 0 {
            ours.push(Axis::at(a));
            theirs.push(TensorIndexer::Select(a));
        } else {
            ours.push(Axis::from(a.min(b)..=a.max(b)).step(step));
            let step = step.try_into().expect("not 0");
            theirs.push(TensorIndexer::Narrow(Included(a.min(b)), Included(a.max(b)), step));
        }
    }
    Case::new(dtype, &shape, &[]).with_tensor(|tensor| {
        let reference = dtype.as_str();
        let reference = serde_json::from_value(reference.into()).expect("a dtype of the reference");
        let reference = safetensors::tensor::TensorView::new(reference, shape.clone(), tensor.data()).expect("sound");
        let theirs = match theirs.len() {
            0 => reference.slice(..),
            1 => reference.slice(theirs[0].clone()),
            2 => reference.slice((theirs[0].clone(), theirs[1].clone())),
            _ => reference.slice((theirs[0].clone(), theirs[1].clone(), theirs[2].clone())),
        };
        ours.truncate(3);
        match (tensor.slice(&ours), theirs) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours.shape(), theirs.newshape());
                let bytes: Vec<u8> = theirs.flatten().copied().collect();
                assert_eq!(ours.runs().collect::<Vec<_>>().concat(), bytes);
            }
            (Err(SliceError::PartialByte { .. }), Err(safetensors::slice::InvalidSlice::MisalignedSlice)) => {}
            // The reference looks at one axis after the other. We look at what they come to: parts that do not lie
            // on bytes may well make a whole that does.
            (Ok(_), Err(safetensors::slice::InvalidSlice::MisalignedSlice)) if dtype.block_len() > 1 => {}
            (ours, theirs) => panic!("{ours:?}, the reference {:?}", theirs.map(|_| ())),
        }
    });
}

/// Every input of the fuzz target that was worth keeping.
#[test]
fn seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/view");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("seeds") {
        let path = entry.expect("a folder can be listed").path();
        let input = std::fs::read(&path).expect("a file can be read");
        println!("{}: {:?}", path.display(), Case::from_bytes(&input)); // shown when one fails
        slice_oracle::view(&input);
        count += 1;
    }
    assert!(count >= 10, "{} has {count} seeds", folder.display());
}

#[test]
fn one_row() {
    with_u8(&[3, 4], |tensor| {
        let row = tensor.index(1).expect("a row");
        assert_eq!((row.shape(), row.data()), (&[4][..], &[4, 5, 6, 7][..]));
        assert_eq!(row.index(3).map(|scalar| (scalar.shape().len(), scalar.data())), Ok((0, &[7][..])));
        assert_eq!(tensor.index(3).unwrap_err(), SliceError::Index { axis: 0, index: 3, dim: 3 });
    });
}

#[test]
fn views_outlive_all_but_the_bytes() {
    let file = Build::new().tensor("t", "U8", &[2, 2], 0..4).file(4);
    let (row, rest, run) = {
        let tensor = file.parse().expect("a sound file").tensor("t").expect("its tensor");
        let positions = [1u32, 1];
        let slice = tensor.slice(&[Axis::list(&positions)]).expect("a slice");
        (tensor.index(1).expect("a row"), tensor.narrow(1, 1..).expect("a column"), slice.runs().next())
    };
    assert_eq!((row.data(), numbers(rest), run), (&[2, 3][..], vec![1, 3], Some(&[2, 3][..])));
}

#[test]
fn selectors_read_well() {
    with_u8(&[4, 5, 6], |tensor| {
        let n: usize = 2;
        let slice = tensor.slice(&[Axis::at(0), (..3).into(), Axis::from(2..).step(2)]).expect("a slice");
        assert_eq!((slice.shape(), numbers(slice)), (&[3, 2][..], vec![2, 4, 8, 10, 14, 16]));
        let slice = tensor.slice(&[Axis::at(-1), Axis::at(n), (-2..).into()]).expect("a slice");
        assert_eq!(numbers(slice), [106, 107]);
        let slice = tensor.slice(&[(n..).into(), (0..=0).into(), (&[5, 0]).into()]).expect("a slice");
        assert_eq!((slice.shape(), numbers(slice)), (&[2, 1, 2][..], vec![65, 60, 95, 90]));
        let slice = tensor.slice(&[(..).into(), Axis::range(1, -3), (..=-6).into()]).expect("a slice");
        assert_eq!(numbers(slice), [6, 36, 66, 96]);
    });
}

/// An error names the first axis at fault.
#[test]
fn faults() {
    let shape = [3, 4];
    let refusal = |axes: &[Axis<'_>]| refusal(Dtype::F32, &shape, axes);
    let cases = [
        (
            refusal(&[Axis::all(), Axis::all(), Axis::all()]),
            SliceError::Rank { given: 3, rank: 2 },
            "3 axes are named, but the tensor has 2",
        ),
        (
            refusal(&[Axis::at(3), Axis::at(9)]),
            SliceError::Index { axis: 0, index: 3, dim: 3 },
            "the index 3 is not on axis 0, which has length 3",
        ),
        (
            refusal(&[Axis::all(), Axis::at(-5)]),
            SliceError::Index { axis: 1, index: -5, dim: 4 },
            "the index -5 is not on axis 1, which has length 4",
        ),
        (
            refusal(&[Axis::list(&[0, -3, 4])]),
            SliceError::Index { axis: 0, index: 4, dim: 3 },
            "the index 4 is not on axis 0, which has length 3",
        ),
        (
            refusal(&[(..4).into()]),
            SliceError::Bound { axis: 0, bound: 4, dim: 3 },
            "the bound 4 is past an end of axis 0, which has length 3",
        ),
        (
            refusal(&[(-4..).into()]),
            SliceError::Bound { axis: 0, bound: -4, dim: 3 },
            "the bound -4 is past an end of axis 0, which has length 3",
        ),
        (
            refusal(&[(..=3).into()]),
            SliceError::Bound { axis: 0, bound: 3, dim: 3 },
            "the bound 3 is past an end of axis 0, which has length 3",
        ),
        (
            refusal(&[Axis::all(), (-1..2).into()]),
            SliceError::Reversed { axis: 1, start: 3, end: 2 },
            "the range on axis 1 ends at 2, before its start at 3",
        ),
        (
            refusal(&[Axis::from(1..2).step(0)]),
            SliceError::Step { axis: 0, step: 0 },
            "the step on axis 0 is 0; it must be at least 1",
        ),
        (
            refusal(&[Axis::at(1).step(2)]),
            SliceError::Step { axis: 0, step: 2 },
            "axis 0 has a step of 2, but no range: only a range has steps",
        ),
    ];
    for (error, expected, sentence) in cases {
        assert_eq!((error, error.to_string()), (expected, sentence.to_owned()));
    }
    with_u8(&[3, 4], |tensor| {
        let error = tensor.narrow(2, ..).unwrap_err();
        assert_eq!(error, SliceError::NoAxis { axis: 2, rank: 2 });
        assert_eq!(error.to_string(), "there is no axis 2: the tensor has 2, counted from 0");
        assert_eq!(tensor.narrow(1, 2..5).unwrap_err(), SliceError::Bound { axis: 1, bound: 5, dim: 4 });
        let error = tensor.chunks(0).unwrap_err();
        assert_eq!((error, &*error.to_string()), (SliceError::ChunkLen, "chunks must have at least one element"));
        let error = TensorView::try_from(tensor.narrow(1, 1..).expect("a slice")).unwrap_err();
        assert_eq!(error.to_string(), "the slice does not lie in one piece; use its own iter and read, or its runs");
        let error = tensor.element::<i8>(&[0, 0]).unwrap_err();
        assert_eq!(error, CastError::Dtype { expected: Some(Dtype::I8), actual: Dtype::U8 }.into());
        assert!(error.to_string().starts_with("the tensor is U8, not I8"));
    });
}

/// Numbers that fit no position are shown as the largest.
#[test]
fn numbers_past_everything() {
    let refusal = |axis| refusal(Dtype::U8, &[3], &[axis]);
    for index in [Axis::at(u64::MAX), Axis::at(i64::MAX), Axis::list(&[u64::MAX])] {
        assert_eq!(refusal(index), SliceError::Index { axis: 0, index: i64::MAX, dim: 3 });
    }
    assert_eq!(refusal(Axis::at(i64::MIN)), SliceError::Index { axis: 0, index: i64::MIN, dim: 3 });
    assert_eq!(refusal((..=u64::MAX).into()), SliceError::Bound { axis: 0, bound: i64::MAX, dim: 3 });
    assert!(is_one_piece(
        Dtype::U8,
        &[3],
        &[Range(Included(1), Unbounded, usize::MAX)],
        &[Axis::from(1..).step(usize::MAX)]
    ));
}

#[test]
fn what_lies_in_one_piece() {
    let list = [1, 2];
    let (first, ones) = (Axis::at(0), Axis::from(0..1));
    let yes = |shape: &[usize], takes: &[Take], axes: &[Axis<'_>]| {
        assert!(is_one_piece(Dtype::BF16, shape, takes, axes), "{shape:?} {axes:?}");
    };
    let no = |shape: &[usize], takes: &[Take], axes: &[Axis<'_>]| {
        assert!(!is_one_piece(Dtype::BF16, shape, takes, axes), "{shape:?} {axes:?}");
    };
    yes(&[4, 3], &[], &[]);
    yes(&[4, 3], &[range(1, 3)], &[(1..3).into()]);
    no(&[4, 3], &[ALL, range(1, 3)], &[Axis::all(), (1..3).into()]);
    yes(&[1, 1, 4, 3], &[ALL, ALL, range(1, 3)], &[Axis::all(), Axis::all(), (1..3).into()]);
    yes(&[4, 1, 3], &[range(1, 3), ALL], &[(1..3).into(), Axis::all()]);
    yes(&[4, 1], &[range(1, 3)], &[(1..3).into(), ones]);
    yes(&[4, 3], &[At(2), range(1, 3)], &[Axis::at(2), (1..3).into()]);
    yes(&[4, 3], &[range(2, 3), range(1, 3)], &[(2..3).into(), (1..3).into()]);
    no(&[4, 3], &[ALL, At(0)], &[Axis::all(), first]);
    yes(&[4, 3], &[Range(Unbounded, Unbounded, 4)], &[Axis::from(..).step(4)]);
    no(&[4, 3], &[Range(Unbounded, Unbounded, 2)], &[Axis::from(..).step(2)]);
    // Lists that go step by step are ranges.
    yes(&[4, 3], &[List(vec![1, 2])], &[Axis::list(&list)]);
    no(&[4, 3], &[List(vec![2, 1])], &[Axis::list(&[2, 1])]);
    no(&[4, 3], &[List(vec![1, 1])], &[Axis::list(&[1, 1])]);
    yes(&[4, 3], &[List(vec![-1])], &[Axis::list(&[-1])]);
    // Nothing lies in one piece, wherever.
    yes(&[4, 3], &[ALL, range(2, 2)], &[Axis::all(), (2..2).into()]);
    yes(&[4, 3], &[range(4, 4), range(0, 2)], &[(4..4).into(), (0..2).into()]);
    yes(&[4, 3], &[List(vec![])], &[Axis::list::<u32>(&[])]);
    yes(&[4, 0, 3], &[ALL, ALL, range(1, 2)], &[Axis::all(), Axis::all(), (1..2).into()]);
}

#[test]
fn runs_are_as_long_as_can_be() {
    with_u8(&[4, 6], |tensor| {
        let lens = |axes: &[Axis<'_>]| -> Vec<usize> {
            tensor.slice(axes).expect("a slice").runs().map(<[u8]>::len).collect()
        };
        assert_eq!(lens(&[]), [24]);
        assert_eq!(lens(&[Axis::list(&[0, 1, 3, 2])]), [12, 6, 6]);
        assert_eq!(lens(&[Axis::all(), (1..).into()]), [5, 5, 5, 5]);
        assert_eq!(lens(&[(1..3).into(), Axis::list(&[4, 5, 0])]), [2, 1, 2, 1]);
        // Behind the last of a row comes the first of the next.
        assert_eq!(lens(&[(1..3).into(), Axis::list(&[0, 4, 5])]), [1, 3, 2]);
        assert_eq!(lens(&[Axis::at(0), Axis::from(..).step(5)]), [1, 1]);
        assert_eq!(lens(&[(2..2).into()]), [0usize; 0]);
    });
}

#[test]
fn scalars() {
    let case = Case::new(Dtype::F64, &[], &[]);
    assert_slice(&case);
    assert_pieces(&case);
    case.with_tensor(|tensor| {
        let no_axis = SliceError::NoAxis { axis: 0, rank: 0 };
        assert_eq!(no_axis.to_string(), "the tensor is a scalar, which has no axes");
        assert_eq!((tensor.index(0).err(), tensor.rows().err()), (Some(no_axis), Some(no_axis)));
        assert_eq!(tensor.narrow(0, ..).err(), Some(no_axis));
        assert_eq!(tensor.slice(&[Axis::all()]).err(), Some(SliceError::Rank { given: 1, rank: 0 }));
        assert_eq!(tensor.element_f64(&[]).ok(), tensor.iter_f64().expect("numbers").next());
        let chunks: Vec<_> = tensor.chunks(7).expect("one").map(|chunk| chunk.shape().to_vec()).collect();
        assert_eq!(chunks, [[1]]);
    });
}

#[test]
fn rank_16() {
    let shape = [1, 2, 1, 2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 1, 2];
    let last = |take: Take| [vec![ALL; 15], vec![take]].concat();
    let alternating: Vec<_> = (0..16).map(|axis| if axis % 2 == 0 { At(0) } else { List(vec![1, 0, 1]) }).collect();
    for dtype in [Dtype::U8, Dtype::F32, Dtype::F4, Dtype::F6E2M3] {
        for takes in [vec![], last(At(1)), last(List(vec![1, 0])), alternating[..12].to_vec(), vec![ALL; 17]] {
            let case = Case::new(dtype, &shape, &takes);
            assert_slice(&case);
            assert_pieces(&case);
        }
    }
    // Every other of every axis but the innermost ones: as many outer axes as there can be.
    let shape = [vec![3; 6], vec![1; 10]].concat();
    let steps = vec![Range(Unbounded, Unbounded, 2); 6];
    assert_slice(&Case::new(Dtype::I16, &shape, &steps));
    assert_slice(&Case::new(Dtype::I16, &shape, &[List(vec![2, 0]), ALL, List(vec![2, 2, 1]), ALL, At(1)]));
}

/// Dims of a tensor without elements are whatever the file says.
#[test]
fn huge_and_empty() {
    let huge = 1u64 << 31 | 1; // fits a 32-bit host
    let dim = huge as usize;
    for shape in [vec![huge, 0], vec![0, huge, huge], vec![huge, 0, huge, huge]] {
        let file = Build::new().tensor("t", "F32", &shape, 0..0).file(0);
        let tensor = file.parse().expect("a sound file").tensor("t").expect("its tensor");
        let mut rows = tensor.rows().expect("an axis");
        let first = shape[0] as usize;
        assert_eq!(rows.len(), first);
        assert_eq!(rows.nth(dim - 1).is_some(), first > 0);
        assert_eq!(tensor.chunks(0).map(Iterator::count), Ok(0));
        assert_eq!(tensor.chunks(usize::MAX).map(Iterator::count), Ok(0));
        let last = tensor.shape().len() - 1;
        let slices = [
            tensor.slice(&[]),
            tensor.narrow(0, first..),
            tensor.narrow(last, ..tensor.shape()[last]),
            tensor.slice(&[Axis::from(..).step(dim - 1)]),
        ];
        for slice in slices {
            let slice = slice.expect("a slice");
            assert_eq!((slice.elements(), slice.runs().count()), (0, 0));
            assert_eq!(slice.as_view().map(|view| view.shape().to_vec()), Some(slice.shape().to_vec()));
            assert_eq!(slice.read_f32(&mut []), Ok(()));
            assert_eq!(
                slice.iter::<f32>().map(|mut iter| (iter.len(), iter.next(), iter.nth_back(3))),
                Ok((0, None, None))
            );
        }
        assert!(tensor.element_f32(&vec![0; shape.len()]).is_err());
    }
}

/// A list may repeat itself, up to what memory could hold.
#[test]
fn lists_that_make_more_than_there_is() {
    let long = vec![0u32; 1 << 16];
    with_u8(&[1, 1, 1, 2, 1], |tensor| {
        let list = Axis::list(&long);
        let many = tensor.slice(&[list]).expect("a slice");
        assert_eq!((many.elements(), many.runs().count()), (2 << 16, 1 << 16));
        let shorter = Axis::list(&long[..1 << 13]); // 2^61 in all: a usize may hold that, but no memory
        for axes in [&[list, list, list, shorter][..], &[list; 4], &[list; 5]] {
            let error = tensor.slice(axes).unwrap_err();
            assert_eq!(error, SliceError::TooLarge);
            assert_eq!(error.to_string(), "the lists repeat so much that the slice would not fit memory");
        }
        let nothing = tensor.slice(&[list, list, list, list, (0..0).into()]).expect("nothing");
        assert_eq!((nothing.elements(), nothing.shape().len()), (0, 5));
    });
}

#[test]
fn jumps() {
    with_u8(&[16, 16], |tensor| {
        let slice = tensor.slice(&[Axis::from(..).step(3), Axis::list(&[9, 1, 2, 15])]).expect("a slice");
        let expected: Vec<u8> = (0..16).step_by(3).flat_map(|row| [9, 1, 2, 15].map(|col| row * 16 + col)).collect();
        let iter = slice.iter::<u8>().expect("bytes");
        for n in 0..=expected.len() {
            assert_eq!(iter.clone().nth(n), expected.get(n).copied());
            assert_eq!(iter.clone().nth_back(n), expected.iter().rev().nth(n).copied());
            let mut both = iter.clone();
            both.nth(n);
            both.nth_back(2);
            let left = expected.get(n + 1..expected.len().saturating_sub(3)).unwrap_or_default();
            assert_eq!(both.collect::<Vec<_>>(), left);
        }
        for seed in 0..64u8 {
            let script: Vec<u8> = (0..30u8).map(|i| i.wrapping_mul(seed * 2 + 1).wrapping_add(seed)).collect();
            assert_walks(iter.clone(), &expected, |a, b| a == b, &script);
        }
    });
}

#[test]
fn a_step_is_of_a_range_alone() {
    for (take, step) in [(At(0), 2), (List(vec![0]), 3), (List(vec![0, 1]), 0), (At(1), 1)] {
        assert_slice(&Case::new(Dtype::U16, &[2, 2], &[Odd(Box::new(take), step)]));
    }
}

#[test]
#[cfg(feature = "alloc")]
fn vectors() {
    with_u8(&[4, 6], |tensor| {
        let slice = tensor.slice(&[Axis::list(&[3, 0]), (4..).into()]).expect("a slice");
        assert_eq!(slice.to_vec::<u8>(), Ok(vec![22, 23, 4, 5]));
        assert_eq!(slice.to_f32_vec(), Ok(vec![22.0, 23.0, 4.0, 5.0]));
        assert_eq!(slice.to_f64_vec(), Ok(vec![22.0, 23.0, 4.0, 5.0]));
        let refused = CastError::Dtype { expected: Some(Dtype::I8), actual: Dtype::U8 };
        assert_eq!(slice.to_vec::<i8>(), Err(refused));
    });
}

#[test]
fn slices_go_to_other_threads() {
    fn assert_send<T: Send + Sync + Copy>(_: T) {}
    with_u8(&[4, 6], |tensor| {
        assert_send(tensor.narrow(1, 2..).expect("a slice"));
        let debug = format!("{:?}", tensor.narrow(1, 2..).expect("a slice"));
        assert!(debug.contains("[4, 4]") && debug.contains("one_piece: false"), "{debug}");
    });
}

//! Parts of tensors, where the dtype matters: F4 and F6 on whole bytes, `bool`s that are none, and any at every
//! alignment.

use weightview::{Axis, CastError, Dtype, SafeTensors, SliceError, TensorView};

use crate::build::Build;
use crate::slice_oracle::Take::{self, List};
use crate::slice_oracle::{Case, assert_pieces, assert_slice};
use crate::slicing::{ALL, range, refusal};

#[test]
fn f4_on_whole_bytes() {
    let slice = |shape: &[usize], takes: &[Take]| {
        let case = Case::new(Dtype::F4, shape, takes);
        assert_slice(&case);
        assert_pieces(&case);
    };
    let refused = |shape: &[usize], axes: &[Axis<'_>], start, len| {
        let error = SliceError::PartialByte { dtype: Dtype::F4, start, len };
        assert_eq!(refusal(Dtype::F4, shape, axes), error, "{axes:?}");
    };
    slice(&[3, 4], &[ALL, range(2, 4)]);
    slice(&[3, 4], &[List(vec![2, 0, 2]), range(0, 2)]);
    slice(&[4, 3], &[range(2, 4)]); // rows of 3, but two of them
    refused(&[4, 3], &[(1..3).into()], 3, 6);
    refused(&[4, 3], &[(0..3).into()], 0, 9);
    refused(&[4, 3], &[Axis::from(..).step(2)], 0, 3);
    refused(&[3, 4], &[Axis::all(), (1..3).into()], 1, 2);
    refused(&[3, 4], &[Axis::all(), Axis::from(..).step(2)], 0, 1);
    refused(&[3, 4], &[Axis::all(), Axis::list(&[0, 1, 3])], 0, 1);
    refused(&[2, 2], &[Axis::at(1), Axis::at(1)], 3, 1);
    // Two elements of each row of 3: the second row's start within a byte.
    refused(&[2, 3], &[Axis::all(), (..2).into()], 3, 2);
    refused(&[4, 3], &[Axis::list(&[2, 0, 1]), (..2).into()], 3, 2);
    slice(&[4, 3], &[List(vec![2, 0, 2, 0, 0]), range(0, 2)]); // rows 0 and 2 alone do not
    slice(&[4, 3], &[List(vec![3, 1, 1]), range(1, 3)]); // nor do 1 and 3 from the second column on
    slice(&[2, 3], &[range(1, 1)]); // nothing is whole bytes

    Case::new(Dtype::F4, &[2, 3], &[]).with_tensor(|tensor| {
        let error = SliceError::PartialByte { dtype: Dtype::F4, start: 0, len: 3 };
        assert_eq!((tensor.index(0).err(), tensor.rows().err()), (Some(error), Some(error)));
        assert_eq!(
            error.to_string(),
            "F4 elements come 2 in 1 bytes, which 3 from element 0 on do not fill; take whole bytes, or read single \
             elements with element_f32"
        );
        assert_eq!(tensor.chunks(3).err(), Some(error));
        let chunks: Vec<_> = tensor.chunks(4).expect("whole bytes").map(|chunk| chunk.elements()).collect();
        assert_eq!(chunks, [4, 2]);
        let one_by_one: Vec<_> = (0..2).flat_map(|i| (0..3).map(move |j| [i, j])).collect();
        let one_by_one: Result<Vec<f32>, _> = one_by_one.iter().map(|index| tensor.element_f32(index)).collect();
        assert_eq!(one_by_one, Ok(tensor.iter_f32().expect("numbers").collect()));
    });
    // One row is all there is, whatever its length; then there is nothing before or behind it.
    Case::new(Dtype::F4, &[1, 6], &[]).with_tensor(|tensor| assert_eq!(tensor.rows().map(|rows| rows.len()), Ok(1)));
}

#[test]
fn f6_on_whole_blocks() {
    for dtype in [Dtype::F6E2M3, Dtype::F6E3M2] {
        let case = Case::new(dtype, &[3, 8], &[List(vec![2, 0]), range(4, 8)]);
        assert_slice(&case);
        case.with_tensor(|tensor| {
            let rows: Vec<_> = tensor.rows().expect("6 bytes each").map(|row| row.data().len()).collect();
            assert_eq!(rows, [6, 6, 6]);
            let runs: Vec<_> = tensor.narrow(1, 4..).expect("a slice").runs().map(<[u8]>::len).collect();
            assert_eq!(runs, [3, 3, 3]);
            let error = tensor.narrow(1, 2..6).unwrap_err();
            assert_eq!(error, SliceError::PartialByte { dtype, start: 2, len: 4 });
            assert!(error.to_string().ends_with("take whole blocks"), "{error}");
            let refused = CastError::Dtype { expected: None, actual: dtype };
            assert_eq!(tensor.element_f32(&[0, 0]), Err(SliceError::Cast(refused)));
            assert_eq!(tensor.narrow(1, 4..).expect("a slice").iter_f64().err(), Some(refused));
        });
    }
}

/// Walks that stop in the middle of an F4 byte, and go on block by block.
#[test]
fn f4_from_the_middle_of_a_byte() {
    let takes = [List(vec![1, 0, 1]), range(2, 200)];
    let case = Case { script: vec![0, 2, 40, 2, 3, 7, 2], ..Case::new(Dtype::F4, &[2, 202], &takes) };
    assert_slice(&case);
}

#[test]
fn every_alignment() {
    for &dtype in Dtype::ALL {
        for skew in 0..16 {
            for takes in [vec![range(1, 3)], vec![ALL, range(4, 8)], vec![List(vec![3, 1]), range(0, 4)]] {
                let case = Case { skew, ..Case::new(dtype, &[4, 12], &takes) };
                assert_slice(&case);
                assert_pieces(&case);
            }
        }
    }
}

/// Only what is taken must be a `bool`.
#[test]
fn bools_that_are_none() {
    with_bools(&[1, 2, 0, 1], |tensor| {
        let column = tensor.narrow(1, ..1).expect("a slice");
        assert_eq!(column.iter::<bool>().map(Iterator::collect), Ok(vec![true, false]));
        let other = tensor.narrow(1, 1..).expect("a slice");
        assert_eq!(other.iter::<bool>().err(), Some(CastError::Value { index: 0 }));
        assert_eq!(tensor.element::<bool>(&[0, 1]), Err(CastError::Value { index: 1 }.into()));
        assert_eq!(tensor.element::<bool>(&[1, 1]), Ok(true));
        assert_eq!(other.iter_f32().map(Iterator::collect), Ok(vec![1.0, 1.0]));
    });
}

fn with_bools(data: &[u8], check: impl FnOnce(TensorView<'_>)) {
    let mut bytes = Build::new().tensor("t", "BOOL", &[2, 2], 0..4).file(0).bytes;
    bytes.extend(data);
    check(SafeTensors::parse(&bytes).expect("a sound file").tensor("t").expect("its tensor"));
}

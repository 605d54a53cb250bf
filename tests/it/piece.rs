//! Runs of a tensor's elements, taken before its bytes are there.

use weightview::safetensors::Header;
use weightview::{SliceError, TensorInfo};

use crate::build::Build;

/// The tensor of a file of which only the head is there.
fn with_info<R>(dtype: &str, shape: &[u64], byte_len: u64, check: impl FnOnce(TensorInfo<'_>) -> R) -> R {
    let head = Build::new().tensor("a", "U8", &[3], 0..3).tensor("t", dtype, shape, 3..3 + byte_len).head();
    check(Header::parse(&head).expect("a sound head").tensor("t").expect("its tensor"))
}

#[test]
fn a_run_lies_where_its_elements_lie() {
    with_info("F32", &[2, 5], 40, |tensor| {
        let whole = tensor.file_range();
        let piece = tensor.piece(3..7).expect("a run");
        assert_eq!((piece.name().as_str(), piece.dtype()), (Some("t"), tensor.dtype()));
        assert_eq!((piece.shape(), piece.elements(), piece.byte_len()), (&[4][..], 4, 16));
        assert_eq!(piece.data_offsets(), 3 + 12..3 + 28);
        assert_eq!(piece.file_range(), whole.start + 12..whole.start + 28);
        // And a run of the run.
        assert_eq!(piece.piece(1..2).expect("a run").data_offsets(), 3 + 16..3 + 20);
    });
}

#[test]
fn a_run_is_read_as_a_slice_of_the_tensor() {
    let file = Build::new().tensor("t", "I16", &[3, 4], 0..24).file(24);
    let model = file.parse().expect("a sound file");
    let (view, info) = (model.tensor("t").expect("there"), model.header().tensor("t").expect("there"));
    let all: Vec<i16> = view.iter().expect("I16").collect();
    for start in 0..=12 {
        for end in start..=12 {
            let piece = info.piece(start..end).expect("a run");
            let bytes = &file.bytes[piece.file_range().start as usize..piece.file_range().end as usize];
            let numbers: Vec<i16> = piece.view(bytes).expect("its bytes").iter().expect("I16").collect();
            assert_eq!(numbers, all[start as usize..end as usize]);
        }
    }
}

#[test]
fn the_whole_and_nothing() {
    with_info("U8", &[7], 7, |tensor| {
        assert_eq!(tensor.piece(0..7).expect("all").file_range(), tensor.file_range());
        for i in 0..=7 {
            assert_eq!(tensor.piece(i..i).expect("none").data_offsets(), 3 + i..3 + i);
        }
    });
    with_info("F64", &[], 8, |scalar| assert_eq!(scalar.piece(0..1).expect("it").shape(), [1]));
    with_info("F64", &[3, 0], 0, |empty| assert_eq!(empty.piece(0..0).expect("none").shape(), [0]));
}

#[test]
fn outside_or_reversed() {
    with_info("U8", &[7], 7, |tensor| {
        for (start, end) in [(0, 8), (8, 8), (7, 8), (5, 4), (u64::MAX, 0), (0, u64::MAX)] {
            let fault = SliceError::Elements { start, end, len: 7 };
            assert_eq!(tensor.piece(start..end).expect_err("a fault"), fault);
            let sentence = fault.to_string();
            assert_eq!(sentence.contains("before their start"), end < start, "{sentence}");
            assert_eq!(sentence.contains("the tensor has 7"), end >= start, "{sentence}");
        }
    });
}

#[test]
fn below_a_byte_a_run_is_whole_bytes() {
    with_info("F4", &[3, 4], 6, |tensor| {
        assert_eq!(tensor.piece(4..10).expect("whole bytes").data_offsets(), 3 + 2..3 + 5);
        let fault = |start, len| SliceError::PartialByte { dtype: tensor.dtype(), start, len };
        assert_eq!(tensor.piece(1..4).expect_err("half a byte"), fault(1, 3));
        assert_eq!(tensor.piece(0..3).expect_err("half a byte"), fault(0, 3));
    });
    with_info("F6_E2M3", &[8], 6, |tensor| {
        assert_eq!(tensor.piece(4..8).expect("whole blocks").data_offsets(), 3 + 3..3 + 6);
        let fault = SliceError::PartialByte { dtype: tensor.dtype(), start: 4, len: 3 };
        assert_eq!(tensor.piece(4..7).expect_err("part of a block"), fault);
    });
}

#[test]
fn of_a_tensor_that_no_memory_could_hold() {
    let elements = 1 << 58;
    with_info("BF16", &[1 << 29, 1 << 29], 2 * elements, |tensor| {
        let last = tensor.piece(elements - 3..elements).expect("a run");
        assert_eq!(last.data_offsets(), 3 + 2 * elements - 6..3 + 2 * elements);
        assert_eq!(last.view(&[0; 6]).expect("its bytes").shape(), [3]);
    });
}

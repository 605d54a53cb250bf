//! Sizes at the edge of 64 bits and beyond, and beyond 32: the same on every host.

use weightview::error::ErrorKind::{
    FileLenOverflow, IntegerTooLarge, OffsetsReversed, PartialByte, SizeMismatch, SizeOverflow, TooLargeForHost,
    TrailingData, Truncated,
};
use weightview::safetensors::Header;
use weightview::{Dtype, SafeTensors};

use crate::build::{Build, File, accepted, refusals, refused};

const MAX: &str = "18446744073709551615";

fn empty_of(shape: &str) -> String {
    format!(r#"{{"a":{{"dtype":"U8","shape":{shape},"data_offsets":[0,0]}}}}"#)
}

refusals! {
    // The product runs outermost first and must fit at every step, as in the reference.
    product_overflows_before_a_zero: empty_of(&format!("»[2,{MAX},0]")), 0 => SizeOverflow;
    product_overflows_before_a_later_zero: empty_of(&format!("»[{MAX},3,1,0]")), 0 => SizeOverflow;
    product_overflows_by_one: empty_of("»[4294967296,4294967296]"), 0 => SizeOverflow;
    product_overflows_back_to_nothing: empty_of("»[4294967296,4294967296,2]"), 0 => SizeOverflow;
    bits_overflow: r#"{"a":{"dtype":"U8","shape":»[2305843009213693952],"data_offsets":[0,0]}}"#, 0 => SizeOverflow;
    bits_overflow_f4: r#"{"a":{"dtype":"F4","shape":»[4611686018427387904],"data_offsets":[0,0]}}"#, 0 => SizeOverflow;
    bits_overflow_f64: r#"{"a":{"dtype":"F64","shape":»[288230376151711744],"data_offsets":[0,0]}}"#, 0
        => SizeOverflow;
    /// 2^64 bits: cut to 64 bits, that is no bytes at all.
    bits_overflow_to_zero: r#"{"a":{"dtype":"C64","shape":»[16,18014398509481984],"data_offsets":[0,0]}}"#, 0
        => SizeOverflow;
    size_wraps: r#"{"a":{"dtype":"U8","shape":[2305843009213693951],"data_offsets":»[0,0]}}"#, 0
        => SizeMismatch { expected: (1 << 61) - 1, actual: 0 };
    end_at_the_limit: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":»[0,18446744073709551615]}}"#, 1
        => SizeMismatch { expected: 1, actual: u64::MAX };
    begin_at_the_limit: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":»[18446744073709551615,1]}}"#, 1
        => OffsetsReversed { begin: u64::MAX, end: 1 };
    dim_past_the_limit: empty_of(&format!("[0,»{}6]", &MAX[..19])), 0 => IntegerTooLarge;
    /// 20 digits that a 64-bit sum, unchecked, takes for 1.
    dim_that_wraps_to_one: r#"{"a":{"dtype":"U8","shape":[»18446744073709551617],"data_offsets":[0,1]}}"#, 1
        => IntegerTooLarge;
}

#[test]
fn product_with_a_zero_in_time() {
    let shapes = [format!("[0,2,{MAX}]"), format!("[0,{MAX},{MAX}]"), format!("[1,0,{MAX},5]"), format!("[{MAX},0]")];
    for shape in &shapes {
        let file = File::new(&empty_of(shape), 0);
        let header = file.header().expect("well");
        assert_eq!(header.tensors().next().map(|tensor| (tensor.byte_len(), tensor.elements())), Some((0, 0)));
        crate::agree::assert_invariants(&file.bytes);
        crate::agree::assert_agrees(&file.bytes);
        // A view has dims in `usize`: where that is too narrow, the whole file is refused, by name.
        let narrow = usize::BITS < 64;
        assert_eq!(file.parse().err().map(|error| error.kind()), narrow.then_some(TooLargeForHost), "{shape}");
    }
}

/// A zero makes the size 0 whatever the others are, as long as the product fits to there.
#[test]
fn dims_without_elements() {
    for shape in ["[0]", "[0,0]", "[5,0]", "[0,5]", "[0,1,2,3]", "[4294967295,0]"] {
        accepted(&empty_of(shape), 0, |file| assert_eq!(file.tensor("a").map(|tensor| tensor.elements()), Ok(0)));
    }
}

/// Eight tensors of 2^61 - 1 bytes: the data ends at 2^64 - 8, and no file can hold that and a header. The
/// reference panics in debug builds.
#[test]
fn eight_tensors_of_2_to_the_61() {
    const LEN: u64 = (1 << 61) - 1;
    let mut build = Build::new();
    for place in 0..8 {
        build.push_tensor(&format!("t{place}"), "U8", &[LEN], place * LEN..(place + 1) * LEN);
    }
    let file = build.file(0);
    let error = file.header().expect_err("no file is so long");
    assert_eq!(error.kind(), FileLenOverflow);
    assert_eq!(error.offset(), Some(file.at(&format!("[{},{}]", 7 * LEN, 8 * LEN))));
    crate::agree::assert_invariants(&file.bytes);
    assert_eq!(crate::agree::assert_agrees(&file.bytes), None);
}

/// The longest data that fits with its header: the file is 2^64 - 1 bytes long.
#[test]
fn the_longest_file() {
    const LEN: u64 = (1 << 61) - 1;
    let with = |last: u64| {
        let mut build = Build::new();
        for place in 0..8 {
            build.push_tensor(&format!("t{place}"), "U8", &[LEN], place * LEN..(place + 1) * LEN);
        }
        let text = build.text().replacen(&format!("[{LEN}],\"data_offsets\":[{},{}]", 7 * LEN, 8 * LEN), "»", 1);
        text.replacen('»', &format!("[{last}],\"data_offsets\":[{},{}]", 7 * LEN, 7 * LEN + last), 1)
    };
    let header_len = with(LEN).len() as u64;
    let longest = u64::MAX - 8 - header_len - 7 * LEN;
    assert_eq!(with(longest).len() as u64, header_len);
    let file = File::new(&with(longest), 0);
    let header = file.header().expect("it fits");
    assert_eq!(header.file_len(), u64::MAX);
    assert_eq!(header.check_file_len(u64::MAX), Ok(()));
    let cut = header.check_file_len(u64::MAX - 1).expect_err("one byte is missing");
    assert_eq!(cut.kind(), Truncated { expected: u64::MAX, actual: u64::MAX - 1 });
    assert_eq!(cut.offset(), Some(file.at(r#""t7""#)));
    crate::agree::assert_invariants(&file.bytes);

    let file = File::new(&with(longest + 1), 0);
    assert_eq!(file.header().err().map(|error| error.kind()), Some(FileLenOverflow));
}

/// The head of a file of more than 4 GiB, judged right where `usize` has 32 bits: tensors that begin, end and
/// have dims beyond it.
#[test]
fn beyond_32_bits() {
    const GIB: u64 = 1 << 30;
    let head = Build::new()
        .tensor("before", "F32", &[GIB / 4], 0..GIB)
        .tensor("across", "BF16", &[2, GIB], GIB..5 * GIB)
        .tensor("behind", "U8", &[3], 5 * GIB..5 * GIB + 3)
        .tensor("long", "U8", &[5 * GIB], 5 * GIB + 3..10 * GIB + 3)
        .padding("   ")
        .head();
    let header = Header::parse(&head).expect("well");
    assert_eq!(header.data_len(), 10 * GIB + 3);
    assert_eq!(header.file_len(), header.data_start() + 10 * GIB + 3);
    let behind = header.tensor("behind").expect("it is there");
    assert_eq!((behind.dtype(), behind.shape(), behind.byte_len()), (Dtype::U8, &[3][..], 3));
    let data = header.data_start() + 5 * GIB;
    assert_eq!((behind.data_offsets(), behind.file_range()), (5 * GIB..5 * GIB + 3, data..data + 3));
    assert_eq!(header.tensor("long").map(|tensor| tensor.shape().to_vec()), Ok(vec![5 * GIB]));
    assert_eq!(header.tensor("across").map(|tensor| tensor.elements()), Ok(2 * GIB));

    assert_eq!(header.check_file_len(header.file_len()), Ok(()));
    // Lengths that a 32-bit `usize` would take for the right one.
    for actual in [header.file_len() & 0xFFFF_FFFF, header.file_len() - (1 << 32)] {
        let error = header.check_file_len(actual).expect_err("too short");
        assert_eq!(error.kind(), Truncated { expected: header.file_len(), actual });
    }
    let whole = SafeTensors::parse(&head).expect_err("there is no data");
    assert_eq!(whole.kind(), Truncated { expected: header.file_len(), actual: head.len() as u64 });
    crate::agree::assert_invariants(&head);
}

/// A hole, an overlap and a wrong size that only bits above the 32nd tell.
#[test]
fn faults_beyond_32_bits() {
    const FOUR: u64 = 1 << 32;
    for (shape, offsets) in [(1, "»[0,4294967297]"), (FOUR + 1, "»[0,1]")] {
        let file = File::new(&format!(r#"{{"a":{{"dtype":"U8","shape":[{shape}],"data_offsets":{offsets}}}}}"#), 1);
        let error = file.header().expect_err("the size is wrong");
        assert_eq!(error.kind(), SizeMismatch { expected: shape, actual: FOUR + 2 - shape });
        assert_eq!(error.offset(), Some(file.fault()));
    }
    let file = Build::new().tensor("a", "U8", &[1], 0..1).tensor("b", "U8", &[1], FOUR + 1..FOUR + 2).file(2);
    let hole = weightview::error::ErrorKind::Hole { expected: 1, begin: FOUR + 1 };
    assert_eq!(file.header().err().map(|error| error.kind()), Some(hole));
}

/// Integers of every length and at every power of ten, through both ways that the parser has of reading them.
#[test]
fn integers_of_every_length() {
    let mut values = vec![u64::MAX, u64::MAX - 1, u64::MAX / 8, i64::MAX as u64, 1 << 32, 12_345_678_901_234_567_890];
    for power in 0..20 {
        values.extend([10u64.pow(power) - 1, 10u64.pow(power), 10u64.pow(power) + 1]);
        values.push(1_234_567_890_123_456_789 / 10u64.pow(power.min(18)));
    }
    for value in values {
        for space in ["", " "] {
            // The zero in front makes the size 0, whatever the value.
            let text = format!(r#"{{"a":{{"dtype":"U8","shape":[0,{space}{value}],"data_offsets":[0,0]}}}}"#);
            let file = File::new(&text, 0);
            let header = file.header().unwrap_or_else(|error| panic!("{value}: {error}"));
            assert_eq!(header.tensor("a").map(|tensor| tensor.shape()[1]), Ok(value));

            let text = format!(r#"{{"a":{{"dtype":"U8","shape":[1],"data_offsets":»[{value},{space}{value}]}}}}"#);
            let file = File::new(&text, 0);
            let error = file.header().expect_err("one byte spans nothing");
            assert_eq!(error.kind(), SizeMismatch { expected: 1, actual: 0 }, "{value}");
            assert_eq!(error.offset(), Some(file.fault()));
        }
    }
}

/// Every rank to 16; the dims come back as they stand.
#[test]
fn every_rank() {
    for rank in 0..=16u64 {
        let dims: Vec<u64> = (0..rank).map(|place| if place % 3 == 0 { 2 } else { 1 }).collect();
        let bytes: u64 = dims.iter().product();
        let text = Build::new().tensor("a", "U8", &dims, 0..bytes).text();
        for text in [text.clone(), text.replace(',', " ,")] {
            accepted(&text, bytes as usize, |file| {
                let tensor = file.tensor("a").expect("it is there");
                assert!(tensor.shape().iter().map(|&dim| dim as u64).eq(dims.iter().copied()));
                let info = file.header().tensor("a").expect("it is there");
                assert_eq!((info.shape(), info.elements()), (&dims[..], bytes));
            });
        }
    }
    assert_eq!(weightview::limits::MAX_RANK, 16);
}

/// Shapes of the sub-byte dtypes that end within a byte.
#[test]
fn every_part_of_a_byte() {
    for (dtype, bits, counts) in
        [("F4", 4u64, &[1u64, 3, 5, 7][..]), ("F6_E2M3", 6, &[1, 2, 3, 5, 6, 7]), ("F6_E3M2", 6, &[1, 2, 3, 5, 6, 7])]
    {
        for &count in counts {
            // Neither rounding down nor up makes it right.
            for bytes in [count * bits / 8, (count * bits).div_ceil(8)] {
                for shape in [format!("[{count}]"), format!("[1,{count}]"), format!("[{count} , 1]")] {
                    let text = format!(r#"{{"a":{{"dtype":"{dtype}","shape":»{shape},"data_offsets":[0,{bytes}]}}}}"#);
                    assert_eq!(refused(&text, bytes as usize, PartialByte { bits: count * bits }), None);
                }
            }
        }
    }
}

/// A tensor of 5 GB, by its head alone, against lengths of the file at hand.
#[test]
fn a_tensor_of_5_gb() {
    const LEN: u64 = 5_000_000_000;
    let head = Build::new().tensor("a", "F32", &[LEN / 4], 0..LEN).head();
    let header = Header::parse(&head).expect("well");
    let whole = head.len() as u64 + LEN;
    assert_eq!((header.file_len(), header.check_file_len(whole)), (whole, Ok(())));
    for actual in [0, head.len() as u64, whole - 1, whole - (1 << 32), whole & 0xFFFF_FFFF] {
        let error = header.check_file_len(actual).expect_err("too short");
        assert_eq!((error.kind(), error.offset()), (Truncated { expected: whole, actual }, Some(9)));
    }
    for actual in [whole + 1, whole + (1 << 32), u64::MAX] {
        let error = header.check_file_len(actual).expect_err("too long");
        assert_eq!((error.kind(), error.offset()), (TrailingData { expected: whole, actual }, Some(whole)));
    }
}

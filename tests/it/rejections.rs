//! What is wrong with a single entry, and the byte.

use weightview::error::ErrorKind::{
    DuplicateField, EntryNotObject, FieldType, HeaderNotObject, IntegerTooLarge, MissingField, NotAnInteger,
    NumberTooLarge, OffsetCount, OffsetsReversed, PartialByte, RankTooHigh, SizeMismatch, SizeOverflow, UnknownDtype,
};
use weightview::error::Field::{DataOffsets, Dtype, Shape};

use crate::agree::Intended;
use crate::build::{ONE, accepted, refusals, refused};

/// An entry with this dtype, as JSON.
fn dtype(value: &str) -> String {
    format!(r#"{{"a":{{"dtype":{value},"shape":[1],"data_offsets":[0,1]}}}}"#)
}

/// An entry with this shape, as JSON.
fn shape(value: &str) -> String {
    format!(r#"{{"a":{{"dtype":"U8","shape":{value},"data_offsets":[0,1]}}}}"#)
}

/// An entry with these offsets, as JSON.
fn offsets(value: &str) -> String {
    format!(r#"{{"a":{{"dtype":"U8","shape":[1],"data_offsets":{value}}}}}"#)
}

#[test]
fn the_entries_that_these_tests_vary_are_well() {
    for text in [dtype(r#""U8""#), shape("[1]"), offsets("[0,1]")] {
        accepted(&text, 1, |file| assert_eq!(file.len(), 1));
    }
}

refusals! {
    header_is_an_array: "»[]", 0 => HeaderNotObject;
    header_is_null: "»null", 0 => HeaderNotObject;
    header_is_a_string: r#"»"{}""#, 0 => HeaderNotObject;
    header_is_a_number: "»1", 0 => HeaderNotObject;
    header_is_empty: "»", 0 => HeaderNotObject;
    header_is_white_space: "  \n»", 0 => HeaderNotObject;
    header_is_an_array_behind_white_space: " \t»[]", 0 => HeaderNotObject;

    entry_is_null: r#"{"a":»null}"#, 0 => EntryNotObject;
    entry_is_a_number: r#"{"a":»0}"#, 0 => EntryNotObject;
    entry_is_a_string: r#"{"a":»"F32"}"#, 0 => EntryNotObject;
    entry_is_a_bool: r#"{"a":»true}"#, 0 => EntryNotObject;
    entry_is_an_empty_array: r#"{"a":»[]}"#, 0 => EntryNotObject;
    second_entry_is_null: format!(r#"{{"a":{ONE},"b":»null}}"#), 1 => EntryNotObject;

    dtype_unknown: dtype(r#"»"F31""#), 1 => UnknownDtype;
    dtype_in_lower_case: dtype(r#"»"u8""#), 1 => UnknownDtype;
    dtype_empty: dtype(r#"»"""#), 1 => UnknownDtype;
    dtype_with_a_space: dtype(r#"»"U8 ""#), 1 => UnknownDtype;
    dtype_with_a_nul: dtype(r#"»"U8\u0000""#), 1 => UnknownDtype;
    dtype_of_another_library: dtype(r#"»"torch.uint8""#), 1 => UnknownDtype;
    dtype_of_rust: dtype(r#"»"F8E4M3""#), 1 => UnknownDtype;
    dtype_number: dtype("»4"), 1 => FieldType(Dtype);
    dtype_null: dtype("»null"), 1 => FieldType(Dtype);
    dtype_array: dtype(r#"»["U8"]"#), 1 => FieldType(Dtype);
    dtype_bool: dtype("»false"), 1 => FieldType(Dtype);
    dtype_object_of_an_object: dtype(r#"»{"U8":{}}"#), 1 => FieldType(Dtype);
    dtype_object_of_two: dtype(r#"»{"U8":null,"I8":null}"#), 1 => FieldType(Dtype);

    shape_null: shape("»null"), 1 => FieldType(Shape);
    shape_number: shape("»1"), 1 => FieldType(Shape);
    shape_string: shape(r#"»"[1]""#), 1 => FieldType(Shape);
    shape_object: shape(r#"»{"0":1}"#), 1 => FieldType(Shape);
    shape_bool: shape("»true"), 1 => FieldType(Shape);
    dim_with_a_fraction: shape("[1,»1.0]"), 1 => NotAnInteger;
    dim_with_an_exponent: shape("[»1e0]"), 1 => NotAnInteger;
    dim_with_a_large_exponent: shape("[»1e3]"), 1 => NotAnInteger;
    dim_minus_zero: shape("[»-0]"), 1 => NotAnInteger;
    dim_minus_one: shape("[»-1]"), 1 => NotAnInteger;
    dim_string: shape(r#"[1, »"1"]"#), 1 => NotAnInteger;
    dim_bool: shape("[»true]"), 1 => NotAnInteger;
    dim_null: shape("[ »null ]"), 1 => NotAnInteger;
    dim_array: shape("[»[1]]"), 1 => NotAnInteger;
    dim_object: shape("[1,»{},1]"), 1 => NotAnInteger;
    dim_2_to_the_64: shape("[»18446744073709551616]"), 1 => IntegerTooLarge;
    dim_of_30_digits: shape("[1,»100000000000000000000000000000]"), 1 => IntegerTooLarge;
    dim_of_400_digits: shape(&format!("[»1{}]", "0".repeat(399))), 1 => NumberTooLarge;

    offsets_null: offsets("»null"), 1 => FieldType(DataOffsets);
    offsets_number: offsets("»0"), 1 => FieldType(DataOffsets);
    offsets_string: offsets(r#"»"0,1""#), 1 => FieldType(DataOffsets);
    offsets_object: offsets(r#"»{"begin":0,"end":1}"#), 1 => FieldType(DataOffsets);
    offsets_none: offsets("»[]"), 1 => OffsetCount;
    offsets_one: offsets("»[0]"), 1 => OffsetCount;
    offsets_three: offsets("[0,1,»1]"), 1 => OffsetCount;
    offsets_four: offsets("[0,1, »2,3]"), 1 => OffsetCount;
    offset_with_a_fraction: offsets("[»0.0,1]"), 1 => NotAnInteger;
    offset_with_an_exponent: offsets("[0,»1e0]"), 1 => NotAnInteger;
    offset_with_a_capital_exponent: offsets("[0,»1E0]"), 1 => NotAnInteger;
    offset_minus_zero: offsets("[»-0,1]"), 1 => NotAnInteger;
    offset_minus_one: offsets("[»-1,0]"), 1 => NotAnInteger;
    offset_string: offsets(r#"[0,»"1"]"#), 1 => NotAnInteger;
    offset_bool: offsets("[»false,true]"), 1 => NotAnInteger;
    offset_null: offsets("[0,»null]"), 1 => NotAnInteger;
    offset_array: offsets("[»[0],1]"), 1 => NotAnInteger;
    offset_2_to_the_64: offsets("[0,»18446744073709551616]"), 1 => IntegerTooLarge;
    offset_2_to_the_64_and_more: offsets("[»18446744073709551619,0]"), 1 => IntegerTooLarge;
    offset_of_21_digits: offsets("[0,»100000000000000000001]"), 1 => IntegerTooLarge;

    dtype_missing: r#"{"a":»{"shape":[1],"data_offsets":[0,1]}}"#, 1 => MissingField(Dtype);
    shape_missing: r#"{"a":»{"dtype":"U8","data_offsets":[0,1]}}"#, 1 => MissingField(Shape);
    offsets_missing: r#"{"a":»{"dtype":"U8","shape":[1]}}"#, 1 => MissingField(DataOffsets);
    all_fields_missing: r#"{"a": »{}}"#, 0 => MissingField(Dtype);
    field_name_in_capitals: r#"{"a":»{"Dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, 1 => MissingField(Dtype);
    field_name_with_a_space: r#"{"a":»{"dtype":"U8","shape ":[1],"data_offsets":[0,1]}}"#, 1 => MissingField(Shape);

    dtype_twice: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],»"dtype":"U8"}}"#, 1 => DuplicateField(Dtype);
    shape_twice: r#"{"a":{"shape":[1],»"shape":[1],"dtype":"U8","data_offsets":[0,1]}}"#, 1 => DuplicateField(Shape);
    offsets_twice: r#"{"a":{"data_offsets":[0,1],"dtype":"U8","shape":[1],»"data_offsets":[0,1]}}"#, 1
        => DuplicateField(DataOffsets);
    dtype_twice_and_different: r#"{"a":{"dtype":"U8",»"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#, 1
        => DuplicateField(Dtype);
    dtype_twice_once_with_escapes: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],»"d\u0074ype":"U8"}}"#, 1
        => DuplicateField(Dtype);
    shape_twice_first_with_escapes: r#"{"a":{"sh\u0061pe":[1],"dtype":"U8",»"shape":[1],"data_offsets":[0,1]}}"#, 1
        => DuplicateField(Shape);

    /// The size is more than the shape needs.
    size_over: r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":»[0,9]}}"#, 9
        => SizeMismatch { expected: 8, actual: 9 };
    size_under: r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":»[0,7]}}"#, 7
        => SizeMismatch { expected: 8, actual: 7 };
    size_of_a_scalar: r#"{"a":{"data_offsets":»[0,0],"dtype":"F64","shape":[]}}"#, 0
        => SizeMismatch { expected: 8, actual: 0 };
    size_of_nothing: r#"{"a":{"data_offsets":»[0,1],"dtype":"F64","shape":[3,0]}}"#, 1
        => SizeMismatch { expected: 0, actual: 1 };
    offsets_reversed: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":»[1,0]}}"#, 1
        => OffsetsReversed { begin: 1, end: 0 };
    offsets_reversed_far: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":»[18446744073709551615,0]}}"#, 1
        => OffsetsReversed { begin: u64::MAX, end: 0 };
    /// The reversed pair spans the right size, if one subtracts without looking.
    offsets_reversed_by_the_size: r#"{"a":{"dtype":"I16","shape":[2],"data_offsets":»[4,0]}}"#, 4
        => OffsetsReversed { begin: 4, end: 0 };
    half_a_byte: r#"{"a":{"dtype":"F4","shape":»[1],"data_offsets":[0,1]}}"#, 1 => PartialByte { bits: 4 };
    half_a_byte_scalar: r#"{"a":{"dtype":"F4","shape":»[],"data_offsets":[0,1]}}"#, 1 => PartialByte { bits: 4 };
    half_a_byte_of_many: r#"{"a":{"dtype":"F4","shape":»[3,5],"data_offsets":[0,8]}}"#, 8 => PartialByte { bits: 60 };
    three_quarters_of_a_byte: r#"{"a":{"dtype":"F6_E2M3","shape":»[3],"data_offsets":[0,2]}}"#, 2
        => PartialByte { bits: 18 };
    part_of_a_byte_e3m2: r#"{"a":{"data_offsets":[0,3],"dtype":"F6_E3M2","shape":»[5]}}"#, 3
        => PartialByte { bits: 30 };
    shape_overflows: shape("»[4294967296,4294967296]"), 1 => SizeOverflow;

    /// Faults are reported in header order, whatever their sort.
    first_fault_counts: format!(r#"{{"a":{ONE},"b":{{"dtype":"U8","shape":[1],"data_offsets":»[1,3]}},"c":null}}"#), 3
        => SizeMismatch { expected: 1, actual: 2 };
    /// An entry is looked at whole before its numbers are held against each other.
    first_fault_in_an_entry: r#"{"a":{"dtype":»"F31","shape":[1],"data_offsets":[1,0]}}"#, 1 => UnknownDtype;
}

#[test]
fn every_dtype_but_one_letter() {
    for dtype in weightview::Dtype::ALL {
        let name = dtype.as_str();
        for wrong in [format!("{name}X"), name[..name.len() - 1].into(), name.to_lowercase(), format!(" {name}")] {
            if wrong.parse::<weightview::Dtype>().is_ok() {
                continue; // BF16 without its B
            }
            let text = format!(r#"{{"a":{{"dtype":»"{wrong}","shape":[0],"data_offsets":[0,0]}}}}"#);
            assert_eq!(refused(&text, 0, UnknownDtype), None);
        }
    }
}

#[test]
fn entry_as_an_array() {
    let text = r#"{"a":»["U8",[1],[0,1]]}"#;
    assert_eq!(refused(text, 1, EntryNotObject), Some(Intended::EntryAsArray));
}

#[test]
fn dtype_as_an_object() {
    assert_eq!(refused(&dtype(r#"»{"U8":null}"#), 1, FieldType(Dtype)), Some(Intended::DtypeAsObject));
    assert_eq!(refused(&dtype(r#"»{"U8":{}}"#), 1, FieldType(Dtype)), None); // the reference refuses this too
}

#[test]
fn rank_17() {
    let text = shape("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,»1]");
    assert_eq!(refused(&text, 1, RankTooHigh), Some(Intended::Rank));
    let text = shape("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, »1 ,1]");
    assert_eq!(refused(&text, 1, RankTooHigh), Some(Intended::Rank));
}

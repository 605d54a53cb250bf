//! Views: the tensor's bytes, in place.

use weightview::error::ErrorKind::NotFound;
use weightview::{Dtype, SafeTensors, TensorView};

use crate::build::{Build, File};

fn model() -> File {
    Build::new()
        .tensor("u8", "U8", &[3], 0..3)
        .tensor("none", "F32", &[0, 7], 3..3)
        .tensor("bf16", "BF16", &[2, 2], 3..11)
        .tensor("f4", "F4", &[2, 3], 11..14)
        .tensor("scalar", "F64", &[], 14..22)
        .metadata(&[("format", "pt")])
        .file(22)
}

/// Data are the bytes of the file themselves: same memory, nothing copied.
#[test]
fn point_into_the_file() {
    let file = model();
    let parsed = file.parse().expect("well");
    let data_start = parsed.data_start() as usize;
    assert_eq!(data_start + 22, file.bytes.len());
    let mut end = data_start;
    for tensor in parsed.tensors() {
        let expected = &file.bytes[end..end + tensor.data().len()];
        assert_eq!(tensor.data().as_ptr_range(), expected.as_ptr_range());
        end += tensor.data().len();
    }
    assert_eq!(end, file.bytes.len());
}

#[test]
fn say_what_the_header_says() {
    let file = model();
    let parsed = file.parse().expect("well");
    assert_eq!((parsed.len(), parsed.is_empty()), (5, false));
    for (name, dtype, shape, elements, data) in [
        ("u8", Dtype::U8, &[3][..], 3, 0..3),
        ("none", Dtype::F32, &[0, 7], 0, 3..3),
        ("bf16", Dtype::BF16, &[2, 2], 4, 3..11),
        ("f4", Dtype::F4, &[2, 3], 6, 11..14),
        ("scalar", Dtype::F64, &[], 1, 14..22),
    ] {
        let view = parsed.tensor(name).expect("it is there");
        assert_eq!((view.dtype(), view.shape(), view.elements()), (dtype, shape, elements));
        assert_eq!(view.name(), name);
        assert!(view.data().iter().copied().eq(data.clone()));
        let info = parsed.header().tensor(name).expect("it is there");
        assert_eq!(info.byte_len(), data.len() as u64);
        assert_eq!(info.data_offsets(), u64::from(data.start)..u64::from(data.end));
        let start = parsed.data_start();
        assert_eq!(info.file_range(), start + u64::from(data.start)..start + u64::from(data.end));
    }
    for absent in ["U8", "u8 ", "", "__metadata__", "format"] {
        let error = parsed.tensor(absent).expect_err("it is not there");
        assert_eq!((error.kind(), error.offset()), (NotFound, None));
    }
}

/// What is handed out borrows from the bytes alone, and is `Copy`.
#[test]
fn outlive_the_model() {
    fn first(bytes: &[u8]) -> Option<TensorView<'_>> {
        let model = SafeTensors::parse(bytes).ok()?;
        let copy = model;
        copy.tensors().next()
    }
    let file = model();
    let view = first(&file.bytes).expect("it is there");
    let copy = view;
    assert_eq!((view.data(), copy.name().as_str()), (&[0, 1, 2][..], Some("u8")));
}

/// From memory of every alignment: the same.
#[test]
fn of_any_alignment() {
    let file = model();
    for shift in 0..16 {
        let mut memory = vec![0xAA; shift];
        memory.extend_from_slice(&file.bytes);
        let parsed = SafeTensors::parse(&memory[shift..]).expect("well");
        assert!(parsed.tensors().flat_map(|tensor| tensor.data()).copied().eq(0..22));
    }
}

#[test]
fn in_header_order() {
    let file = Build::new().tensor("z", "U8", &[1], 2..3).tensor("a", "U8", &[2], 0..2).file(3);
    let parsed = file.parse().expect("well");
    let names: Vec<_> = parsed.tensors().map(|tensor| tensor.name().to_string()).collect();
    assert_eq!(names, ["z", "a"]);
    let clone = parsed.tensors().clone();
    assert_eq!((clone.len(), clone.count()), (2, 2));
}

#[test]
fn for_debug() {
    let file = Build::new().tensor("a", "U8", &[2, 1], 0..2).file(2);
    let parsed = file.parse().expect("well");
    let view = format!("{:?}", parsed.tensor("a").expect("it is there"));
    assert_eq!(view, r#"TensorView { name: "a", dtype: U8, shape: [2, 1], bytes: 2 }"#);
    assert!(format!("{parsed:?}").starts_with("SafeTensors"));
}

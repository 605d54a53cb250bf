//! Odd files that are well: the reference accepts them, and so do we.

use weightview::Dtype;
use weightview::error::ErrorKind;

use crate::build::{Build, NONE, ONE, accepted};

#[test]
fn no_tensors() {
    accepted("{}", 0, |file| {
        assert_eq!((file.len(), file.data_start()), (0, 10));
        assert!(file.is_empty());
        assert_eq!(file.tensors().count(), 0);
        assert_eq!(file.metadata().count(), 0);
        assert_eq!(file.tensor("").err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    });
}

#[test]
fn white_space_before_the_header() {
    for space in [" ", "\t", "\n", "\r", "\r\n", " \t\n\r \t\n\r"] {
        accepted(&format!("{space}{{}}"), 0, |file| assert!(file.is_empty()));
        accepted(&format!(r#"{space}{{"a":{ONE}}}"#), 1, |file| {
            assert_eq!(file.tensor("a").map(|tensor| tensor.data()), Ok(&[0][..]));
        });
    }
}

#[test]
fn white_space_behind_the_header() {
    for space in [" ", "\t", "\n", "\r", "       ", "\r\n", " \t\n\r \t\n\r"] {
        accepted(&format!(r#"{{"a":{ONE}}}{space}"#), 1, |file| assert_eq!(file.len(), 1));
    }
}

#[test]
fn white_space_everywhere() {
    let text = " { \"a\" : { \"dtype\" : \"I16\" , \"shape\" : [ 2 , 3 ] , \"data_offsets\" : [ 0 , 12 ] } ,
        \"__metadata__\"\t:\t{ \"k\" :\r\n\"v\" , \"l\" : \"w\" } , \"b\" : { \"dtype\" : \"U8\" , \"shape\" : [ ] , \
        \"data_offsets\" : [ 12 , 13 ] } } ";
    accepted(text, 13, |file| {
        assert_eq!(file.tensor("a").map(|tensor| tensor.elements()), Ok(6));
        assert_eq!(file.tensor("b").map(|tensor| tensor.data()), Ok(&[12][..]));
        assert_eq!(file.metadata().count(), 2);
    });
}

#[test]
fn fields_in_any_order() {
    let [dtype, shape, offsets] = [r#""dtype":"U16""#, r#""shape":[2]"#, r#""data_offsets":[0,4]"#];
    for fields in [
        [dtype, shape, offsets],
        [dtype, offsets, shape],
        [shape, dtype, offsets],
        [shape, offsets, dtype],
        [offsets, dtype, shape],
        [offsets, shape, dtype],
    ] {
        accepted(&format!(r#"{{"a":{{{}}}}}"#, fields.join(",")), 4, |file| {
            let tensor = file.tensor("a").expect("it is there");
            assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (Dtype::U16, &[2][..], &[0, 1, 2, 3][..]));
        });
    }
}

#[test]
fn unknown_fields() {
    let fields = r#""x":1,"y":{"dtype":"F99","shape":[1e9],"data_offsets":null},"":"}","x":[[],{},"\u0000"]"#;
    let text = format!(
        r#"{{"a":{{{fields},"dtype":"U8",{fields},"shape":[1],{fields},"data_offsets":[0,1],{fields}}},"b":{{"x":"{{","dtype":"U8","shape":[1],"data_offsets":[1,2]}}}}"#
    );
    accepted(&text, 2, |file| {
        assert_eq!(file.tensor("a").map(|tensor| tensor.data()), Ok(&[0][..]));
        assert_eq!(file.tensor("b").map(|tensor| tensor.data()), Ok(&[1][..]));
    });
}

/// All values that JSON has, in fields that are ignored.
#[test]
fn unknown_fields_of_every_type() {
    for value in ["null", "true", "false", "0", "-1.5e-3", r#""""#, r#""\"}""#, "[]", "{}", r#"[{"a":[[]]},2]"#] {
        let text = format!(r#"{{"a":{{"x":{value},"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#);
        accepted(&text, 1, |file| assert_eq!(file.len(), 1));
    }
}

#[test]
fn keys_with_escapes() {
    let text = r#"{"\u0061":{"d\u0074ype":"U8","\u0073hape":[1],"data\u005foffsets":[0,1]},
        "\u005f_metadata__":{"k":"v"}}"#;
    accepted(text, 1, |file| {
        assert_eq!(file.tensor("a").map(|tensor| tensor.dtype()), Ok(Dtype::U8));
        assert!(file.metadata().get("k").is_some_and(|value| value == "v"));
        assert!(file.tensor("__metadata__").is_err());
    });
}

#[test]
fn a_dtype_with_escapes() {
    for (spelling, dtype) in
        [(r"U\u0038", Dtype::U8), (r"\u0042OOL", Dtype::Bool), (r"F8\u005fE4M3FNU\u005A", Dtype::F8E4M3Fnuz)]
    {
        let text = format!(r#"{{"a":{{"dtype":"{spelling}","shape":[1],"data_offsets":[0,1]}}}}"#);
        accepted(&text, 1, |file| assert_eq!(file.tensor("a").map(|tensor| tensor.dtype()), Ok(dtype)));
    }
}

/// (as spelt in the header, as it is)
const NAMES: &[(&str, &str)] = &[
    ("", ""),
    (" ", " "),
    (r"\u0000", "\0"),
    (r"a\u0000b", "a\0b"),
    ("../x", "../x"),
    ("/etc/passwd", "/etc/passwd"),
    (r"C:\\x", r"C:\x"),
    (r"\/", "/"),
    (r"\u001b[2J", "\u{1b}[2J"),
    (r#"\""#, "\""),
    ("'", "'"),
    ("}{][,:", "}{][,:"),
    (r"\\u0061", r"\u0061"),
    ("重み", "重み"),
    (r"\u91cd\u307f.0", "重み.0"),
    ("🦀", "🦀"),
    (r"\ud83e\udd80\ud83E\uDD80", "🦀🦀"),
    (r"\ud800\udc00\udbff\udfff", "\u{10000}\u{10ffff}"),
    (r"\ufeff\uffff\ue000", "\u{feff}\u{ffff}\u{e000}"),
    ("\u{7f}\u{85}\u{2028}", "\u{7f}\u{85}\u{2028}"),
    ("_metadata_", "_metadata_"),
    ("__metadata__ ", "__metadata__ "),
    ("__METADATA__", "__METADATA__"),
    ("dtype", "dtype"),
    ("a", "a"),
    ("A", "A"),
    ("é", "é"),
    (r"e\u0301", "e\u{301}"),
];

#[test]
fn names_of_every_kind() {
    for (place, (spelling, name)) in NAMES.iter().enumerate() {
        accepted(&format!(r#"{{"{spelling}":{ONE}}}"#), 1, |file| {
            let tensor = file.tensor(name).expect("it is there");
            assert_eq!((tensor.name().raw(), tensor.data()), (*spelling, &[0][..]));
            assert!(tensor.name() == *name);
            assert_eq!(tensor.name().to_string(), *name);
            let others = NAMES.iter().enumerate().filter(|other| other.0 != place);
            for (_, (_, other)) in others {
                assert_eq!(file.tensor(other).err().map(|error| error.kind()), Some(ErrorKind::NotFound));
            }
        });
    }
}

#[test]
fn names_of_every_kind_in_one_file() {
    let mut build = Build::new();
    for ((spelling, _), place) in NAMES.iter().zip(0..) {
        build.push_tensor(spelling, "U8", &[1], place..place + 1);
    }
    accepted(&build.text(), NAMES.len(), |file| {
        for ((_, name), place) in NAMES.iter().zip(0..) {
            assert_eq!(file.tensor(name).map(|tensor| tensor.data()), Ok(&[place][..]));
        }
    });
}

/// Names of all lengths to 40, so that their ends fall on every place in the words that are read at once.
#[test]
fn names_of_every_length() {
    let mut build = Build::new();
    let names: Vec<String> = (0..40).map(|len| "weight.".chars().cycle().take(len).collect()).collect();
    for (name, place) in names.iter().zip(0..) {
        build.push_tensor(name, "U8", &[1], place..place + 1);
    }
    accepted(&build.text(), names.len(), |file| {
        for (name, place) in names.iter().zip(0..) {
            assert_eq!(file.tensor(name).map(|tensor| tensor.data()), Ok(&[place][..]));
        }
    });
}

#[test]
fn a_long_name() {
    let name = "x".repeat(1 << 20);
    accepted(&format!(r#"{{"{name}":{NONE}}}"#), 0, |file| assert!(file.tensor(&name).is_ok()));
}

#[test]
fn every_dtype() {
    for &dtype in Dtype::ALL {
        // Four elements are whole bytes of every dtype.
        let bytes = 4 * dtype.bits() as usize / 8;
        accepted(&Build::new().tensor("a", dtype.as_str(), &[4], 0..bytes as u64).text(), bytes, |file| {
            let tensor = file.tensor("a").expect("it is there");
            assert_eq!((tensor.dtype(), tensor.elements(), tensor.data().len()), (dtype, 4, bytes));
        });
    }
    assert_eq!(Dtype::ALL.len(), 22);
}

#[test]
fn sub_byte_dtypes() {
    for (dtype, shape, bytes) in [
        ("F4", &[2][..], 1),
        ("F4", &[2, 3], 3),
        ("F4", &[5, 1, 2], 5),
        ("F4", &[0], 0),
        ("F6_E2M3", &[4], 3),
        ("F6_E3M2", &[2, 2], 3),
        ("F6_E3M2", &[3, 8], 18),
    ] {
        accepted(&Build::new().tensor("a", dtype, shape, 0..bytes).text(), bytes as usize, |file| {
            assert_eq!(file.tensor("a").map(|tensor| tensor.data().len() as u64), Ok(bytes));
        });
    }
}

#[test]
fn scalars() {
    let file = Build::new().tensor("a", "F64", &[], 0..8).tensor("b", "BOOL", &[], 8..9).tensor("c", "I16", &[], 9..11);
    accepted(&file.text(), 11, |file| {
        for (name, bytes) in [("a", 8), ("b", 1), ("c", 2)] {
            let tensor = file.tensor(name).expect("it is there");
            assert_eq!((tensor.shape(), tensor.elements(), tensor.data().len()), (&[][..], 1, bytes));
        }
    });
}

/// Nothing is asked of alignment: an F64 may stand at an odd byte of the file.
#[test]
fn misaligned() {
    accepted(&Build::new().tensor("a", "U8", &[1], 0..1).tensor("b", "F64", &[1], 1..9).text(), 9, |file| {
        assert_eq!(file.tensor("b").map(|tensor| tensor.data()), Ok(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
    });
}

/// What the numbers are is not looked at: a BOOL byte may be anything.
#[test]
fn values_are_not_looked_at() {
    accepted(&Build::new().tensor("a", "BOOL", &[256], 0..256).text(), 256, |file| {
        assert!(file.tensor("a").is_ok_and(|tensor| tensor.data().iter().copied().eq(0..=255)));
    });
}

//! Names and metadata strings: what they are whatever their spelling.

use std::cmp::Ordering;
use std::collections::HashSet;

use weightview::Text;
use weightview::safetensors::Header;

use crate::build::{NONE, with_data};
use crate::names;

/// The name of a tensor in a header, spelt so.
fn text(spelling: &str) -> Text<'static> {
    let bytes = with_data(format!(r#"{{"{spelling}":{NONE}}}"#).as_bytes(), 0);
    let header = Header::parse(Vec::leak(bytes)).unwrap_or_else(|error| panic!("{spelling}: {error}"));
    header.tensors().next().expect("one tensor").name()
}

/// (a spelling with escapes, what it says)
const SPELLINGS: &[(&str, &str)] = &[
    (r"\u0061", "a"),
    (r"\u0041b\u0043", "AbC"),
    (r"\n\t\r\b\f", "\n\t\r\u{8}\u{c}"),
    (r#"\"\\\/"#, "\"\\/"),
    (r"\u0000", "\0"),
    (r"a\u0000", "a\0"),
    (r"\u00e9", "é"),
    (r"\u00E9", "é"),
    (r"\u91cd\u307F", "重み"),
    (r"重\u307f", "重み"),
    (r"\ud83e\udd80", "🦀"),
    (r"\uD83E\uDD80!", "🦀!"),
    (r"x\ud800\udc00y\udbff\udfff", "x\u{10000}y\u{10ffff}"),
    (r"\ud7ff\ue000\uffff", "\u{d7ff}\u{e000}\u{ffff}"),
    (r"\\u0061", r"\u0061"),
    (r"\\\\\\n", r"\\\n"),
    (r"1234567\u0038", "12345678"),
    (r"1234567\u00e9", "1234567é"),
    (r"12345678\u0039", "123456789"),
    (r"\u0031234567890123456", "1234567890123456"),
    (r"model.layers.0\u002eweight", "model.layers.0.weight"),
];

#[test]
fn decoded() {
    for &(spelling, plain) in SPELLINGS {
        let name = text(spelling);
        assert_eq!((name.raw(), name.as_str()), (spelling, None));
        assert_eq!(name.chars().collect::<String>(), plain);
        assert_eq!(name.to_string(), plain);
        assert_eq!(format!("{name:?}"), format!("{plain:?}"));
        assert!(!name.is_empty());
        let copy = name;
        assert_eq!(copy, name);
        #[cfg(feature = "alloc")]
        assert!(matches!(name.to_cow(), std::borrow::Cow::Owned(owned) if owned == plain));
    }
}

#[test]
fn plain() {
    for plain in ["", "a", "fc1.weight", "重み", "🦀", "'", "\u{7f}"] {
        for name in [text(plain), Text::from(plain)] {
            assert_eq!((name.raw(), name.as_str(), name.is_empty()), (plain, Some(plain), plain.is_empty()));
            assert!(name.chars().eq(plain.chars()));
            assert_eq!((name.to_string(), format!("{name:?}")), (plain.to_string(), format!("{plain:?}")));
            #[cfg(feature = "alloc")]
            assert!(matches!(name.to_cow(), std::borrow::Cow::Borrowed(borrowed) if borrowed == plain));
        }
    }
    // What a caller gives is never taken for JSON.
    let caller = Text::from(r"\u0061");
    assert_eq!((caller.as_str(), caller.to_string()), (Some(r"\u0061"), r"\u0061".into()));
    assert_ne!(caller, "a");
    assert_eq!(caller, text(r"\\u0061"));
}

/// A plain name goes through the formatter's width, as a `str` does.
#[test]
fn padded() {
    assert_eq!(format!("{:>4}|{:<4}|{:.1}", text("ab"), text("ab"), text("ab")), "  ab|ab  |a");
}

/// Equality, order and hash are those of what is said, not of how it is spelt.
#[test]
fn compared() {
    let mut all: Vec<(Text<'_>, &str)> = Vec::new();
    for &(spelling, plain) in SPELLINGS {
        all.push((text(spelling), plain));
        all.push((Text::from(plain), plain));
    }
    for plain in ["", "b", "aa", "A", "~", "\u{ffff}0", "\u{10000}", "1234567", "12345678\0", "é0"] {
        all.push((Text::from(plain), plain));
    }
    for &(a, a_plain) in &all {
        for &(b, b_plain) in &all {
            assert_eq!(a == b, a_plain == b_plain, "{a:?} {b:?}");
            assert_eq!(a.cmp(&b), a_plain.cmp(b_plain), "{a:?} {b:?}");
            assert_eq!(a.partial_cmp(&b), Some(a_plain.cmp(b_plain)));
            assert_eq!(a == *b_plain, a_plain == b_plain);
            assert_eq!(a == b_plain, a_plain == b_plain);
            assert_eq!(names::hash(a) == names::hash(b), a_plain == b_plain, "{a:?} {b:?}");
        }
    }
    assert_eq!(Text::from("b").cmp(&text(r"\u0061")), Ordering::Greater);
}

/// Nothing else than what was said hashes alike: zeros at the end and the order of words count.
#[test]
fn hashes() {
    let mut seen = HashSet::new();
    for len in 0..40 {
        assert!(seen.insert(names::hash(Text::from("\0".repeat(len).as_str()))));
        assert!(seen.insert(names::hash(Text::from("a".repeat(len + 1).as_str()))));
    }
    for name in ["layers.0.weight.", "weight..layers.0", "layers.0", "weight.."] {
        assert!(seen.insert(names::hash(Text::from(name))));
    }
    for name in names::checkpoint(5000) {
        assert!(seen.insert(names::hash(Text::from(name.as_str()))));
    }
}

/// Every character, spelt as an escape.
#[test]
fn every_character() {
    let step = if cfg!(debug_assertions) { 61 } else { 1 };
    let mut all = (0..=u32::from(char::MAX)).step_by(step).filter_map(char::from_u32).peekable();
    while all.peek().is_some() {
        let some: String = all.by_ref().take(1000).collect();
        let spelling: String = some.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let name = text(&spelling);
        assert!(name.chars().eq(some.chars()));
        assert_eq!(names::hash(name), names::hash(Text::from(some.as_str())));
        assert!(name == some.as_str());
    }
}

/// The iterator says nothing wrong of what is left.
#[test]
fn size_hints() {
    for &(spelling, plain) in SPELLINGS {
        let mut chars = text(spelling).chars();
        for left in (0..=plain.chars().count()).rev() {
            let (low, high) = chars.size_hint();
            assert!(low <= left && high.is_none_or(|high| high >= left), "{spelling}: {low} {left} {high:?}");
            assert_eq!(chars.clone().count(), left);
            assert_eq!(chars.next().is_some(), left > 0);
        }
        assert_eq!(chars.next(), None);
    }
    let all_pairs = text(&r"\ud83e\udd80".repeat(50));
    assert!(all_pairs.chars().size_hint().0 <= 50);
}

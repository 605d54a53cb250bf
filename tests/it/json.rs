//! What is no JSON, and the byte: above all what serde-json-core would let through.

use weightview::error::ErrorKind::{self, HeaderNotObject, Json, NestingTooDeep, NumberTooLarge};
use weightview::error::JsonFault::{
    AfterEnd, BadEscape, BadNumber, ControlCharacter, Expected, LoneSurrogate, OpenString,
};
use weightview::error::Token;

use crate::agree::Intended;
use crate::build::{File, NONE, accepted, refusals, refused};

const VALUE: ErrorKind = Json(Expected(Token::Value));
const KEY: ErrorKind = Json(Expected(Token::Key));
const COLON: ErrorKind = Json(Expected(Token::Colon));
const COMMA_OR_BRACE: ErrorKind = Json(Expected(Token::CommaOrBrace));
const COMMA_OR_BRACKET: ErrorKind = Json(Expected(Token::CommaOrBracket));

/// A header whose one tensor has an unknown field with this value.
fn ignored(value: &str) -> String {
    format!(r#"{{"a":{{"x":{value},"dtype":"U8","shape":[0],"data_offsets":[0,0]}}}}"#)
}

/// A header whose one tensor has this name, as it stands between the quotes.
fn named(name: &str) -> String {
    format!(r#"{{"{name}":{NONE}}}"#)
}

/// A header with `__metadata__`, whose one value is this, as it stands between the quotes.
fn said(value: &str) -> String {
    format!(r#"{{"__metadata__":{{"k":"{value}"}}}}"#)
}

#[test]
fn the_headers_that_these_tests_vary_are_well() {
    for text in [ignored("0"), named("a"), said("v")] {
        accepted(&text, 0, |file| assert_eq!(file.data_start(), 8 + text.len() as u64));
    }
}

refusals! {
    // The six things that serde-json-core lets through.
    raw_control_character_in_a_name: named("a»\u{1}b"), 0 => Json(ControlCharacter(1));
    raw_control_character_in_metadata: said("a»\u{1f}"), 0 => Json(ControlCharacter(0x1f));
    raw_control_character_in_an_ignored_string: ignored("\"»\u{0}\""), 0 => Json(ControlCharacter(0));
    raw_control_character_in_a_dtype: r#"{"a":{"dtype":"U»
8","shape":[0],"data_offsets":[0,0]}}"#, 0 => Json(ControlCharacter(b'\n'));
    raw_tab_in_a_key: r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"»	":0}}"#, 0
        => Json(ControlCharacter(b'\t'));
    raw_newline_in_a_metadata_key: "{\"__metadata__\":{\"»\n\":\"\"}}", 0 => Json(ControlCharacter(b'\n'));
    bad_escape_in_a_name: named(r"»\x41"), 0 => Json(BadEscape);
    bad_escape_in_metadata: said(r"»\'"), 0 => Json(BadEscape);
    bad_escape_in_an_ignored_string: ignored(r#""\n»\a""#), 0 => Json(BadEscape);
    bad_escape_in_an_ignored_key: ignored(r#"{"»\0":1}"#), 0 => Json(BadEscape);
    bad_escape_in_a_dtype: r#"{"a":{"dtype":"»\U8","shape":[0],"data_offsets":[0,0]}}"#, 0 => Json(BadEscape);
    leading_comma_in_a_shape: r#"{"a":{"dtype":"U8","shape":[»,0],"data_offsets":[0,0]}}"#, 0 => VALUE;
    leading_comma_in_offsets: r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[»,0,0]}}"#, 0 => VALUE;
    leading_comma_in_an_ignored_array: ignored("[»,1]"), 0 => VALUE;
    leading_comma_in_an_ignored_object: ignored(r#"{»,"a":1}"#), 0 => KEY;
    garbage_in_an_ignored_value: ignored("»@!"), 0 => VALUE;
    garbage_in_an_ignored_array: ignored("[1,»@!]"), 0 => VALUE;
    garbage_in_an_ignored_object: ignored(r#"{"y": »nul}"#), 0 => VALUE;
    high_surrogate_alone: named(r"»\ud83d"), 0 => Json(LoneSurrogate);
    high_surrogate_and_a_letter: named(r"a»\ud83dx"), 0 => Json(LoneSurrogate);
    high_surrogate_and_another_escape: named(r"»\ud83d\n"), 0 => Json(LoneSurrogate);
    high_surrogate_twice: named(r"»\ud83d\ud83d"), 0 => Json(LoneSurrogate);
    high_surrogate_and_a_plain_escape: named(r"»\uD83D\u0041"), 0 => Json(LoneSurrogate);
    high_surrogate_and_half_an_escape: named(r"»\ud83d\udc"), 0 => Json(LoneSurrogate);
    low_surrogate_alone: named(r"»\ude00"), 0 => Json(LoneSurrogate);
    surrogates_in_the_wrong_order: named(r"»\ude00\ud83d"), 0 => Json(LoneSurrogate);
    low_surrogate_behind_a_pair: named(r"\ud83d\ude00»\ude00"), 0 => Json(LoneSurrogate);
    lone_surrogate_in_metadata: said(r"»\udfff"), 0 => Json(LoneSurrogate);
    lone_surrogate_in_an_ignored_string: ignored(r#""»\udbff""#), 0 => Json(LoneSurrogate);

    unicode_escape_short: named(r"»\u12"), 0 => Json(BadEscape);
    unicode_escape_of_no_digits: named(r"»\u"), 0 => Json(BadEscape);
    unicode_escape_of_other_letters: named(r"»\u00g0"), 0 => Json(BadEscape);
    unicode_escape_with_a_sign: named(r"»\u+041"), 0 => Json(BadEscape);
    unicode_escape_of_rust: named(r"»\u{41}"), 0 => Json(BadEscape);

    number_with_a_leading_zero: ignored("»01"), 0 => Json(BadNumber);
    number_of_two_zeros: ignored("»00"), 0 => Json(BadNumber);
    number_negative_with_a_leading_zero: ignored("»-01"), 0 => Json(BadNumber);
    number_of_a_sign_alone: ignored("»-"), 0 => Json(BadNumber);
    number_with_an_empty_fraction: ignored("»1."), 0 => Json(BadNumber);
    number_with_an_empty_fraction_and_exponent: ignored("»1.e1"), 0 => Json(BadNumber);
    number_with_an_empty_exponent: ignored("»1e"), 0 => Json(BadNumber);
    number_with_an_exponent_of_a_sign: ignored("»1e+"), 0 => Json(BadNumber);
    number_without_a_whole: ignored("».5"), 0 => VALUE;
    number_with_a_plus: ignored("»+1"), 0 => VALUE;
    number_infinite: ignored("»Infinity"), 0 => VALUE;
    number_minus_infinite: ignored("»-Infinity"), 0 => Json(BadNumber);
    number_not_a_number: ignored("»NaN"), 0 => VALUE;
    number_in_hexadecimal: ignored("0»x10"), 0 => COMMA_OR_BRACE;
    number_in_groups: ignored("1»_000"), 0 => COMMA_OR_BRACE;
    number_that_overflows_a_double: ignored("[1,»1e309]"), 0 => NumberTooLarge;
    number_that_overflows_with_zeros: ignored("»0.001e400"), 0 => NumberTooLarge;
    number_that_overflows_negative: ignored("»-1E+999999999999999999999"), 0 => NumberTooLarge;
    dim_with_a_leading_zero: r#"{"a":{"dtype":"U8","shape":[»00],"data_offsets":[0,0]}}"#, 0 => Json(BadNumber);
    offset_with_a_leading_zero: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,»01]}}"#, 1 => Json(BadNumber);
    first_offset_with_a_leading_zero: r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[»00,1]}}"#, 1
        => Json(BadNumber);

    literal_cut: ignored("»tru"), 0 => VALUE;
    literal_in_capitals: ignored("»True"), 0 => VALUE;
    literal_too_long: ignored("false»s"), 0 => COMMA_OR_BRACE;
    literal_of_python: ignored("»None"), 0 => VALUE;
    string_in_single_quotes: ignored("»'a'"), 0 => VALUE;
    value_missing: ignored("»"), 0 => VALUE;

    trailing_comma_in_the_header: format!(r#"{{"a":{NONE},»}}"#), 0 => KEY;
    trailing_comma_in_an_entry: r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],»}}"#, 0 => KEY;
    trailing_comma_in_a_shape: r#"{"a":{"dtype":"U8","shape":[0,»],"data_offsets":[0,0]}}"#, 0 => VALUE;
    trailing_comma_in_offsets: r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,»]}}"#, 0 => VALUE;
    trailing_comma_in_metadata: r#"{"__metadata__":{"a":"b",»}}"#, 0 => KEY;
    trailing_comma_in_an_ignored_array: ignored("[1,»]"), 0 => VALUE;
    trailing_comma_in_an_ignored_object: ignored(r#"{"y":1,»}"#), 0 => KEY;
    comma_alone: "{»,}", 0 => KEY;
    leading_comma_in_the_header: format!(r#"{{»,"a":{NONE}}}"#), 0 => KEY;
    leading_comma_in_an_entry: r#"{"a":{»,"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#, 0 => KEY;
    leading_comma_in_metadata: r#"{"__metadata__":{»,"a":"b"}}"#, 0 => KEY;
    two_commas_in_the_header: format!(r#"{{"a":{NONE},»,"b":{NONE}}}"#), 0 => KEY;
    two_commas_in_a_shape: r#"{"a":{"dtype":"U8","shape":[0,»,0],"data_offsets":[0,0]}}"#, 0 => VALUE;
    comma_missing_in_the_header: format!(r#"{{"a":{NONE}»"b":{NONE}}}"#), 0 => COMMA_OR_BRACE;
    comma_missing_in_an_entry: r#"{"a":{"dtype":"U8" »"shape":[0],"data_offsets":[0,0]}}"#, 0 => COMMA_OR_BRACE;
    comma_missing_in_a_shape: r#"{"a":{"dtype":"U8","shape":[0 »0],"data_offsets":[0,0]}}"#, 0 => COMMA_OR_BRACKET;
    comma_missing_in_metadata: r#"{"__metadata__":{"a":"b"»"c":"d"}}"#, 0 => COMMA_OR_BRACE;
    comma_missing_in_an_ignored_array: ignored("[1 »2]"), 0 => COMMA_OR_BRACKET;
    comma_missing_in_an_ignored_object: ignored(r#"{"y":1 »"z":2}"#), 0 => COMMA_OR_BRACE;
    bracket_for_a_brace: ignored(r#"{"y":1»]"#), 0 => COMMA_OR_BRACE;
    brace_for_a_bracket: ignored("[1»}"), 0 => COMMA_OR_BRACKET;
    brace_for_a_bracket_in_a_shape: r#"{"a":{"dtype":"U8","shape":[0»},"data_offsets":[0,0]}}"#, 0
        => COMMA_OR_BRACKET;
    colon_missing: format!(r#"{{"a"»{NONE}}}"#), 0 => COLON;
    colon_missing_in_an_entry: r#"{"a":{"dtype"»,"shape":[0],"data_offsets":[0,0]}}"#, 0 => COLON;
    colon_missing_in_an_ignored_object: ignored(r#"{"y" »1}"#), 0 => COLON;
    colon_twice: ignored(r#"{"y":»:1}"#), 0 => VALUE;
    colon_in_an_array: ignored("[1»:2]"), 0 => COMMA_OR_BRACKET;
    equals_for_a_colon: format!(r#"{{"a"»={NONE}}}"#), 0 => COLON;
    key_is_a_number: format!(r#"{{»1:{NONE}}}"#), 0 => KEY;
    key_without_quotes: format!(r#"{{»a:{NONE}}}"#), 0 => KEY;
    key_is_null_in_an_entry: r#"{"a":{»null:0}}"#, 0 => KEY;
    key_is_a_number_in_an_ignored_object: ignored("{»1:2}"), 0 => KEY;
    key_is_a_number_in_metadata: r#"{"__metadata__":{»1:"a"}}"#, 0 => KEY;
    comment: format!(r#"{{»/**/"a":{NONE}}}"#), 0 => KEY;
    comment_behind_the_header: "{}»//", 0 => Json(AfterEnd);

    cut_behind_the_brace: "{»", 0 => KEY;
    cut_in_a_name: r#"{»"a"#, 0 => Json(OpenString);
    cut_in_an_escape: r#"{"a»\"#, 0 => Json(BadEscape);
    cut_behind_an_escaped_quote: r#"{»"a\""#, 0 => Json(OpenString);
    cut_behind_a_name: r#"{"a"»"#, 0 => COLON;
    cut_behind_a_colon: r#"{"a":»"#, 0 => ErrorKind::EntryNotObject;
    cut_behind_an_entry: format!(r#"{{"a":{NONE}»"#), 0 => COMMA_OR_BRACE;
    cut_behind_a_comma: format!(r#"{{"a":{NONE},»"#), 0 => KEY;
    cut_in_an_entry: r#"{"a":{»"#, 0 => KEY;
    cut_in_a_dtype: r#"{"a":{"dtype":»"U8"#, 0 => Json(OpenString);
    cut_in_a_shape: r#"{"a":{"dtype":"U8","shape":[0»"#, 0 => COMMA_OR_BRACKET;
    cut_behind_a_dim: r#"{"a":{"dtype":"U8","shape":[0,»"#, 0 => VALUE;
    cut_in_metadata: r#"{"__metadata__":{»"#, 0 => KEY;
    cut_in_an_ignored_value: r#"{"a":{"x":[[»"#, 0 => VALUE;

    byte_order_mark: "»\u{feff}{}", 0 => HeaderNotObject;
    byte_order_mark_inside: "{»\u{feff}}", 0 => KEY;
    nul_before: "»\0{}", 0 => HeaderNotObject;
    vertical_tab_before: "»\u{b}{}", 0 => HeaderNotObject;
    padding_with_nul: "{}»\0\0\0", 0 => Json(AfterEnd);
    padding_with_nul_behind_spaces: "{}   »\0", 0 => Json(AfterEnd);
    padding_with_form_feeds: "{} »\u{c}", 0 => Json(AfterEnd);
    padding_with_no_break_spaces: "{}»\u{a0}", 0 => Json(AfterEnd);
    padding_with_a_byte_order_mark: "{}»\u{feff}", 0 => Json(AfterEnd);
    padding_with_vertical_tabs: "{}»\u{b}", 0 => Json(AfterEnd);
    form_feed_between_tokens: "{»\u{c}}", 0 => KEY;
    no_break_space_between_tokens: format!("{{\"a\":»\u{a0}{NONE}}}"), 0 => ErrorKind::EntryNotObject;
    two_objects: "{}»{}", 0 => Json(AfterEnd);
    brace_too_many: format!(r#"{{"a":{NONE}}}»}}"#), 0 => Json(AfterEnd);
    text_behind_the_header: "{} »x", 0 => Json(AfterEnd);
}

/// Every control character, raw, at every place in the eight bytes that the scanner takes at once.
#[test]
fn every_control_character_everywhere() {
    for control in 0..0x20u8 {
        let before = "abcdefgh".get(..usize::from(control) % 9).expect("ASCII");
        let text = named(&format!("{before}»{}tail", char::from(control)));
        assert_eq!(refused(&text, 0, Json(ControlCharacter(control))), None);
    }
    // Above them, all is well: 0x7f is no control character to JSON.
    accepted(&named("\u{7f}\u{80}\u{9f}"), 0, |file| {
        assert!(file.tensor("\u{7f}\u{80}\u{9f}").is_ok());
    });
}

/// Every byte behind a backslash.
#[test]
fn every_escape() {
    for letter in ' '..='~' {
        if r#""\/bfnrtu"#.contains(letter) {
            continue;
        }
        assert_eq!(refused(&named(&format!(r"»\{letter}0000")), 0, Json(BadEscape)), None);
    }
    accepted(&named(r#"\"\\\/\b\f\n\r\t\u0041"#), 0, |file| {
        assert!(file.tensor("\"\\/\u{8}\u{c}\n\r\tA").is_ok());
    });
}

/// Numbers below 1e308 that are ignored; the reference agrees.
#[test]
fn numbers_that_are_ignored() {
    let numbers = "0 -0 1 -1 0.0 1.5e3 1E-3 1e+3 9.99e307 0e999999999999 1e-999999999999 0.0000001e310 123456789e290
        18446744073709551615 18446744073709551616 -9223372036854775809 100000000000000000000000000000000";
    for number in numbers.split_whitespace() {
        accepted(&ignored(number), 0, |file| assert_eq!(file.len(), 1));
    }
    for digits in [300, 308] {
        accepted(&ignored(&"9".repeat(digits)), 0, |file| assert_eq!(file.len(), 1));
    }
}

/// From 1e308 on the reference accepts some numbers and refuses others; we refuse all.
#[test]
fn numbers_at_the_edge_of_a_double() {
    for number in ["»1e308", "»-1.5e308", "»0.1e309", "»100e306", "»1.79e308"] {
        assert_eq!(refused(&ignored(number), 0, NumberTooLarge), Some(Intended::HugeNumber), "{number}");
    }
}

/// The header and its entry are two levels already: 125 more make 127, which is where the reference stops.
#[test]
fn nesting_125_and_126() {
    let arrays = |depth: usize| format!("{}»0{}", "[".repeat(depth), "]".repeat(depth));
    accepted(&ignored(&arrays(125).replace('»', "")), 0, |file| assert_eq!(file.len(), 1));
    let too_deep = arrays(126).replace('»', "").replacen(&"[".repeat(126), &format!("{}»[", "[".repeat(125)), 1);
    assert_eq!(refused(&ignored(&too_deep), 0, NestingTooDeep { limit: 127 }), None);

    let object = r#"{"y":"#;
    let objects = |depth: usize| format!("{}0{}", object.repeat(depth), "}".repeat(depth));
    accepted(&ignored(&objects(125)), 0, |file| assert_eq!(file.len(), 1));
    let too_deep = format!("{}»{object}0{}", object.repeat(125), "}".repeat(126));
    assert_eq!(refused(&ignored(&too_deep), 0, NestingTooDeep { limit: 127 }), None);

    // Empty ones count as well, and what is closed does not.
    accepted(&ignored(&format!("{}{}", "[".repeat(125), "]".repeat(125))), 0, |_| ());
    accepted(&ignored(&format!("[{}1]", "[[]],{},".repeat(200))), 0, |_| ());
}

#[test]
fn nesting_100_000_deep() {
    for open in ["[", r#"{"y":"#] {
        let value = format!("{}»{}", open.repeat(125), open.repeat(99_875));
        assert_eq!(refused(&ignored(&value), 0, NestingTooDeep { limit: 127 }), None);
    }
    // In the other fields too, and where no value may nest at all.
    let deep = "[".repeat(100_000);
    for text in [
        format!(r#"{{"a":{{"shape":{deep}"#),
        format!(r#"{{"a":{{"data_offsets":{deep}"#),
        format!(r#"{{"a":{{"dtype":{deep}"#),
        format!(r#"{{"a":{deep}"#),
        format!(r#"{{"__metadata__":{deep}"#),
        format!(r#"{{"__metadata__":{{"k":{deep}"#),
        deep.clone(),
    ] {
        let file = File::new(&text, 0);
        let error = file.parse().expect_err("no JSON");
        let deep = matches!(error.kind(), NestingTooDeep { .. } | ErrorKind::EntryNotObject | HeaderNotObject);
        assert!(deep, "{error}");
        crate::agree::assert_invariants(&file.bytes);
        crate::agree::assert_agrees(&file.bytes);
    }
}

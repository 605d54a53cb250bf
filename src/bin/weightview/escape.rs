//! Text from outside, made safe to print: a file's author must not command the terminal of who lists it, nor
//! make one name look like another.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use weightview::Text;

/// A name as a terminal may show it: what cannot be seen, or acts on the terminal, is written `\u{1b}`; a
/// backslash is doubled, so that each text has one form; an empty text is `""`.
pub(crate) fn text(text: Text<'_>) -> Cow<'_, str> {
    match text.as_str() {
        Some(plain) => str(plain),
        None => Cow::Owned(escaped(text.chars())),
    }
}

/// The same for a plain string.
pub(crate) fn str(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'\\';
    if !text.is_empty() && !text.starts_with('"') && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text.chars()))
}

/// The same for a path. What is not Unicode in it shows as U+FFFD.
pub(crate) fn path(path: &Path) -> String {
    str(&path.to_string_lossy()).into_owned()
}

fn escaped(text: impl Iterator<Item = char>) -> String {
    let mut shown = String::new();
    for (i, c) in text.enumerate() {
        // A first `"` is escaped so that `""` can mean empty, a first combining mark so that it does not melt into
        // what stands before it.
        let first = i == 0 && (c == '"' || unicode_width::UnicodeWidthChar::width(c) == Some(0));
        if c == '\\' {
            shown.push_str("\\\\");
        } else if first || is_unsafe(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c)); // a String takes all
        } else {
            shown.push(c);
        }
    }
    if shown.is_empty() { "\"\"".into() } else { shown }
}

/// Whether a character acts on the terminal or cannot be seen: controls (C0, DEL, C1), line and paragraph
/// separators, and all that Unicode calls format characters (Cf) or default-ignorable (bidi controls, joiners,
/// fillers, variation selectors, tags).
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::str;

    #[test]
    fn what_a_person_can_read_stays() {
        for plain in ["fc1.weight", "a b", "重み", "poids.é", "🦀", "say \"hi\"", "e\u{301}"] {
            assert_eq!(str(plain), plain);
        }
    }

    #[test]
    fn what_acts_on_a_terminal_or_hides_is_escaped() {
        assert_eq!(str("\u{1b}[31mred"), "\\u{1b}[31mred");
        assert_eq!(str("a\0b\nc\td\re\u{7f}"), "a\\u{0}b\\u{a}c\\u{9}d\\u{d}e\\u{7f}");
        assert_eq!(str("\u{9b}2J\u{85}"), "\\u{9b}2J\\u{85}");
        assert_eq!(str("\u{202e}evil\u{2066}"), "\\u{202e}evil\\u{2066}");
        assert_eq!(str("a\u{200b}b\u{feff}c\u{ad}"), "a\\u{200b}b\\u{feff}c\\u{ad}");
        assert_eq!(str("a\u{2028}b\u{2029}"), "a\\u{2028}b\\u{2029}");
        assert_eq!(str("a\u{e0041}\u{fe0f}\u{200d}"), "a\\u{e0041}\\u{fe0f}\\u{200d}");
    }

    #[test]
    fn each_text_has_one_form() {
        assert_eq!(str("\\u{1b}"), "\\\\u{1b}");
        assert_eq!(str(""), "\"\"");
        assert_eq!(str("\"\""), "\\u{22}\"");
        assert_eq!(str("\u{301}e"), "\\u{301}e");
    }
}

//! The same header in another spelling.

/// A header's text with white space where JSON allows it, and where everything went.
pub struct Respelt {
    pub text: String,
    /// For each byte of the original, and for its end, the byte of `text` where it now stands.
    places: Vec<usize>,
    /// The original's length without the padding behind it: that may stand anywhere.
    trimmed: usize,
}

/// Where white space goes. Each is a bit.
pub const AFTER_COLON: u8 = 1;
pub const BEFORE_COLON: u8 = 2;
pub const AFTER_COMMA: u8 = 4;
pub const BEFORE_COMMA: u8 = 8;
pub const INSIDE_OBJECTS: u8 = 16;
pub const INSIDE_ARRAYS: u8 = 32;
/// Line feeds, tabs and carriage returns take turns with spaces.
pub const ALL_KINDS: u8 = 64;

/// Spreads `text` out. It need not be JSON: white space goes to punctuation outside what a reader takes for a
/// string, which is right up to the first fault, and a reader looks no further.
pub fn respell(text: &str, style: u8) -> Respelt {
    let mut spread = Spread { out: String::with_capacity(text.len() * 2), style, turn: 0 };
    let mut places = Vec::with_capacity(text.len() + 1);
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        let (before, after) = match c {
            _ if in_string => (false, false),
            ':' => (style & BEFORE_COLON != 0, style & AFTER_COLON != 0),
            ',' => (style & BEFORE_COMMA != 0, style & AFTER_COMMA != 0),
            '{' => (false, style & INSIDE_OBJECTS != 0),
            '}' => (style & INSIDE_OBJECTS != 0, false),
            '[' => (false, style & INSIDE_ARRAYS != 0),
            ']' => (style & INSIDE_ARRAYS != 0, false),
            _ => (false, false),
        };
        spread.space(before && !spread.out.is_empty());
        places.extend(spread.out.len()..spread.out.len() + c.len_utf8());
        spread.out.push(c);
        spread.space(after);
        match c {
            _ if escaped => escaped = false,
            '"' => in_string = !in_string,
            '\\' => escaped = in_string,
            _ => {}
        }
    }
    places.push(spread.out.len());
    let trimmed = text.trim_end_matches([' ', '\t', '\n', '\r']).len();
    Respelt { text: spread.out, places, trimmed }
}

struct Spread {
    out: String,
    style: u8,
    turn: usize,
}

impl Spread {
    fn space(&mut self, wanted: bool) {
        if wanted {
            let kinds: &[&str] = if self.style & ALL_KINDS == 0 { &[" "] } else { &[" ", "\n", "\t", "\r", "  \r\n"] };
            self.out.push_str(kinds[self.turn % kinds.len()]);
            self.turn += 1;
        }
    }
}

impl Respelt {
    /// Where byte `at` of the original's text now stands; `None` for anything at or behind its end.
    pub fn place(&self, at: usize) -> Option<usize> {
        (at < self.trimmed).then(|| self.places[at])
    }

    /// Whether byte `at` of the new text is at or behind the end of what it says.
    pub fn is_end(&self, at: usize) -> bool {
        at >= self.text.trim_end_matches([' ', '\t', '\n', '\r']).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_stay_as_they_are() {
        let spelt = respell(r#"{"a:\",":[1,2]}"#, 127 - ALL_KINDS);
        assert_eq!(spelt.text, r#"{ "a:\"," : [ 1 , 2 ] }"#);
        assert_eq!(spelt.place(1), Some(2));
        assert_eq!(spelt.place(10), Some(14));
        assert!(spelt.is_end(spelt.text.len()) && !spelt.is_end(spelt.text.len() - 1));
    }
}

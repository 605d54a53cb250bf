//! Names and metadata strings, as they stand in the file.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

/// A string of a file, borrowed from it.
///
/// In a JSON header a string may hold escapes (`\n`, `\u00e9`, surrogate pairs). `Text` keeps them as they
/// stand and decodes on the fly, so nothing is allocated: comparison, hashing, `Display` and
/// [`chars`](Self::chars) all speak of the decoded string.
///
/// ```
/// use weightview::Text;
///
/// let name = Text::from("fc1.weight");
/// assert_eq!(name, "fc1.weight");
/// assert_eq!(name.as_str(), Some("fc1.weight"));
/// ```
#[derive(Clone, Copy)]
pub struct Text<'a> {
    raw: &'a str,
    spelling: Spelling,
}

/// How a string stands in the file. As wide as a word, so that results that hold a `Text` are copied in whole
/// words: a byte among them made parsing a tenth slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Spelling {
    /// As it is.
    Plain,
    /// With JSON escapes, proven well-formed.
    Escaped,
}

impl<'a> Text<'a> {
    /// The inside of a JSON string whose escapes, if any, have been proven well-formed.
    pub(crate) const fn json(raw: &'a str, escaped: bool) -> Self {
        Self { raw, spelling: if escaped { Spelling::Escaped } else { Spelling::Plain } }
    }

    /// The string, when it holds no escape and so stands in the file as it is. Otherwise use
    /// [`chars`](Self::chars) or `Display`.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'a str> {
        match self.spelling {
            Spelling::Plain => Some(self.raw),
            Spelling::Escaped => None,
        }
    }

    /// The bytes between the quotes, escapes and all.
    #[must_use]
    pub const fn raw(&self) -> &'a str {
        self.raw
    }

    /// Whether the string is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The decoded characters.
    #[must_use]
    pub fn chars(&self) -> Chars<'a> {
        Chars { rest: self.raw.chars(), spelling: self.spelling }
    }

    /// The decoded string: borrowed when it holds no escape.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_cow(&self) -> alloc::borrow::Cow<'a, str> {
        match self.as_str() {
            Some(plain) => plain.into(),
            None => self.chars().collect::<alloc::string::String>().into(),
        }
    }

    /// A 64-bit hash of the decoded string, the same on every host.
    pub(crate) fn hash64(&self) -> u64 {
        if let Some(plain) = self.as_str() {
            return hash_bytes(plain.as_bytes());
        }
        // Eight decoded bytes at a time, so that both spellings of a name hash alike.
        let mut state = 0;
        let mut total = 0usize;
        let mut block = [0u8; 8];
        let mut used = 0usize;
        for decoded in self.chars() {
            for &byte in decoded.encode_utf8(&mut [0; 4]).as_bytes() {
                if let Some(slot) = block.get_mut(used) {
                    *slot = byte;
                }
                used = used.wrapping_add(1);
                total = total.wrapping_add(1);
                if used == block.len() {
                    state = hash_word(state, u64::from_le_bytes(block));
                    block = [0; 8];
                    used = 0;
                }
            }
        }
        if used > 0 {
            state = hash_word(state, u64::from_le_bytes(block));
        }
        hash_finish(state, total)
    }
}

/// The hash of a name that holds no escape.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut state = 0;
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        state = hash_word(state, u64::from_le_bytes(*word));
        rest = tail;
    }
    if !rest.is_empty() {
        let mut last = 0;
        for &byte in rest.iter().rev() {
            last = last << 8 | u64::from(byte);
        }
        state = hash_word(state, last);
    }
    hash_finish(state, bytes.len())
}

/// One step: multiply by an odd constant near 2^64 / golden ratio, after a rotation that brings high bits down.
fn hash_word(state: u64, word: u64) -> u64 {
    (state.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Spreads what the multiplications left in the high bits. The length tells `"a"` from `"a\0"`.
fn hash_finish(state: u64, len: usize) -> u64 {
    let mixed = (state ^ len as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ mixed >> 29
}

/// The decoded characters of a [`Text`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: core::str::Chars<'a>,
    spelling: Spelling,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.rest.next()? {
            '\\' if self.spelling == Spelling::Escaped => Some(self.unescape()),
            plain => Some(plain),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (low, high) = self.rest.size_hint();
        // `low` is a quarter of the bytes left; a surrogate pair writes one character in 12 bytes.
        (if self.spelling == Spelling::Escaped { low >> 2 } else { low }, high)
    }
}

impl core::iter::FusedIterator for Chars<'_> {}

impl Chars<'_> {
    /// Decodes what follows a backslash. The parser has proven it well-formed: the replacement characters
    /// below cannot appear.
    fn unescape(&mut self) -> char {
        match self.rest.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => self.unescape_unicode(),
            Some(itself) => itself,
            None => char::REPLACEMENT_CHARACTER,
        }
    }

    fn unescape_unicode(&mut self) -> char {
        let high = self.hex4();
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        self.rest.next();
        self.rest.next();
        let low = self.hex4();
        let scalar = ((high & 0x3FF) << 10 | low & 0x3FF).wrapping_add(0x1_0000); // at most 0x10FFFF
        char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> u32 {
        let mut value = 0;
        for _ in 0..4 {
            value = value << 4 | self.rest.next().and_then(|digit| digit.to_digit(16)).unwrap_or(0);
        }
        value
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(plain: &'a str) -> Self {
        Self { raw: plain, spelling: Spelling::Plain }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.as_str(), other.as_str()) {
            (Some(a), Some(b)) => a == b,
            _ => self.chars().eq(other.chars()),
        }
    }
}

impl Eq for Text<'_> {}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self == Text::from(other)
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == Text::from(*other)
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By Unicode scalar value, which is also the order of the UTF-8 bytes.
impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.as_str(), other.as_str()) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => self.chars().cmp(other.chars()),
        }
    }
}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash64());
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        match self.as_str() {
            Some(plain) => f.pad(plain),
            None => self.chars().try_for_each(|decoded| f.write_char(decoded)),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        f.write_char('"')?;
        for decoded in self.chars() {
            match decoded {
                '\'' => f.write_char('\'')?,
                other => other.escape_debug().try_for_each(|c| f.write_char(c))?,
            }
        }
        f.write_char('"')
    }
}

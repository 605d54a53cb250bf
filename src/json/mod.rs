//! Strict JSON, in one iterative pass: proves a text well-formed and gives every fault its byte.
//!
//! serde-json-core reads the values; it is laxer than JSON in six ways, recurses, and its errors have no
//! positions. So nothing reaches it that has not passed here.

mod number;
mod string;

pub(crate) use string::{find, plain_len};

use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind, JsonFault, Token};
use crate::text::Text;

/// A place in a JSON text that moves forward as its grammar is proven.
#[derive(Clone, Copy)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Where the text starts in the file.
    base: u64,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `at` of `text`, which itself starts at byte `base` of the file.
    pub(crate) const fn new(text: &'a str, at: usize, base: u64) -> Self {
        Self { text, at, base }
    }

    /// The place, in bytes from the start of the text.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Goes to a place that the text was proven to have.
    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at;
    }

    /// The place, as a byte of the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset_of(self.at)
    }

    pub(crate) fn offset_of(&self, at: usize) -> u64 {
        self.base.saturating_add(len_u64(at))
    }

    /// The next byte, not consumed.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The text from here on.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The text from `from` to here.
    pub(crate) fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.step(1);
        }
    }

    /// The outermost value is over: only white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(JsonFault::AfterEnd)),
        }
    }

    /// Consumes the `{` that must stand here. `next_key` goes on.
    pub(crate) fn open_object(&mut self, otherwise: ErrorKind) -> Result<(), Error> {
        if self.peek() != Some(b'{') {
            return Err(Error::at(self.offset(), otherwise));
        }
        self.step(1);
        Ok(())
    }

    /// The next key of the object that is open, and where it stands; the scanner is then at its value.
    /// `None` when the object is closed. `first` says that no member has been read yet.
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<(usize, Text<'a>)>, Error> {
        self.skip_space();
        match self.peek() {
            Some(b'}') => {
                self.step(1);
                return Ok(None);
            }
            Some(b',') if !first => {
                self.step(1);
                self.skip_space();
            }
            _ if !first => return Err(self.expected(Token::CommaOrBrace)),
            _ => {}
        }
        let at = self.at;
        Ok(Some((at, self.key()?)))
    }

    /// A key, its colon, and the white space around it.
    fn key(&mut self) -> Result<Text<'a>, Error> {
        if self.peek() != Some(b'"') {
            return Err(self.expected(Token::Key));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected(Token::Colon));
        }
        self.step(1);
        self.skip_space();
        Ok(key)
    }

    /// Consumes the `[` of an array that is known to be well-formed. `next_element` goes on.
    pub(crate) fn open_array(&mut self) -> Option<()> {
        (self.peek() == Some(b'[')).then(|| self.step(1))
    }

    /// Where the next element of the well-formed array that is open starts; the scanner is then there.
    pub(crate) fn next_element(&mut self, first: bool) -> Option<usize> {
        self.skip_space();
        if !first && self.peek() == Some(b',') {
            self.step(1);
            self.skip_space();
        }
        (self.peek()? != b']').then_some(self.at)
    }

    /// Passes over any one value. At most `depth` arrays and objects may nest in it: `limit` is what the
    /// error then names.
    pub(crate) fn value(&mut self, depth: u32, limit: u32) -> Result<(), Error> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.nest(&mut open, true, depth, limit)?;
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.nest(&mut open, false, depth, limit)?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            if !self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Consumes a `{` or `[` and the white space behind it.
    fn nest(&mut self, open: &mut Open, object: bool, depth: u32, limit: u32) -> Result<(), Error> {
        if open.depth >= depth || !open.push(object) {
            return Err(Error::at(self.offset(), ErrorKind::NestingTooDeep { limit: limit.into() }));
        }
        self.step(1);
        self.skip_space();
        Ok(())
    }

    /// After a value: closes what closes here. True when another value follows, at which the scanner then
    /// stands; false when nothing is open any more.
    fn close(&mut self, open: &mut Open) -> Result<bool, Error> {
        while let Some(object) = open.top() {
            self.skip_space();
            match (self.peek(), object) {
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.step(1);
                    open.pop();
                }
                (Some(b','), _) => {
                    self.step(1);
                    self.skip_space();
                    if object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                (_, true) => return Err(self.expected(Token::CommaOrBrace)),
                (_, false) => return Err(self.expected(Token::CommaOrBracket)),
            }
        }
        Ok(false)
    }

    /// A value that holds no other.
    fn scalar(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(self.expected(Token::Value)),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Error> {
        if !self.rest().starts_with(word) {
            return Err(self.expected(Token::Value));
        }
        self.step(word.len());
        Ok(())
    }

    fn expected(&self, token: Token) -> Error {
        self.fault(JsonFault::Expected(token))
    }

    fn fault(&self, fault: JsonFault) -> Error {
        Error::at(self.offset(), ErrorKind::Json(fault))
    }

    /// Moves over bytes that were seen. They are in the text, so this cannot wrap.
    fn step(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }
}

/// The arrays and objects that are open, one bit each: the parser's stack, 128 deep.
#[derive(Default)]
struct Open {
    /// Bit 0 is the innermost; 1 for an object.
    objects: u128,
    depth: u32,
}

impl Open {
    fn push(&mut self, object: bool) -> bool {
        if self.depth >= u128::BITS {
            return false;
        }
        self.objects = self.objects << 1 | u128::from(object);
        self.depth = self.depth.wrapping_add(1);
        true
    }

    fn pop(&mut self) {
        self.objects >>= 1;
        self.depth = self.depth.saturating_sub(1);
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.objects & 1 == 1)
    }
}

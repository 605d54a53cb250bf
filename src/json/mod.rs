//! Strict JSON, in one iterative pass: proves a text well-formed and gives every fault its byte.
//!
//! serde-json-core reads the values; it is laxer than JSON in six ways, recurses, and its errors have no
//! positions. So nothing reaches it that has not passed here.

mod number;
mod string;

pub(crate) use string::{find, plain_len};

use crate::fault::{Fault, Reason};
use crate::text::Text;

/// A place in a JSON text that moves forward as its grammar is proven.
#[derive(Clone, Copy)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `at` of `text`.
    pub(crate) const fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The text, from its start.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The place, in bytes from the start of the text.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Goes to a place that the text was proven to have.
    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at;
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
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(Reason::AfterEnd)),
        }
    }

    /// Consumes the `{` that must stand here. `next_key` goes on.
    pub(crate) fn open_object(&mut self, otherwise: Reason) -> Result<(), Fault> {
        if self.peek() != Some(b'{') {
            return Err(self.fault(otherwise));
        }
        self.step(1);
        Ok(())
    }

    /// The next key of the object that is open, and where it stands; the scanner is then at its value.
    /// `None` when the object is closed. `first` says that no member has been read yet.
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<(usize, Text<'a>)>, Fault> {
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
            _ if !first => return Err(self.fault(Reason::ExpectedCommaOrBrace)),
            _ => {}
        }
        let at = self.at;
        Ok(Some((at, self.key()?)))
    }

    /// A key, its colon, and the white space around it.
    fn key(&mut self) -> Result<Text<'a>, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault(Reason::ExpectedKey));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fault(Reason::ExpectedColon));
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

    /// Passes over any one value. At most `depth` arrays and objects may nest in it.
    pub(crate) fn value(&mut self, depth: u32) -> Result<(), Fault> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.nest(&mut open, true, depth)?;
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.nest(&mut open, false, depth)?;
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
    fn nest(&mut self, open: &mut Open, object: bool, depth: u32) -> Result<(), Fault> {
        if open.depth >= depth || !open.push(object) {
            return Err(self.fault(Reason::NestingTooDeep));
        }
        self.step(1);
        self.skip_space();
        Ok(())
    }

    /// After a value: closes what closes here. True when another value follows, at which the scanner then
    /// stands; false when nothing is open any more.
    fn close(&mut self, open: &mut Open) -> Result<bool, Fault> {
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
                (_, true) => return Err(self.fault(Reason::ExpectedCommaOrBrace)),
                (_, false) => return Err(self.fault(Reason::ExpectedCommaOrBracket)),
            }
        }
        Ok(false)
    }

    /// A value that holds no other.
    fn scalar(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(self.fault(Reason::ExpectedValue)),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.rest().starts_with(word) {
            return Err(self.fault(Reason::ExpectedValue));
        }
        self.step(word.len());
        Ok(())
    }

    /// A fault at this place.
    pub(crate) const fn fault(&self, reason: Reason) -> Fault {
        Fault { at: self.at, reason }
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

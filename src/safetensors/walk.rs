//! Passes over a header: entry by entry, or key by key.

use super::METADATA;
use super::canonical;
use super::entry::{self, Entry};
use super::options::Rules;
use crate::fault::{Fault, Reason};
use crate::json::Scanner;
use crate::text::Text;

/// Goes through the members of a header's object and proves them as it goes.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    scanner: Scanner<'a>,
    rules: Rules,
    first: bool,
}

/// A member of the header's object.
pub(super) enum Member {
    /// A tensor; its entry was filled in.
    Tensor {
        /// Whether it is written canonically: no brace stands in it but the outer ones.
        canonical: bool,
    },
    /// `__metadata__`. The walk must be told where its value ends: see [`Walk::scanner`].
    Metadata {
        /// Where the key stands.
        at: usize,
    },
}

impl<'a> Walk<'a> {
    /// At the start of a header's text; white space may stand before its `{`.
    pub(super) fn open(text: &'a str, rules: Rules) -> Result<Self, Fault> {
        let mut scanner = Scanner::new(text, 0);
        if rules.strict && is_space(scanner.peek()) {
            return Err(scanner.fault(Reason::HeaderLeadingSpace));
        }
        scanner.skip_space();
        scanner.open_object(Reason::HeaderNotObject)?;
        Ok(Self { scanner, rules, first: true })
    }

    /// Through a header that was accepted before.
    pub(super) fn proven(text: &'a str) -> Entries<'a> {
        Entries { walk: Self::open(text, Rules::PROVEN).ok() }
    }

    /// The next member, or `None` when the object is closed.
    pub(super) fn next(&mut self, entry: &mut Entry<'a>) -> Result<Option<Member>, Fault> {
        let first = core::mem::replace(&mut self.first, false);
        if let Some(end) = canonical::read(self.scanner.text(), self.scanner.at(), first, entry) {
            self.scanner.jump(end);
            return Ok(Some(Member::Tensor { canonical: true }));
        }
        let Some((at, name)) = self.scanner.next_key(first)? else { return Ok(None) };
        if name == METADATA {
            return Ok(Some(Member::Metadata { at }));
        }
        entry::read(&mut self.scanner, at, name, self.rules, entry)?;
        Ok(Some(Member::Tensor { canonical: false }))
    }

    /// Where the walk stands.
    pub(super) fn scanner(&mut self) -> &mut Scanner<'a> {
        &mut self.scanner
    }

    /// After the last member: nothing but padding may follow.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        if self.rules.strict {
            while self.scanner.peek() == Some(b' ') {
                self.scanner.jump(self.scanner.at().wrapping_add(1)); // a byte that was seen
            }
            if is_space(self.scanner.peek()) {
                return Err(self.scanner.fault(Reason::HeaderPadding));
            }
        }
        self.scanner.end()
    }
}

/// Whether white space stands here, as JSON has it: a form feed is none.
fn is_space(byte: Option<u8>) -> bool {
    matches!(byte, Some(b' ' | b'\t' | b'\n' | b'\r'))
}

/// The tensors' entries of a proven header, in its order.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    walk: Option<Walk<'a>>,
}

impl<'a> Entries<'a> {
    /// Fills in the next entry; false when there is none.
    pub(super) fn next(&mut self, entry: &mut Entry<'a>) -> bool {
        let Some(walk) = &mut self.walk else { return false };
        loop {
            let over = match walk.next(entry) {
                Ok(Some(Member::Tensor { .. })) => return true,
                Ok(Some(Member::Metadata { .. })) => walk.scanner.value(Rules::PROVEN.max_nesting).is_err(),
                Ok(None) | Err(_) => true,
            };
            if over {
                self.walk = None;
                return false;
            }
        }
    }

    /// Calls `each` with the entries, in turn, as long as it says so; whether it said so to the end.
    pub(super) fn all(mut self, mut each: impl FnMut(&Entry<'a>) -> bool) -> bool {
        let mut entry = Entry::empty();
        while self.next(&mut entry) {
            if !each(&entry) {
                return false;
            }
        }
        true
    }
}

/// The keys of a proven object, and where each stands. Their values are passed over.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    scanner: Scanner<'a>,
    first: bool,
    /// Every value but that of `__metadata__` is written canonically.
    canonical: bool,
}

impl<'a> Keys<'a> {
    /// Those of the object whose `{` stands at `at`.
    pub(super) fn new(text: &'a str, at: usize, canonical: bool) -> Self {
        let mut scanner = Scanner::new(text, at);
        scanner.skip_space();
        let _ = scanner.open_object(Reason::HeaderNotObject); // proven
        Self { scanner, first: true, canonical }
    }

    /// The same keys from the one at `at` on, or from the start for 0.
    pub(super) fn from(self, at: usize, canonical: bool) -> Self {
        let mut from = Self { canonical, ..self };
        if at > 0 {
            from.scanner.jump(at);
            from.first = true;
        }
        from
    }

    /// The next key that names a tensor.
    pub(super) fn next_tensor(&mut self) -> Option<(usize, Text<'a>)> {
        self.find(|(_, key)| *key != METADATA)
    }

    /// The length of the header's text.
    pub(super) fn text_len(&self) -> usize {
        self.scanner.text().len()
    }

    /// The key whose quote stands at `at`.
    pub(super) fn key_at(&self, at: usize) -> Text<'a> {
        Scanner::new(self.scanner.text(), at).string().unwrap_or(Text::from(""))
    }
}

impl<'a> Iterator for Keys<'a> {
    type Item = (usize, Text<'a>);

    fn next(&mut self) -> Option<(usize, Text<'a>)> {
        let first = core::mem::replace(&mut self.first, false);
        if self.canonical
            && let Some((at, name, end)) = canonical::skip(self.scanner.text(), self.scanner.at(), first)
        {
            self.scanner.jump(end);
            return Some((at, name));
        }
        let (at, key) = self.scanner.next_key(first).ok()??;
        self.scanner.value(Rules::PROVEN.max_nesting).ok()?;
        Some((at, key))
    }
}

/// Fills in the entry whose key stands at `at` in a proven header.
pub(super) fn entry_at<'a>(text: &'a str, at: usize, entry: &mut Entry<'a>) -> Option<()> {
    if canonical::read(text, at, true, entry).is_some() {
        return Some(());
    }
    let mut scanner = Scanner::new(text, at);
    let (at, name) = scanner.next_key(true).ok()??;
    entry::read(&mut scanner, at, name, Rules::PROVEN, entry).ok()
}

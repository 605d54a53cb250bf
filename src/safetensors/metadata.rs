//! `__metadata__`: strings by name.

use crate::fault::{Fault, Reason};
use crate::json::Scanner;
use crate::text::Text;

/// Up to so many keys are held against each other without a heap.
pub(super) const FEW: usize = 384;

/// Proves the value of `__metadata__`, at which the scanner stands, and passes over it. Gives the place of its
/// object, or `None` for `null`; and how many keys it has, if they are in no order and may stand twice, or else 0.
pub(super) fn read(scanner: &mut Scanner<'_>, max_nesting: u32) -> Result<(Option<usize>, usize), Fault> {
    let at = scanner.at();
    if scanner.peek() != Some(b'{') {
        scanner.value(max_nesting.saturating_sub(1))?;
        return match scanner.since(at) {
            "null" => Ok((None, 0)),
            _ => Err(Fault { at, reason: Reason::MetadataNotObject }),
        };
    }
    scanner.open_object(Reason::MetadataNotObject)?;
    let mut count = 0usize;
    let mut ascending = true;
    let mut last = None;
    while let Some((_, key)) = scanner.next_key(last.is_none())? {
        if scanner.peek() != Some(b'"') {
            let at = scanner.at();
            scanner.value(max_nesting.saturating_sub(2))?;
            return Err(Fault { at, reason: Reason::MetadataNotString });
        }
        scanner.string()?;
        ascending &= last.is_none_or(|last| last < key);
        count = count.saturating_add(1);
        last = Some(key);
    }
    Ok((Some(at), if ascending { 0 } else { count }))
}

/// The strings of `__metadata__`, in header order: an iterator of (key, value).
///
/// ```
/// # let mut bytes = b"\x26\0\0\0\0\0\0\0".to_vec();
/// # bytes.extend(br#"{"__metadata__":{"format":"pt"}}      "#);
/// let model = weightview::SafeTensors::parse(&bytes)?;
/// assert!(model.metadata().get("format").is_some_and(|format| format == "pt"));
/// for (key, value) in model.metadata() {
///     println!("{key}: {value}");
/// }
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone)]
pub struct Metadata<'a> {
    /// Inside the object; `None` once that is over.
    scanner: Option<Scanner<'a>>,
    first: bool,
}

impl<'a> Metadata<'a> {
    pub(super) fn new(text: &'a str, at: Option<usize>) -> Self {
        let scanner = at.map(|at| Scanner::new(text, at)).and_then(|mut scanner| {
            scanner.open_object(Reason::MetadataNotObject).ok()?;
            Some(scanner)
        });
        Self { scanner, first: true }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Text<'a>> {
        self.clone().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Metadata<'a> {
    type Item = (Text<'a>, Text<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let scanner = self.scanner.as_mut()?;
        let first = core::mem::replace(&mut self.first, false);
        let pair = scanner.next_key(first).ok().flatten().and_then(|(_, key)| Some((key, scanner.string().ok()?)));
        if pair.is_none() {
            self.scanner = None;
        }
        pair
    }
}

impl core::iter::FusedIterator for Metadata<'_> {}

impl core::fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

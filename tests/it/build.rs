//! How tests write their bytes.
//!
//! A header as text, in which `»` stands before the byte where the fault lies and `«` before the place that
//! the error also names (where a duplicate stood first): the marks are taken out, and their places kept.
//!
//! ```ignore
//! refused(r#"{"a":{"dtype":»"F31","shape":[1],"data_offsets":[0,4]}}"#, 4, ErrorKind::UnknownDtype);
//! ```
//!
//! Or piece by piece, where a test needs many tensors or odd numbers:
//!
//! ```ignore
//! let file = Build::new().tensor("a", "U8", &[2], 0..2).raw(r#""b":[]"#).padding("\n").file(2);
//! let error = SafeTensors::parse(&file.bytes).unwrap_err();
//! assert_eq!(error.offset(), Some(file.at(r#"[]"#)));
//! ```

use std::fmt::Write as _;
use std::ops::Range;

use weightview::error::ErrorKind;
use weightview::safetensors::{Header, ParseOptions};
use weightview::{Error, SafeTensors};

use crate::agree::{Intended, assert_agrees, assert_invariants};

/// The entry of a tensor of one byte, which is all of the data.
pub(crate) const ONE: &str = r#"{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;

/// The entry of a tensor of no bytes.
pub(crate) const NONE: &str = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;

/// Stands before the byte at fault.
const FAULT: char = '»';

/// Stands before the byte that an error names besides.
const FIRST: char = '«';

/// A file that a test wrote, and the places that it marked.
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    fault: Option<u64>,
    first: Option<u64>,
}

impl File {
    /// A header, as text with marks, and as many bytes of data: 0, 1, 2 and so on.
    pub(crate) fn new(marked: &str, data: usize) -> Self {
        let mut text = String::new();
        let (mut fault, mut first) = (None, None);
        for char in marked.chars() {
            let place = 8 + text.len() as u64;
            match char {
                FAULT => assert_eq!(fault.replace(place), None, "one fault, one mark"),
                FIRST => assert_eq!(first.replace(place), None, "one first place, one mark"),
                char => text.push(char),
            }
        }
        Self { bytes: with_data(text.as_bytes(), data), fault, first }
    }

    /// The byte where `»` stood.
    pub(crate) fn fault(&self) -> u64 {
        self.fault.expect("a `»` in the header")
    }

    /// The byte where `«` stood.
    pub(crate) fn first(&self) -> u64 {
        self.first.expect("a `«` in the header")
    }

    /// The byte where this piece of the header stands; it must stand there once.
    pub(crate) fn at(&self, piece: &str) -> u64 {
        let places: Vec<_> = self.bytes.windows(piece.len()).enumerate().filter(|w| w.1 == piece.as_bytes()).collect();
        assert_eq!(places.len(), 1, "{piece}");
        places[0].0 as u64
    }

    pub(crate) fn parse(&self) -> Result<SafeTensors<'_>, Error> {
        SafeTensors::parse(&self.bytes)
    }

    pub(crate) fn header(&self) -> Result<Header<'_>, Error> {
        Header::parse(&self.bytes)
    }
}

/// Length field, header, and data: bytes that count up from 0.
pub(crate) fn with_data(header: &[u8], data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend((0..data).map(|place| place as u8));
    bytes
}

/// A header that is put together piece by piece, as the common writers write it.
#[derive(Clone, Default)]
pub(crate) struct Build {
    members: String,
    padding: String,
}

impl Build {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Any member of the header's object, or several, as text.
    pub(crate) fn raw(mut self, member: &str) -> Self {
        self.push(member);
        self
    }

    /// A tensor; `name` goes into the text as it is, so it may be spelt with escapes.
    pub(crate) fn tensor(mut self, name: &str, dtype: &str, shape: &[u64], offsets: Range<u64>) -> Self {
        self.push_tensor(name, dtype, shape, offsets);
        self
    }

    pub(crate) fn push_tensor(&mut self, name: &str, dtype: &str, shape: &[u64], offsets: Range<u64>) {
        self.push("");
        write!(self.members, r#""{name}":{{"dtype":"{dtype}","shape":["#).expect("a String");
        for (place, dim) in shape.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(self.members, "{comma}{dim}").expect("a String");
        }
        write!(self.members, r#"],"data_offsets":[{},{}]}}"#, offsets.start, offsets.end).expect("a String");
    }

    /// `__metadata__` with these strings, which go into the text as they are.
    pub(crate) fn metadata(mut self, pairs: &[(&str, &str)]) -> Self {
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
        self.push(&format!(r#""__metadata__":{{{}}}"#, pairs.join(",")));
        self
    }

    /// What follows the object.
    pub(crate) fn padding(mut self, padding: &str) -> Self {
        self.padding.push_str(padding);
        self
    }

    pub(crate) fn text(&self) -> String {
        format!("{{{}}}{}", self.members, self.padding)
    }

    /// The file, with so many bytes of data.
    pub(crate) fn file(&self, data: usize) -> File {
        File::new(&self.text(), data)
    }

    /// The file's head alone; the text is taken as it is, marks and all, and not copied about.
    pub(crate) fn head(self) -> Vec<u8> {
        let Self { members, padding } = self;
        let mut bytes = ((members.len() + padding.len() + 2) as u64).to_le_bytes().to_vec();
        bytes.reserve_exact(members.len() + padding.len() + 2);
        bytes.push(b'{');
        bytes.extend_from_slice(members.as_bytes());
        bytes.push(b'}');
        bytes.extend_from_slice(padding.as_bytes());
        bytes
    }

    fn push(&mut self, member: &str) {
        if !self.members.is_empty() {
            self.members.push(',');
        }
        self.members.push_str(member);
    }
}

/// The file is refused for this reason, at the byte marked `»`, by every door and with every option, and the
/// reference agrees or the difference is an intended one.
pub(crate) fn refused(marked: &str, data: usize, kind: ErrorKind) -> Option<Intended> {
    let file = File::new(marked, data);
    let error = file.parse().expect_err("a fault");
    assert_eq!(error.kind(), kind);
    assert_eq!(error.offset(), Some(file.fault()), "{error}");
    for heap in [false, true] {
        let options = ParseOptions { heap, ..ParseOptions::default() };
        assert_eq!(options.parse(&file.bytes).expect_err("a fault"), error);
    }
    assert_invariants(&file.bytes);
    assert_agrees(&file.bytes)
}

/// The same for a duplicate, whose first place is marked `«`.
pub(crate) fn refused_again(marked: &str, data: usize, kind: impl Fn(u64) -> ErrorKind) -> Option<Intended> {
    let first = File::new(marked, data).first();
    refused(marked, data, kind(first))
}

/// The file is accepted, by every door and by the reference too, and is what `check` says.
pub(crate) fn accepted(text: &str, data: usize, check: impl FnOnce(SafeTensors<'_>)) {
    let file = File::new(text, data);
    check(file.parse().unwrap_or_else(|error| panic!("{error}: {text}")));
    assert_invariants(&file.bytes);
    assert_eq!(assert_agrees(&file.bytes), None);
}

/// One test a fault: `name: header, bytes of data => kind;`. The header has a `»` before the byte at fault.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident: $header:expr, $data:expr => $kind:expr;)*) => {
        $($(#[$doc])* #[test] fn $name() { assert_eq!($crate::build::refused(&$header, $data, $kind), None); })*
    };
}
pub(crate) use refusals;

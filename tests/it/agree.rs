//! What must hold of any bytes at all, be they a model or noise. The tests call this, and so do the fuzz
//! targets, which take this file in as `#[path = "…"] mod agree;`: it needs the crates `weightview`,
//! `safetensors` and `serde_json`, and nothing else of the tests.

#![allow(dead_code, reason = "each fuzz target uses one half of this file")]

use std::collections::{HashMap, HashSet};

use safetensors::tensor::Metadata;
use safetensors::{SafeTensorError, SafeTensors as Reference};
use weightview::error::{Blame, ErrorKind, Field};
use weightview::safetensors::{Header, ParseOptions};
use weightview::{Error, SafeTensors, Slot, TensorInfo};

/// Why we refuse what the reference accepts: the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Intended {
    /// A tensor's name stands twice. The reference takes the last and forgets the others, so that a fault in
    /// one of those does not trouble it either; we report whichever fault comes first.
    DuplicateName,
    /// A key stands twice in `__metadata__`: the reference takes the last.
    DuplicateMetadataKey,
    /// An entry is written as an array: an accident of serde's derived code.
    EntryAsArray,
    /// A dtype is written as `{"U8":null}`: another.
    DtypeAsObject,
    /// More dimensions than a view has room for.
    Rank,
    /// A number of 1e308 or more in a field that is ignored: up to 1.8e308 some pass there, by luck of rounding.
    HugeNumber,
    /// More tensors than the limit, which the caller may raise.
    TooManyTensors,
}

/// Holds our answer against the reference's: what we accept it accepts, with the same tensors and metadata;
/// what it accepts and we refuse is [`Intended`], and is then returned.
pub(crate) fn assert_agrees(bytes: &[u8]) -> Option<Intended> {
    let ours = SafeTensors::parse(bytes);
    match (ours, ask_reference(bytes)) {
        (Ok(ours), Ok((len, theirs))) => {
            assert_eq!(ours.data_start(), 8 + len as u64);
            assert_same(&ours, &theirs);
            assert_same_bytes(&ours, &Reference::deserialize(bytes).expect("as read_metadata said"));
            None
        }
        (Ok(ours), Err(theirs)) => {
            let why = beyond_host(&ours.header());
            assert!(why, "we accept what the reference refuses: {theirs:?}");
            None
        }
        (Err(ours), Ok(_)) => {
            let intended = intended(bytes, ours);
            assert!(intended.is_some(), "we refuse what the reference accepts: {ours}");
            intended
        }
        (Err(ours), Err(theirs)) => {
            assert_same_stage(bytes, ours, &theirs);
            None
        }
    }
}

/// Why the reference refused.
#[derive(Debug)]
enum Refusal {
    Error(SafeTensorError),
    /// It adds lengths up without a check: debug builds panic.
    Overflow,
}

fn ask_reference(bytes: &[u8]) -> Result<(usize, Metadata), Refusal> {
    // Never let it panic: a fuzzer cannot catch that. Only ends near 2^64 can make it.
    if overflows(bytes) == Some(true) {
        return Err(Refusal::Overflow);
    }
    Reference::read_metadata(bytes).map_err(Refusal::Error)
}

fn overflows(bytes: &[u8]) -> Option<bool> {
    let text = header_text(bytes).filter(|text| text.contains("18446744073"))?;
    let metadata: Metadata = serde_json::from_str(text).ok()?;
    Some((metadata.data_len() as u64).checked_add(8 + text.len() as u64).is_none())
}

/// The header's text, if the file has one.
fn header_text(bytes: &[u8]) -> Option<&str> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    std::str::from_utf8(rest.get(..len)?).ok()
}

fn assert_same(ours: &SafeTensors<'_>, theirs: &Metadata) {
    assert_eq!(ours.len(), theirs.tensors().len());
    for tensor in ours.header().tensors() {
        let name = tensor.name().to_string();
        let info = theirs.info(&name).unwrap_or_else(|| panic!("the reference has no {name:?}"));
        assert_eq!(tensor.dtype().as_str(), info.dtype.to_string(), "{name:?}");
        assert!(tensor.shape().iter().copied().eq(info.shape.iter().map(|&dim| dim as u64)), "{name:?}");
        assert_eq!(tensor.dtype().bits() as usize, info.dtype.bitsize());
        let (begin, end) = info.data_offsets;
        assert_eq!(tensor.data_offsets(), begin as u64..end as u64, "{name:?}");
    }
    assert_eq!(ours.header().data_len(), theirs.data_len() as u64);
    let none = HashMap::new();
    let metadata: HashMap<_, _> = ours.metadata().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    assert_eq!(&metadata, theirs.metadata().as_ref().unwrap_or(&none));
}

fn assert_same_bytes(ours: &SafeTensors<'_>, theirs: &Reference<'_>) {
    for tensor in ours.tensors() {
        let view = theirs.tensor(&tensor.name().to_string()).expect("the same names");
        assert_eq!(tensor.data().as_ptr_range(), view.data().as_ptr_range());
        assert_eq!(tensor.shape(), view.shape());
    }
}

/// On a host below 64 bits the reference counts bits in a `usize`, and so refuses tensors of 512 MiB.
fn beyond_host(header: &Header<'_>) -> bool {
    let most = usize::MAX as u64;
    let beyond = |tensor: TensorInfo<'_>| {
        let bits = u64::from(tensor.dtype().bits());
        let mut product = 1u64;
        tensor.shape().iter().any(|&dim| {
            product = product.saturating_mul(dim);
            dim > most || product.saturating_mul(bits) > most
        }) || tensor.data_offsets().end > most
    };
    usize::BITS < 64 && header.tensors().any(beyond)
}

/// Both refuse. The first stages stand in the same order in both, so there the reasons agree too.
fn assert_same_stage(bytes: &[u8], ours: Error, theirs: &Refusal) {
    use ErrorKind as Kind;
    let kind = ours.kind();
    let same = match theirs {
        Refusal::Error(SafeTensorError::HeaderTooSmall) => matches!(kind, Kind::FileTooShort { .. }),
        Refusal::Error(SafeTensorError::HeaderTooLarge) => matches!(kind, Kind::HeaderTooLong { .. }),
        Refusal::Error(SafeTensorError::InvalidHeaderLength) => matches!(kind, Kind::HeaderCut { .. }),
        Refusal::Error(SafeTensorError::InvalidHeader(_)) => kind == Kind::NotUtf8,
        Refusal::Error(SafeTensorError::MetadataIncompleteBuffer) => {
            matches!(kind, Kind::Truncated { .. } | Kind::TrailingData { .. }) || intended(bytes, ours).is_some()
        }
        Refusal::Overflow => kind == Kind::FileLenOverflow || intended(bytes, ours).is_some(),
        _ => !matches!(
            kind,
            Kind::FileTooShort { .. } | Kind::HeaderTooLong { .. } | Kind::HeaderCut { .. } | Kind::NotUtf8
        ),
    };
    assert!(same, "we say: {ours}; the reference says: {theirs:?}");
}

/// Which of the intended differences `error` is, judged by the bytes that it points to.
fn intended(bytes: &[u8], error: Error) -> Option<Intended> {
    let at = usize::try_from(error.offset()?).ok()?;
    let here = bytes.get(at..)?;
    let holds = match error.kind() {
        ErrorKind::DuplicateName { first } => {
            let name = string_at(bytes, at)?;
            let before = usize::try_from(first).ok()?;
            assert!(before < at && string_at(bytes, before)? == name && name != "__metadata__");
            return Some(Intended::DuplicateName);
        }
        ErrorKind::DuplicateMetadataKey { first } => {
            let before = usize::try_from(first).ok()?;
            assert!(before < at && string_at(bytes, before)? == string_at(bytes, at)?);
            return Some(Intended::DuplicateMetadataKey);
        }
        ErrorKind::EntryNotObject => (here.first() == Some(&b'[')).then_some(Intended::EntryAsArray),
        ErrorKind::FieldType(Field::Dtype) => (here.first() == Some(&b'{')).then_some(Intended::DtypeAsObject),
        ErrorKind::RankTooHigh => {
            // The 17th dimension stands here.
            let start = bytes.get(..at)?.iter().rposition(|&byte| byte == b'[')?;
            let commas = bytes.get(start..at)?.iter().filter(|&&byte| byte == b',').count();
            (commas == 16).then_some(Intended::Rank)
        }
        ErrorKind::NumberTooLarge => {
            let digit = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let len = here.iter().take_while(|&byte| digit(byte)).count();
            let number: f64 = std::str::from_utf8(here.get(..len)?).ok()?.parse().ok()?;
            (number.abs() >= 0.999_999_999_999e308).then_some(Intended::HugeNumber)
        }
        ErrorKind::TooManyTensors { limit } => (names(bytes)?.len() as u64 > limit).then_some(Intended::TooManyTensors),
        _ => None,
    };
    holds.or_else(|| {
        let mut seen = HashSet::new();
        let twice = names(bytes)?.into_iter().any(|name| !seen.insert(name));
        twice.then_some(Intended::DuplicateName)
    })
}

/// The JSON string that starts at a byte, read by serde_json.
fn string_at(bytes: &[u8], at: usize) -> Option<String> {
    serde_json::Deserializer::from_slice(bytes.get(at..)?).into_iter().next()?.ok()
}

/// The keys of the outermost object of a header that is known to be JSON; `__metadata__` only once.
fn names(bytes: &[u8]) -> Option<Vec<String>> {
    let text = header_text(bytes)?.as_bytes();
    let mut names = Vec::new();
    let (mut depth, mut key, mut at) = (0, false, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let start = at;
                at += 1;
                while text.get(at)? != &b'"' {
                    at += if text.get(at)? == &b'\\' { 2 } else { 1 };
                }
                if depth == 1 && std::mem::take(&mut key) {
                    names.push(string_at(text, start)?);
                }
            }
            b'{' | b'[' => {
                depth += 1;
                key = depth == 1;
            }
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => key = true,
            _ => {}
        }
        at += 1;
    }
    Some(names)
}

/// Holds our answers against each other, and against the input: nothing lies outside it, every door and every
/// option gives the same answer, and what was accepted is sound by a second look.
pub(crate) fn assert_invariants(bytes: &[u8]) {
    let header = Header::parse(bytes);
    let no_heap = ParseOptions { heap: false, ..ParseOptions::default() };
    assert_same_answer(&header, &no_heap.parse_header(bytes), "without a heap");
    let moved = bytes.to_vec();
    assert_same_answer(&header, &Header::parse(&moved), "from other memory");
    assert_spelling_does_not_matter(bytes, &header);
    let strict = ParseOptions::strict().parse_header(bytes);
    if strict.is_ok() {
        assert_same_answer(&header, &strict, "strict");
    }

    let file = SafeTensors::parse(bytes);
    match header {
        Ok(header) => {
            let head = bytes.get(..header.data_start() as usize).expect("the head is in the input");
            assert_same_answer(&Ok(header), &Header::parse(head), "from the head alone");
            assert_sound(&header);
            assert_found(&header);
            match (header.check_file_len(bytes.len() as u64), file) {
                (Ok(()), Ok(file)) => assert_views(&file, bytes),
                (Ok(()), Err(error)) => {
                    assert!(usize::BITS < 64 && error.kind() == ErrorKind::TooLargeForHost, "{error}");
                }
                (Err(error), file) => assert_eq!(error, file.expect_err("refused by its length")),
            }
        }
        Err(error) => {
            assert_eq!(error, file.expect_err("refused by its header"));
            assert_ne!(error.blame(), Blame::Caller);
            assert!(error.offset().is_some_and(|at| at <= bytes.len() as u64), "{error}");
            assert!(error.explain(bytes).to_string().starts_with(&error.to_string()));
        }
    }
}

/// Two parses came out alike: the same facts, or the same fault at the same byte.
fn assert_same_answer(one: &Result<Header<'_>, Error>, other: &Result<Header<'_>, Error>, how: &str) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_eq!((one.len(), one.data_start()), (other.len(), other.data_start()), "{how}");
            assert_same_facts(one, other, how);
        }
        (Err(one), Err(other)) => assert_eq!(one, other, "{how}"),
        (one, other) => panic!("{how}: {other:?}, else {one:?}"),
    }
}

fn assert_same_facts(one: &Header<'_>, other: &Header<'_>, how: &str) {
    assert_eq!((one.len(), one.data_len()), (other.len(), other.data_len()), "{how}");
    for (a, b) in one.tensors().zip(other.tensors()) {
        assert_same_tensor(&a, &b, how);
    }
    assert!(one.metadata().eq(other.metadata()), "{how}: metadata");
}

fn assert_same_tensor(a: &TensorInfo<'_>, b: &TensorInfo<'_>, how: &str) {
    assert_eq!(a.name(), b.name(), "{how}");
    assert_eq!((a.dtype(), a.shape(), a.data_offsets()), (b.dtype(), b.shape(), b.data_offsets()), "{how}");
}

/// A second look at an accepted header, written for plainness: names differ, tensors tile the data.
fn assert_sound(header: &Header<'_>) {
    let mut names = HashSet::new();
    let mut ranges = Vec::new();
    for tensor in header.tensors() {
        assert!(names.insert(tensor.name().to_string()), "{:?} stands twice", tensor.name());
        let range = tensor.data_offsets();
        assert_eq!(tensor.byte_len(), range.end - range.start);
        assert_eq!(
            u128::from(tensor.byte_len()) * 8,
            u128::from(tensor.elements()) * u128::from(tensor.dtype().bits())
        );
        let file = header.data_start() + range.start..header.data_start() + range.end;
        assert_eq!(tensor.file_range(), file);
        ranges.push((range.start, range.end));
    }
    assert_eq!(ranges.len(), header.len());
    assert_eq!(header.tensors().len(), header.len());
    assert_eq!(header.is_empty(), ranges.is_empty());
    assert!(!names.contains("__metadata__"));

    ranges.sort_unstable();
    let mut end = 0;
    for range in ranges {
        assert_eq!(range.0, end, "a hole or an overlap");
        end = range.1;
    }
    assert_eq!(end, header.data_len());
    assert_eq!(header.file_len(), header.data_start() + end);

    let mut keys = HashSet::new();
    for (key, value) in header.metadata() {
        let key = key.to_string();
        assert_eq!(header.metadata().get(&key), Some(value));
        assert!(keys.insert(key));
    }
}

/// Every name is found, by a scan and by the index, and no other is.
fn assert_found(header: &Header<'_>) {
    let mut slots = vec![Slot::default(); header.len()];
    let index = header.index_in(&mut slots).expect("a slot a tensor");
    assert_eq!((index.len(), index.is_empty()), (header.len(), header.is_empty()));
    let stride = header.len() / 32 + 1; // a scan each would be quadratic
    for (place, tensor) in header.tensors().enumerate() {
        let name = tensor.name().to_string();
        assert_same_tensor(&tensor, &index.tensor(&name).expect("in the index"), "the index");
        if place % stride == 0 {
            assert_same_tensor(&tensor, &header.tensor(&name).expect("in the header"), "the scan");
        }
    }
    for absent in ["__metadata__", "no tensor is called so", "\0\u{1}\u{2}"] {
        if header.tensors().all(|tensor| tensor.name() != absent) {
            let not_found = Some(ErrorKind::NotFound);
            assert_eq!(index.tensor(absent).err().map(|error| error.kind()), not_found);
            assert_eq!(header.tensor(absent).err().map(|error| error.kind()), not_found);
        }
    }
}

/// Every view is the tensor's bytes, in place.
fn assert_views(file: &SafeTensors<'_>, bytes: &[u8]) {
    assert_eq!(file.tensors().len(), file.len());
    let mut seen = 0;
    for (view, info) in file.tensors().zip(file.header().tensors()) {
        let range = info.file_range();
        let expected = bytes.get(range.start as usize..range.end as usize).expect("inside the file");
        assert_eq!(view.data().as_ptr_range(), expected.as_ptr_range());
        assert_eq!((view.name(), view.dtype()), (info.name(), info.dtype()));
        assert!(view.shape().iter().map(|&dim| dim as u64).eq(info.shape().iter().copied()));
        assert_eq!(view.elements() as u64, info.elements());
        if seen == 0 {
            let again = file.tensor(&view.name().to_string()).expect("it was listed");
            assert_eq!(again.data().as_ptr_range(), expected.as_ptr_range());
        }
        seen += 1;
    }
    assert_eq!(seen, file.len());
}

/// White space between the tokens changes nothing but places. (It also keeps the parser from its fast path,
/// so this holds the two paths equal.)
fn assert_spelling_does_not_matter(bytes: &[u8], header: &Result<Header<'_>, Error>) {
    let Some(text) = header_text(bytes) else { return };
    let (spaced, places) = spread(text);
    let options = ParseOptions { max_header_len: u64::MAX, ..ParseOptions::default() };
    let plain = options.parse_header(bytes);
    if header.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::HeaderTooLong { .. })) {
        return;
    }
    match (plain, options.parse_header(&spaced)) {
        (Ok(plain), Ok(spaced)) => assert_same_facts(&plain, &spaced, "spread out"),
        (Err(plain), Err(spaced)) => {
            let moved = |at: u64| places.get(at as usize - 8).map(|&place| place as u64);
            let kind = match plain.kind() {
                ErrorKind::DuplicateName { first } => {
                    ErrorKind::DuplicateName { first: moved(first).expect("in the header") }
                }
                ErrorKind::DuplicateMetadataKey { first } => {
                    ErrorKind::DuplicateMetadataKey { first: moved(first).expect("in the header") }
                }
                kind => kind,
            };
            assert_eq!(spaced.kind(), kind, "spread out");
            assert_eq!(spaced.offset(), plain.offset().and_then(moved), "spread out, {plain}");
        }
        // The longer header may take the file past 2^64 bytes.
        (_, Err(error)) if error.kind() == ErrorKind::FileLenOverflow => {}
        (plain, spaced) => panic!("spread out: {spaced:?}, else {plain:?}"),
    }
}

/// The head of a file with this header, a space before every token that is punctuation or a string; and where
/// each byte of the text, and its end, went.
fn spread(text: &str) -> (Vec<u8>, Vec<usize>) {
    let mut head = vec![0; 8];
    let mut places = Vec::with_capacity(text.len() + 1);
    let (mut in_string, mut escaped) = (false, false);
    for &byte in text.as_bytes() {
        if !in_string && b"{}[]:,\"".contains(&byte) {
            head.push(b' ');
        }
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'\\' if in_string && !escaped => escaped = true,
            _ => escaped = false,
        }
        if byte == b'"' {
            escaped = false;
        }
        places.push(head.len());
        head.push(byte);
    }
    places.push(head.len());
    let len = head.len() as u64 - 8;
    head.splice(..8, len.to_le_bytes());
    (head, places)
}

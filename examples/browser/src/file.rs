//! The file that is open: its head, its tensors, its metadata.

use weightview::safetensors::{Header, Metadata, ParseOptions, Tensors};
use weightview::{Index, Slot, TensorInfo, Text};

use crate::fault::{Fault, Trouble, status};
use crate::memory::{self, Global};

/// Tensors from one mark to the next.
const MARK_EVERY: usize = 64;

struct File {
    options: ParseOptions,
    open: Option<Open>,
    tensor: Option<TensorInfo<'static>>,
    metadata: Option<(Text<'static>, Text<'static>)>,
}

/// What there is of a file that was accepted.
struct Open {
    header: Header<'static>,
    /// Where to start from for the tensors 0, 64, 128 …
    marks: &'static [Tensors<'static>],
    /// Number and place of the tensor behind the last that was asked for.
    next: (usize, Tensors<'static>),
    /// The same of the metadata.
    next_metadata: (usize, Metadata<'static>),
    /// Memory for the index, until the first look-up makes it.
    slots: Option<&'static mut [Slot]>,
    index: Option<Index<Header<'static>, &'static [Slot]>>,
}

static FILE: Global<Option<File>> = Global::new(None);

fn with<R>(f: impl FnOnce(&mut File) -> R) -> R {
    let new = || File { options: ParseOptions::default(), open: None, tensor: None, metadata: None };
    FILE.with(|file| f(file.get_or_insert_with(new)))
}

/// What the host is told of a tensor.
#[repr(C)]
pub struct TensorRecord {
    name: *const u8,
    name_len: u32,
    name_escaped: u32,
    dtype: *const u8,
    dtype_len: u32,
    dtype_bits: u32,
    rank: u32,
    padding: u32,
    elements: u64,
    begin: u64,
    end: u64,
    shape: [u64; weightview::limits::MAX_RANK],
}

static TENSOR: Global<TensorRecord> = Global::new(TensorRecord {
    name: core::ptr::null(),
    name_len: 0,
    name_escaped: 0,
    dtype: core::ptr::null(),
    dtype_len: 0,
    dtype_bits: 0,
    rank: 0,
    padding: 0,
    elements: 0,
    begin: 0,
    end: 0,
    shape: [0; weightview::limits::MAX_RANK],
});

/// What the host is told of a string of the metadata.
#[repr(C)]
pub struct MetadataRecord {
    key: *const u8,
    key_len: u32,
    key_escaped: u32,
    value: *const u8,
    value_len: u32,
    value_escaped: u32,
}

static METADATA: Global<MetadataRecord> = Global::new(MetadataRecord {
    key: core::ptr::null(),
    key_len: 0,
    key_escaped: 0,
    value: core::ptr::null(),
    value_len: 0,
    value_escaped: 0,
});

/// Sets what the next files are held to.
#[unsafe(no_mangle)]
pub extern "C" fn wv_limits(max_header_len: u64, max_tensors: u64, strict: u32) {
    let options = ParseOptions { max_header_len, max_tensors, strict: strict != 0, ..ParseOptions::default() };
    with(|file| file.options = options);
}

/// How many bytes the head of a file has, from its first 8 bytes, read as a little-endian number. 0: refused.
#[unsafe(no_mangle)]
pub extern "C" fn wv_head_len(first: u64) -> u64 {
    let len = with(|file| file.options.header_len(&first.to_le_bytes()));
    match len {
        Ok(len) => len.saturating_add(8),
        Err(error) => {
            status(Err(error.into()));
            0
        }
    }
}

/// Closes the file, takes back all memory, and gives room for the head of the next. 0: refused.
#[unsafe(no_mangle)]
pub extern "C" fn wv_head(len: u32) -> usize {
    with(File::close);
    memory::start(len as usize).unwrap_or_else(|| {
        status(Err(Trouble::NoMemory.into()));
        0
    })
}

/// Reads and proves the head. The file's length is proven too, unless it is the largest number.
#[unsafe(no_mangle)]
pub extern "C" fn wv_open(file_len: u64) -> u32 {
    status(with(|file| file.parse(file_len)))
}

/// How many tensors the file has.
#[unsafe(no_mangle)]
pub extern "C" fn wv_count() -> u32 {
    with(|file| file.open.as_ref().map_or(0, |open| open.header.len() as u32))
}

/// How long the file must be.
#[unsafe(no_mangle)]
pub extern "C" fn wv_file_len() -> u64 {
    with(|file| file.open.as_ref().map_or(0, |open| open.header.file_len()))
}

/// Chooses the tensor of that number, in header order from 0.
#[unsafe(no_mangle)]
pub extern "C" fn wv_tensor(number: u32) -> u32 {
    status(with(|file| {
        let tensor = file.opened()?.nth(number as usize).ok_or(Trouble::Range)?;
        file.choose(tensor);
        Ok(())
    }))
}

/// Chooses the tensor of that name, which stands in the host's buffer.
#[unsafe(no_mangle)]
pub extern "C" fn wv_find(name: usize, len: u32) -> u32 {
    status(with(|file| {
        let name = core::str::from_utf8(memory::input(name, len as usize)?).map_err(|_| Trouble::NotUtf8)?;
        let tensor = file.opened()?.find(name)?;
        file.choose(tensor);
        Ok(())
    }))
}

/// Where the record of the chosen tensor is.
#[unsafe(no_mangle)]
pub extern "C" fn wv_record() -> *const TensorRecord {
    TENSOR.address()
}

/// How many strings the metadata has.
#[unsafe(no_mangle)]
pub extern "C" fn wv_metadata_count() -> u32 {
    with(|file| file.open.as_ref().map_or(0, |open| open.header.metadata().count() as u32))
}

/// Chooses the string of that number of the metadata, in header order from 0.
#[unsafe(no_mangle)]
pub extern "C" fn wv_metadata(number: u32) -> u32 {
    status(with(|file| {
        let (key, value) = file.opened()?.metadata(number as usize).ok_or(Trouble::Range)?;
        file.metadata = Some((key, value));
        METADATA.with(|record| {
            (record.key, record.key_len, record.key_escaped) = parts(key);
            (record.value, record.value_len, record.value_escaped) = parts(value);
        });
        Ok(())
    }))
}

/// Where the record of the chosen string of the metadata is.
#[unsafe(no_mangle)]
pub extern "C" fn wv_metadata_record() -> *const MetadataRecord {
    METADATA.address()
}

/// Decodes a text into the host's buffer: 0 the name of the chosen tensor, 1 the key and 2 the value of the chosen
/// string of the metadata. As many whole characters as fit.
#[unsafe(no_mangle)]
pub extern "C" fn wv_text(which: u32, out: usize, len: u32) -> u32 {
    let mut written = 0usize;
    let result = with(|file| {
        let text = match which {
            0 => file.tensor.map(|tensor| tensor.name()),
            1 => file.metadata.map(|(key, _)| key),
            2 => file.metadata.map(|(_, value)| value),
            _ => None,
        };
        let mut out = memory::output(out, len as usize)?;
        for c in text.ok_or(Trouble::NoText)?.chars() {
            let mut bytes = [0; 4];
            let Some((place, rest)) = out.split_at_mut_checked(c.encode_utf8(&mut bytes).len()) else { break };
            place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
            written = written.saturating_add(place.len());
            out = rest;
        }
        Ok(())
    });
    if status(result) == 0 { written as u32 } else { u32::MAX }
}

/// Where the host's buffer is, after it was made at least so long. It lies behind the file's own memory, and so
/// moves when another file is opened. 0: refused.
#[unsafe(no_mangle)]
pub extern "C" fn wv_buffer(len: u32) -> usize {
    memory::buffer(len as usize).unwrap_or_else(|| {
        status(Err(Trouble::NoMemory.into()));
        0
    })
}

/// What the numbers are made from: the chosen tensor.
#[cfg(feature = "numbers")]
pub(crate) fn tensor() -> Result<TensorInfo<'static>, Fault> {
    with(|file| file.tensor).ok_or(Trouble::NoTensor.into())
}

/// Chooses a piece of the chosen tensor.
#[cfg(feature = "numbers")]
pub(crate) fn choose(tensor: TensorInfo<'static>) {
    with(|file| file.choose(tensor));
}

/// The start of a text that fits so many bytes.
pub(crate) fn prefix(text: &str, len: usize) -> &str {
    let end = text.char_indices().map(|(at, c)| at.saturating_add(c.len_utf8())).take_while(|&end| end <= len).last();
    if text.len() <= len { text } else { text.get(..end.unwrap_or(0)).unwrap_or_default() }
}

impl File {
    fn close(&mut self) {
        (self.open, self.tensor, self.metadata) = (None, None, None);
    }

    fn parse(&mut self, file_len: u64) -> Result<(), Fault> {
        self.close();
        memory::keep_head();
        let header = self.options.parse_header(memory::head())?;
        memory::keep_head(); // and nothing of what the parser sorted in
        if file_len != u64::MAX {
            header.check_file_len(file_len)?;
        }
        self.open = Some(Open::new(header).ok_or(Trouble::NoMemory)?);
        Ok(())
    }

    fn opened(&mut self) -> Result<&mut Open, Fault> {
        self.open.as_mut().ok_or(Trouble::NoFile.into())
    }

    fn choose(&mut self, tensor: TensorInfo<'static>) {
        self.tensor = Some(tensor);
        let dtype = tensor.dtype().as_str();
        TENSOR.with(|record| {
            (record.name, record.name_len, record.name_escaped) = parts(tensor.name());
            (record.dtype, record.dtype_len) = (dtype.as_ptr(), dtype.len() as u32);
            record.dtype_bits = tensor.dtype().bits();
            record.rank = tensor.shape().len() as u32;
            record.elements = tensor.elements();
            (record.begin, record.end) = (tensor.file_range().start, tensor.file_range().end);
            record.shape = [0; weightview::limits::MAX_RANK];
            record.shape.iter_mut().zip(tensor.shape()).for_each(|(to, &dim)| *to = dim);
        });
    }
}

impl Open {
    /// `None` when there is no memory for the index.
    fn new(header: Header<'static>) -> Option<Self> {
        let start = header.tensors();
        let mut place = start.clone();
        let marks = memory::list(header.len().div_ceil(MARK_EVERY), || {
            let mark = place.clone();
            place.nth(MARK_EVERY.saturating_sub(1));
            mark
        })?;
        let slots = memory::list(header.len(), Slot::default)?;
        let next_metadata = (0, header.metadata());
        Some(Self { header, marks, next: (0, start), next_metadata, slots: Some(slots), index: None })
    }

    fn nth(&mut self, number: usize) -> Option<TensorInfo<'static>> {
        if number != self.next.0 {
            let mut place = self.marks.get(number / MARK_EVERY)?.clone();
            for _ in 0..number % MARK_EVERY {
                place.next()?;
            }
            self.next = (number, place);
        }
        let tensor = self.next.1.next()?;
        self.next.0 = number.saturating_add(1);
        Some(tensor)
    }

    fn find(&mut self, name: &str) -> Result<TensorInfo<'static>, Fault> {
        if let Some(slots) = self.slots.take() {
            self.index = Some(self.header.index_in(slots)?);
        }
        Ok(self.index.as_ref().ok_or(Trouble::NoFile)?.tensor(name)?)
    }

    fn metadata(&mut self, number: usize) -> Option<(Text<'static>, Text<'static>)> {
        if number < self.next_metadata.0 {
            self.next_metadata = (0, self.header.metadata());
        }
        let skip = number.saturating_sub(self.next_metadata.0);
        self.next_metadata.0 = number.saturating_add(1);
        self.next_metadata.1.nth(skip)
    }
}

/// A text as the host is told of it: its bytes in the head, and whether they hold escapes.
fn parts(text: Text<'static>) -> (*const u8, u32, u32) {
    (text.raw().as_ptr(), text.raw().len() as u32, u32::from(text.as_str().is_none()))
}

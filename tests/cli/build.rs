//! Writes safetensors files, well and not so well, without taking disk for their data.

use std::fs::File;
use std::io::Write as _;

use crate::Dir;

/// A file in the making: tensors lie one behind the other in the order in which they are added.
#[derive(Clone, Default)]
pub(crate) struct Model {
    members: Vec<String>,
    data_len: u64,
    padded: bool,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A tensor whose bytes are right for its shape: `size` is that of an element.
    pub(crate) fn tensor(self, name: &str, (dtype, size): (&str, u64), shape: &[u64]) -> Self {
        let key = serde_json::to_string(name).unwrap();
        let (begin, end) = (self.data_len, self.data_len + shape.iter().product::<u64>() * size);
        let mut model =
            self.member(&format!(r#"{key}:{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{begin},{end}]}}"#));
        model.data_len = end;
        model
    }

    /// A member of the header as it shall stand there.
    pub(crate) fn member(mut self, json: &str) -> Self {
        self.members.push(json.into());
        self
    }

    /// Bytes of data that no tensor accounts for.
    pub(crate) fn data(mut self, more: u64) -> Self {
        self.data_len += more;
        self
    }

    /// Pads the header with spaces, so that the data starts on a multiple of 8, as usual writers do.
    pub(crate) fn padded(self) -> Self {
        Self { padded: true, ..self }
    }

    /// The length field and the header.
    pub(crate) fn head(&self) -> Vec<u8> {
        let header = format!("{{{}}}", self.members.join(","));
        let spaces = if self.padded { header.len().next_multiple_of(8) - header.len() } else { 0 };
        head(&(header + &" ".repeat(spaces)))
    }

    /// The whole file, its data zeros.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.resize(bytes.len() + usize::try_from(self.data_len).unwrap(), 0);
        bytes
    }

    /// Writes the file with a hole for its data.
    pub(crate) fn write(&self, dir: &Dir, name: &str) {
        let head = self.head();
        let mut file = File::create(dir.path(name)).unwrap();
        file.write_all(&head).unwrap();
        file.set_len(head.len() as u64 + self.data_len).unwrap();
    }
}

/// A header, whatever it says, behind its length.
pub(crate) fn head(header: &str) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes
}

pub(crate) const BF16: (&str, u64) = ("BF16", 2);
pub(crate) const F32: (&str, u64) = ("F32", 4);
pub(crate) const U8: (&str, u64) = ("U8", 1);

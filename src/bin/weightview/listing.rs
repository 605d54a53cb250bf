//! What is listed: tensors of several files, filtered, sorted, added up.

use std::cmp::Reverse;
use std::path::Path;

use glob::{MatchOptions, Pattern};
use weightview::safetensors::Header;
use weightview::{Dtype, TensorInfo, Text};

use crate::cli::Sort;
use crate::opened::Model;

/// The tensors that are listed, and their files.
#[derive(Default)]
pub(crate) struct Listing<'a> {
    pub(crate) files: Vec<(&'a Path, Header<'a>)>,
    tensors: Vec<Tensor<'a>>,
    /// The shapes, end to end: headers of a million tensors are listed too.
    dims: Vec<u64>,
    pub(crate) total: Total,
}

/// A tensor, in a third of the memory of a `TensorInfo`.
struct Tensor<'a> {
    name: Text<'a>,
    begin: u64,
    end: u64,
    dims_at: usize,
    file: u32,
    dtype: Dtype,
    rank: u8,
}

/// What a line of the listing says.
pub(crate) struct Row<'r, 'a> {
    pub(crate) name: Text<'a>,
    pub(crate) dtype: Dtype,
    pub(crate) shape: &'r [u64],
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) path: &'a Path,
}

/// Sums over what is listed. Each file's fit 64 bits, but there may be many files.
#[derive(Clone, Copy, Default)]
pub(crate) struct Total {
    pub(crate) tensors: u128,
    pub(crate) parameters: u128,
    pub(crate) bytes: u128,
}

impl Total {
    pub(crate) fn add(&mut self, info: &TensorInfo<'_>) {
        self.tensors += 1;
        self.parameters += u128::from(info.elements());
        self.bytes += u128::from(info.byte_len());
    }
}

impl<'a> Listing<'a> {
    /// Adds files, and those of their tensors that match a filter, or all where there is none.
    pub(crate) fn add(&mut self, model: &Model<'a>, filters: &[Pattern]) {
        let before = self.files.len();
        self.files.extend(&model.files);
        model.for_each(|file, info| {
            if is_wanted(info.name(), filters) {
                // Each file is a word of the command line, or was opened.
                self.push(u32::try_from(before + file).unwrap_or(u32::MAX), info);
            }
        });
    }

    fn push(&mut self, file: u32, info: &TensorInfo<'a>) {
        let (shape, offsets) = (info.shape(), info.data_offsets());
        self.total.add(info);
        self.tensors.push(Tensor {
            name: info.name(),
            begin: offsets.start,
            end: offsets.end,
            dims_at: self.dims.len(),
            file,
            dtype: info.dtype(),
            rank: u8::try_from(shape.len()).unwrap_or(u8::MAX), // MAX_RANK is far below
        });
        self.dims.extend_from_slice(shape);
    }

    /// Puts the tensors in order. They stand as their files and headers have them, and where they are equal they
    /// stay so.
    pub(crate) fn sort(&mut self, order: Sort) {
        match order {
            Sort::Name => self.tensors.sort_by(|a, b| a.name.cmp(&b.name)),
            Sort::Offset => self.tensors.sort_by_key(|tensor| (tensor.file, tensor.begin, tensor.end)),
            Sort::Size => self
                .tensors
                .sort_by(|a, b| Reverse(a.end - a.begin).cmp(&Reverse(b.end - b.begin)).then(a.name.cmp(&b.name))),
            Sort::Header => {}
        }
    }

    /// The lines, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        self.tensors.iter().map(|tensor| Row {
            name: tensor.name,
            dtype: tensor.dtype,
            shape: self.dims.get(tensor.dims_at..).and_then(|dims| dims.get(..tensor.rank.into())).unwrap_or_default(),
            begin: tensor.begin,
            end: tensor.end,
            path: self.files.get(tensor.file as usize).map_or(Path::new(""), |(path, _)| path),
        })
    }
}

/// Whether a filter matches, or there is none.
pub(crate) fn is_wanted(name: Text<'_>, filters: &[Pattern]) -> bool {
    if filters.is_empty() {
        return true;
    }
    let rules = MatchOptions { case_sensitive: true, ..MatchOptions::new() };
    let name = name.to_cow();
    filters.iter().any(|filter| filter.matches_with(&name, rules))
}

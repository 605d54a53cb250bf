//! Tensors of files, and their numbers: what commands do with `work`.

use std::path::Path;

use weightview::{TensorInfo, TensorView};

use crate::fault::Fault;
use crate::work::{self, PIECE, Piece, Span};

/// Elements of a piece are a multiple of this, so that every dtype's pieces are whole blocks.
const ALIGN: u64 = 256;

/// A tensor, and the file that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) info: TensorInfo<'a>,
}

/// Calls `work` with views of all tensors, piece by piece, and `done` with what it returned, in order: with the item's
/// place and whether that was its last piece. An item is a tensor, or several of as many elements, of which `work`
/// sees the same elements side by side. A tensor in one piece keeps its shape.
pub(crate) fn numbers<const N: usize, T: Send>(
    items: &[[Source<'_>; N]],
    work: impl Fn(&[TensorView<'_>]) -> Option<T> + Sync,
    done: impl FnMut(usize, bool, Option<T>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let spans: Vec<[Span<'_>; N]> = items.iter().map(spans).collect();
    let view = |piece: &Piece<'_>| {
        let sources = items.get(piece.item)?;
        let views: Option<Vec<_>> =
            sources.iter().zip(piece.bytes).map(|(source, bytes)| view(source, sources, piece.number, bytes)).collect();
        work(&views?)
    };
    work::pieces(&spans, view, done)
}

/// The bytes of the tensors of an item, in as many pieces each.
fn spans<'a, const N: usize>(sources: &[Source<'a>; N]) -> [Span<'a>; N] {
    let elements = at_once(sources);
    sources.each_ref().map(|source| {
        let dtype = source.info.dtype();
        let step = elements / u64::from(dtype.block_len()) * u64::from(dtype.block_bytes());
        Span { path: source.path, bytes: source.info.file_range(), step }
    })
}

/// How many elements make a piece.
fn at_once<const N: usize>(sources: &[Source<'_>; N]) -> u64 {
    let bytes = |source: &Source<'_>| {
        let dtype = source.info.dtype();
        ALIGN / u64::from(dtype.block_len()) * u64::from(dtype.block_bytes())
    };
    let bytes = sources.iter().map(bytes).max().unwrap_or(1);
    (PIECE / bytes).max(1) * ALIGN
}

fn view<'p, const N: usize>(
    source: &Source<'p>,
    sources: &[Source<'_>; N],
    number: u64,
    bytes: &'p [u8],
) -> Option<TensorView<'p>> {
    let (elements, at_once) = (source.info.elements(), at_once(sources));
    if elements <= at_once {
        return source.info.view(bytes).ok();
    }
    let start = number * at_once;
    source.info.piece(start..elements.min(start + at_once)).ok()?.view(bytes).ok()
}

//! What the tensors of a checkpoint hold, as one number: the digest that `weightview hash` prints.
//!
//! The digest of a tensor is BLAKE3 of its bytes: what `weightview export --as raw | b3sum` says. The digest of the
//! content is BLAKE3, in its mode for deriving keys and with the context [`CONTEXT`], of this, for each tensor in the
//! order of the names' UTF-8 bytes:
//!
//! ```text
//! u64 length of the name | the name, UTF-8
//! u64 length of the dtype's name | the dtype's name, as in the header
//! u64 number of dims | each dim as u64, outermost first
//! the 32 bytes of the tensor's digest
//! ```
//!
//! Integers are little-endian. So the digest changes with each name, dtype, shape and byte, and with nothing else: not
//! with the order of a header, padding, metadata, or how tensors are spread over files.

use blake3::hazmat::{ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};
use blake3::{Hash, Hasher};
use weightview::TensorInfo;

use crate::work::{PIECE, Piece};

/// Tells this use of BLAKE3 from any other.
const CONTEXT: &str = "weightview 2026-12-01 digest of a checkpoint's content, version 1";

/// The digest of the content.
pub(crate) struct Content(Hasher);

impl Content {
    pub(crate) fn new() -> Self {
        Self(Hasher::new_derive_key(CONTEXT))
    }

    /// Takes the next tensor, in the order of the names.
    pub(crate) fn add(&mut self, info: &TensorInfo<'_>, digest: Hash) {
        let name = info.name().to_cow();
        for text in [name.as_bytes(), info.dtype().as_str().as_bytes()] {
            self.0.update(&(text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self.0.update(&(info.shape().len() as u64).to_le_bytes());
        for dim in info.shape() {
            self.0.update(&dim.to_le_bytes());
        }
        self.0.update(digest.as_bytes());
    }

    pub(crate) fn finish(self) -> Hash {
        self.0.finalize()
    }
}

/// BLAKE3 of one piece of a tensor: of all of it, or of a part of the tree.
pub(crate) enum Node {
    Whole(Hash),
    Part(ChainingValue),
}

/// Of a piece of [`PIECE`] bytes, or less where the tensor ends.
pub(crate) fn node(piece: &Piece<'_>, only: bool) -> Node {
    let bytes = piece.bytes.first().copied().unwrap_or_default();
    if only {
        return Node::Whole(blake3::hash(bytes));
    }
    let mut hasher = Hasher::new();
    hasher.set_input_offset(piece.number * PIECE);
    Node::Part(hasher.update(bytes).finalize_non_root())
}

/// BLAKE3 of a tensor, put together from its pieces in their order. Its tree is made of full subtrees from the left,
/// which pieces are.
#[derive(Default)]
pub(crate) struct Tree {
    /// Subtrees that wait for their right neighbours, the largest first.
    waiting: Vec<ChainingValue>,
    pieces: u64,
}

impl Tree {
    /// Takes the next piece; the digest after the last one.
    pub(crate) fn add(&mut self, node: Node, last: bool) -> Option<Hash> {
        let part = match node {
            Node::Whole(hash) => return Some(hash),
            Node::Part(part) => part,
        };
        // Neighbours of one size are put together only when more follows: the two at the top make the root.
        for _ in 0..self.pieces.trailing_zeros() {
            self.join();
        }
        self.waiting.push(part);
        self.pieces += 1;
        if !last {
            return None;
        }
        while self.waiting.len() > 2 {
            self.join();
        }
        let tree = std::mem::take(self);
        match tree.waiting.as_slice() {
            [left, right] => Some(merge_subtrees_root(left, right, Mode::Hash)),
            _ => None, // a tensor of one piece comes whole
        }
    }

    fn join(&mut self) {
        if self.waiting.len() < 2 {
            return; // before the first piece
        }
        if let (Some(right), Some(left)) = (self.waiting.pop(), self.waiting.pop()) {
            self.waiting.push(merge_subtrees_non_root(&left, &right, Mode::Hash));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tree, node};
    use crate::work::{PIECE, Piece};

    /// Against the hash of all bytes at once, for sizes on both sides of every kind of edge.
    #[test]
    fn the_pieces_make_the_hash_of_the_whole() {
        let piece = PIECE as usize;
        let bytes: Vec<u8> = (0..9 * piece + 17).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for len in [0, 1, piece - 1, piece, piece + 1, 2 * piece, 3 * piece, 4 * piece, 5 * piece + 1024, 8 * piece]
            .into_iter()
            .chain([bytes.len()])
        {
            let bytes = &bytes[..len];
            let pieces: Vec<&[u8]> = if bytes.is_empty() { vec![&[]] } else { bytes.chunks(piece).collect() };
            let mut tree = Tree::default();
            let mut digest = None;
            for (number, bytes) in pieces.iter().enumerate() {
                assert_eq!(digest, None);
                let piece = Piece { item: 0, number: number as u64, bytes: &[bytes] };
                digest = tree.add(node(&piece, pieces.len() == 1), number + 1 == pieces.len());
            }
            assert_eq!(digest, Some(blake3::hash(bytes)), "{len} bytes");
        }
    }
}

//! Where the elements of a slice lie, as few numbers as will do.
//!
//! A slice is *lines*, all of one length. Along a line the elements lie at equal distances, or where a list says; and
//! so do the lines, along each of the outer axes. Axes that go on where the next inner one ends are one axis here,
//! and axes of length 1 are none: so a slice lies in one piece exactly when it is one line with no distances.
//!
//! Places and distances are counted in elements of the tensor. Unless there are none, every place is below their
//! number, so that the wrapping arithmetic here never wraps.

use core::ops::Range;

use super::axis::List;
use crate::dtype::Dtype;
use crate::limits::MAX_RANK;
use crate::slice::error::SliceError;

/// Where along an axis the elements lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps<'s> {
    /// At equal distances.
    Even { len: usize, stride: usize },
    /// At the listed positions of an axis of length `dim`, whose neighbours are `stride` apart.
    Listed { list: List<'s>, dim: usize, stride: usize },
}

impl Steps<'_> {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Even { len, .. } => *len,
            Self::Listed { list, .. } => list.len(),
        }
    }

    /// How far in.
    fn at(&self, i: usize) -> usize {
        match *self {
            Self::Even { stride, .. } => i.wrapping_mul(stride),
            Self::Listed { list, dim, stride } => list.position(i, dim).wrapping_mul(stride),
        }
    }
}

/// Where the elements lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'s> {
    base: usize,
    /// Of the whole slice.
    elements: usize,
    /// Along a line. It is not empty while there are elements.
    line: Steps<'s>,
    /// From line to line, outermost axis first.
    outer: [Steps<'s>; MAX_RANK],
    depth: usize,
}

impl<'s> Layout<'s> {
    /// One element, the first.
    pub(super) const fn point() -> Self {
        let one = Steps::Even { len: 1, stride: 1 };
        Self { base: 0, elements: 1, line: one, outer: [one; MAX_RANK], depth: 0 }
    }

    /// Starts that far behind.
    pub(super) const fn shift(&mut self, elements: usize) {
        self.base = self.base.wrapping_add(elements);
    }

    /// Adds the next inner axis.
    pub(super) fn push(&mut self, inner: Steps<'s>) {
        if inner.len() == 1 {
            return; // it starts where the layout does: a list of one is a range
        }
        if self.line.len() == 1 {
            self.line = inner; // the first axis that counts
            return;
        }
        if let (Steps::Even { len: outer_len, stride: outer }, Steps::Even { len, stride }) = (self.line, inner)
            && len.checked_mul(stride) == Some(outer)
        {
            self.line = Steps::Even { len: outer_len.wrapping_mul(len), stride };
            return;
        }
        // A tensor has no more axes than there is room for.
        if let Some(slot) = self.outer.get_mut(self.depth) {
            *slot = self.line;
            self.depth = self.depth.wrapping_add(1);
        }
        self.line = inner;
    }

    /// Closes the layout: all axes are there, and this is the product of their lengths.
    pub(super) const fn of_elements(self, elements: usize) -> Self {
        if elements == 0 { Self { elements, ..Self::point() } } else { Self { elements, ..self } }
    }

    pub(super) const fn elements(&self) -> usize {
        self.elements
    }

    /// How many elements lie one behind the other wherever the layout starts: a line, or one.
    pub(super) const fn piece(&self) -> usize {
        match self.line {
            Steps::Even { len, stride: 1 } => len,
            _ => 1,
        }
    }

    /// Where the slice starts, when it lies in one piece.
    pub(super) const fn one_piece(&self) -> Option<usize> {
        if self.elements == 0 || self.piece() == self.elements { Some(self.base) } else { None }
    }

    /// Whether every piece starts and ends on a byte.
    pub(super) fn expect_whole_bytes(&self, dtype: Dtype) -> Result<(), SliceError> {
        let block = dtype.block_len() as usize;
        if block == 1 || self.elements == 0 {
            return Ok(());
        }
        let is_whole = |elements: usize| elements.checked_rem(block) == Some(0);
        let len = self.piece();
        let first = self.line_at(0).wrapping_add(self.line.at(0));
        if !is_whole(first) || !is_whole(len) {
            return Err(SliceError::PartialByte { dtype, start: first, len });
        }
        // A piece of whole bytes is a line. Each of the others lies where the outer axes say, each on its own.
        for steps in self.outer.iter().take(self.depth) {
            let others = match steps {
                Steps::Even { .. } => 1..2,
                Steps::Listed { list, .. } => 1..list.len(),
            };
            for other in others {
                let start = first.wrapping_sub(steps.at(0)).wrapping_add(steps.at(other));
                if !is_whole(start) {
                    return Err(SliceError::PartialByte { dtype, start, len });
                }
            }
        }
        Ok(())
    }

    /// Where a line starts.
    fn line_at(&self, row: usize) -> usize {
        let mut rest = row;
        let mut start = self.base;
        for steps in self.outer.iter().take(self.depth).rev() {
            let len = steps.len();
            let (next, i) = if rest < len {
                (0, rest) // most often the outermost axis, which needs no division
            } else {
                (rest.checked_div(len).unwrap_or(0), rest.checked_rem(len).unwrap_or(0))
            };
            start = start.wrapping_add(steps.at(i));
            rest = next;
        }
        start
    }
}

/// A walk over the elements of a slice, from both ends.
#[derive(Clone, Debug)]
pub(super) struct Walk<'s> {
    layout: Layout<'s>,
    /// Elements left.
    left: usize,
    head: Cursor,
    tail: Cursor,
}

/// A place between two elements of a line, its ends included.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    row: usize,
    /// Where the line starts.
    start: usize,
    /// Elements of the line before this place.
    col: usize,
}

/// Some neighbours on a line.
pub(super) struct Stretch {
    start: usize,
    cols: Range<usize>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(layout: Layout<'s>) -> Self {
        let rows = layout.elements.checked_div(layout.line.len()).unwrap_or(0);
        let head = Cursor { row: 0, start: layout.line_at(0), col: 0 };
        // The start of the line behind the last: the first step goes to the last line's end.
        let tail = Cursor { row: rows, start: 0, col: 0 };
        Self { layout, left: layout.elements, head, tail }
    }

    pub(super) const fn len(&self) -> usize {
        self.left
    }

    pub(super) const fn layout(&self) -> &Layout<'s> {
        &self.layout
    }

    /// The next element's place.
    #[inline]
    pub(super) fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        self.turn_head();
        let place = self.head.start.wrapping_add(self.layout.line.at(self.head.col));
        self.head.col = self.head.col.wrapping_add(1);
        Some(place)
    }

    /// The last element's place.
    #[inline]
    pub(super) fn next_back(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        if self.tail.col == 0 {
            let row = self.tail.row.wrapping_sub(1);
            self.tail = Cursor { row, start: self.layout.line_at(row), col: self.layout.line.len() };
        }
        self.tail.col = self.tail.col.wrapping_sub(1);
        Some(self.tail.start.wrapping_add(self.layout.line.at(self.tail.col)))
    }

    /// The next elements, at most so many and no more than the line has.
    pub(super) fn stretch(&mut self, most: usize) -> Option<Stretch> {
        if self.left == 0 || most == 0 {
            return None;
        }
        self.turn_head();
        let Cursor { start, col, .. } = self.head;
        let len = self.layout.line.len().saturating_sub(col).min(self.left).min(most);
        let end = col.wrapping_add(len);
        self.head.col = end;
        self.left = self.left.wrapping_sub(len);
        Some(Stretch { start, cols: col..end })
    }

    /// Leaves out the next `n`.
    pub(super) fn skip(&mut self, n: usize) {
        if n >= self.left {
            self.left = 0;
            return;
        }
        self.left = self.left.wrapping_sub(n);
        let line = self.layout.line.len();
        let col = self.head.col.wrapping_add(n); // cols, and both together, are numbers of elements
        if col <= line {
            self.head.col = col;
        } else {
            let lines = col.checked_div(line).unwrap_or(0);
            let row = self.head.row.wrapping_add(lines);
            let col = col.checked_rem(line).unwrap_or(0);
            self.head = Cursor { row, start: self.layout.line_at(row), col };
        }
    }

    /// Leaves out the last `n`.
    pub(super) fn skip_back(&mut self, n: usize) {
        if n >= self.left {
            self.left = 0;
            return;
        }
        self.left = self.left.wrapping_sub(n);
        if let Some(col) = self.tail.col.checked_sub(n) {
            self.tail.col = col;
        } else {
            let line = self.layout.line.len();
            let before = self.tail.row.wrapping_mul(line).wrapping_add(self.tail.col).wrapping_sub(n);
            let row = before.checked_div(line).unwrap_or(0);
            let col = before.checked_rem(line).unwrap_or(0);
            self.tail = Cursor { row, start: self.layout.line_at(row), col };
        }
    }

    /// From the end of a line to the start of the next. There is one: this is called when elements are left.
    #[inline]
    fn turn_head(&mut self) {
        if self.head.col == self.layout.line.len() {
            let row = self.head.row.wrapping_add(1);
            self.head = Cursor { row, start: self.layout.line_at(row), col: 0 };
        }
    }
}

impl Stretch {
    pub(super) fn len(&self) -> usize {
        self.cols.len()
    }

    /// Where it starts, when its elements lie one behind the other.
    pub(super) fn one_piece(&self, layout: &Layout<'_>) -> Option<usize> {
        match layout.line {
            Steps::Even { stride: 1, .. } => Some(self.start.wrapping_add(self.cols.start)),
            _ => None,
        }
    }

    /// Where its elements lie.
    pub(super) fn places(self, layout: &Layout<'_>) -> impl Iterator<Item = usize> {
        let line = layout.line;
        self.cols.map(move |col| self.start.wrapping_add(line.at(col)))
    }
}

/// The bytes of elements that fill whole bytes.
pub(super) fn byte_range(dtype: Dtype, start: usize, elements: usize) -> Range<usize> {
    let bytes = |elements: usize| {
        let blocks = elements.checked_div(dtype.block_len() as usize).unwrap_or(0);
        blocks.wrapping_mul(dtype.block_bytes() as usize)
    };
    let start = bytes(start);
    start..start.wrapping_add(bytes(elements))
}

//! Why a part cannot be had.

use core::fmt;

use crate::dtype::Dtype;
use crate::element::CastError;

/// Why a part of a tensor cannot be had. Axes are counted from 0, the outermost.
///
/// Numbers are as the caller gave them: negative ones count from the end. (Any that are past `i64::MAX` are shown as
/// that.)
///
/// ```
/// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
/// use weightview::{Axis, SliceError};
///
/// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
/// let error = weight.slice(&[Axis::all(), (..65).into()]).unwrap_err();
/// assert_eq!(error, SliceError::Bound { axis: 1, bound: 65, dim: 64 });
/// assert_eq!(error.to_string(), "the bound 65 is past an end of axis 1, which has length 64");
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SliceError {
    /// More axes are named than the tensor has; or, for one element, not exactly as many.
    Rank {
        /// Axes named.
        given: usize,
        /// Axes that the tensor has.
        rank: usize,
    },
    /// The tensor has no such axis; a scalar has none at all.
    NoAxis {
        /// The axis asked for.
        axis: usize,
        /// Axes that the tensor has.
        rank: usize,
    },
    /// An index, or an entry of a list, is not on its axis.
    Index {
        /// The axis.
        axis: usize,
        /// The index.
        index: i64,
        /// The axis's length.
        dim: usize,
    },
    /// A bound of a range goes past an end of its axis.
    Bound {
        /// The axis.
        axis: usize,
        /// The bound.
        bound: i64,
        /// The axis's length.
        dim: usize,
    },
    /// A range ends before it starts.
    Reversed {
        /// The axis.
        axis: usize,
        /// The first position, counted from the axis's start.
        start: usize,
        /// The position behind the last.
        end: usize,
    },
    /// A step of 0; or a step of an index or a list, which have none.
    Step {
        /// The axis.
        axis: usize,
        /// The step.
        step: usize,
    },
    /// The elements are smaller than a byte, and the part is not made of whole bytes: see
    /// [`slice`](crate::slice#dtypes-below-a-byte). [`TensorView::element_f32`](crate::TensorView::element_f32)
    /// reads single F4 elements.
    PartialByte {
        /// The type of the elements.
        dtype: Dtype,
        /// Where a piece starts that is not whole bytes, counted in elements from the tensor's first.
        start: usize,
        /// How many elements the piece has.
        len: usize,
    },
    /// A run of elements ends before it starts, or past the tensor's last.
    Elements {
        /// The first element of the run.
        start: u64,
        /// The one behind its last.
        end: u64,
        /// How many the tensor has.
        len: u64,
    },
    /// Chunks of no elements.
    ChunkLen,
    /// Lists that repeat positions make more elements than memory could hold.
    TooLarge,
    /// The slice does not lie in one piece, so it is no [`TensorView`](crate::TensorView). Read it as it is, or run
    /// by run.
    NotContiguous,
    /// The element cannot be read in the way asked for.
    Cast(CastError),
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rank { given, rank } => write!(f, "{given} axes are named, but the tensor has {rank}"),
            Self::NoAxis { rank: 0, .. } => f.write_str("the tensor is a scalar, which has no axes"),
            Self::NoAxis { axis, rank } => write!(f, "there is no axis {axis}: the tensor has {rank}, counted from 0"),
            Self::Index { axis, index, dim } => {
                write!(f, "the index {index} is not on axis {axis}, which has length {dim}")
            }
            Self::Bound { axis, bound, dim } => {
                write!(f, "the bound {bound} is past an end of axis {axis}, which has length {dim}")
            }
            Self::Reversed { axis, start, end } => {
                write!(f, "the range on axis {axis} ends at {end}, before its start at {start}")
            }
            Self::Step { axis, step: 0 } => write!(f, "the step on axis {axis} is 0; it must be at least 1"),
            Self::Step { axis, step } => {
                write!(f, "axis {axis} has a step of {step}, but no range: only a range has steps")
            }
            Self::PartialByte { dtype, start, len } => {
                write!(
                    f,
                    "{dtype} elements come {} in {} bytes, which {len} from element {start} on do not fill; ",
                    dtype.block_len(),
                    dtype.block_bytes()
                )?;
                match dtype {
                    Dtype::F4 => f.write_str("take whole bytes, or read single elements with element_f32"),
                    _ => f.write_str("take whole blocks"),
                }
            }
            Self::Elements { start, end, .. } if end < start => {
                write!(f, "the elements asked for end at {end}, before their start at {start}")
            }
            Self::Elements { start, end, len } => {
                write!(f, "the elements {start} to {end} are asked for, but the tensor has {len}")
            }
            Self::ChunkLen => f.write_str("chunks must have at least one element"),
            Self::TooLarge => f.write_str("the lists repeat so much that the slice would not fit memory"),
            Self::NotContiguous => {
                f.write_str("the slice does not lie in one piece; use its own iter and read, or its runs")
            }
            Self::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SliceError {}

impl From<CastError> for SliceError {
    fn from(error: CastError) -> Self {
        Self::Cast(error)
    }
}

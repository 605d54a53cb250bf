//! What lies in one piece: rows, chunks, single elements.

use std::ops::Bound;

use weightview::{CastError, Dtype, SliceError, TensorView};

use super::case::{Case, Take};
use super::walks::assert_walks;
use super::{assert_is, expected, index_of};

/// Rows, chunks, single rows and single elements, and ranges of one axis.
pub(crate) fn assert_pieces(case: &Case) {
    case.with_tensor(|tensor| {
        let elements = tensor.elements();
        let block = case.dtype.block_len() as usize;
        assert_rows(tensor, case);

        for n in [0, 1, 2, 4, 12, elements / 2, elements, usize::from(case.spelling)] {
            match tensor.chunks(n) {
                Ok(chunks) => {
                    assert!(n.is_multiple_of(block) && (n > 0 || elements == 0), "{case:?}");
                    let starts = (0..elements).step_by(n.max(1));
                    let chunk = |start| part(tensor, vec![n.min(elements - start)], start);
                    let expected: Vec<_> = starts.map(chunk).collect();
                    let views: Vec<_> = chunks.clone().collect();
                    assert_eq!(views.len(), expected.len());
                    assert!(views.iter().zip(&expected).all(|(a, b)| same_part(&shape_and_data(*a), b)), "{case:?}");
                    let few = views.len() < 300;
                    assert_walks(chunks, &views, same_view, if few { &case.script } else { &[] });
                }
                Err(SliceError::ChunkLen) => assert!(n == 0 && elements > 0, "{case:?}"),
                Err(SliceError::PartialByte { dtype, start, len }) => {
                    assert!((dtype, start, len) == (case.dtype, 0, n) && !n.is_multiple_of(block), "{case:?}");
                }
                Err(error) => panic!("{error}: {case:?}"),
            }
        }

        for (axis, take) in case.takes.iter().enumerate() {
            if let Take::Range(start, end, 1) = take {
                let not_below = |bound: &Bound<i128>| match *bound {
                    Bound::Included(n) => usize::try_from(n).ok().map(Bound::Included),
                    Bound::Excluded(n) => usize::try_from(n).ok().map(Bound::Excluded),
                    Bound::Unbounded => Some(Bound::Unbounded),
                };
                let (Some(start), Some(end)) = (not_below(start), not_below(end)) else { continue };
                let narrowed = tensor.narrow(axis, (start, end));
                if axis >= case.shape.len() {
                    let rank = case.shape.len();
                    assert_eq!(narrowed.err(), Some(SliceError::NoAxis { axis, rank }));
                    continue;
                }
                let mut takes = vec![Take::Range(Bound::Unbounded, Bound::Unbounded, 1); axis];
                takes.push(take.clone());
                assert_is(tensor, narrowed, expected(&Case { takes, ..case.clone() }), case);
            }
        }

        if elements > 0 {
            for place in [0, elements / 3, elements - 1] {
                assert_element(tensor, place);
            }
        }
        assert_no_element(tensor);
    });
}

fn assert_rows(tensor: TensorView<'_>, case: &Case) {
    let Some((&dim, inner)) = tensor.shape().split_first() else {
        let error = SliceError::NoAxis { axis: 0, rank: 0 };
        assert_eq!((tensor.rows().err(), tensor.index(0).err()), (Some(error), Some(error)));
        return;
    };
    let block = case.dtype.block_len() as usize;
    let len: usize = inner.iter().product();
    let whole = len.is_multiple_of(block);
    match tensor.rows() {
        Ok(rows) => {
            assert!(whole || dim < 2, "{case:?}");
            assert_eq!(rows.len(), dim);
            let expected: Vec<_> = (0..dim).map(|i| tensor.index(i).expect("a row")).collect();
            for (i, row) in expected.iter().enumerate() {
                assert!(same_part(&shape_and_data(*row), &part(tensor, inner.to_vec(), i * len)), "{case:?}");
            }
            assert_walks(rows, &expected, same_view, &case.script);
        }
        Err(error) => {
            assert_eq!(error, SliceError::PartialByte { dtype: case.dtype, start: 0, len }, "{case:?}");
            assert!(!whole && dim > 1, "{case:?}");
        }
    }
    for i in (0..dim).take(5) {
        let partial = SliceError::PartialByte { dtype: case.dtype, start: i * len, len };
        assert_eq!(tensor.index(i).err(), (!whole).then_some(partial), "{case:?}");
    }
    for i in [dim, dim + 1, usize::MAX] {
        let index = i64::try_from(i).unwrap_or(i64::MAX);
        assert_eq!(tensor.index(i).err(), Some(SliceError::Index { axis: 0, index, dim }));
    }
}

/// The element at a place, by all ways to have it.
fn assert_element(tensor: TensorView<'_>, place: usize) {
    let index = index_of(tensor.shape(), place);
    let refused = |expected| SliceError::Cast(CastError::Dtype { expected, actual: tensor.dtype() });
    match tensor.iter_f32() {
        Ok(mut all) => {
            let ours = tensor.element_f32(&index).expect("an element");
            assert_eq!(ours.to_bits(), all.nth(place).expect("there").to_bits());
        }
        Err(_) => assert_eq!(tensor.element_f32(&index), Err(refused(None))),
    }
    match tensor.iter_f64() {
        Ok(mut all) => {
            let ours = tensor.element_f64(&index).expect("an element");
            assert_eq!(ours.to_bits(), all.nth(place).expect("there").to_bits());
        }
        Err(_) => assert_eq!(tensor.element_f64(&index), Err(refused(None))),
    }
    match tensor.dtype() {
        Dtype::U8 => assert_eq!(tensor.element(&index), Ok(tensor.data()[place])),
        Dtype::Bool => {
            let expected = match tensor.data()[place] {
                0 => Ok(false),
                1 => Ok(true),
                _ => Err(SliceError::Cast(CastError::Value { index: place })),
            };
            assert_eq!(tensor.element(&index), expected);
        }
        _ => assert_eq!(tensor.element::<u8>(&index), Err(refused(Some(Dtype::U8)))),
    }
}

/// Past the end of each axis, and too few and too many of them.
fn assert_no_element(tensor: TensorView<'_>) {
    if tensor.iter_f64().is_err() {
        return;
    }
    let rank = tensor.shape().len();
    let zeros = vec![0; rank];
    for (axis, &dim) in tensor.shape().iter().enumerate() {
        let mut index = zeros.clone();
        index[axis] = dim;
        let axis = tensor.shape()[..axis].iter().position(|&dim| dim == 0).unwrap_or(axis); // the first at fault
        let error = SliceError::Index { axis, index: index[axis] as i64, dim: tensor.shape()[axis] };
        assert_eq!(tensor.element_f64(&index), Err(error));
    }
    let more = [&zeros[..], &[0]].concat();
    assert_eq!(tensor.element_f64(&more), Err(SliceError::Rank { given: rank + 1, rank }));
    if rank > 0 {
        assert_eq!(tensor.element_f64(&zeros[1..]), Err(SliceError::Rank { given: rank - 1, rank }));
    }
}

type Part<'a> = (Vec<usize>, &'a [u8]);

fn part<'a>(tensor: TensorView<'a>, shape: Vec<usize>, start: usize) -> Part<'a> {
    let bits = tensor.dtype().bits() as usize;
    let end = start + shape.iter().product::<usize>();
    (shape, &tensor.data()[start * bits / 8..end * bits / 8])
}

fn shape_and_data(view: TensorView<'_>) -> Part<'_> {
    (view.shape().to_vec(), view.data())
}

fn same_part(a: &Part<'_>, b: &Part<'_>) -> bool {
    a.0 == b.0 && a.1 == b.1 && (a.1.is_empty() || std::ptr::eq(a.1, b.1))
}

fn same_view(a: &TensorView<'_>, b: &TensorView<'_>) -> bool {
    a.dtype() == b.dtype() && a.name().raw() == b.name().raw() && same_part(&shape_and_data(*a), &shape_and_data(*b))
}

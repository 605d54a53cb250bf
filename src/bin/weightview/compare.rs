//! Two tensors of one shape, number by number.

use weightview::{Dtype, TensorView};

/// How the numbers of two tensors differ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Difference {
    /// Elements that differ: of one dtype in their bytes, else in their values, of which two NaNs are the same.
    pub(crate) elements: u64,
    /// Of these, those where one or both are not finite: they are in none of the figures below.
    pub(crate) not_finite: u64,
    /// The largest |a − b|.
    pub(crate) max_abs: f64,
    /// The largest |a − b| / max(|a|, |b|): at most 2.
    pub(crate) max_rel: f64,
    /// Sums over all elements that are finite in both, from which the rest is told.
    finite: u64,
    squares: f64,
    dot: f64,
    norm_a: f64,
    norm_b: f64,
}

impl Difference {
    /// The root of the mean square of a − b; none where it does not fit, or there are no numbers.
    pub(crate) fn rms(&self) -> Option<f64> {
        let mean = self.squares / self.finite as f64;
        mean.is_finite().then(|| mean.sqrt())
    }

    /// The cosine of the angle between the tensors as vectors; none where one of them is all zeros.
    pub(crate) fn cosine(&self) -> Option<f64> {
        let cosine = self.dot / self.norm_a.sqrt() / self.norm_b.sqrt();
        cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
    }

    /// Of the elements of both.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.elements += other.elements;
        self.not_finite += other.not_finite;
        self.max_abs = self.max_abs.max(other.max_abs);
        self.max_rel = self.max_rel.max(other.max_rel);
        self.finite += other.finite;
        self.squares += other.squares;
        self.dot += other.dot;
        self.norm_a += other.norm_a;
        self.norm_b += other.norm_b;
    }

    /// Takes elements that are the same in both: what is left to know of them is how large they are.
    fn add_same(&mut self, view: &TensorView<'_>) {
        let mut add = |number: f64| {
            if number.is_finite() {
                self.finite += 1;
                self.dot += number * number;
                self.norm_a += number * number;
                self.norm_b += number * number;
            }
        };
        if let Ok(pairs) = view.iter::<[f32; 2]>() {
            pairs.flatten().for_each(|part| add(part.into()));
        } else if !matches!(view.dtype(), Dtype::F6E2M3 | Dtype::F6E3M2) {
            let _ = for_each_block(view, view, |number, _| add(number)); // it can be read
        }
    }

    fn add(&mut self, a: f64, b: f64, differ: bool) {
        self.elements += u64::from(differ);
        if !a.is_finite() || !b.is_finite() {
            self.not_finite += u64::from(differ);
            return;
        }
        let distance = (a - b).abs();
        self.finite += 1;
        self.squares += distance * distance;
        self.dot += a * b;
        self.norm_a += a * a;
        self.norm_b += b * b;
        if distance > 0.0 {
            self.max_abs = self.max_abs.max(distance);
            let larger = a.abs().max(b.abs());
            // Halved, where the difference of two huge numbers is too large.
            self.max_rel = self.max_rel.max((a / 2.0 - b / 2.0).abs() / larger * 2.0);
        }
    }
}

/// Whether the numbers of two dtypes can be held against each other.
pub(crate) fn are_comparable(a: Dtype, b: Dtype) -> bool {
    let is_number = |dtype| !matches!(dtype, Dtype::C64 | Dtype::F6E2M3 | Dtype::F6E3M2);
    a == b || is_number(a) && is_number(b)
}

/// The difference of two tensors, or pieces of them, of as many elements. None when the dtypes are not comparable.
pub(crate) fn difference(a: &TensorView<'_>, b: &TensorView<'_>) -> Option<Difference> {
    let mut difference = Difference::default();
    if a.dtype() == b.dtype() && a.data() == b.data() {
        difference.add_same(a);
    } else if a.dtype() != b.dtype() {
        for_each_block(a, b, |a, b| {
            let differ = a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan());
            difference.add(a, b, differ);
        })?;
    } else if matches!(a.dtype(), Dtype::F6E2M3 | Dtype::F6E3M2) {
        // Elements cannot be told apart: blocks of four.
        let size = a.dtype().block_bytes() as usize;
        let blocks = a.data().chunks(size).zip(b.data().chunks(size));
        difference.elements = blocks.filter(|(a, b)| a != b).count() as u64 * u64::from(a.dtype().block_len());
    } else if a.dtype() == Dtype::C64 {
        let pairs = a.iter::<[f32; 2]>().ok()?.zip(b.iter::<[f32; 2]>().ok()?);
        for (a, b) in pairs {
            let differ = a.map(f32::to_bits) != b.map(f32::to_bits);
            // Both parts are numbers of the vector, but one element.
            difference.add(a[0].into(), b[0].into(), differ);
            difference.add(a[1].into(), b[1].into(), false);
        }
    } else {
        let mut place = 0;
        let size = a.dtype().bits() as usize;
        let rounded = matches!(a.dtype(), Dtype::I64 | Dtype::U64);
        for_each_block(a, b, |x, y| {
            // Widening keeps elements apart, but for the payloads of some NaNs.
            let differ = if rounded || x.is_nan() && y.is_nan() {
                code(a.data(), place, size) != code(b.data(), place, size)
            } else {
                x.to_bits() != y.to_bits()
            };
            difference.add(x, y, differ);
            place += 1;
        })?;
    }
    Some(difference)
}

/// The bytes of an element, or its half of a byte.
fn code(data: &[u8], place: usize, bits: usize) -> Option<[u8; 8]> {
    let mut code = [0; 8];
    if bits == 4 {
        code[0] = data.get(place / 2)? >> (place % 2 * 4) & 0xF;
    } else {
        let bytes = data.get(place * (bits / 8)..)?.get(..bits / 8)?;
        code.get_mut(..bytes.len())?.copy_from_slice(bytes);
    }
    Some(code)
}

/// Calls `each` with the numbers of both, in turn. 64-bit integers are rounded to the nearest float.
fn for_each_block(a: &TensorView<'_>, b: &TensorView<'_>, mut each: impl FnMut(f64, f64)) -> Option<()> {
    const BLOCK: usize = 1024;
    let (mut block_a, mut block_b) = (vec![0f64; BLOCK], vec![0f64; BLOCK]);
    for (a, b) in a.chunks(BLOCK).ok()?.zip(b.chunks(BLOCK).ok()?) {
        let len = a.elements().min(b.elements());
        let (numbers_a, numbers_b) = (block_a.get_mut(..len)?, block_b.get_mut(..len)?);
        read(&a, numbers_a)?;
        read(&b, numbers_b)?;
        numbers_a.iter().zip(numbers_b).for_each(|(a, b)| each(*a, *b));
    }
    Some(())
}

fn read(view: &TensorView<'_>, out: &mut [f64]) -> Option<()> {
    match view.dtype() {
        Dtype::I64 => out.iter_mut().zip(view.iter::<i64>().ok()?).for_each(|(out, n)| *out = n as f64),
        Dtype::U64 => out.iter_mut().zip(view.iter::<u64>().ok()?).for_each(|(out, n)| *out = n as f64),
        _ => view.read_f64(out).ok()?,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use weightview::SafeTensors;

    use super::{Difference, difference};

    /// The difference of two tensors of these dtypes and bytes.
    fn of(a: (&str, &[u8]), b: (&str, &[u8]), elements: usize) -> Difference {
        let file = |(dtype, data): (&str, &[u8])| {
            let len = data.len();
            let header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":[{elements}],"data_offsets":[0,{len}]}}}}"#);
            [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
        };
        let (a, b) = (file(a), file(b));
        let tensor = |bytes| SafeTensors::parse(bytes).unwrap().tensor("x").unwrap();
        difference(&tensor(&a), &tensor(&b)).unwrap()
    }

    fn f32s(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn figures_of_a_few_numbers() {
        let (a, b) = (f32s(&[3.0, 4.0, 0.0, 1.0]), f32s(&[3.0, 2.0, 0.0, -1.0]));
        let it = of(("F32", &a), ("F32", &b), 4);
        assert_eq!((it.elements, it.not_finite, it.max_abs, it.max_rel), (2, 0, 2.0, 2.0));
        assert_eq!(it.rms(), Some(2f64.sqrt()));
        assert_eq!(it.cosine(), Some(16.0 / 26f64.sqrt() / 14f64.sqrt()));
        let same = of(("F32", &a), ("F32", &a), 4);
        assert_eq!((same.elements, same.rms(), same.cosine()), (0, Some(0.0), Some(1.0)));
    }

    #[test]
    fn what_is_not_finite_is_counted_apart() {
        let a = f32s(&[f32::NAN, f32::INFINITY, 1.0, f32::NAN, f32::INFINITY]);
        let b = f32s(&[f32::NAN, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::INFINITY]);
        let it = of(("F32", &a), ("F32", &b), 5);
        assert_eq!((it.elements, it.not_finite, it.max_abs), (3, 3, 0.0), "the sign of a NaN is a bit that differs");
        assert_eq!(it.rms(), None);
    }

    #[test]
    fn one_value_in_two_dtypes() {
        let narrow = [0x80, 0x3F, 0xC0, 0x7F, 0x00, 0x80]; // 1, NaN, -0 in BF16
        let wide = f32s(&[1.0, f32::from_bits(0x7FC0_0001), -0.0]);
        assert_eq!(of(("BF16", &narrow), ("F32", &wide), 3).elements, 0);
        let wide = f32s(&[1.0 + f32::EPSILON, 0.0, 0.0]);
        let it = of(("BF16", &narrow), ("F32", &wide), 3);
        assert_eq!((it.elements, it.not_finite, it.max_abs), (3, 1, f64::from(f32::EPSILON)));
    }

    #[test]
    fn integers_that_no_float_tells_apart() {
        let (a, b) = ((1u64 << 60).to_le_bytes(), ((1u64 << 60) + 1).to_le_bytes());
        let it = of(("U64", &a), ("U64", &b), 1);
        assert_eq!((it.elements, it.max_abs), (1, 0.0));
    }

    #[test]
    fn halves_of_a_byte_complex_numbers_and_blocks() {
        let it = of(("F4", &[0x21, 0x43]), ("F4", &[0x21, 0x53]), 4);
        assert_eq!((it.elements, it.max_abs), (1, 1.0)); // 2 and 3
        let (a, b) = (f32s(&[1.0, 2.0, 3.0, 4.0]), f32s(&[1.0, 2.5, 2.5, 4.5]));
        assert_eq!(of(("C64", &a), ("C64", &b), 2).elements, 2);
        assert_eq!(of(("F6_E2M3", &[0; 6]), ("F6_E2M3", &[0, 0, 0, 0, 1, 0]), 8).elements, 4);
    }

    #[test]
    fn huge_numbers() {
        let bytes = |number: f64| number.to_le_bytes();
        let it = of(("F64", &bytes(f64::MAX)), ("F64", &bytes(-f64::MAX)), 1);
        assert_eq!((it.max_abs, it.max_rel, it.rms(), it.cosine()), (f64::INFINITY, 2.0, None, None));
    }
}

//! Narrowing, against `half`, which rounds as IEEE 754 does: at every boundary, and at random.

use half::{bf16, f16};
use weightview::CastError;
use weightview::narrow::{self, Counts, Overflow};

/// A 16-bit float, as the tests need it.
trait Sixteen: Copy + Default {
    const MAX: Self;
    const MIN_NORMAL: f32;
    fn of(code: u16) -> Self;
    fn code(self) -> u16;
    fn wide(self) -> f32;
    fn by_half(number: f32) -> Self;
    fn ours(numbers: &[f32], out: &mut [Self], overflow: Overflow) -> Result<Counts, CastError>;
}

macro_rules! sixteen {
    ($($type:ident: $ours:path;)*) => {$(
        impl Sixteen for $type {
            const MAX: Self = Self::MAX;
            const MIN_NORMAL: f32 = Self::MIN_POSITIVE.to_f32_const();
            fn of(code: u16) -> Self {
                Self::from_bits(code)
            }
            fn code(self) -> u16 {
                self.to_bits()
            }
            fn wide(self) -> f32 {
                self.to_f32_const()
            }
            fn by_half(number: f32) -> Self {
                Self::from_f32_const(number)
            }
            fn ours(numbers: &[f32], out: &mut [Self], overflow: Overflow) -> Result<Counts, CastError> {
                $ours(numbers, out, overflow)
            }
        }
    )*};
}

sixteen! {
    bf16: narrow::f32_to_bf16;
    f16: narrow::f32_to_f16;
}

/// What must come out for one number, by `half`, and what it costs.
fn expected<T: Sixteen>(number: f32, overflow: Overflow, counts: &mut Counts) -> u16 {
    let theirs = T::by_half(number);
    let wide = theirs.wide();
    let over = number.is_finite() && wide.is_infinite();
    counts.overflowed += u64::from(over);
    counts.underflowed += u64::from(number != 0.0 && wide == 0.0);
    counts.subnormal += u64::from(wide != 0.0 && wide.abs() < T::MIN_NORMAL);
    counts.inexact += u64::from(number.is_finite() && wide != number);
    counts.nans += u64::from(number.is_nan());
    if number.is_nan() {
        assert!(wide.is_nan() && wide.is_sign_negative() == number.is_sign_negative());
    }
    match overflow {
        Overflow::Saturate if over => T::MAX.code() | theirs.code() & 0x8000,
        _ => theirs.code(),
    }
}

fn assert_narrows<T: Sixteen>(numbers: &[f32]) {
    for overflow in [Overflow::Saturate, Overflow::Infinity] {
        // In pieces, so that a wrong count is found where it is.
        for numbers in numbers.chunks(997) {
            let mut counts = Counts::default();
            let expected: Vec<_> = numbers.iter().map(|&number| expected::<T>(number, overflow, &mut counts)).collect();
            let mut out = vec![T::default(); numbers.len()];
            assert_eq!(T::ours(numbers, &mut out, overflow), Ok(counts), "{overflow:?} {numbers:?}");
            for ((&number, out), &expected) in numbers.iter().zip(out).zip(&expected) {
                assert_eq!(out.code(), expected, "{overflow:?} {number:e} {:#010x}", number.to_bits());
            }
        }
    }
}

/// Every number of the narrow type, the middle between it and the next, and the f32s around both; and what an f32
/// has besides.
fn boundaries<T: Sixteen>() -> Vec<f32> {
    let mut numbers = vec![0.0, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::INFINITY];
    for code in 0..=T::MAX.code() {
        let (this, next) = (f64::from(T::of(code).wide()), T::of(code + 1).wide());
        // Past the largest lies what would be next: as far again as the one before.
        let next = if next.is_finite() { next.into() } else { this + this - f64::from(T::of(code - 1).wide()) };
        let middle = (this + next) / 2.0;
        assert!(f64::from(middle as f32) == middle || (middle as f32) < T::MIN_NORMAL, "a middle is an f32");
        for number in [this, middle] {
            let bits = (number as f32).to_bits();
            numbers.extend([bits.saturating_sub(1), bits, bits + 1].map(f32::from_bits));
        }
    }
    let negative: Vec<_> = numbers.iter().map(|number| -number).collect();
    numbers.extend(negative);
    numbers
}

fn nans() -> Vec<f32> {
    let payloads = (0..23).map(|bit| 1u32 << bit).chain([0x7F_FFFF, 0x40_0001, 0x1FFF, 0x2000, 0xFFFF, 0x1_0000]);
    payloads.flat_map(|payload| [0x7F80_0000 | payload, 0xFF80_0000 | payload]).map(f32::from_bits).collect()
}

fn random(count: usize) -> Vec<f32> {
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from_bits((state >> 32) as u32)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn f32_to_bf16_at_every_boundary() {
    assert_narrows::<bf16>(&boundaries::<bf16>());
    assert_narrows::<bf16>(&nans());
}

#[test]
fn f32_to_f16_at_every_boundary() {
    assert_narrows::<f16>(&boundaries::<f16>());
    assert_narrows::<f16>(&nans());
}

#[test]
fn at_random() {
    let mut numbers = random(1_000_000);
    assert_narrows::<bf16>(&numbers);
    assert_narrows::<f16>(&numbers);
    // And again with exponents that F16 has, or nearly.
    for number in &mut numbers {
        let bits = number.to_bits();
        *number = f32::from_bits(bits & 0x807F_FFFF | (100 + (bits >> 23 & 63) % 46) << 23);
    }
    assert_narrows::<f16>(&numbers);
}

#[test]
fn bf16_to_f16_is_exhausted() {
    let numbers: Vec<_> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for overflow in [Overflow::Saturate, Overflow::Infinity] {
        let mut counts = Counts::default();
        let expected: Vec<_> =
            numbers.iter().map(|x| expected::<f16>(x.to_f32_const(), overflow, &mut counts)).collect();
        let mut out = vec![f16::ZERO; numbers.len()];
        assert_eq!(narrow::bf16_to_f16(&numbers, &mut out, overflow), Ok(counts));
        for ((number, out), expected) in numbers.iter().zip(&out).zip(expected) {
            assert_eq!(out.to_bits(), expected, "{overflow:?} {number:?}");
        }
        assert!(counts.overflowed > 0 && counts.underflowed > 0 && counts.subnormal > 0 && counts.nans == 2 * 127);
        assert!(counts.inexact > counts.overflowed + counts.underflowed);
    }
}

/// The numbers that decide, by hand.
#[test]
fn the_thresholds_of_f16() {
    let tiny = 2f32.powi(-24);
    for (number, saturated, infinite, counts) in [
        (65504.0, 65504.0, 65504.0, [0, 0, 0, 0]),
        (65519.996, 65504.0, 65504.0, [0, 0, 0, 1]),
        (65520.0, 65504.0, f32::INFINITY, [1, 0, 0, 1]),
        (65536.0, 65504.0, f32::INFINITY, [1, 0, 0, 1]),
        (-1e38, -65504.0, f32::NEG_INFINITY, [1, 0, 0, 1]),
        (f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, [0, 0, 0, 0]),
        (tiny, tiny, tiny, [0, 0, 1, 0]),
        (tiny / 2.0, 0.0, 0.0, [0, 1, 0, 1]),
        (tiny * 0.500_001, tiny, tiny, [0, 0, 1, 1]),
        (tiny * 1.5, tiny * 2.0, tiny * 2.0, [0, 0, 1, 1]),
        (tiny * 1023.5, tiny * 1024.0, tiny * 1024.0, [0, 0, 0, 1]),
        (f32::from_bits(1), 0.0, 0.0, [0, 1, 0, 1]),
        (-0.0, -0.0, -0.0, [0, 0, 0, 0]),
    ] {
        for (overflow, expected) in [(Overflow::Saturate, saturated), (Overflow::Infinity, infinite)] {
            let mut out = [f16::NAN];
            let got = narrow::f32_to_f16(&[number], &mut out, overflow).expect("alike");
            assert_eq!(out[0].to_f32_const().to_bits(), expected.to_bits(), "{number:e}");
            assert_eq!([got.overflowed, got.underflowed, got.subnormal, got.inexact], counts, "{number:e}");
        }
    }
}

/// Loops have ends: a number at each place of each length, between ones that cost nothing.
#[test]
fn every_length() {
    for len in 0..=70 {
        for place in 0..len {
            let mut numbers = vec![1.0f32; len];
            numbers[place] = 1e6;
            let mut out = vec![f16::ZERO; len];
            let counts = narrow::f32_to_f16(&numbers, &mut out, Overflow::Infinity).expect("alike");
            assert_eq!((counts.overflowed, counts.inexact, counts.underflowed, counts.nans), (1, 1, 0, 0));
            assert!(
                out.iter()
                    .enumerate()
                    .all(|(at, x)| x.is_infinite() == (at == place) && (at == place || *x == f16::ONE))
            );
        }
    }
    // Past the length after which counts are added up.
    let mut out = vec![bf16::ZERO; 200_000];
    let counts = narrow::f32_to_bf16(&vec![f32::MAX; 200_000], &mut out, Overflow::Saturate).expect("alike");
    assert_eq!((counts.overflowed, counts.inexact), (200_000, 200_000));
    assert!(out.iter().all(|&x| x == bf16::MAX));
}

#[test]
fn lengths_must_be_alike() {
    let error = Err(CastError::Size { expected: 2, actual: 3 });
    let mut out = [f16::ONE; 3];
    assert_eq!(narrow::f32_to_f16(&[0.0; 2], &mut out, Overflow::Saturate), error);
    assert_eq!(narrow::bf16_to_f16(&[bf16::ZERO; 2], &mut out, Overflow::Saturate), error);
    assert_eq!(out, [f16::ONE; 3], "untouched");
    assert_eq!(narrow::f32_to_bf16(&[0.0; 2], &mut [bf16::ONE; 3], Overflow::Saturate), error);
    assert_eq!(narrow::f32_to_bf16(&[], &mut [], Overflow::Saturate), Ok(Counts::default()));
}

#[test]
fn counts_add_up() {
    let mut all = Counts::default();
    for number in [1e9, 1e-9, 1e-6, 0.1, f32::NAN] {
        all += narrow::f32_to_f16(&[number], &mut [f16::ZERO], Overflow::Infinity).expect("alike");
    }
    let once = narrow::f32_to_f16(&[1e9, 1e-9, 1e-6, 0.1, f32::NAN], &mut [f16::ZERO; 5], Overflow::Infinity);
    assert_eq!(Ok(all), once);
    assert_eq!((all.overflowed, all.underflowed, all.subnormal, all.inexact, all.nans), (1, 1, 1, 4, 1));
}

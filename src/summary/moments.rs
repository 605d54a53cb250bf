//! Mean and standard deviation, in one pass, mergeable, and in range for every `f64`.

/// How many numbers, their mean, and the sum of the squares of their distances from it.
///
/// A block of numbers is summed around a pivot: the mean of all before it, or the first number. What was
/// summed before lies around that pivot with no first moment, so that the two combine with one subtraction of
/// small numbers (Chan, Golub and LeVeque, 1983). Numbers that are all the same differ from the pivot by
/// exactly 0, and so does their deviation.
///
/// Squares of numbers that are very large or very small would leave `f64`: mean and squares are kept of the
/// numbers times `scale`, a power of two which [`fit`](Self::fit) chooses by the largest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    scale: f64,
}

impl Moments {
    pub(super) const EMPTY: Self = Self { count: 0, mean: 0.0, squares: 0.0, scale: SCALE_UP };

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// What numbers are to be multiplied with before they are summed.
    pub(super) const fn scale(&self) -> f64 {
        self.scale
    }

    /// Makes room for numbers below 2^(top + 1). `top` never falls.
    pub(super) fn fit(&mut self, top: i32) {
        let scale = match top {
            ..-480 => SCALE_UP,
            -480..480 => 1.0,
            480.. => SCALE_DOWN,
        };
        // From up to down, this is 0: all before was nothing beside what comes.
        let by = scale / self.scale;
        self.mean *= by;
        self.squares *= by; // not by² at once, which leaves the range
        self.squares *= by;
        self.scale = scale;
    }

    /// Around what to sum the next numbers, the first of which, scaled, is given.
    pub(super) const fn pivot(&self, first: f64) -> f64 {
        if self.count == 0 { first } else { self.mean }
    }

    /// Adds `count` numbers, of which sum and squares around the pivot are given.
    pub(super) fn add(&mut self, pivot: f64, count: u64, sum: f64, squares: f64) {
        self.count = self.count.saturating_add(count);
        let total = self.count as f64;
        self.mean = pivot + sum / total;
        self.squares = (self.squares + squares - sum * (sum / total)).max(0.0);
    }

    /// The numbers of both, which are scaled alike.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
        } else if other.count > 0 {
            let (ours, theirs) = (self.count as f64, other.count as f64);
            let total = ours + theirs;
            let apart = other.mean - self.mean;
            self.count = self.count.saturating_add(other.count);
            self.mean += apart * (theirs / total);
            self.squares += other.squares + apart * apart * (ours * theirs / total);
        }
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean / self.scale)
    }

    pub(super) fn std(&self) -> Option<f64> {
        (self.count > 0).then(|| sqrt(self.squares / self.count as f64) / self.scale)
    }
}

const SCALE_UP: f64 = power(600);
const SCALE_DOWN: f64 = power(-600);

/// 2^exponent, for exponents of normal numbers.
pub(super) const fn power(exponent: i32) -> f64 {
    f64::from_bits((exponent.wrapping_add(1023) as u64) << 52)
}

/// The square root, correctly rounded. `core` has none in floating point, but it has one of integers.
fn sqrt(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x == f64::INFINITY {
        return x;
    }
    // x = mantissa · 2^exponent
    let (fraction, biased) = (x.to_bits() & 0xF_FFFF_FFFF_FFFF, (x.to_bits() >> 52) as i32);
    let (mantissa, exponent) = match biased {
        0 => (u128::from(fraction), -1074),
        _ => (u128::from(fraction | 1 << 52), biased.wrapping_sub(1075)),
    };
    // = wide · 2^(2·half), with `wide` as large as it goes, so that its root has 64 bits.
    let spare = mantissa.leading_zeros();
    let odd = exponent.wrapping_sub(spare as i32) & 1;
    let spare = spare.wrapping_sub(odd as u32);
    let wide = mantissa << spare;
    let half = exponent.wrapping_sub(spare as i32) >> 1;
    let root = wide.isqrt();
    // Of its 64 bits the conversion rounds off 11; that there was more is noted in the last of them.
    let more = u128::from(root.wrapping_mul(root) != wide);
    (root | more) as u64 as f64 * power(half)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::sqrt;

    #[test]
    fn sqrt_is_the_processors() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let special = [0.0, -0.0, f64::MIN_POSITIVE, 5e-324, 1e-320, 1.0, 2.0, 4.0, f64::MAX, f64::INFINITY];
        for x in special.into_iter().chain((0..200_000).map(|_| f64::from_bits(random() >> 1))) {
            assert!(sqrt(x).to_bits() == x.sqrt().to_bits() || x.is_nan(), "{x:e}: {:e}", sqrt(x));
        }
        for n in 1..100_000u32 {
            let square = f64::from(n) * f64::from(n);
            assert_eq!(sqrt(square), f64::from(n));
            let next = f64::from_bits(square.to_bits() + 1);
            assert_eq!(sqrt(next), next.sqrt());
        }
        assert!(sqrt(f64::NAN).is_nan());
    }
}

//! Summaries, against sums and counts made the plain way, and against numpy.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use weightview::{Bin, CastError, Dtype, SafeTensors, Summary};

use crate::grid::{Placed, noise, single_f64};

/// All that a summary says, the plain way. `normal` is the smallest normal number.
fn assert_sums_up(summary: &Summary, numbers: &[f64], normal: f64, about: &str) {
    let count = |is: &dyn Fn(f64) -> bool| numbers.iter().filter(|&&number| is(number)).count() as u64;
    assert_eq!(summary.len(), numbers.len() as u64, "{about}");
    assert_eq!(summary.nans(), count(&f64::is_nan), "{about}");
    assert_eq!(summary.infinities(), count(&f64::is_infinite), "{about}");
    assert_eq!(summary.negative_infinities(), count(&|x| x == f64::NEG_INFINITY), "{about}");
    assert_eq!(summary.zeros(), count(&|x| x == 0.0), "{about}");
    assert_eq!(summary.negatives(), count(&|x| x < 0.0), "{about}");
    assert_eq!(summary.subnormals(), count(&|x| x != 0.0 && x.abs() < normal), "{about}");
    let some = numbers.iter().copied().filter(|number| !number.is_nan());
    assert_eq!(summary.min(), some.clone().reduce(f64::min), "{about}");
    assert_eq!(summary.max(), some.reduce(f64::max), "{about}");

    let finite: Vec<_> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
    assert_eq!(summary.finite(), finite.len() as u64, "{about}");
    assert_spread(summary, &finite, about);
    // In two passes, of numbers that are scaled so that no square overflows.
    let most = finite.iter().fold(0f64, |most, number| most.max(number.abs()));
    let scale = if most > 1e150 {
        2f64.powi(-600)
    } else if most < 1e-150 {
        2f64.powi(600)
    } else {
        1.0
    };
    let n = finite.len() as f64;
    let mean = precise(finite.iter().map(|x| x * scale)) / n;
    let squares = precise(finite.iter().map(|x| (x * scale - mean) * (x * scale - mean)));
    match (summary.mean(), summary.std()) {
        (Some(ours), Some(std)) => {
            let spread = (squares / n).sqrt() / scale;
            let mean = mean / scale;
            assert!((ours - mean).abs() <= 1e-14 * (mean.abs() + spread), "{about}: mean {ours:e}, not {mean:e}");
            // The mean itself is rounded, and with it the deviations from it.
            assert!(
                (std - spread).abs() <= 1e-12 * spread + 1e-15 * mean.abs(),
                "{about}: std {std:e}, not {spread:e}"
            );
        }
        (mean, std) => assert!(finite.is_empty() && mean.is_none() && std.is_none(), "{about}"),
    }
}

/// A sum that keeps what each addition loses.
fn precise(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0f64, 0f64);
    for number in numbers {
        let next = sum + number;
        lost += if sum.abs() >= number.abs() { sum - next + number } else { number - next + sum };
        sum = next;
    }
    sum + lost
}

/// Each view of the histogram accounts for each number once, in the bin whose edges it lies between.
fn assert_spread(summary: &Summary, finite: &[f64], about: &str) {
    let histogram = summary.histogram();
    let (bars, octaves, bins): (Vec<_>, Vec<_>, Vec<_>) =
        (histogram.bars().collect(), histogram.octaves().collect(), histogram.bins().collect());
    for (bins, zeros_apart) in [(&bars, false), (&octaves, true), (&bins, true)] {
        let holds = |bin: &Bin, number: f64| match () {
            () if bin.high == 0.0 && bin.low == 0.0 => number == 0.0,
            () if bin.high <= 0.0 => bin.low < number && number <= bin.high && number < 0.0,
            () if zeros_apart && number == 0.0 => false,
            () => bin.low <= number && number < bin.high,
        };
        for bin in bins {
            let expected = finite.iter().filter(|&&number| holds(bin, number)).count() as u64;
            assert_eq!(bin.count, expected, "{about}: {bin:?}");
        }
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), finite.len() as u64, "{about}");
        assert!(bins.windows(2).all(|pair| pair[0].high == pair[1].low), "{about}: no gaps");
        assert!(bins.first().is_none_or(|bin| bin.count > 0) && bins.last().is_none_or(|bin| bin.count > 0), "{about}");
    }
    assert!(bars.len() <= 32 && octaves.len() <= 33 && bins.len() <= 243);
    let mut widths = bars.iter().map(|bar| bar.high - bar.low).filter(|width| width.is_finite());
    if let Some(width) = widths.next() {
        assert!(widths.all(|other| other == width) && width.to_bits() << 12 == 0, "{about}: one power of two");
    }
}

fn smallest_normal(dtype: Dtype) -> f64 {
    let two = |exponent| 2f64.powi(exponent);
    match dtype {
        Dtype::F4 => 1.0,
        Dtype::F8E4M3 => two(-6),
        Dtype::F8E4M3Fnuz => two(-7),
        Dtype::F8E5M2 | Dtype::F16 => two(-14),
        Dtype::F8E5M2Fnuz => two(-15),
        Dtype::BF16 | Dtype::F32 => f32::MIN_POSITIVE.into(),
        Dtype::F64 => f64::MIN_POSITIVE,
        _ => 0.0,
    }
}

/// The tensor's numbers, one by one.
fn numbers(dtype: Dtype, data: &[u8]) -> Option<Vec<f64>> {
    let elements = data.len() * 8 / dtype.bits() as usize;
    let eight = |place: usize| data[8 * place..][..8].try_into().expect("8 bytes");
    Some(match dtype {
        Dtype::I64 => (0..elements).map(|place| i64::from_le_bytes(eight(place)) as f64).collect(),
        Dtype::U64 => (0..elements).map(|place| u64::from_le_bytes(eight(place)) as f64).collect(),
        _ => (0..elements).map(|place| single_f64(dtype, data, place)).collect::<Option<_>>()?,
    })
}

fn assert_bytes(dtype: Dtype, data: &[u8], about: &str) -> Summary {
    let numbers = numbers(dtype, data).expect("it has numbers");
    let summary = Placed::new(dtype, data, 0).tensor().summary().expect("it has numbers");
    assert_sums_up(&summary, &numbers, smallest_normal(dtype), &format!("{dtype} {about}"));
    summary
}

fn f32s(numbers: &[f32]) -> Summary {
    let bytes: Vec<_> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_bytes(Dtype::F32, &bytes, "made")
}

fn f64s(numbers: &[f64]) -> Summary {
    let bytes: Vec<_> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_bytes(Dtype::F64, &bytes, "made")
}

/// Numbers like weights: around 0, most of them small.
fn weights(count: usize, seed: u64) -> Vec<f64> {
    let bytes = noise(count * 6, seed);
    let sum = |six: &[u8]| six.iter().map(|&byte| f64::from(byte) - 127.5).sum::<f64>();
    bytes.chunks_exact(6).map(|six| sum(six) / 20_000.0).collect()
}

#[test]
fn of_noise_of_every_dtype() {
    for &dtype in Dtype::ALL {
        for elements in [0, 2, 4, 6, 8, 62, 64, 66, 254, 256, 258, 1022, 1024, 1026, 1090, 3000] {
            let data = noise(elements * dtype.bits() as usize / 8, elements as u64);
            if matches!(dtype, Dtype::C64 | Dtype::F6E2M3 | Dtype::F6E3M2) {
                continue;
            }
            assert_bytes(dtype, &data, &format!("noise {elements}"));
        }
    }
}

#[test]
fn of_all_codes() {
    let codes: Vec<_> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for dtype in [Dtype::F16, Dtype::BF16, Dtype::I16, Dtype::U16] {
        assert_bytes(dtype, &codes, "all codes");
    }
    let codes: Vec<_> = (0..=u8::MAX).collect();
    for &dtype in Dtype::ALL.iter().filter(|dtype| dtype.bits() == 8 || **dtype == Dtype::F4) {
        assert_bytes(dtype, &codes, "all codes");
    }
}

#[test]
fn of_weights() {
    let weights = weights(20_000, 4);
    let bf16s: Vec<_> = weights.iter().flat_map(|&x| bf16::from_f64(x).to_le_bytes()).collect();
    let f16s: Vec<_> = weights.iter().flat_map(|&x| f16::from_f64(x * x * x).to_le_bytes()).collect();
    assert_bytes(Dtype::BF16, &bf16s, "weights");
    let summary = assert_bytes(Dtype::F16, &f16s, "weights");
    assert!(summary.subnormals() > 1000 && summary.zeros() > 0, "{summary:?}");
    f64s(&weights);
    let summary = f32s(&weights.iter().map(|&x| x as f32).collect::<Vec<_>>());
    assert!(summary.histogram().bars().count() > 16);
}

/// Where the data lie does not matter, nor which path they take through memory.
#[test]
fn at_every_alignment() {
    let data = noise(1104 * 8, 9);
    for &dtype in Dtype::ALL {
        let Ok(aligned) = Placed::new(dtype, &data, 0).tensor().summary() else { continue };
        for at in 1..16 {
            let shifted = Placed::new(dtype, &data, at).tensor().summary().expect("as before");
            assert_eq!(format!("{shifted:?}"), format!("{aligned:?}"));
        }
    }
}

#[test]
fn of_what_has_no_order_or_no_packing() {
    for actual in [Dtype::C64, Dtype::F6E2M3, Dtype::F6E3M2] {
        let error = CastError::Dtype { expected: None, actual };
        assert_eq!(Placed::new(actual, &[0; 24], 0).tensor().summary().err(), Some(error));
        assert_eq!(Placed::new(actual, &[], 0).tensor().summary().err(), Some(error));
    }
}

#[test]
fn of_nothing() {
    let summary = f32s(&[]);
    assert_eq!(
        (summary.len(), summary.min(), summary.max(), summary.mean(), summary.std()),
        (0, None, None, None, None)
    );
    assert_eq!(summary.histogram().bars().count() + summary.histogram().octaves().count(), 0);
    assert_eq!(format!("{:?}", Summary::EMPTY), format!("{summary:?}"));
}

#[test]
fn of_one() {
    let summary = f32s(&[-0.1]);
    let number = Some(f64::from(-0.1f32));
    assert_eq!((summary.min(), summary.max(), summary.mean(), summary.std()), (number, number, number, Some(0.0)));
    assert_eq!(summary.histogram().bars().count(), 1);
    let summary = f64s(&[f64::from_bits(1)]);
    assert_eq!((summary.mean(), summary.std(), summary.subnormals()), (Some(5e-324), Some(0.0), 1));
}

#[test]
fn of_nans_alone() {
    for len in [1, 63, 64, 65, 1024, 5000] {
        let summary = f32s(&vec![f32::NAN; len]);
        assert_eq!((summary.nans(), summary.min(), summary.mean()), (len as u64, None, None));
    }
}

#[test]
fn of_infinities_alone() {
    let summary = f32s(&[f32::INFINITY, f32::NAN]);
    assert_eq!((summary.min(), summary.max()), (Some(f64::INFINITY), Some(f64::INFINITY)));
    assert_eq!((summary.mean(), summary.infinities(), summary.negative_infinities()), (None, 1, 0));
    let summary = f64s(&[f64::NEG_INFINITY; 2]);
    assert_eq!((summary.min(), summary.max()), (Some(f64::NEG_INFINITY), Some(f64::NEG_INFINITY)));
    assert_eq!((summary.negatives(), summary.negative_infinities()), (2, 2));
}

/// NaNs and infinities at any place leave the rest as it is.
#[test]
fn of_numbers_among_which_some_are_not_finite() {
    let weights: Vec<_> = weights(3000, 5).iter().map(|&x| x as f32).collect();
    for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [0, 1, 15, 63, 64, 100, 1023, 1024, 2998, 2999] {
            let mut numbers = weights.clone();
            numbers[place] = odd;
            f32s(&numbers);
        }
    }
    let mixed: Vec<_> = weights.iter().enumerate().map(|(at, &x)| if at % 3 == 0 { f32::NAN } else { x }).collect();
    f32s(&mixed);
    // All the same, but for NaNs.
    let mut same = vec![2.5f32; 2000];
    (same[7], same[1500]) = (f32::NAN, f32::NAN);
    assert_eq!(f32s(&same).std(), Some(0.0));
}

/// The deviation of numbers that are all the same is 0, not nearly.
#[test]
fn of_numbers_that_are_all_the_same() {
    for number in [0.1f32, -3.3e38, 1e-40, 0.0, -0.0, 16_777_217.0, f32::MAX, f32::MIN_POSITIVE] {
        for len in [2, 3, 63, 1000, 1025, 10_007] {
            let summary = f32s(&vec![number; len]);
            assert_eq!((summary.mean(), summary.std()), (Some(f64::from(number) + 0.0), Some(0.0)), "{number:e}");
        }
    }
    for number in [0.1, f64::MAX, f64::MIN, 1e-310, 1e200, 1e-200, 1.0 / 3.0] {
        for len in [2, 3, 63, 1000, 1025, 10_007] {
            let summary = f64s(&vec![number; len]);
            assert_eq!((summary.mean(), summary.std()), (Some(number), Some(0.0)), "{number:e}");
        }
    }
    for (code, number) in [(0x7E, 448.0), (0x01, 1.0 / 512.0), (0x80, 0.0)] {
        let summary = assert_bytes(Dtype::F8E4M3, &vec![code; 5000], "the same");
        assert_eq!((summary.mean(), summary.std()), (Some(number), Some(0.0)));
    }
}

/// Far from zero and close together.
#[test]
fn of_a_large_offset_and_a_small_spread() {
    let numbers: Vec<_> = (0..100_000).map(|i| 1e8 + f64::from(i % 2)).collect();
    let summary = f64s(&numbers);
    assert_eq!((summary.mean(), summary.std()), (Some(1e8 + 0.5), Some(0.5)));
    let numbers: Vec<_> = (0..100_000).map(|i| 1e15 + f64::from(i % 2)).collect();
    assert_eq!(f64s(&numbers).std(), Some(0.5));
    let numbers: Vec<_> = (0..100_000).map(|i| 8_388_608.0 + (i % 2) as f32).collect();
    assert_eq!(f32s(&numbers).std(), Some(0.5));
    // The first is no good guess of where the others lie.
    let mut numbers = vec![1e8f64; 5000];
    numbers[0] = -1e8;
    f64s(&numbers);
    numbers[0] = 1e16;
    f64s(&numbers);
}

#[test]
fn of_the_largest_numbers() {
    let summary = f32s(&[f32::MAX; 3000]);
    assert_eq!((summary.mean(), summary.std()), (Some(f32::MAX.into()), Some(0.0)));
    for (half, summary) in [
        (f64::from(f32::MAX), f32s(&[f32::MAX, f32::MIN].repeat(1500))),
        (f64::MAX, f64s(&[f64::MAX, f64::MIN].repeat(1500))),
    ] {
        assert_eq!(summary.mean(), Some(0.0));
        assert!(summary.std().is_some_and(|std| (std / half - 1.0).abs() < 1e-13));
    }
    let numbers: Vec<_> = (1..3000).map(|i| 1e300 / f64::from(i)).collect();
    f64s(&numbers);
}

#[test]
fn of_the_smallest_numbers() {
    let tiny: Vec<_> = (0..3000).map(f32::from_bits).collect();
    let summary = f32s(&tiny);
    assert_eq!((summary.subnormals(), summary.zeros()), (2999, 1));
    let around: Vec<_> = (0..3000).map(|i| f32::from_bits(0x0080_0000 - 1500 + i)).collect();
    assert_eq!(f32s(&around).subnormals(), 1500);
    let tiny: Vec<_> = (0..3000).map(f64::from_bits).collect();
    assert_eq!(f64s(&tiny).subnormals(), 2999);
    let tiny: Vec<_> = (1..3000).map(|i| 1e-300 / f64::from(i)).collect();
    f64s(&tiny);
    // Subnormal beside large: then they lie below what the histogram tells apart.
    let mut mixed = vec![1.0f32; 3000];
    (mixed[3], mixed[4], mixed[5], mixed[2222]) = (1e-40, -1e-40, -0.0, -1e-45);
    assert_eq!(f32s(&mixed).subnormals(), 3);
}

/// From one end of the range to the other, upwards, downwards and in between: whatever comes first.
#[test]
fn of_every_magnitude() {
    let mut up: Vec<_> = (0..=0x7F7F).map(|head: u32| f32::from_bits(head << 16)).collect();
    f32s(&up);
    up.reverse();
    f32s(&up);
    for block in up.chunks_mut(700) {
        block.reverse();
        block.iter_mut().step_by(2).for_each(|number| *number = -*number);
    }
    f32s(&up);
    let mut up: Vec<_> = (0..=0x7FEF).map(|head: u64| f64::from_bits(head << 48)).collect();
    f64s(&up);
    up.reverse();
    f64s(&up);
}

/// Around the magnitudes where sums are scaled anew, what was summed before still counts.
#[test]
fn of_numbers_that_grow() {
    for exponent in [-480, 480] {
        let numbers: Vec<_> =
            (0..6000).map(|i| 2f64.powi(exponent + i / 1000 - 3) * if i % 2 == 0 { 1.0 } else { -0.75 }).collect();
        f64s(&numbers);
    }
}

#[test]
fn of_sparse_numbers() {
    let mut numbers = vec![0f32; 10_000];
    numbers.iter_mut().step_by(2).for_each(|number| *number = -0.0);
    assert_eq!((f32s(&numbers).zeros(), f32s(&numbers).negatives()), (10_000, 0));
    assert_eq!(f32s(&numbers).min().map(f64::to_bits), Some(0), "a zero is +0");
    numbers.iter_mut().step_by(7).for_each(|number| *number = 1.5);
    numbers.iter_mut().step_by(11).for_each(|number| *number = -1e-30);
    f32s(&numbers);
}

/// Merging gives what one pass does: exactly, where a summary is exact.
#[test]
fn merged_from_any_parts() {
    let noise = noise(6000 * 8, 21);
    let weights: Vec<_> = weights(6000, 8).iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
    for (dtype, data) in [(Dtype::F32, &weights), (Dtype::F32, &noise), (Dtype::F64, &noise), (Dtype::F8E5M2, &noise)] {
        let placed = Placed::new(dtype, data, 0);
        let tensor = placed.tensor();
        let numbers = numbers(dtype, data).expect("it has numbers");
        for n in [19, 64, 1000, 2999, 6000, 100_000] {
            let parts: Vec<_> =
                tensor.chunks(n).expect("whole bytes").map(|part| part.summary().expect("as the whole")).collect();
            let forwards = parts.iter().fold(Summary::EMPTY, |all, part| all.merge(part));
            let backwards = parts.iter().rev().fold(Summary::EMPTY, |all, part| part.merge(&all));
            for merged in [forwards, backwards] {
                assert_sums_up(&merged, &numbers, smallest_normal(dtype), &format!("{dtype} merged by {n}"));
            }
        }
    }
    let one = f32s(&[0.3; 100]);
    let both = one.merge(&one).merge(&Summary::EMPTY);
    assert_eq!((both.len(), both.mean(), both.std()), (200, Some(f64::from(0.3f32)), Some(0.0)));
}

/// The edges are where the documentation puts them.
#[test]
fn of_numbers_on_edges() {
    let summary = f32s(&[0.75, -0.75, 0.5, -0.5, 0.0, 2f32.powi(-15), 2f32.powi(-16), 0.25]);
    let bar = |low: f64| summary.histogram().bars().find(|bar| bar.low == low).expect("a bar");
    assert_eq!((bar(0.75).high, bar(0.75).count), (0.8125, 1), "of 16 up to 1");
    assert_eq!((bar(-0.8125).high, bar(-0.8125).count), (-0.75, 1), "an edge belongs to the bin further out");
    assert_eq!(bar(0.0).count, 3);
    let octaves: Vec<_> =
        summary.histogram().octaves().filter(|bin| bin.count > 0).map(|bin| (bin.low, bin.high, bin.count)).collect();
    let expected = [
        (-1.0, -0.5, 2),
        (0.0, 0.0, 1),
        (0.0, 2f64.powi(-15), 1),
        (2f64.powi(-15), 2f64.powi(-14), 1),
        (0.25, 0.5, 1),
        (0.5, 1.0, 2),
    ];
    assert_eq!(octaves, expected);
}

/// What numpy says of a real model.
#[test]
fn of_silero_as_numpy_has_it() {
    let data = std::env::var_os("WEIGHTVIEW_DATA").map(PathBuf::from);
    let data = data.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let file = data.join("safetensors/silero_vad_16k.safetensors");
    let Ok(bytes) = std::fs::read(&file) else {
        println!("skipped: there is no {}", file.display());
        return;
    };
    let model = SafeTensors::parse(&bytes).expect("well");
    let table = include_str!("../data/golden/silero_summary.txt");
    assert_eq!(table.lines().count(), model.len());
    for line in table.lines() {
        let mut words = line.split(' ');
        let name = words.next().expect("a name");
        let [len, zeros, negatives, subnormals, min, max, mean, std] =
            std::array::from_fn(|_| words.next().expect("a word").parse::<f64>().expect("a number"));
        let summary = model.tensor(name).expect("there").summary().expect("floats");
        let counts = [summary.len(), summary.zeros(), summary.negatives(), summary.subnormals()];
        assert_eq!(counts.map(|count| count as f64), [len, zeros, negatives, subnormals], "{name}");
        assert_eq!((summary.min(), summary.max()), (Some(min), Some(max)), "{name}");
        let near = |ours: Option<f64>, theirs: f64| (ours.expect("some") - theirs).abs() <= 1e-12 * std;
        assert!(near(summary.mean(), mean) && near(summary.std(), std), "{name}: {summary:?}");
    }
}

//! Dtypes: the table of the manual, against the codes and the Rust types.

use half::{bf16, f16};
use weightview::{Dtype, Element, float};

/// All numbers of a small float.
fn numbers(dtype: Dtype) -> Option<Vec<f32>> {
    let eight = |decode: fn(u8) -> f32| (0..=u8::MAX).map(decode).collect();
    let sixteen = |decode: fn(u16) -> f32| (0..=u16::MAX).map(decode).collect();
    Some(match dtype {
        Dtype::F4 => eight(float::f4_to_f32),
        Dtype::F6E2M3 => eight(float::f6_e2m3_to_f32),
        Dtype::F6E3M2 => eight(float::f6_e3m2_to_f32),
        Dtype::F8E4M3 => eight(float::f8_e4m3_to_f32),
        Dtype::F8E5M2 => eight(float::f8_e5m2_to_f32),
        Dtype::F8E8M0 => eight(float::f8_e8m0_to_f32),
        Dtype::F8E4M3Fnuz => eight(float::f8_e4m3fnuz_to_f32),
        Dtype::F8E5M2Fnuz => eight(float::f8_e5m2fnuz_to_f32),
        Dtype::F16 => sixteen(float::f16_to_f32),
        Dtype::BF16 => sixteen(float::bf16_to_f32),
        _ => return None,
    })
}

#[test]
fn max_finite_of_small_floats_is_that_of_their_codes() {
    let mut small = 0;
    for &dtype in Dtype::ALL {
        let Some(numbers) = numbers(dtype) else { continue };
        let most = numbers.iter().copied().filter(|number| number.is_finite()).fold(0.0, f32::max);
        assert_eq!(dtype.max_finite(), f64::from(most), "{dtype}");
        assert!(dtype.is_float());
        assert_eq!(dtype.is_signed(), numbers.iter().any(|&number| number < 0.0), "{dtype}");
        small += 1;
    }
    assert_eq!(small, 10);
}

#[test]
fn max_finite_of_the_others_is_that_of_their_types() {
    for (dtype, most) in [
        (Dtype::Bool, 1.0),
        (Dtype::U8, u8::MAX.into()),
        (Dtype::I8, i8::MAX.into()),
        (Dtype::U16, u16::MAX.into()),
        (Dtype::I16, i16::MAX.into()),
        (Dtype::U32, u32::MAX.into()),
        (Dtype::I32, i32::MAX.into()),
        (Dtype::F32, f32::MAX.into()),
        (Dtype::C64, f32::MAX.into()),
        (Dtype::F64, f64::MAX),
        (Dtype::F16, f16::MAX.into()),
        (Dtype::BF16, bf16::MAX.into()),
    ] {
        assert_eq!(dtype.max_finite(), most, "{dtype}");
    }
    // The largest of 64 bits are no f64: it is the one below, and the next is too large.
    for (dtype, most) in [(Dtype::U64, i128::from(u64::MAX)), (Dtype::I64, i128::from(i64::MAX))] {
        let ours = dtype.max_finite();
        assert!(ours as i128 <= most && f64::from_bits(ours.to_bits() + 1) as i128 > most, "{dtype}");
    }
}

#[test]
fn kinds() {
    let of = |is: fn(Dtype) -> bool| {
        Dtype::ALL.iter().filter(|&&dtype| is(dtype)).map(|dtype| dtype.as_str()).collect::<Vec<_>>()
    };
    let float = of(Dtype::is_float);
    assert!(
        Dtype::ALL
            .iter()
            .all(|dtype| float.contains(&dtype.as_str()) == dtype.as_str().trim_start_matches('B').starts_with('F'))
    );
    let unsigned = of(|dtype| !dtype.is_signed());
    assert_eq!(unsigned, ["BOOL", "U8", "F8_E8M0", "U16", "U32", "U64"]);
}

#[test]
fn blocks_are_the_fewest_elements_in_whole_bytes() {
    for &dtype in Dtype::ALL {
        assert_eq!(dtype.block_len() * dtype.bits(), dtype.block_bytes() * 8, "{dtype}");
        assert!((1..dtype.block_len()).all(|fewer| fewer * dtype.bits() % 8 != 0), "{dtype}");
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for &dtype in Dtype::ALL {
        assert_eq!(dtype.to_string().parse(), Ok(dtype));
        assert!(dtype.as_str().to_lowercase().parse::<Dtype>().is_err());
        assert!(format!(" {dtype}").parse::<Dtype>().is_err());
    }
    assert_eq!(format!("[{:>6}]", Dtype::F32), "[   F32]");
}

#[test]
fn elements_are_as_wide_as_their_dtype() {
    fn bits<T: Element>() -> (u32, u32) {
        (T::DTYPE.bits(), 8 * size_of::<T>() as u32)
    }
    let pairs = [
        bits::<bool>(),
        bits::<u8>(),
        bits::<i8>(),
        bits::<u16>(),
        bits::<i16>(),
        bits::<u32>(),
        bits::<i32>(),
        bits::<u64>(),
        bits::<i64>(),
        bits::<f32>(),
        bits::<f64>(),
        bits::<f16>(),
        bits::<bf16>(),
        bits::<[f32; 2]>(),
        bits::<weightview::F8E4M3>(),
        bits::<weightview::F8E5M2>(),
        bits::<weightview::F8E8M0>(),
        bits::<weightview::F8E4M3Fnuz>(),
        bits::<weightview::F8E5M2Fnuz>(),
    ];
    assert!(pairs.iter().all(|(dtype, rust)| dtype == rust));
    assert_eq!(pairs.len(), Dtype::ALL.len() - 3, "all but F4 and F6");
}

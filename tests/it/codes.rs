//! Every code of every decoder, against oracles that know nothing of it: `half`, and tables that Python's
//! `ml_dtypes` made.

use half::{bf16, f16};
use weightview::{F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0, float};

#[test]
fn bf16_is_the_upper_half_of_an_f32() {
    for code in 0..=u16::MAX {
        let ours = float::bf16_to_f32(code);
        assert_eq!(ours.to_bits(), u32::from(code) << 16, "NaNs too, payload and all");
        let theirs = bf16::from_bits(code).to_f32_const();
        assert!(ours == theirs || ours.is_nan() && theirs.is_nan());
    }
}

#[test]
fn f16_is_as_half_has_it() {
    let mut nans = 0;
    for code in 0..=u16::MAX {
        let ours = float::f16_to_f32(code);
        let theirs = f16::from_bits(code);
        if theirs.is_nan() {
            nans += 1;
            let quiet = u32::from(code & 0x8000) << 16 | 0x7FC0_0000 | u32::from(code & 0x3FF) << 13;
            assert_eq!(ours.to_bits(), quiet, "{code:#06x}: sign and payload stay");
        }
        assert_eq!(ours.to_bits(), theirs.to_f32_const().to_bits(), "{code:#06x}");
        assert_eq!(ours.to_bits(), theirs.to_f32().to_bits(), "{code:#06x}, by the processor");
    }
    assert_eq!(nans, 2 * 1023);
}

/// The words of the table of that name: the upper half of an f32, or NaN.
fn golden(name: &str) -> Vec<Option<u32>> {
    let table = include_str!("../data/golden/small_floats.txt");
    let rows = table.split_once(&format!("[{name}]\n")).expect("a table of that name").1;
    let words = rows.split('[').next().expect("rows").split_whitespace();
    words.map(|word| (word != "NaN").then(|| u32::from_str_radix(word, 16).expect("hexadecimal") << 16)).collect()
}

fn assert_golden(name: &str, codes: usize, decode: impl Fn(u8) -> f32) {
    let table = golden(name);
    assert_eq!(table.len(), codes, "{name}");
    for (code, expected) in table.into_iter().enumerate() {
        let ours = decode(code as u8);
        match expected {
            Some(bits) => assert_eq!(ours.to_bits(), bits, "{name} {code:#04x}"),
            None => assert!(ours.is_nan() && ours.to_bits() & 0x0040_0000 != 0, "{name} {code:#04x}: a quiet NaN"),
        }
    }
}

#[test]
fn small_floats_are_as_ml_dtypes_has_them() {
    assert_golden("F8_E4M3", 256, float::f8_e4m3_to_f32);
    assert_golden("F8_E5M2", 256, float::f8_e5m2_to_f32);
    assert_golden("F8_E8M0", 256, float::f8_e8m0_to_f32);
    assert_golden("F8_E4M3FNUZ", 256, float::f8_e4m3fnuz_to_f32);
    assert_golden("F8_E5M2FNUZ", 256, float::f8_e5m2fnuz_to_f32);
    assert_golden("F6_E3M2", 64, float::f6_e3m2_to_f32);
    assert_golden("F6_E2M3", 64, float::f6_e2m3_to_f32);
    assert_golden("F4", 16, float::f4_to_f32);
}

/// What stands above the code of a type below 8 bits does not matter.
#[test]
fn bits_above_the_code_are_ignored() {
    for code in 0..=u8::MAX {
        assert_eq!(float::f6_e3m2_to_f32(code).to_bits(), float::f6_e3m2_to_f32(code & 0x3F).to_bits());
        assert_eq!(float::f6_e2m3_to_f32(code).to_bits(), float::f6_e2m3_to_f32(code & 0x3F).to_bits());
        assert_eq!(float::f4_to_f32(code).to_bits(), float::f4_to_f32(code & 0xF).to_bits());
    }
}

#[test]
fn newtypes_decode_as_their_functions() {
    fn assert_alike<T: Copy + Into<f32> + std::fmt::Display + std::fmt::Debug>(number: T, to_f32: f32, decoded: f32) {
        let into: f32 = number.into();
        assert_eq!((into.to_bits(), to_f32.to_bits()), (decoded.to_bits(), decoded.to_bits()));
        assert_eq!((number.to_string(), format!("{number:?}")), (decoded.to_string(), format!("{decoded:?}")));
    }
    for code in 0..=u8::MAX {
        let (a, b, c) = (F8E4M3::from_bits(code), F8E5M2::from_bits(code), F8E8M0::from_bits(code));
        let (d, e) = (F8E4M3Fnuz::from_bits(code), F8E5M2Fnuz::from_bits(code));
        assert_eq!([a.to_bits(), b.to_bits(), c.to_bits(), d.to_bits(), e.to_bits()], [code; 5]);
        assert_alike(a, a.to_f32(), float::f8_e4m3_to_f32(code));
        assert_alike(b, b.to_f32(), float::f8_e5m2_to_f32(code));
        assert_alike(c, c.to_f32(), float::f8_e8m0_to_f32(code));
        assert_alike(d, d.to_f32(), float::f8_e4m3fnuz_to_f32(code));
        assert_alike(e, e.to_f32(), float::f8_e5m2fnuz_to_f32(code));
    }
    assert_eq!(F8E4M3::default().to_f32(), 0.0);
}

/// Firmware can have them at compile time.
#[test]
fn decoders_are_const() {
    const MAX: f32 = float::f8_e4m3_to_f32(0x7E);
    const HALF: f32 = float::f16_to_f32(0x3800);
    const SUBNORMAL: f32 = float::f4_to_f32(1);
    assert_eq!((MAX, HALF, SUBNORMAL), (448.0, 0.5, 0.5));
}

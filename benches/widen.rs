//! Widening against its peers, in one run: `cargo bench --bench widen`, or a part of it: `-- f16 summaries`
//! (`bf16`, `f16`, `small`, `iterators`, `summaries`).
//!
//! Each figure is the best of interleaved rounds, so that drift of the machine falls on all sides alike. `half`
//! is its slice conversion, `shift` a plain loop over `u16`s that shifts, `map collect` what people write
//! (`chunks_exact(2).map(…).collect()`), `memcpy` a copy of the output's size. `+1` is input that is misaligned by
//! one byte.
//!
//! Summaries are held against numpy's, when `python3` (or `PYTHON`) has it: its time is taken in the same run, by
//! `numpy_summary.py`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use weightview::{Dtype, SafeTensors, TensorView};

const SIZES: [(&str, usize); 3] = [("4 Ki", 4 << 10), ("32 Ki", 32 << 10), ("64 Mi", 64 << 20)];

/// A file that holds one tensor `x`, at an address of the given offset from a multiple of 64.
struct File {
    bytes: Vec<u8>,
    start: usize,
}

impl File {
    fn new(dtype: Dtype, elements: usize, misaligned: usize) -> Self {
        let len = elements * dtype.bits() as usize / 8;
        let mut header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":[{elements}],"data_offsets":[0,{len}]}}}}"#);
        header.push_str(&" ".repeat((header.len() + 8).next_multiple_of(64) - header.len() - 8));
        let mut bytes = vec![0u8; header.len() + 8 + len + 128];
        let start = bytes.as_ptr().align_offset(64) + misaligned;
        let file = &mut bytes[start..start + 8 + header.len() + len];
        file[..8].copy_from_slice(&(header.len() as u64).to_le_bytes());
        file[8..8 + header.len()].copy_from_slice(header.as_bytes());
        // Weights as they are: small, of both signs, no NaNs; some are subnormal in 16 and 8 bits.
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let size = (dtype.bits() as usize / 8).max(1);
        for element in file[8 + header.len()..].chunks_mut(size) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 0.2;
            match dtype {
                Dtype::BF16 => element.copy_from_slice(&bf16::from_f32(value).to_le_bytes()),
                Dtype::F16 => element.copy_from_slice(&f16::from_f32(value * value * value).to_le_bytes()),
                Dtype::F32 => element.copy_from_slice(&value.to_le_bytes()),
                Dtype::F64 => element.copy_from_slice(&f64::from(value).to_le_bytes()),
                _ => element.fill((state >> 56) as u8 & 0x77),
            }
        }
        bytes.truncate(start + 8 + header.len() + len);
        Self { bytes, start }
    }

    fn tensor(&self) -> TensorView<'_> {
        SafeTensors::parse(&self.bytes[self.start..]).expect("sound").tensor("x").expect("there")
    }
}

/// The best times of the calls, run in turns.
fn best<const N: usize>(elements: usize, mut calls: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let budget = Duration::from_millis(if quick { 30 } else { 150 }) * N as u32;
    let repeat = (1usize << 18).div_ceil(elements);
    let mut best = [Duration::MAX; N];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 4 || start.elapsed() < budget {
        for (call, best) in calls.iter_mut().zip(&mut best) {
            let start = Instant::now();
            (0..repeat).for_each(|_| call());
            *best = (*best).min(start.elapsed() / repeat as u32);
        }
        rounds += 1;
    }
    best
}

fn rate(elements: usize, time: Duration) -> f64 {
    elements as f64 / time.as_secs_f64() / 1e9
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn u16s(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn sixteen(dtype: Dtype) {
    println!("\n{dtype} to f32, Gelem/s (and how many times faster ours is)");
    println!(
        "{:<8} {:>7} {:>7} {:>15} {:>15} {:>15} {:>15} {:>9}",
        "", "ours", "ours +1", "half", "shift", "half, each", "map collect", "memcpy"
    );
    for (name, elements) in SIZES {
        let (aligned, odd) = (File::new(dtype, elements, 0), File::new(dtype, elements, 1));
        let (ours, misaligned) = (aligned.tensor(), odd.tensor());
        let codes = u16s(ours.data());
        let mut out = vec![0f32; elements];
        let out = std::cell::RefCell::new(&mut out[..]);
        let source = vec![1f32; elements];
        let bf16s: Vec<bf16> = codes.iter().map(|&code| bf16::from_bits(code)).collect();
        let f16s: Vec<f16> = codes.iter().map(|&code| f16::from_bits(code)).collect();
        let times = best(
            elements,
            [
                &mut || black_box(ours).read_f32(&mut out.borrow_mut()).expect("fits"),
                &mut || black_box(misaligned).read_f32(&mut out.borrow_mut()).expect("fits"),
                &mut || match dtype {
                    Dtype::BF16 => black_box(&bf16s[..]).convert_to_f32_slice(&mut out.borrow_mut()),
                    _ => black_box(&f16s[..]).convert_to_f32_slice(&mut out.borrow_mut()),
                },
                &mut || {
                    for (out, &code) in out.borrow_mut().iter_mut().zip(black_box(&codes)) {
                        *out = f32::from_bits(u32::from(code) << 16);
                    }
                },
                &mut || {
                    for (out, &code) in out.borrow_mut().iter_mut().zip(black_box(&codes)) {
                        *out = match dtype {
                            Dtype::BF16 => bf16::from_bits(code).to_f32_const(),
                            _ => f16::from_bits(code).to_f32_const(),
                        };
                    }
                },
                &mut || {
                    let pairs = black_box(ours).data().chunks_exact(2);
                    let wide: Vec<f32> = match dtype {
                        Dtype::BF16 => pairs.map(|pair| bf16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect(),
                        _ => pairs.map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect(),
                    };
                    black_box(wide);
                },
                &mut || out.borrow_mut().copy_from_slice(black_box(&source)),
            ],
        );
        let [ours, odd, half, shift, each, map, memcpy] = times;
        let peer = |time| format!("{:.2} ({:.2}x)", rate(elements, time), ratio(time, ours));
        println!(
            "{name:<8} {:>7.2} {:>7.2} {:>15} {:>15} {:>15} {:>15} {:>9.2}   +1 costs {:+.0}%",
            rate(elements, ours),
            rate(elements, odd),
            peer(half),
            peer(shift),
            peer(each),
            peer(map),
            rate(elements, memcpy),
            (ratio(odd, ours) - 1.0) * 100.0,
        );
    }
}

fn small() {
    println!("\nsmall floats to f32, Gelem/s");
    println!("{:<12} {:>8} {:>8} {:>8} {:>16}", "", "4 Ki", "32 Ki", "64 Mi", "+1, worst");
    for dtype in
        [Dtype::F8E4M3, Dtype::F8E5M2, Dtype::F8E8M0, Dtype::F8E4M3Fnuz, Dtype::F8E5M2Fnuz, Dtype::F4, Dtype::I8]
    {
        let mut rates = Vec::new();
        let mut worst = f64::MIN;
        for (_, elements) in SIZES {
            let (aligned, odd) = (File::new(dtype, elements, 0), File::new(dtype, elements, 1));
            let (ours, misaligned) = (aligned.tensor(), odd.tensor());
            let mut out = vec![0f32; elements];
            let out = std::cell::RefCell::new(&mut out[..]);
            let [ours, odd] = best(
                elements,
                [&mut || black_box(ours).read_f32(&mut out.borrow_mut()).expect("fits"), &mut || {
                    black_box(misaligned).read_f32(&mut out.borrow_mut()).expect("fits")
                }],
            );
            rates.push(rate(elements, ours));
            worst = worst.max((ratio(odd, ours) - 1.0) * 100.0);
        }
        println!("{:<12} {:>8.2} {:>8.2} {:>8.2} {worst:>+15.0}%", dtype.as_str(), rates[0], rates[1], rates[2]);
    }
}

fn iterators() {
    println!("\niter_f32().sum() against read_f32 and a sum of the buffer: times its time");
    for dtype in [Dtype::BF16, Dtype::F16, Dtype::F8E4M3, Dtype::F4, Dtype::F32] {
        print!("{:<12}", dtype.as_str());
        for (name, elements) in SIZES {
            let file = File::new(dtype, elements, 0);
            let tensor = file.tensor();
            let mut out = vec![0f32; elements];
            let [one_by_one, bulk] = best(
                elements,
                [
                    &mut || {
                        black_box(black_box(tensor).iter_f32().expect("widens").sum::<f32>());
                    },
                    &mut || {
                        black_box(tensor).read_f32(&mut out).expect("fits");
                        black_box(out.iter().sum::<f32>());
                    },
                ],
            );
            print!("   {name} {:.2}x", ratio(one_by_one, bulk));
        }
        println!();
    }
}

/// What numpy takes for its min, max, mean and std, one by one; none where Python has no numpy.
fn numpy(dtype: &str, elements: usize) -> Option<Duration> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_summary.py");
    let output = std::process::Command::new(python).arg(script).arg(dtype).arg(elements.to_string()).output().ok()?;
    let nanos = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

fn summaries() {
    println!(
        "\nsummary() against numpy's min, max, mean and std one by one, Gelem/s (and how many times faster ours is)"
    );
    for (dtype, name_there) in [
        (Dtype::F32, Some("float32")),
        (Dtype::F64, Some("float64")),
        (Dtype::F16, Some("float16")),
        (Dtype::BF16, None), // numpy has no such type
        (Dtype::F8E4M3, None),
    ] {
        print!("{:<8}", dtype.as_str());
        for (name, elements) in SIZES {
            let file = File::new(dtype, elements, 0);
            let tensor = file.tensor();
            let [ours] = best(
                elements,
                [&mut || {
                    black_box(black_box(tensor).summary().expect("numbers"));
                }],
            );
            print!("   {name} {:.2}", rate(elements, ours));
            match name_there.map(|name| numpy(name, elements)) {
                Some(Some(theirs)) => print!(" / {:.2} ({:.2}x)", rate(elements, theirs), ratio(theirs, ours)),
                Some(None) => print!(" / SKIPPED: no numpy (set PYTHON)"),
                None => {}
            }
        }
        println!();
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let parts: [(&str, &dyn Fn()); 5] = [
        ("bf16", &|| sixteen(Dtype::BF16)),
        ("f16", &|| sixteen(Dtype::F16)),
        ("small", &small),
        ("iterators", &iterators),
        ("summaries", &summaries),
    ];
    parts.iter().filter(|(part, _)| wanted(part)).for_each(|(_, run)| run());
}

//! Headers against the reference crate, in one run: `cargo bench --bench header`.
//!
//! Names, shapes and dtypes are laid out as real checkpoints lay them out, from 300 tensors to 100,000. Each
//! figure is the median of interleaved rounds, so that drift of the machine falls on both sides alike. What is
//! printed is time a tensor, header throughput, and the ratio: the reference's time over ours.
//!
//! `in order`: as the reference's writer lays a file out (by dtype, then name). `model order`: as other tools
//! do, layer by layer, names in no order, data in header order. `sorted names`: names in order, data by dtype.
//! `shuffled`: no order in anything. `spaced`: in order, but with white space, as `json.dumps` writes by
//! default: no entry is canonical.

use std::hint::black_box;
use std::time::{Duration, Instant};

use weightview::SafeTensors;
use weightview::safetensors::{Header, ParseOptions};

/// A tensor to be laid out: name, dtype with its bytes an element, shape.
#[derive(Clone)]
struct Tensor {
    name: String,
    dtype: (&'static str, u64),
    shape: Vec<u64>,
}

const BF16: (&str, u64) = ("BF16", 2);
const F32: (&str, u64) = ("F32", 4);

/// A mixture-of-experts transformer, cut after `count` tensors: hidden 64, so that the data stays small.
fn checkpoint(count: usize) -> Vec<Tensor> {
    let tensor = |name: String, dtype, shape: &[u64]| Tensor { name, dtype, shape: shape.to_vec() };
    let mut tensors = vec![tensor("model.embed_tokens.weight".into(), BF16, &[256, 64])];
    for layer in 0.. {
        let at = |part: &str| format!("model.layers.{layer}.{part}");
        for part in ["q_proj", "k_proj", "v_proj", "o_proj"] {
            tensors.push(tensor(at(&format!("self_attn.{part}.weight")), BF16, &[64, 64]));
        }
        tensors.push(tensor(at("mlp.gate.weight"), BF16, &[8, 64]));
        tensors.push(tensor(at("mlp.gate.e_score_correction_bias"), F32, &[8]));
        for expert in 0..if count > 5_000 { 64 } else { 1 } {
            for part in ["gate_proj", "up_proj", "down_proj"] {
                tensors.push(tensor(at(&format!("mlp.experts.{expert}.{part}.weight")), BF16, &[16, 64]));
            }
        }
        tensors.push(tensor(at("input_layernorm.weight"), BF16, &[64]));
        tensors.push(tensor(at("post_attention_layernorm.weight"), BF16, &[64]));
        if tensors.len() >= count {
            tensors.truncate(count);
            return tensors;
        }
    }
    unreachable!("the loop ends when there are enough")
}

/// How a header is laid out.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Writer,
    Model,
    SortedNames,
    Shuffled,
    Spaced,
}

/// A whole file: header and zeros for data.
fn file(mut tensors: Vec<Tensor>, order: Order) -> Vec<u8> {
    if order != Order::Model {
        tensors.sort_by(|a, b| b.dtype.1.cmp(&a.dtype.1).then_with(|| a.name.cmp(&b.name)));
    }
    let mut end = 0u64;
    let mut entries: Vec<(String, String)> = tensors
        .into_iter()
        .map(|Tensor { name, dtype, shape }| {
            let begin = end;
            end += shape.iter().product::<u64>() * dtype.1;
            let dims: Vec<_> = shape.iter().map(u64::to_string).collect();
            let (dtype, dims) = (dtype.0, dims.join(","));
            let entry = format!(r#""{name}":{{"dtype":"{dtype}","shape":[{dims}],"data_offsets":[{begin},{end}]}}"#);
            (name, entry)
        })
        .collect();
    match order {
        Order::SortedNames => entries.sort(),
        Order::Shuffled => shuffle(&mut entries),
        _ => {}
    }
    let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
    let mut header = format!(r#"{{"__metadata__":{{"format":"pt"}},{}}}"#, entries.join(","));
    if order == Order::Spaced {
        header = header.replace(':', ": ").replace(',', ", ");
    }
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + usize::try_from(end).expect("the bench's models are small"), 0);
    bytes
}

/// Fisher and Yates with a small generator of fixed seed.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for last in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(last, (state % (last as u64 + 1)) as usize);
    }
}

/// The median times of the given calls, run in turns.
fn medians<const N: usize>(calls: [&dyn Fn() -> usize; N]) -> [Duration; N] {
    let budget = Duration::from_millis(if std::env::args().any(|arg| arg == "--quick") { 100 } else { 700 });
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for call in calls {
        black_box(call());
    }
    let start = Instant::now();
    while start.elapsed() < budget * N as u32 || times[0].len() < 5 {
        for (call, times) in calls.iter().zip(&mut times) {
            let start = Instant::now();
            black_box(call());
            times.push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn row(what: &str, count: usize, header: usize, [ours, theirs]: [Duration; 2], baseline: Option<Duration>) {
    let each = |time: Duration| time.as_secs_f64() * 1e9 / count as f64;
    let rate = |time: Duration| header as f64 / time.as_secs_f64() / 1e6;
    let against =
        baseline.map_or(String::new(), |base| format!("  {:.2}x of in order", ours.as_secs_f64() / base.as_secs_f64()));
    println!(
        "{what:<34} {count:>7}  {:>7.1} ns {:>6.0} MB/s  {:>7.1} ns {:>5.0} MB/s  {:>6.1}x{against}",
        each(ours),
        rate(ours),
        each(theirs),
        rate(theirs),
        theirs.as_secs_f64() / ours.as_secs_f64(),
    );
}

fn main() {
    println!("{:<34} {:>7}  {:>22}  {:>21}  {:>7}", "", "tensors", "weightview, a tensor", "safetensors 0.8", "ratio");
    let no_heap = ParseOptions { heap: false, ..ParseOptions::default() };
    for count in [300, 1_000, 10_000, 100_000] {
        let mut in_order = None;
        let orders = [
            ("in order", Order::Writer),
            ("model order", Order::Model),
            ("sorted names", Order::SortedNames),
            ("shuffled", Order::Shuffled),
            ("spaced", Order::Spaced),
        ];
        for (what, order) in orders {
            let bytes = file(checkpoint(count), order);
            let header = usize::try_from(Header::parse(&bytes).expect("sound").header_len()).expect("small");
            let parse = || SafeTensors::parse(black_box(&bytes)).expect("sound").len();
            let reference = || safetensors::SafeTensors::deserialize(black_box(&bytes)).expect("sound").len();
            let times = medians([&parse, &reference]);
            row(&format!("parse, {what}"), count, header, times, in_order);
            in_order.get_or_insert(times[0]);
            if order == Order::Writer || count <= 1_000 {
                let without = || no_heap.parse(black_box(&bytes)).expect("sound").len();
                let times = medians([&without, &reference]);
                row(&format!("parse, {what}, no heap"), count, header, times, None);
            }
            if matches!(order, Order::Writer | Order::Shuffled) {
                let names: Vec<String> = checkpoint(count).into_iter().map(|tensor| tensor.name).collect();
                let ours = || {
                    let index = SafeTensors::parse(black_box(&bytes)).expect("sound").index();
                    names.iter().map(|name| index.tensor(name).expect("there").data().len()).sum()
                };
                let theirs = || {
                    let model = safetensors::SafeTensors::deserialize(black_box(&bytes)).expect("sound");
                    names.iter().map(|name| model.tensor(name).expect("there").data().len()).sum()
                };
                row(&format!("index + every name, {what}"), count, header, medians([&ours, &theirs]), None);
            }
        }
        println!();
    }
}

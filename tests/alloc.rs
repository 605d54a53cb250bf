//! What is allocated: nothing, in parsing, listing and look-up; one list for an index; and a stated number of
//! lists for a large header in no order.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::hint::black_box;

use weightview::safetensors::{Header, ParseOptions};
use weightview::shards::ShardIndex;
use weightview::{SafeTensors, Slot};

/// The system's allocator, which counts what each thread asks of it, and how much.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    let _ = BYTES.try_with(|sum| sum.set(sum.get() + bytes as u64));
}

// SAFETY: every call goes on to the system's allocator as it came. The counts are `Cell`s of the thread that
// were initialised at compile time: counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        count(len);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(memory, layout, len) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often memory was asked for while this ran.
fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = COUNT.with(Cell::get);
    let result = work();
    (COUNT.with(Cell::get) - before, result)
}

#[test]
fn the_count_counts() {
    assert_eq!(allocations(|| black_box(Vec::<u8>::with_capacity(7))).0, 1);
    assert_eq!(allocations(|| black_box(vec![0u8; 100])).0, 1);
    assert_eq!(allocations(|| black_box(1 + 1)).0, 0);
    let mut list = vec![1u8];
    assert_eq!(allocations(|| list.reserve_exact(100)).0, 1);
}

/// A tensor of a file to be: its name, and its dtype with the bytes that one element takes.
type Tensor = (String, (&'static str, usize));

/// As a transformer's checkpoint has them, in the order of the model: names unsorted, dtypes mixed.
fn model_order(count: usize) -> Vec<Tensor> {
    const PARTS: [(&str, (&str, usize)); 5] = [
        ("self_attn.q_proj.weight", ("BF16", 2)),
        ("mlp.down_proj.weight", ("F16", 2)),
        ("input_layernorm.weight", ("F32", 4)),
        ("mlp.down_proj.scale", ("F8_E8M0", 1)),
        ("mlp.mask", ("BOOL", 1)),
    ];
    let tensor = |place: usize| {
        let (part, dtype) = PARTS[place % PARTS.len()];
        (format!("model.layers.{}.{part}", place / PARTS.len()), dtype)
    };
    (0..count).map(tensor).collect()
}

/// As the reference writes them: by dtype, the widest first, then by name.
fn writer_order(count: usize) -> Vec<Tensor> {
    const ORDER: [&str; 5] = ["F32", "BF16", "F16", "F8_E8M0", "BOOL"];
    let mut tensors = model_order(count);
    let rank = |dtype: &str| ORDER.iter().position(|other| *other == dtype);
    tensors.sort_by(|a, b| rank(a.1.0).cmp(&rank(b.1.0)).then_with(|| a.0.cmp(&b.0)));
    tensors
}

fn shuffle<T>(items: &mut [T]) {
    let mut state = 88_172_645_463_325_252u64;
    for place in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(place, (state % (place as u64 + 1)) as usize);
    }
}

/// The file, its data in the order given; with `shuffled`, the header is in another.
fn file(tensors: &[Tensor], shuffled: bool) -> Vec<u8> {
    let mut end = 0;
    let mut entries = Vec::new();
    for (name, (dtype, width)) in tensors {
        let begin = end;
        end += 3 * width;
        entries.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":[3],"data_offsets":[{begin},{end}]}}"#));
    }
    if shuffled {
        shuffle(&mut entries);
    }
    let mut header = String::from(r#"{"__metadata__":{"format":"pt","made by":"a test"}"#);
    for entry in entries {
        write!(header, ",{entry}").expect("memory");
    }
    header.push('}');
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + end, 0);
    bytes
}

/// Parses, lists, looks up and indexes, and asserts that nothing is allocated but what an index says.
fn assert_allocates_nothing(bytes: &[u8], tensors: &[Tensor], options: ParseOptions) {
    let count = tensors.len();
    let (parsing, model) = allocations(|| options.parse(bytes));
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parsing, 0, "parsing {count} tensors");
    assert_eq!(model.len(), count);

    let head = &bytes[..model.data_start() as usize];
    let (parsing, header) = allocations(|| options.parse_header(head));
    assert_eq!((parsing, header.map(|header| header.len())), (0, Ok(count)), "parsing the head of {count} tensors");

    let (listing, sum) = allocations(|| {
        let views: usize = model.tensors().map(|tensor| tensor.data().len() + tensor.shape().len()).sum();
        let infos: u64 = model.header().tensors().map(|tensor| tensor.byte_len()).sum();
        let chars: usize = model.tensors().map(|tensor| tensor.name().chars().count()).sum();
        (views, infos, chars)
    });
    assert_eq!(listing, 0, "listing {count} tensors");
    assert!(sum.0 > count && sum.1 >= 3 * count as u64 && sum.2 > count);

    let (last, first) = (&tensors[count - 1].0, &tensors[0].0);
    let (scanning, found) = allocations(|| {
        model.tensor(first).is_ok() && model.header().tensor(last).is_ok() && model.tensor("absent").is_err()
    });
    assert_eq!((scanning, found), (0, true), "scanning {count} tensors");

    let (reading, format) = allocations(|| {
        let metadata = model.metadata();
        metadata.get("format").is_some_and(|value| value == "pt") && metadata.count() == 2
    });
    assert_eq!((reading, format), (0, true), "metadata");

    let mut slots = vec![Slot::default(); count];
    let (indexing, found) = allocations(|| {
        let index = model.index_in(&mut slots).expect("enough slots");
        tensors.iter().all(|(name, _)| index.tensor(name).is_ok()) && index.tensor("absent").is_err()
    });
    assert_eq!((indexing, found), (0, true), "an index of {count} tensors in the caller's memory");

    #[cfg(feature = "alloc")]
    {
        let (indexing, index) = allocations(|| model.index());
        assert_eq!(indexing, 1, "an index of {count} tensors");
        let (looking, found) = allocations(|| tensors.iter().all(|(name, _)| index.tensor(name).is_ok()));
        assert_eq!((looking, found), (0, true), "look-up in an index of {count} tensors");
        let header_index = model.header().index();
        let (looking, found) = allocations(|| tensors.iter().all(|(name, _)| header_index.tensor(name).is_ok()));
        assert_eq!((looking, found), (0, true));
    }
}

#[test]
fn nothing_in_the_order_of_the_reference() {
    for count in [1, 300, 1_000, 10_000, 100_000] {
        let tensors = writer_order(count);
        assert_allocates_nothing(&file(&tensors, false), &tensors, ParseOptions::default());
    }
}

/// Names in no order, offsets in order, as writers that keep the model's order have them: below 128 KiB.
#[test]
fn nothing_in_the_order_of_the_model() {
    for count in [1, 300, 1_000, 1_200] {
        let tensors = model_order(count);
        let bytes = file(&tensors, false);
        assert!(bytes.len() < 128 * 1024);
        assert_allocates_nothing(&bytes, &tensors, ParseOptions::default());
    }
}

/// White space and escapes, so that the general path reads every entry.
#[test]
fn nothing_in_other_spellings() {
    let tensors = writer_order(1_000);
    let plain = file(&tensors, false);
    let model = SafeTensors::parse(&plain).expect("well");
    let head = model.data_start() as usize;
    let text = std::str::from_utf8(&plain[8..head]).expect("ASCII");
    let spaced =
        text.replace(':', " : ").replace(r#""dtype""#, r#""d\u0074ype""#).replace(r#""model."#, r#""\u006dodel."#);
    let mut bytes = (spaced.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(spaced.as_bytes());
    bytes.extend_from_slice(&plain[head..]);
    assert_allocates_nothing(&bytes, &tensors, ParseOptions::default());
}

/// An error is made of numbers, and so is its text until someone writes it down.
#[test]
fn nothing_for_an_error() {
    let mut bytes = file(&writer_order(300), false);
    bytes.pop();
    let (parsing, error) = allocations(|| SafeTensors::parse(&bytes).err());
    assert_eq!(parsing, 0);
    let mut text = [0u8; 512];
    let (writing, written) = allocations(|| {
        let mut rest = &mut text[..];
        std::io::Write::write_fmt(&mut rest, format_args!("{}", error.expect("cut"))).is_ok()
    });
    assert_eq!((writing, written), (0, true));
}

/// A large header in no order, in names and offsets: without leave to use a heap, nothing.
#[test]
fn nothing_in_no_order_without_leave() {
    let tensors = model_order(if cfg!(debug_assertions) { 1_600 } else { 10_000 });
    let bytes = file(&tensors, true);
    let options = ParseOptions { heap: false, ..ParseOptions::default() };
    assert_allocates_nothing(&bytes, &tensors, options);
}

/// With a heap, two lists: the chains of offsets that are open, and the hashes of the names. They are made as
/// long as a header of its length needs them if its entries are of typical length; these are shorter, and so
/// each list grows once. Never more than that, however many tensors there are.
#[test]
#[cfg(feature = "alloc")]
fn two_lists_in_no_order() {
    for count in [3_000, 10_000, if cfg!(debug_assertions) { 20_000 } else { 200_000 }] {
        let bytes = file(&model_order(count), true);
        assert!(bytes.len() > 128 * 1024);
        let (parsing, header) = allocations(|| Header::parse(&bytes));
        assert_eq!(header.map(|header| header.len()), Ok(count));
        assert!((2..=4).contains(&parsing), "{parsing} for {count} tensors");
    }
}

/// Without `alloc` there is no heap to ask, whatever the options say.
#[test]
#[cfg(not(feature = "alloc"))]
fn nothing_in_no_order_without_a_heap() {
    let bytes = file(&model_order(1_600), true);
    let (parsing, header) = allocations(|| Header::parse(&bytes));
    assert_eq!((parsing, header.map(|header| header.len())), (0, Ok(1_600)));
}

/// A shard index, in the order in which tools write them and in none.
#[test]
fn a_shard_index_allocates_nothing() {
    for (count, sorted) in [(1, true), (300, true), (100_000, true), (300, false)] {
        let mut names: Vec<String> = (0..count).map(|i| format!("model.layers.{i:06}.weight")).collect();
        if !sorted {
            names.reverse();
        }
        let mut text = String::from(r#"{"metadata":{"total_size":1},"weight_map":{"#);
        for (i, name) in names.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(text, r#"{comma}"{name}":"model-{:05}-of-00150.safetensors""#, i * 150 / count + 1).expect("room");
        }
        text.push_str("}}");
        let (allocated, read) = allocations(|| {
            let index = ShardIndex::parse(text.as_bytes()).expect("an index");
            let all = index.entries().map(|entry| entry.shard.raw().len()).sum::<usize>();
            (index.len(), index.total_size(), all, index.shard_of(&names[count / 2]).is_ok())
        });
        assert_eq!((allocated, read), (0, (count, Some(1), 32 * count, true)), "{count} tensors, sorted: {sorted}");
    }
}

/// A catalog: lists that grow with the headers, none a tensor; of the data, not a byte. One file, so that all is
/// done by this thread.
#[test]
#[cfg(feature = "std")]
fn lists_for_a_catalog() {
    use weightview::checkpoint::{Catalog, Options};

    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("alloc-catalog");
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut counts = Vec::new();
    for count in [10, 1_000, 100_000] {
        let tensors = writer_order(count);
        let mut bytes = file(&tensors, false);
        bytes.truncate(SafeTensors::parse(&bytes).expect("well").data_start() as usize);
        let path = directory.join("model.safetensors");
        let whole = Header::parse(&bytes).expect("well").file_len();
        std::fs::write(&path, &bytes).expect("room");
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(whole)).expect("room");
        let asked = BYTES.with(Cell::get);
        let (opening, catalog) = allocations(|| Catalog::open(&path, &Options::default()));
        let asked = BYTES.with(Cell::get) - asked;
        let catalog = catalog.expect("sound");
        assert_eq!(catalog.len(), count);
        // The header, the table, and as much again to sort it.
        let least = bytes.len() + 24 * count;
        assert!(asked <= (least + 24 * count + 4096) as u64, "{asked} bytes for {count} tensors, {least} needed");
        counts.push(opening);

        let (looking, found) = allocations(|| {
            let all = tensors.iter().all(|(name, _)| catalog.tensor(name).is_ok());
            all && catalog.tensors().all(|entry| entry.is_whole()) && catalog.shards()[0].header().len() == count
        });
        assert_eq!((looking, found), (0, true), "look-up in a catalog of {count} tensors");
    }
    std::fs::remove_dir_all(&directory).expect("our own");
    let most = counts.iter().max().expect("some");
    assert!(*most <= counts[0] + 1, "{counts:?}: the sort may ask once");
}

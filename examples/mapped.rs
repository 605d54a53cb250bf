//! Maps a file, has one of its tensors fetched, and reads it:
//! `cargo run --release --features mmap --example mapped -- FILE TENSOR`.

use weightview::SafeTensors;
use weightview::mmap::MappedFile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, name] = args.as_slice() else { return Err("usage: mapped FILE TENSOR".into()) };

    // SAFETY: whoever runs this is asked not to change the file meanwhile. For a file that others may change there is
    // AlignedBytes::read, which needs no such promise.
    let map = unsafe { MappedFile::open(path) }?;
    let model = SafeTensors::parse(&map)?; // reads the header; of the data nothing yet

    let fetched = map.prefetch(model.header().tensor(name)?.file_range())?;
    let tensor = model.tensor(name)?; // in the mapping: nothing is copied
    let numbers = tensor.summary()?;
    println!("{name}: {} {:?}, prefetched by {fetched:?}", tensor.dtype(), tensor.shape());
    println!("from {:?} to {:?}, mean {:?}", numbers.min(), numbers.max(), numbers.mean());
    Ok(())
}

//! Widens a tensor to `f32` on all cores: `cargo run --release --example threads -- FILE TENSOR`.

use std::thread;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, name] = args.as_slice() else { return Err("usage: threads FILE TENSOR".into()) };
    let bytes = std::fs::read(path)?;
    let tensor = weightview::SafeTensors::parse(&bytes)?.tensor(name)?;

    let mut numbers = vec![0f32; tensor.elements()];
    let threads = thread::available_parallelism()?.get();
    // An even number, so that a piece of two 4-bit floats to the byte ends on a byte.
    let n = tensor.elements().div_ceil(threads).next_multiple_of(2).max(2);
    thread::scope(|scope| -> Result<(), weightview::SliceError> {
        for (piece, out) in tensor.chunks(n)?.zip(numbers.chunks_mut(n)) {
            scope.spawn(move || piece.read_f32(out));
        }
        Ok(())
    })?;
    println!("{name}: {} numbers of {}, on {threads} threads", numbers.len(), tensor.dtype());
    Ok(())
}

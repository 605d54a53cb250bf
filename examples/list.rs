//! Lists the tensors of a safetensors file: `cargo run --example list -- model.safetensors`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: list FILE")?;
    let bytes = std::fs::read(path)?;
    let model = weightview::SafeTensors::parse(&bytes)?;
    for tensor in model.tensors() {
        println!("{} {} {:?} {} bytes", tensor.name(), tensor.dtype(), tensor.shape(), tensor.data().len());
    }
    Ok(())
}

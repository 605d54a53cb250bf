//! Lists a model of one file or many, and says what is wrong with it, without reading its data:
//! `cargo run --example checkpoint -- DIRECTORY`.

use weightview::checkpoint::{Catalog, Options, Policy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: checkpoint FILE|DIRECTORY|INDEX")?;
    // Whatever can be gone on with is listed. To load a model, the default policy is right.
    let catalog = Catalog::open(path, &Options { policy: Policy::LENIENT, ..Options::default() })?;
    for tensor in catalog.tensors() {
        let (info, shard) = (tensor.info(), tensor.shard());
        println!(
            "{} {} {:?}: bytes {:?} of {}",
            info.name(),
            info.dtype(),
            info.shape(),
            info.file_range(),
            shard.name()
        );
    }
    println!("{} tensors in {} files", catalog.len(), catalog.shards().len());
    for finding in catalog.findings() {
        println!("{}: {finding}\n  {}", finding.id(), finding.advice());
    }
    Ok(())
}

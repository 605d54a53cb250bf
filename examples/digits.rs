//! Runs the small model of the tests on images of handwritten digits and prints its answers:
//! `cargo run --example digits -- tests/data/digits.safetensors tests/data/digits_held_out.safetensors`.
//!
//! The firmware in `examples/cortex-m` does the same without a heap, a row of weights at a time, and must get the same
//! answers.

use weightview::SafeTensors;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, images] = args.as_slice() else { return Err("usage: digits MODEL IMAGES".into()) };
    let (model, images) = (std::fs::read(model)?, std::fs::read(images)?);

    let answers = classify(&model, &images)?;
    let labels = SafeTensors::parse(&images)?.tensor("labels")?.to_vec::<u8>()?;
    let right = answers.iter().zip(&labels).filter(|(answer, label)| answer == label).count();
    println!("answers: {}", answers.iter().map(u8::to_string).collect::<String>());
    println!("right: {right} of {}", labels.len());
    Ok(())
}

/// The digit that the model sees in each image.
pub(crate) fn classify(model: &[u8], images: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let model = SafeTensors::parse(model)?;
    let fc1 = Layer::new(&model, "fc1.weight", "fc1.bias")?;
    let fc2 = Layer::new(&model, "fc2.weight", "fc2.bias")?;
    let pixels = SafeTensors::parse(images)?.tensor("images")?.to_f32_vec()?;
    let classify = |image: &[f32]| {
        let image: Vec<f32> = image.iter().map(|pixel| pixel / 16.0).collect();
        let hidden: Vec<f32> = fc1.apply(&image).into_iter().map(|x| x.max(0.0)).collect();
        let scores = fc2.apply(&hidden);
        (0..).zip(scores).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(digit, _)| digit)
    };
    Ok(pixels.chunks_exact(64).map(classify).collect())
}

/// `weight · input + bias`
struct Layer {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(model: &SafeTensors<'_>, weight: &str, bias: &str) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { weight: model.tensor(weight)?.to_f32_vec()?, bias: model.tensor(bias)?.to_f32_vec()? })
    }

    fn apply(&self, input: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(input.len());
        let dots = rows.map(|row| row.iter().zip(input).map(|(weight, x)| weight * x).sum::<f32>());
        dots.zip(&self.bias).map(|(dot, bias)| dot + bias).collect()
    }
}

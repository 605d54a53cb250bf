//! The whole use: two copies of the model, listed; 360 images of handwritten digits, classified; the answers printed
//! and held against those of the host.

#![no_std]
#![no_main]

use semihosting::{print, println};
use weightview::{CastError, SafeTensors, SliceError, TensorView};
use weightview_cortex_m::{entry, exit, files, stack, status, steps};

#[entry]
fn main() -> ! {
    exit(match run() {
        Ok(true) => 0,
        Ok(false) => status::WRONG,
        Err(Refused) => status::REFUSED,
    })
}

/// The library refused a file or a call. Its errors are sentences, but those take flash: a program that knows its
/// files does without.
struct Refused;

impl From<weightview::Error> for Refused {
    fn from(_: weightview::Error) -> Self {
        Self
    }
}

impl From<SliceError> for Refused {
    fn from(_: SliceError) -> Self {
        Self
    }
}

impl From<CastError> for Refused {
    fn from(_: CastError) -> Self {
        Self
    }
}

fn run() -> Result<bool, Refused> {
    let (model, peak) = stack::peak(|| steps::parse(files::model()));
    let model = model?;
    println!("stack parse: {peak}");
    list(&model);

    let misaligned = steps::parse(files::misaligned_model())?;
    let (weight, peak) = stack::peak(|| steps::look_up(&misaligned, "fc1.weight"));
    let weight = weight?;
    println!("stack look-up: {peak}");
    let mut row = [0.0; 64];
    let (widened, peak) = stack::peak(|| steps::widen(&weight, &mut row, |_| {}));
    widened?;
    println!("stack widen: {peak}");

    // In place where that can be.
    let in_place = model.tensor("fc1.bias")?.as_slice::<f32>().is_ok();
    let refused = misaligned.tensor("fc1.bias")?.as_slice::<f32>();
    if !in_place || refused != Err(CastError::Alignment { required: 4 }) {
        return Ok(false);
    }

    let images = steps::parse(files::held_out())?;
    let labels = images.tensor("labels")?.as_slice::<u8>()?;
    let expected = images.tensor("predictions")?.as_slice::<u8>()?;
    let images = images.tensor("images")?;
    let mut classifier = Classifier::new(&model)?;
    let mut elsewhere = Classifier::new(&misaligned)?;
    let (mut right, mut same, mut deepest) = (0, true, 0);
    print!("answers: ");
    for ((image, label), expected) in images.rows()?.zip(labels).zip(expected) {
        let (answer, peak) = stack::peak(|| classifier.classify(image.data()));
        let answer = answer?;
        print!("{answer}");
        right += u32::from(answer == *label);
        same &= answer == *expected && answer == elsewhere.classify(image.data())?;
        deepest = deepest.max(peak);
    }
    println!("\nright: {right} of {}", labels.len());
    println!("stack classify: {deepest}");
    Ok(same)
}

fn list(model: &SafeTensors<'_>) {
    for tensor in model.tensors() {
        println!("{} {} {:?} {} bytes", tensor.name(), tensor.dtype(), tensor.shape(), tensor.data().len());
    }
    for (key, value) in model.metadata() {
        println!("{key}: {value}");
    }
}

/// `fc2.weight · max(0, fc1.weight · (pixels / 16) + fc1.bias) + fc2.bias`
struct Classifier {
    fc1: Layer,
    fc2: Layer,
    /// A row of weights, widened.
    row: [f32; 64],
}

struct Layer {
    weight: TensorView<'static>,
    bias: TensorView<'static>,
}

impl Layer {
    fn new(model: &SafeTensors<'static>, weight: &str, bias: &str) -> Result<Self, Refused> {
        Ok(Self { weight: model.tensor(weight)?, bias: model.tensor(bias)? })
    }

    /// One output for each row of the weight.
    fn apply(&self, input: &[f32], row: &mut [f32], output: &mut [f32]) -> Result<(), Refused> {
        self.bias.read_f32(output)?;
        let mut outputs = output.iter_mut();
        steps::widen(&self.weight, row, |row| {
            if let Some(output) = outputs.next() {
                *output += row.iter().zip(input).map(|(weight, x)| weight * x).sum::<f32>();
            }
        })?;
        Ok(())
    }
}

impl Classifier {
    fn new(model: &SafeTensors<'static>) -> Result<Self, Refused> {
        Ok(Self {
            fc1: Layer::new(model, "fc1.weight", "fc1.bias")?,
            fc2: Layer::new(model, "fc2.weight", "fc2.bias")?,
            row: [0.0; 64],
        })
    }

    #[inline(never)]
    fn classify(&mut self, pixels: &[u8]) -> Result<u8, Refused> {
        let mut image = [0f32; 64];
        image.iter_mut().zip(pixels).for_each(|(x, &pixel)| *x = f32::from(pixel) / 16.0);
        let mut hidden = [0f32; 32];
        self.fc1.apply(&image, &mut self.row, &mut hidden)?;
        hidden.iter_mut().for_each(|x| *x = x.max(0.0));
        let mut scores = [0f32; 10];
        let (row, _) = self.row.split_at_mut(hidden.len());
        self.fc2.apply(&hidden, row, &mut scores)?;
        let best = (0..).zip(scores).max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(best.map_or(0, |(digit, _)| digit))
    }
}

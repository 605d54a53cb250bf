//! The examples do what they say.

#![allow(dead_code, reason = "their `main` is not called")]

#[cfg(feature = "alloc")]
#[path = "../examples/digits.rs"]
mod digits;

/// The answers of numpy are in the file.
#[cfg(feature = "alloc")]
#[test]
fn digits_are_classified_as_numpy_does() {
    let model = include_bytes!("data/digits.safetensors");
    let held_out = include_bytes!("data/digits_held_out.safetensors");
    let answers = digits::classify(model, held_out).expect("files that can be read");
    let held_out = weightview::SafeTensors::parse(held_out).expect("well");
    let bytes = |name| held_out.tensor(name).expect("it is there").data();
    assert_eq!(answers, bytes("predictions"));
    let right = answers.iter().zip(bytes("labels")).filter(|(answer, label)| answer == label).count();
    assert_eq!((right, answers.len()), (350, 360));
}

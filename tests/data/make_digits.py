"""Trains the sample model of the tests and writes it to digits.safetensors; the
images that it was not trained on go to digits_held_out.safetensors, with their
labels and with the answers that the model gives here.

To run it, from the root of the repository:

    pip install numpy scikit-learn ml_dtypes safetensors
    python tests/data/make_digits.py

The model tells handwritten digits apart: 64 pixels -> 32 (ReLU) -> 10 scores,
trained with plain numpy on the 1,797 images that come with scikit-learn, so
nothing is downloaded. All seeds are fixed: with the package versions listed in
README.md, every run writes the same bytes. The script prints the accuracy
before and after the weights are rounded to BF16, and the SHA-256 of each file.
"""

import hashlib
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

OUTPUT = Path(__file__).with_name("digits.safetensors")
HELD_OUT = Path(__file__).with_name("digits_held_out.safetensors")

SEED = 0
HIDDEN = 32
EPOCHS = 60
BATCH = 32
LEARNING_RATE = 0.05
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-3

SOURCE = (
    "UCI ML, Optical Recognition of Handwritten Digits (E. Alpaydin, C. Kaynak, "
    "1998), https://doi.org/10.24432/C50P49, its test set of 1797 images, from "
    "sklearn.datasets.load_digits; CC BY 4.0"
)


def scores(model, x):
    """The ten scores of every image, computed in the float type of `x`."""
    w1, b1, w2, b2 = (
        model[name].astype(x.dtype)
        for name in ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")
    )
    return np.maximum(x @ w1.T + b1, 0) @ w2.T + b2


def count_right(model, x, y):
    """How many images of `x` the model gives their label in `y`."""
    return int((scores(model, x).argmax(axis=1) == y).sum())


def train(x, y):
    """Minimises the cross-entropy by stochastic gradient descent.

    Works in float64 throughout: the order in which a BLAS adds up then changes
    the weights by far less than the rounding at the end, and the bytes of the
    file do not depend on the machine.
    """
    rng = np.random.RandomState(SEED)  # its stream is frozen across versions

    def he_normal(rows, columns):
        return rng.standard_normal((rows, columns)) * np.sqrt(2 / columns)

    model = {
        "fc1.weight": he_normal(HIDDEN, x.shape[1]),
        "fc1.bias": np.zeros(HIDDEN),
        "fc2.weight": he_normal(10, HIDDEN),
        "fc2.bias": np.zeros(10),
    }
    velocity = {name: np.zeros_like(tensor) for name, tensor in model.items()}
    one_hot = np.eye(10)[y]

    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            batch = order[start : start + BATCH]
            inputs = x[batch]

            hidden = np.maximum(inputs @ model["fc1.weight"].T + model["fc1.bias"], 0)
            logits = hidden @ model["fc2.weight"].T + model["fc2.bias"]
            softmax = np.exp(logits - logits.max(axis=1, keepdims=True))
            softmax /= softmax.sum(axis=1, keepdims=True)

            d_logits = (softmax - one_hot[batch]) / len(batch)
            d_hidden = (d_logits @ model["fc2.weight"]) * (hidden > 0)
            gradient = {
                "fc1.weight": d_hidden.T @ inputs + WEIGHT_DECAY * model["fc1.weight"],
                "fc1.bias": d_hidden.sum(axis=0),
                "fc2.weight": d_logits.T @ hidden + WEIGHT_DECAY * model["fc2.weight"],
                "fc2.bias": d_logits.sum(axis=0),
            }
            for name, tensor in model.items():
                velocity[name] = MOMENTUM * velocity[name] - LEARNING_RATE * gradient[name]
                tensor += velocity[name]
    return model


def with_sorted_metadata(file):
    """The same file, with the entries of `__metadata__` in order of their keys.

    The library writes them in the order of a hash map that is seeded anew in
    every process. Nothing else moves: not the tensors, not the header's length.
    """
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode().ljust(length)
    assert len(text) == length
    return file[:8] + text + file[8 + length :]


def write(path, tensors, metadata):
    """Writes a file and says what it is. The library must read back what went in."""
    file = with_sorted_metadata(safetensors.numpy.save(tensors, metadata))
    read = {name: tensor["data"] for name, tensor in safetensors.deserialize(file)}
    assert read == {name: bytearray(tensor.tobytes()) for name, tensor in tensors.items()}
    path.write_bytes(file)
    print(f"{path.name}: {len(file)} bytes, SHA-256 {hashlib.sha256(file).hexdigest()}")


def main():
    digits = load_digits()
    x_train, x_test, y_train, y_test = train_test_split(
        digits.data / 16,
        digits.target,
        test_size=0.2,
        random_state=SEED,
        stratify=digits.target,
    )
    x_test = x_test.astype(np.float32)  # exact: every pixel is n/16

    trained = train(x_train, y_train)
    single = {name: tensor.astype(np.float32) for name, tensor in trained.items()}
    # The weights to the nearest BF16, ties to even; the biases stay F32.
    rounded = {
        name: tensor.astype(ml_dtypes.bfloat16) if name.endswith(".weight") else tensor
        for name, tensor in single.items()
    }
    before = count_right(single, x_test, y_test)
    after = count_right(rounded, x_test, y_test)

    metadata = {
        "accuracy": f"{after / len(x_test):.4f} ({after} of {len(x_test)} held-out images, "
        "these BF16 weights, computed in float32)",
        "activation": "ReLU after fc1, none after fc2; the answer is the highest of the 10 scores",
        "architecture": f"fc1: 64 -> {HIDDEN}, fc2: {HIDDEN} -> 10; a row of a weight is an output",
        "created_by": "tests/data/make_digits.py with the Python package safetensors",
        "dataset": SOURCE,
        "input": "8x8 grey pixels 0..16, row by row, divided by 16",
        "license": "MIT OR Apache-2.0",
        "rounding": "weights from float32 to BF16, to nearest even; biases stay F32",
        "split": f"sklearn train_test_split, test_size=0.2, stratified, random_state={SEED}: "
        f"{len(x_train)} to train, {len(x_test)} held out",
        "task": "classify images of handwritten digits, 0 to 9",
        "training": f"numpy, float64: cross-entropy, SGD, {EPOCHS} epochs, batch {BATCH}, "
        f"learning rate {LEARNING_RATE}, momentum {MOMENTUM}, "
        f"weight decay {WEIGHT_DECAY}, seed {SEED}",
    }
    write(OUTPUT, rounded, metadata)

    held_out = {
        "images": (x_test * 16).astype(np.uint8),
        "labels": y_test.astype(np.uint8),
        "predictions": scores(rounded, x_test).argmax(axis=1).astype(np.uint8),
    }
    write(
        HELD_OUT,
        held_out,
        {
            "created_by": "tests/data/make_digits.py with the Python package safetensors",
            "dataset": SOURCE,
            "license": "images and labels: CC BY 4.0, unchanged",
            "predictions": f"by {OUTPUT.name}, computed in float32 with numpy",
        },
    )

    for label, right in (("float32", before), ("BF16", after)):
        print(f"accuracy, {label} weights: {right / len(x_test):.4f} ({right} of {len(x_test)})")


if __name__ == "__main__":
    main()

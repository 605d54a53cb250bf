"""Writes the tables in `golden/`: see README.md.

    pip install numpy ml_dtypes safetensors
    python tests/data/make_golden.py [FOLDER WITH silero_vad_16k.safetensors]
"""

import io
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors import TensorSpec, serialize
from safetensors.numpy import load_file

GOLDEN = Path(__file__).parent / "golden"

SMALL_FLOATS = {
    "F8_E4M3": (ml_dtypes.float8_e4m3fn, 8),
    "F8_E5M2": (ml_dtypes.float8_e5m2, 8),
    "F8_E8M0": (ml_dtypes.float8_e8m0fnu, 8),
    "F8_E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8),
    "F8_E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8),
    "F6_E3M2": (ml_dtypes.float6_e3m2fn, 6),
    "F6_E2M3": (ml_dtypes.float6_e2m3fn, 6),
    "F4": (ml_dtypes.float4_e2m1fn, 4),
}


def small_floats():
    lines = []
    for name, (dtype, bits) in SMALL_FLOATS.items():
        values = np.arange(2**bits, dtype=np.uint8).view(dtype).astype(np.float32)
        codes = values.view(np.uint32)
        # None of them needs the lower half of an f32.
        assert not (codes[~np.isnan(values)] & 0xFFFF).any()
        words = ["NaN" if np.isnan(value) else f"{code >> 16:04x}" for value, code in zip(values, codes)]
        lines.append(f"[{name}]")
        lines += [" ".join(words[row : row + 16]) for row in range(0, len(words), 16)]
    (GOLDEN / "small_floats.txt").write_text("\n".join(lines) + "\n")


def summaries(file):
    lines = []
    for name, tensor in sorted(load_file(file).items()):
        wide = tensor.astype(np.float64)
        smallest = np.finfo(tensor.dtype).smallest_normal
        counts = [
            tensor.size,
            np.count_nonzero(tensor == 0),
            np.count_nonzero(tensor < 0),
            np.count_nonzero((tensor != 0) & (np.abs(tensor) < smallest)),
        ]
        numbers = [tensor.min(), tensor.max(), wide.mean(), wide.std()]
        lines.append(" ".join([name, *map(str, counts), *(repr(float(number)) for number in numbers)]))
    (GOLDEN / "silero_summary.txt").write_text("\n".join(lines) + "\n")


# What the reference library's writer calls each dtype, and numpy's or ml_dtypes' type for it. It knows F6 as well,
# of which nothing defines how elements are packed, so that there is nothing to compare.
WRITABLE = {
    "BOOL": ("bool", np.bool_),
    "U8": ("uint8", np.uint8),
    "I8": ("int8", np.int8),
    "U16": ("uint16", np.uint16),
    "I16": ("int16", np.int16),
    "U32": ("uint32", np.uint32),
    "I32": ("int32", np.int32),
    "U64": ("uint64", np.uint64),
    "I64": ("int64", np.int64),
    "F16": ("float16", np.float16),
    "BF16": ("bfloat16", ml_dtypes.bfloat16),
    "F32": ("float32", np.float32),
    "F64": ("float64", np.float64),
    "C64": ("complex64", np.complex64),
    "F8_E4M3": ("float8_e4m3fn", ml_dtypes.float8_e4m3fn),
    "F8_E5M2": ("float8_e5m2", ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    "F8_E8M0": ("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu),
    "F4": ("float4_e2m1fn_x2", ml_dtypes.float4_e2m1fn),
}

# Those that `--f32` takes: whose every value is an f32.
WIDENS = set(WRITABLE) - {"U32", "I32", "U64", "I64", "F64", "C64"}


def every_dtype():
    """A file with a tensor of each dtype, and what numpy says of it."""
    random = np.random.default_rng(3)
    tensors, kept, lines = {}, [], []
    for name, (written, dtype) in WRITABLE.items():
        size = np.dtype(dtype).itemsize
        shape = (3, 8)
        if name == "BOOL":
            array = random.integers(0, 2, shape).astype(dtype)
        elif name == "F4":
            array = random.integers(0, 16, shape).astype(np.uint8).view(dtype)
        elif name == "C64":
            array = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
        elif name.startswith("F") or name == "BF16":
            # Any bits at all, so NaNs, infinities and subnormals among them; and numbers as weights are.
            array = random.integers(0, 256, (*shape, size)).astype(np.uint8).view(dtype)[..., 0]
            array[0] = (random.normal(size=8) * 0.1).astype(dtype)
            array[1, :4] = np.array([0, 1, 2, 3]).astype(f"u{size}").view(dtype)
            array[1, 4:] = np.array([np.nan, np.inf, -np.inf, -0.0]).astype(dtype)
        else:
            array = random.integers(0, 256, (*shape, size)).astype(np.uint8).view(dtype)[..., 0]
            array[0, :3] = [0, np.iinfo(dtype).min, np.iinfo(dtype).max]
        data = array.tobytes()
        if name == "F4":
            codes = array.view(np.uint8).reshape(-1)
            data = (codes[0::2] | codes[1::2] << 4).tobytes()  # the first in the low half
        # Two F4 are one element to the writer.
        written_shape = [3, 4] if name == "F4" else list(shape)
        kept.append(np.frombuffer(data, np.uint8))  # the writer takes an address
        address, length = kept[-1].ctypes.data, len(data)
        tensors[name] = TensorSpec(dtype=written, shape=written_shape, data_ptr=address, data_len=length)
        lines += [f"[{name}]", *described(name, array)]
    (GOLDEN / "every_dtype.safetensors").write_bytes(serialize(tensors))
    (GOLDEN / "every_dtype.txt").write_text("\n".join(lines) + "\n")


def described(name, array):
    """Lines `key value`: counts and numbers by numpy in float64, and what `np.save` and `tobytes` write."""
    if name != "C64":
        with np.errstate(all="ignore"):
            wide = array.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        yield f"nans {np.count_nonzero(np.isnan(wide))}"
        yield f"infinities {np.count_nonzero(np.isinf(wide))}"
        yield f"zeros {np.count_nonzero(wide == 0)}"
        yield f"negatives {np.count_nonzero(wide < 0)}"
        if name.startswith("F") or name == "BF16":
            info = np.finfo if name in ("F16", "F32", "F64") else ml_dtypes.finfo
            smallest = float(info(array.dtype).smallest_normal)
            yield f"subnormals {np.count_nonzero((wide != 0) & (np.abs(wide) < smallest))}"
        numbers = wide[~np.isnan(wide)]
        # Scaled where squares would overflow.
        largest = float(np.abs(finite).max())
        scale = largest if largest > 1e150 else 1.0
        std = float((finite / scale).std()) * scale
        mean = float((finite / scale).mean()) * scale
        for key, value in [("min", numbers.min()), ("max", numbers.max()), ("mean", mean), ("std", std)]:
            yield f"{key} {float(value)!r}"
    if np.dtype(array.dtype).kind != "V" and not name.startswith(("BF", "F8", "F4")):
        file = io.BytesIO()
        np.save(file, array)
        yield f"npy {file.getvalue().hex()}"
    if name in WIDENS:
        with np.errstate(all="ignore"):
            narrow = array.astype(np.float32)
        words = narrow.view(np.uint32).reshape(-1)
        yield "f32 " + " ".join("NaN" if np.isnan(x) else f"{w:08x}" for x, w in zip(narrow.reshape(-1), words))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    small_floats()
    every_dtype()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[3] / "shared/data/safetensors"
    if (folder / "silero_vad_16k.safetensors").exists():
        summaries(folder / "silero_vad_16k.safetensors")
    else:
        print(f"no silero_vad_16k.safetensors in {folder}: its table stays as it is")

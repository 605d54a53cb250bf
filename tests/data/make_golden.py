"""Writes the tables in `golden/`: see README.md.

    pip install numpy ml_dtypes safetensors
    python tests/data/make_golden.py [FOLDER WITH silero_vad_16k.safetensors]
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
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


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    small_floats()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[3] / "shared/data/safetensors"
    if (folder / "silero_vad_16k.safetensors").exists():
        summaries(folder / "silero_vad_16k.safetensors")
    else:
        print(f"no silero_vad_16k.safetensors in {folder}: its table stays as it is")

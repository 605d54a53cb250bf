"""Times numpy's min, max, mean and std, one after the other: what `TensorView::summary` gives in one pass.

Usage: numpy_summary.py DTYPE ELEMENTS; prints the best time in nanoseconds. Called by `benches/widen.rs`.
"""

import sys
import time

import numpy as np

dtype, elements = sys.argv[1], int(sys.argv[2])
numbers = ((np.random.default_rng(1).random(elements) - 0.5) * 0.2).astype(dtype)
repeat = max(1, (1 << 18) // elements)
best = float("inf")
start = time.perf_counter()
rounds = 0
while rounds < 4 or time.perf_counter() - start < 0.6:
    before = time.perf_counter()
    for _ in range(repeat):
        numbers.min(), numbers.max(), numbers.mean(), numbers.std()
    best = min(best, (time.perf_counter() - before) / repeat)
    rounds += 1
print(round(best * 1e9))

"""Programs of many cases: functions, and runs of them with the values that are expected; and tensors to run
them with, the same each time."""
import pathlib
import sys

import numpy as np

from values import FLOATS, UNSIGNED, Tensor, text

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
rng = np.random.default_rng(2024)

# Rounding of one operation, relative to the largest element: 4 units in the last place for what
# is made of polynomials, one rounding more for the storage types.
TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 5e-7, "float64": 1e-15}


class Program:
    def __init__(self, name, summary):
        self.name = name
        self.lines = [f"// {summary} Written by {pathlib.Path(sys.argv[0]).name}.", "// once: many functions"]
        self.functions = {}

    def define(self, name, parameters, results):
        """A function of these parameters ("%x: type") that gives a tuple of the results."""
        body = f"({', '.join(results)}{',' if len(results) == 1 else ''})"
        text = f"def @{name}({', '.join(parameters)}) {{\n  {body}\n}}"
        assert self.functions.setdefault(name, text) == text, name

    def start(self, name, inputs):
        self.lines.append(f"// entry: {name}")
        self.lines.append("// run: " + "; ".join(f"{k}={v.text()}" for k, v in inputs.items()))

    def run(self, name, inputs, results, tolerance=0):
        self.start(name, inputs)
        self.lines.append(f"// expect{f' ~{tolerance:g}' if tolerance else ''}: {text(results)}")

    def states(self, sentence):
        """Of docs/semantics.md; what follows shows it."""
        self.lines.append(f"// states: {sentence}")

    def fails(self, name, inputs, message):
        self.start(name, inputs)
        self.lines.append(f"// fails: {message}")

    def case(self, name, results, inputs, tolerance=0, dims={}):
        """A run, and its function if there is none yet. `results`: pairs of an expression and its
        value; `dims`: the extents in the types of some inputs."""
        self.define(name, [f"%{k}: {v.type(dims.get(k))}" for k, v in inputs.items()], [e for e, _ in results])
        self.run(name, inputs, [v for _, v in results], tolerance)

    def write(self):
        (PROGRAMS / f"{self.name}.relay").write_text("\n".join(self.lines + list(self.functions.values())) + "\n")


def integers(dtype, count):
    info = np.iinfo(dtype)
    edges = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
    small = rng.integers(max(info.min, -9), 9, max(count - len(edges), 0))
    return Tensor(dtype, np.array((edges + [int(x) for x in small])[:count], dtype))


def floats(dtype, count):
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5]
    return Tensor(dtype, np.array((edges + list(rng.uniform(-4, 4, max(count - len(edges), 0))))[:count]))


def tame(dtype, *shape, low=-4.0, high=4.0):
    """Floats without edges, or small integers."""
    if dtype == "bool":
        return Tensor(dtype, rng.integers(0, 2, shape))
    if dtype in FLOATS:
        return Tensor(dtype, rng.uniform(low, high, shape))
    return Tensor(dtype, rng.integers(0 if dtype in UNSIGNED else -9, 9, shape))


def whole(dtype, *shape):
    """Small whole numbers, whose sums and products are exact in every order."""
    return Tensor(dtype, rng.integers(0 if dtype in UNSIGNED else -4, 5, shape))

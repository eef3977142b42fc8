"""Values as the programs of tests write them, and the arithmetic in which the language differs from
numpy. What the generators in this folder share."""

import math

import numpy as np

np.seterr(all="ignore")

SHORT = {"bool": "bool", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
         **{f"{u}int{b}": f"{u[:1] or 'i'}{b}" for u in ("", "u") for b in (8, 16, 32, 64)}}
LONG = {short: long for long, short in SHORT.items()}
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float16", "bfloat16", "float32", "float64"]


class Tensor:
    """Elements and a dtype that numpy may lack: bfloat16 is kept in float32."""

    def __init__(self, dtype, values, shape=None):
        carrier = np.float32 if dtype == "bfloat16" else np.dtype(dtype)
        self.dtype = dtype
        values = np.asarray(values)
        self.a = bfloat16(values) if dtype == "bfloat16" else values.astype(carrier)
        if shape is not None:
            self.a = self.a.reshape(shape)

    def text(self):
        prefix = "".join(f"{n}x" for n in self.a.shape) + SHORT[self.dtype] + "="
        return prefix + " ".join(element(x) for x in self.a.ravel())

    def type(self, dims=None):
        """With `?` for each extent, unless `dims` says them: "n, 3"."""
        if self.a.ndim == 0:
            return self.dtype
        dims = dims or ", ".join("?" for _ in self.a.shape)
        return f"Tensor[({dims}{',' if self.a.ndim == 1 else ''}), {self.dtype}]"

    def known(self):
        return ", ".join(map(str, self.a.shape))


def element(x):
    if isinstance(x, np.bool_):
        return "true" if x else "false"
    if isinstance(x, np.integer):
        return str(int(x))
    if np.isnan(x):
        return "nan"
    return repr(float(x)) if x.dtype == np.float64 else str(x)


def bfloat16(values):
    """Rounds to nearest even. From float64 through float32, which is what the language does."""
    values = np.asarray(values).astype(np.float32)
    bits = np.atleast_1d(values).view(np.uint32).astype(np.int64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), rounded.reshape(values.shape))


def wide(t):
    """What floats compute in: float32 for the storage types."""
    return t.a.astype(np.float32) if t.dtype in ("float16", "bfloat16") else t.a


def like(t, values):
    return Tensor(t.dtype, values)


def text(value):
    if isinstance(value, Tensor):
        return value.text()
    if len(value) == 1:
        return f"({text(value[0])},)"
    return "(" + ", ".join(text(v) for v in value) + ")"


# ---- Where numpy differs from the language ------------------------------------------------------


def maximum(a, b):
    """NaN wins, and -0 is below 0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    zero = np.where(np.signbit(a) & np.signbit(b), np.copysign(a, -1), np.abs(a))
    return np.where((a == 0) & (b == 0), zero, np.maximum(a, b))


def minimum(a, b):
    return -maximum(-a, -b) if a.dtype.kind == "f" else np.minimum(a, b)


def truncated(a, b):
    """Integer division towards zero."""
    out = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1)
           for x, y in np.broadcast(a, b)]
    return np.array(out, a.dtype).reshape(np.broadcast(a, b).shape)


def shifted(a, b, left):
    """A negative count, or one of the width and more, shifts everything out."""
    bits = a.dtype.itemsize * 8
    out = []
    for x, y in np.broadcast(a, b):
        x, y = int(x), int(y)
        y = y if 0 <= y < bits else 2 * bits
        out.append((x << y) % 2**bits if left else x >> y)
    unsigned = np.array([v % 2**bits for v in out], f"uint{bits}").reshape(np.broadcast(a, b).shape)
    return unsigned.view(a.dtype)


def converted(t, dtype):
    """Floats to integers truncate and saturate; NaN gives 0; integers wrap."""
    if dtype == "bool":
        return Tensor(dtype, t.a != 0)
    if dtype in FLOATS or t.dtype not in FLOATS:
        if dtype in ("float16", "bfloat16") and t.dtype not in ("float16", "bfloat16", "bool"):
            return Tensor(dtype, once(t.a, dtype))
        return Tensor(dtype, t.a)
    info = np.iinfo(dtype)
    whole_numbers = [0 if math.isnan(x) else info.max if x > info.max else info.min if x < info.min
                     else int(x) for x in map(float, t.a.ravel())]
    return Tensor(dtype, np.array(whole_numbers, dtype).reshape(t.a.shape))


def once(values, dtype):
    """Rounded once to a storage type: through a float32 that was rounded to odd, so that the second
    rounding sees what the first one dropped."""
    exact = [int(v) if values.dtype.kind in "iu" else float(v) for v in values.ravel()]
    out = []
    for v in exact:
        f = np.float32(v)
        if np.isfinite(f) and float(f) != v:
            bits = f.view(np.uint32)
            if not bits & 1:
                toward = np.float32(np.inf if float(f) < v else -np.inf)
                f = np.nextafter(f, toward)
        out.append(f)
    out = np.array(out, np.float32).reshape(values.shape)
    return bfloat16(out) if dtype == "bfloat16" else out.astype(np.float16)

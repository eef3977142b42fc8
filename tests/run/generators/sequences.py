"""Writes `operators_recurrent.relay`: lstm and gru, `operators_attention.relay`, and `operators_fourier.relay`: dft and stft. In float64
throughout."""
import numpy as np

from cases import Program, rng, tame
from values import FLOATS, Tensor, like

TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-13}


def exact(t):
    return t.a.astype(np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def parts(x, letters, order):
    """By letter."""
    return {letter: part for letter, part in zip(order, np.split(x, len(letters), axis=-1))}


def layer(kind, x, w, r, b, rb, states, order, reset_product=True):
    """Steps first. Gives the states after each step, and the last ones."""
    letters = "ifgo" if kind == "lstm" else "rzn"
    rows = []
    for now in x:
        h = states[0]
        given, back = parts(now @ w.T + b, letters, order), parts(h @ r.T + rb, letters, order)
        if kind == "lstm":
            c = sigmoid(given["f"] + back["f"]) * states[1] + sigmoid(given["i"] + back["i"]) * np.tanh(given["g"] + back["g"])
            states = [sigmoid(given["o"] + back["o"]) * np.tanh(c), c]
        else:
            reset, update = sigmoid(given["r"] + back["r"]), sigmoid(given["z"] + back["z"])
            remembered = reset * back["n"] if reset_product else parts((reset * h) @ r.T + rb, letters, order)["n"]
            states = [(1 - update) * np.tanh(given["n"] + remembered) + update * h]
        rows.append(states[0])
    return np.array(rows).reshape((len(x),) + states[0].shape), states


def layers(p):
    for kind, letters, count in (("lstm", "ifgo", 2), ("gru", "rzn", 1)):
        for dtype in FLOATS:
            for steps, batches, width, units in ((3, 2, 3, 2), (1, 1, 2, 1), (0, 2, 1, 2)) if dtype == "float32" else ((2, 1, 2, 2),):
                n = len(letters) * units
                inputs = {"x": tame(dtype, steps, batches, width), "w": tame(dtype, n, width, low=-1, high=1),
                          "r": tame(dtype, n, units, low=-1, high=1), "b": tame(dtype, n), "q": tame(dtype, n),
                          "h": tame(dtype, batches, units), "c": tame(dtype, batches, units)}
                if kind == "gru":
                    del inputs["c"]
                x, w, r, b, q = (exact(inputs[k]) for k in "xwrbq")
                given = [exact(inputs[k]) for k in "hc"[:count]]
                zero = [np.zeros((batches, units))] * count
                results = []

                def add(text, y, last, transpose=False):
                    y = np.swapaxes(y, 0, 1) if transpose else y
                    results.append((text, tuple(like(inputs["x"], v) for v in [y] + last)))

                all_inputs = ", ".join("%" + k for k in inputs)
                add(f"{kind}({all_inputs})", *layer(kind, x, w, r, b, q, given, letters))
                if dtype == "float32" and steps == 3:
                    other = letters[::-1]
                    add(f'{kind}(%x, %w, %r, gates="{other}")', *layer(kind, x, w, r, 0, 0, zero, other))
                    y, last = layer(kind, x[::-1], w, r, b, 0, zero, letters)
                    add(f'{kind}(%x, %w, %r, %b, direction="reverse")', y[::-1], last)
                    add(f'{kind}(transpose(%x, axes=[1, 0, 2]), %w, %r, %b, %q, layout="NTC")',
                        *layer(kind, x, w, r, b, q, zero, letters), transpose=True)
                if kind == "gru" and steps > 1:
                    add(f"{kind}({all_inputs}, linear_before_reset=False)", *layer(kind, x, w, r, b, q, given, letters, False))
                dims = {"x": f"t, n, {width}", "w": f"{n}, {width}", "r": f"{n}, {units}", "b": f"{n}", "q": f"{n}",
                        "h": f"n, {units}", "c": f"n, {units}"}
                p.case(f"{kind}_{dtype}_{steps}", results, inputs, TOLERANCE[dtype], dims)
    # Extents that only the run tells, everywhere; without steps there is nothing to collect.
    p.define("unknown", ["%x: Tensor[(?, ?, ?), float32]", "%w: Tensor[(?, ?), float32]", "%r: Tensor[(?, ?), float32]"],
             ["lstm(%x, %w, %r)"])
    for steps in (2, 0):
        x, w, r = tame("float32", steps, 1, 2), tame("float32", 8, 2), tame("float32", 8, 2)
        y, last = layer("lstm", exact(x), exact(w), exact(r), 0, 0, [np.zeros((1, 2))] * 2, "ifgo")
        p.run("unknown", {"x": x, "w": w, "r": r}, [tuple(like(x, v) for v in [y] + last)], 4e-6)
    p.fails("unknown", {"x": tame("float32", 1, 1, 2), "w": tame("float32", 8, 2), "r": tame("float32", 7, 2)},
            "lstm: dimension 0 of the recurrent weight is 7; expected 8")
    # A unit whose values two other frameworks agreed on.
    one = {k: Tensor("float32", v) for k, v in {"x": [[[1.0]], [[-1.0]]], "w": [[1.0], [-1.0], [0.5]],
                                                 "r": [[0.5], [1.0], [2.0]], "b": [0.0] * 3, "q": [0.0, 0.0, 1.0], "h": [[0.5]]}.items()}
    both = ", ".join("%" + k for k in one)
    expected = {False: [0.601167, 0.804312], True: [0.577879, 0.765950]}
    p.case("resets", [(f'gru({both}, gates="zrn", linear_before_reset={lbr}).0', Tensor("float32", np.reshape(v, (2, 1, 1))))
                      for lbr, v in expected.items()], one, 1e-6)


def attentions(p):
    for dtype in FLOATS:
        for shape, keys, out in (((2, 3, 4), 5, 2), ((2, 2, 3, 2), 3, 3), ((3, 2), 2, 1), ((1, 0, 2), 3, 2)) if dtype == "float32" else (((2, 2, 3), 3, 2),):
            lead = shape[:-2]
            q, k, v = tame(dtype, *shape), tame(dtype, *lead, keys, shape[-1]), tame(dtype, *lead, keys, out)
            m = Tensor("bool", rng.integers(0, 2, (shape[-2], keys)) | (np.arange(keys) == 0))
            f = tame(dtype, *lead[:0], 1, keys)

            def value(scale=None, mask=None, added=0.0, causal=False):
                scores = exact(q) @ np.swapaxes(exact(k), -1, -2) * (scale or 1 / np.sqrt(shape[-1])) + added
                if mask is not None:
                    scores = np.where(mask, scores, -np.inf)
                if causal:
                    scores = np.where(np.tri(shape[-2], keys, dtype=bool), scores, -np.inf)
                weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
                return like(q, weights / weights.sum(axis=-1, keepdims=True) @ exact(v))

            results = [("attention(%q, %k, %v)", value()), ("attention(%q, %k, %v, %m)", value(mask=m.a)),
                       ("attention(%q, %k, %v, %f, scale=0.5f)", value(scale=0.5, added=exact(f))),
                       ("attention(%q, %k, %v, causal=True)", value(causal=True)),
                       ("attention(%q, %k, %v, %m, causal=True)", value(mask=m.a, causal=True))]
            p.case(f"attention_{dtype}_{len(shape)}_{shape[-2]}", results if len(shape) == 3 and dtype == "float32" else results[1:3] if shape[-2] else results[:1],
                   {"q": q, "k": k, "v": v, "m": m, "f": f}, TOLERANCE[dtype])
    q = tame("float32", 2, 2)
    p.case("unseen", [("attention(%q, %q, %q, %m)", Tensor("float32", [[np.nan, np.nan], list(q.a[1])]))],
           {"q": q, "m": Tensor("bool", [[False, False], [False, True]])}, 1e-6)


def transforms(p):
    for dtype in FLOATS:
        for shape in ((2, 6), (1, 1), (3, 0), (0, 4)) if dtype == "float32" else ((2, 5),):
            x, y = tame(dtype, *shape), tame(dtype, *shape)
            z = exact(x) + 1j * exact(y)
            there = np.fft.fft(z) if z.size else z
            back = np.fft.ifft(z) if z.size else z
            p.case(f"dft_{dtype}_{'x'.join(map(str, shape))}",
                   [("dft(%x, %y)", (like(x, there.real), like(x, there.imag))),
                    ("dft(%x, %y, inverse=True)", (like(x, back.real), like(x, back.imag)))],
                   {"x": x, "y": y}, TOLERANCE[dtype])
        if dtype in ("bfloat16", "float64"):
            continue
        for shape in ((2, 20), (13,)) if dtype == "float32" else ((11,),):
            x, w, s = tame(dtype, *shape), tame(dtype, 8), tame(dtype, 5)
            results = []
            for window, attrs in (("", {}), ("%w", {"hop_length": 3}), ("%s", {"win_length": 5, "onesided": False}),
                                  ("", {"win_length": 6, "normalized": True})):
                hop, length = attrs.get("hop_length", 2), attrs.get("win_length", 8)
                own = {"%w": w, "%s": s}.get(window)
                weights = np.zeros(8)
                start = (8 - length) // 2
                weights[start:start + length] = exact(own) if own is not None else 1
                pieces = np.lib.stride_tricks.sliding_window_view(exact(x), 8, axis=-1)[..., ::hop, :] * weights
                z = np.swapaxes(np.fft.fft(pieces), -1, -2)
                z = z if attrs.get("onesided") is False else z[..., :5, :]
                z = z / np.sqrt(8) if attrs.get("normalized") else z
                text = "".join(f", {k}={v}" for k, v in attrs.items())
                results.append((f"stft(%x{', ' + window if window else ''}, n_fft=8{text})",
                                like(x, np.stack([z.real, z.imag], axis=-1))))
            p.case(f"stft_{dtype}_{len(shape)}", results if len(shape) == 2 else results[2:3], {"x": x, "w": w, "s": s}, TOLERANCE[dtype])
    p.define("short", ["%x: Tensor[(?,), float32]"], ["stft(%x, n_fft=8)"])
    p.fails("short", {"x": tame("float32", 7)}, "stft: the data has 7 elements; expected n_fft, 8, or more")


if __name__ == "__main__":
    np.seterr(all="ignore")
    for name, summary, written in (("recurrent", "Layers over sequences.", (layers,)), ("attention", "Attention.", (attentions,)),
                                   ("fourier", "Fourier transforms.", (transforms,))):
        program = Program(f"operators_{name}", summary)
        for part in written:
            part(program)
        program.write()

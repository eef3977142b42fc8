#!/usr/bin/python3
"""The examples once more, independently, in numpy and float64.

  reference.py DATA OUT    reads what make_data.py wrote to DATA, writes expected outputs to OUT

Needs numpy; neither building nor testing runs it: its small outputs are committed.
"""
import pathlib
import sys

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def load(path):
    return {k: v.astype(np.float64) for k, v in np.load(path).items()}


def lstm(data, out):
    w = load(data / "lstm_weights.npz")
    for n in (0, 1, 3, 26):
        words = load(data / f"lstm_inputs_{n}.npz")["words"]
        h = np.zeros((1, 512))
        c = np.zeros((1, 512))
        for x in words:
            i, f, g, o = np.split(w["w_x"] @ x + w["bias"] + h @ w["w_h"].T, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        np.savez(out / f"lstm_{n}.npz", output_0=h.astype(np.float32), output_1=c.astype(np.float32))


def tree_lstm(data, out):
    w = load(data / "tree_lstm_weights.npz")
    words = [np.load(data / f"word_{k}.npy").astype(np.float64) for k in range(4)]

    def state(gates, kept):
        i, o, u = np.split(gates, 3)
        c = sigmoid(i) * np.tanh(u) + kept
        return sigmoid(o) * np.tanh(c), c

    def encode(tree):
        if isinstance(tree, int):
            return state(w["w_leaf"] @ words[tree] + w["b_gates"], 0.0)
        children = [encode(t) for t in tree]
        kept = sum(sigmoid(w["u_forget"] @ h + w["b_forget"]) * c for h, c in children)
        return state(w["u_gates"] @ sum(h for h, _ in children) + w["b_gates"], kept)

    for name, tree in {"leaf": 0, "balanced": ((0, 1), (2, 3)), "chain": (0, (1, (2, (3, 0))))}.items():
        h, _ = encode(tree)
        np.savez(out / f"tree_lstm_{name}.npz", output_0=h.reshape(1, 150).astype(np.float32))


def greedy_decode(data, out):
    w = load(data / "greedy_decode_weights.npz")
    for k in range(3):
        h = np.load(data / f"context_{k}.npy").astype(np.float64)[0]
        token, tokens, margin = 1, [], np.inf
        while len(tokens) < 50:
            xr, xz, xn = np.split(w["w_x"] @ w["embedding"][token] + w["b_x"], 3)
            hr, hz, hn = np.split(w["w_h"] @ h + w["b_h"], 3)
            r, z = sigmoid(xr + hr), sigmoid(xz + hz)
            h = (1 - z) * np.tanh(xn + r * hn) + z * h
            scores = w["w_out"] @ h + w["b_out"]
            token = int(np.argmax(scores))
            best, second = np.sort(scores)[::-1][:2]
            margin = min(margin, best - second)
            tokens.append(token)
            if token == 0:
                break
        print(f"greedy_decode {k}: {len(tokens)} tokens, smallest margin {margin:.4f}")
        np.savez(out / f"greedy_decode_{k}.npz", output_0=np.array(tokens, np.int32))


def beam_list(data, out):
    w = load(data / "beam_list_weights.npz")
    state = np.load(data / "beam_state.npy").astype(np.float64)
    for width, steps in ((1, 6), (3, 8)):
        beam = [(0.0, [1], state, False)]
        for _ in range(steps):
            candidates = []
            for score, tokens, h, ended in beam:
                if ended:
                    candidates.append((score, tokens, h, ended))
                    continue
                nxt = np.tanh(w["embedding"][tokens[-1]] + h @ w["w_h"].T)
                logits = (nxt @ w["w_out"].T)[0]
                logp = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
                candidates += [(score + logp[t], tokens + [t], nxt, t == 0) for t in range(12)]
            candidates.sort(key=lambda c: -c[0])  # stable, as the insertion is
            beam = candidates[:width]
        tokens = ", ".join("[%s]" % ", ".join(f"i32={t}" for t in b[1]) for b in beam)
        scores = ", ".join(f"f32={np.float32(b[0])}" for b in beam)
        (out / f"beam_list_{width}_{steps}.txt").write_text(f"[{tokens}]\n[{scores}]\n")


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    lstm(data, out)
    tree_lstm(data, out)
    greedy_decode(data, out)
    beam_list(data, out)


if __name__ == "__main__":
    main()

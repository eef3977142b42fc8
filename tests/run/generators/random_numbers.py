"""Writes `operators_random.relay`: Threefry in plain integers, and distributions in float64."""
import math

import numpy as np

from cases import Program
from values import Tensor

MASK = 2**64 - 1
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))


def threefry(key, words):
    x = list(words)
    keys = list(key) + [0x1BD11BDAA9FC1A22 ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    for r in range(20):
        if r % 4 == 0:
            x = [(x[i] + keys[(r // 4 + i) % 5] + (r // 4 if i == 3 else 0)) & MASK for i in range(4)]
        mixed = []
        for pair, by in ((x[:2], ROTATIONS[r % 8][0]), (x[2:], ROTATIONS[r % 8][1])):
            total = sum(pair) & MASK
            turned = (pair[1] << by | pair[1] >> (64 - by)) & MASK
            mixed += [total, total ^ turned]
        x = [mixed[i] for i in (0, 3, 2, 1)]
    return x


def behind(hi, lo):
    position = (hi << 64 | lo) >> 1
    return [position >> 64, position & MASK]


def generate(key, count):
    """The next key and the bits."""
    if key[7] >= MASK - count:
        if key[8] == key[9] == 0:
            key = threefry(key[:4], [MASK] * 4) + [0, 0, 0, 0, 1 << 63, 0]
        else:
            key = key[:4] + [key[4] | key[8], key[5] | key[9], 0, 0] + behind(key[8], key[9])
    bits = []
    for block in range(count // 4):
        bits += threefry(key[:4], [(w + block) & MASK for w in key[4:8]])
    if count % 4:
        bits += threefry(key[:4], key[4:7] + [(key[7] + count // 4 * 4) & MASK])[:count % 4]
    return key[:6] + [0, (key[7] + (count + 3) // 4 * 4) & MASK] + key[8:], bits


def split(key):
    if key[8] == key[9] == 0:
        fresh = threefry(key[:4], key[4:8])
        return [fresh + [p, 0, 0, 0, 1 << 62, 0] for p in (0, 1 << 63)]
    return [key[:8] + behind(key[8], key[9]), key[:4] + [key[4] | key[8], key[5] | key[9]] + key[6:8] + behind(key[8], key[9])]


def seeded(seed):
    return [seed >> 64 * i & MASK for i in range(4)] + [0, 0, 0, 0, 1 << 63, 0]


def keyed(words):
    return Tensor("uint64", np.array(words, np.uint64))


KEYS = {"seed_0": seeded(0), "seed_42": seeded(42), "wide_seed": seeded(2**200 + 2**70 + 5), "used": seeded(7)[:7] + [12, 1 << 63, 0],
        "counter_full": seeded(7)[:7] + [MASK - 3, 1, 0], "path_full": seeded(9)[:7] + [MASK - 3, 0, 0],
        "low_path": seeded(3)[:4] + [5, 6, 0, 8, 0, 1], "last_place": seeded(3)[:4] + [5, 6, 1, 8, 1, 0]}


def bits(p):
    for name, words in KEYS.items():
        k = keyed(words)
        r = []
        for shape in ((4,), (2, 3), (), (0,), (9,)):
            after, found = generate(words, math.prod(shape))
            r.append((f"random.threefry_generate(%k, out_shape=[{', '.join(map(str, shape))}])",
                      (keyed(after), Tensor("uint64", np.array(found, np.uint64), shape))))
        r.append(("random.threefry_split(%k)", tuple(keyed(each) for each in split(words))))
        p.case(f"bits_{name}", r, {"k": k})


def uniform(words, count, dtype):
    after, found = generate(words, count)
    if dtype == "float64":
        return after, np.array([(b >> 12) * 2.0**-52 for b in found])
    return after, np.array([((b & 0xFFFFFFFF) >> 9) * 2.0**-23 for b in found])


def distributions(p):
    for dtype, tolerance in (("float32", 1e-6), ("float64", 1e-14)):
        k = keyed(KEYS["seed_42"])
        r = []
        for shape in ((5,), (2, 4), ()):
            count = math.prod(shape)
            form = f'out_shape=[{", ".join(map(str, shape))}], out_dtype="{dtype}"'
            after, u = uniform(KEYS["seed_42"], count, dtype)
            r.append((f"random.uniform(%k, %a, %b, {form})", (keyed(after), Tensor(dtype, u * 4.5 - 1.5, shape))))
            after, u = uniform(KEYS["seed_42"], 2 * count, dtype)
            z = np.sqrt(-2 * np.log(1 - u[:count])) * np.sin(2 * np.pi * u[count:])
            r.append((f"random.normal(%k, %a, %b, {form})", (keyed(after), Tensor(dtype, z * 3 - 1.5, shape))))
        p.case(f"distributions_{dtype}", r, {"k": k, "a": Tensor(dtype, -1.5), "b": Tensor(dtype, 3)}, tolerance)
    for name in ("seed_0", "used"):
        w = np.array([[1, 2, 0, 5], [-1, 0, 3, 0], [0.25, 0.25, 0.25, 0.25]])
        after, u = uniform(KEYS[name], 3 * 6, "float32")
        q = np.maximum(w, 0)
        limits = np.cumsum(q / q.sum(1, keepdims=True), 1)
        drawn = [[min(int((row <= x).sum()), 3) for x in xs] for row, xs in zip(limits, u.reshape(3, 6))]
        p.case(f"multinomial_{name}", [("random.multinomial(%k, %w, num_samples=6)", (keyed(after), Tensor("int32", drawn)))],
               {"k": keyed(KEYS[name]), "w": Tensor("float32", w)})
    p.define("nothing_to_draw", ["%k: Tensor[(10,), uint64]", "%w: Tensor[(n, m), float32]"], ["random.multinomial(%k, %w, num_samples=1)"])
    p.fails("nothing_to_draw", {"k": keyed(KEYS["seed_0"]), "w": Tensor("float32", np.zeros((1, 0)))},
            "random.multinomial: there is nothing to draw from: a row has 0 elements")
    p.define("short_key", ["%k: Tensor[(n,), uint64]"], ["random.threefry_split(%k)"])
    p.fails("short_key", {"k": Tensor("uint64", [1, 2, 3])}, "random.threefry_split: the key has 3 elements; expected 10")


if __name__ == "__main__":
    program = Program("operators_random", "Random numbers from keys.")
    bits(program)
    distributions(program)
    program.write()

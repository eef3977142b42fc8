#!/usr/bin/env python3
"""Makes the weights and inputs of the examples, with the standard library alone.

  make_data.py FOLDER    writes <example>_weights.npz, <example>_inputs.npz and *.npy there

Seeded, so that every machine has the same numbers; weights are uniform within
1/sqrt(fan-in), as recurrent layers are usually initialised.
"""
import array
import io
import pathlib
import random
import struct
import sys
import zipfile


def npy(values, shape):
    """Bytes of an .npy file of float32, row-major."""
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join(f"{n}, " for n in shape)
    padding = -(10 + len(text) + 1) % 64
    header = (text + " " * padding + "\n").encode("latin1")
    data = array.array("f", values)
    if sys.byteorder != "little":
        data.byteswap()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data.tobytes()


def uniform(generator, shape, bound):
    count = 1
    for extent in shape:
        count *= extent
    return npy([generator.uniform(-bound, bound) for _ in range(count)], shape)


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in arrays.items():
            # A fixed date keeps the file the same from run to run.
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)

    g = random.Random(1)
    bound = 512 ** -0.5
    write_npz(folder / "lstm_weights.npz", {
        "w_x": uniform(g, (2048, 300), bound), "w_h": uniform(g, (2048, 512), bound),
        "bias": uniform(g, (2048,), bound)})
    for n in (0, 1, 26):
        write_npz(folder / f"lstm_inputs_{n}.npz", {"words": uniform(g, (n, 300), 1.0)})
    # Three words once more, one by one, for the program over a list.
    words = [[g.uniform(-1.0, 1.0) for _ in range(300)] for _ in range(3)]
    write_npz(folder / "lstm_inputs_3.npz", {"words": npy(sum(words, []), (3, 300))})
    for k, word in enumerate(words):
        (folder / f"lstm_word_{k}.npy").write_bytes(npy(word, (300,)))

    g = random.Random(2)
    bound = 150 ** -0.5
    write_npz(folder / "tree_lstm_weights.npz", {
        "w_leaf": uniform(g, (450, 300), bound), "u_gates": uniform(g, (450, 150), bound),
        "u_forget": uniform(g, (150, 150), bound), "b_gates": uniform(g, (450,), bound),
        "b_forget": uniform(g, (150,), bound)})
    for k in range(4):
        (folder / f"word_{k}.npy").write_bytes(uniform(g, (300,), 1.0))

    g = random.Random(3)
    bound = 96 ** -0.5
    write_npz(folder / "greedy_decode_weights.npz", {
        "embedding": uniform(g, (40, 48), 1.0), "w_x": uniform(g, (288, 48), 4 * bound),
        "w_h": uniform(g, (288, 96), 4 * bound), "b_x": uniform(g, (288,), bound),
        "b_h": uniform(g, (288,), bound), "w_out": uniform(g, (40, 96), 4 * bound),
        "b_out": uniform(g, (40,), bound)})
    for k in range(3):
        (folder / f"context_{k}.npy").write_bytes(uniform(g, (1, 96), 1.0))

    g = random.Random(10)
    bound = 24 ** -0.5
    write_npz(folder / "beam_list_weights.npz", {
        "embedding": uniform(g, (12, 24), 1.0), "w_h": uniform(g, (24, 24), 2 * bound),
        "w_out": uniform(g, (12, 24), 4 * bound)})
    (folder / "beam_state.npy").write_bytes(uniform(g, (1, 24), 1.0))


if __name__ == "__main__":
    main()

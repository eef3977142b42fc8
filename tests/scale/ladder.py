"""How the work of the compiler grows with programs, as slopes of log(work) over log(size).

`ladder.py` counts instructions of vm-compile with valgrind's callgrind over the whole ladder,
prints a table, and fails where a fitted slope is above 1.15. `ladder.py --quick` measures
processor time at a few sizes instead: enough to see a square, on any machine, in seconds.
What an empty program costs is taken off. Kernels are kept as loop IR: LLVM's time is not ours.

Needs BATON_BIN, the folder of the commands, in the environment. Exit codes: 0 fine, 1 a slope is
too steep or a program failed, 77 valgrind is not there."""
import argparse
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from programs import SHAPES  # noqa: E402

BIN = pathlib.Path(os.environ.get("BATON_BIN", "build/release/bin"))
MAX_SLOPE = 1.15
MAX_QUICK_SLOPE = 1.5  # of times, which are noise in part; a square is 2
RETRIES = 3
NOISE = {True: 0.02, False: 1}  # of the measured work: nothing is less
# Depth is bounded: by nesting that is read, and by the parts of a type. So are registers.
SIZES = [1000, 3162, 10000, 31623, 100000]
CUT = {
    "function_chain": 20000, "tensor_function_chain": 10000, "shared_functions": 100000,
    "wide_scalars": 31623, "tuples": 10000, "tuple_results": 10000, "parameters": 10000,
    "constructors": 10000, "constructor_pairs": 3162, "types": 10000, "functions": 20000,
    "nested_ifs": 2000, "nested_conditions": 2000, "nested_blocks": 2000, "nested_matches": 2000,
    "nested_functions": 2000, "deep_tuples": 10000, "deep_options": 10000, "closure_chain": 10000,
    "closure_values": 31623, "instances": 10000, "matches": 31623, "products": 31623,
}


def sizes_of(name, count):
    largest = CUT.get(name, SIZES[-1])
    if largest == SIZES[-1]:
        return SIZES[-count:] if count < len(SIZES) else SIZES
    # As many steps of the same width as the bound leaves room for.
    steps = [largest / 10 ** (0.5 * i) for i in range(count)]
    return sorted(int(step) for step in steps if step >= 60)


def command(program, directory, level):
    source = directory / "program.relay"
    source.write_text(program.text)
    return [str(BIN / "vm-compile"), str(source), "-o", str(directory / "program.vmexe"), f"-O{level}",
            "--no-native-code", "--portable"]


def run(arguments):
    # 8 MiB of stack, as a thread has them.
    limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VM_")}
    result = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=limit, env=environment)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with {result.returncode}\n{result.stderr[-2000:]}")
    return result


def instructions(program, directory, level):
    log = directory / "callgrind.out"
    result = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={log}", *command(program, directory, level)])
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def seconds(program, directory, level):
    times = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(command(program, directory, level))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime)
    return min(times)


def fit(points):
    """The slope of the line through (log size, log work) with the least squares."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(work) for _, work in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="processor time at two sizes")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="only these")
    parser.add_argument("--steps", type=int, default=len(SIZES), help="sizes of the ladder, the largest ones")
    parser.add_argument("--level", type=int, default=3, help="optimisation level")
    arguments = parser.parse_args()
    if not arguments.quick and shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed, so instructions cannot be counted")
        return 77
    measure = seconds if arguments.quick else instructions
    limit = MAX_QUICK_SLOPE if arguments.quick else MAX_SLOPE
    unit = "s" if arguments.quick else "instructions"
    steep = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        empty = measure(SHAPES["scalars"](1), directory, arguments.level)
        print(f"| shape | sizes | {unit} per unit of size | slope |\n|---|---|---|---|", flush=True)

        def measured(shape, sizes):
            return [(size, max(measure(SHAPES[shape](size), directory, arguments.level) - empty, NOISE[arguments.quick]))
                    for size in sizes]

        for shape in arguments.shape or SHAPES:
            sizes = sizes_of(shape, arguments.steps)
            if arguments.quick:
                sizes = [max(sizes[-1] // 80, 40), max(sizes[-1] // 12, 240)]
            try:
                points = measured(shape, sizes)
                # Times that are too long once may be those of a busy machine.
                for _ in range(RETRIES if arguments.quick else 0):
                    if fit(points) <= limit:
                        break
                    points = [min(pair) for pair in zip(points, measured(shape, sizes))]
            except RuntimeError as error:
                print(f"| {shape} | {' '.join(map(str, sizes))} | failed | - |\n{error}", flush=True)
                steep.append(shape)
                continue
            slope = fit(points)
            each = " ".join(f"{work / size:.3g}" if arguments.quick else f"{work / size:.0f}" for size, work in points)
            print(f"| {shape} | {' '.join(map(str, sizes))} | {each} | {slope:.2f} |", flush=True)
            if slope > limit:
                steep.append(shape)
    if steep:
        print(f"slopes above {limit}: {', '.join(steep)}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())

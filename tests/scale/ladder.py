"""How the work of the compiler grows with programs, as slopes of log(work) over log(size).

`ladder.py` counts instructions of vm-compile with valgrind's callgrind over the whole ladder,
prints a table, and fails where a fitted slope is too steep. `ladder.py --quick` measures
processor time at two sizes instead: enough to see a square, on any machine, in seconds.
What an empty program costs is taken off. Exit codes: 0 fine, 1 a slope is too steep or a
program failed, 77 valgrind is not there."""
import argparse
import dataclasses
import math
import pathlib
import re
import resource
import shutil
import sys
import tempfile
import typing

sys.dont_write_bytecode = True
from processes import COMPILE, run  # noqa: E402
from programs import SHAPES  # noqa: E402

STEPS = 5  # each half a power of ten below the next
LARGEST = 100000
# Depth is bounded: by nesting that is read, and by the parts of a type. So are registers.
CUT = {
    "function_chain": 20000, "tensor_function_chain": 10000, "wide_scalars": 31623, "tuples": 10000,
    "tuple_results": 10000, "parameters": 10000, "constructors": 10000, "constructor_pairs": 3162, "types": 10000,
    "functions": 20000, "nested_ifs": 2000, "nested_conditions": 2000, "nested_blocks": 2000, "nested_matches": 2000,
    "nested_functions": 2000, "deep_tuples": 10000, "deep_options": 10000, "closure_chain": 10000,
    "closure_values": 31623, "instances": 10000, "matches": 31623, "products": 31623,
}


def sizes_of(shape, quick, steps):
    largest = CUT.get(shape, LARGEST)
    if quick:
        return [max(largest // 80, 150), max(largest // 12, 1000)]
    sizes = [round(largest / 10 ** (0.5 * i)) for i in reversed(range(steps))]
    return [size for size in sizes if size >= 60]


def instructions(command, folder):
    result = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out", *command], cwd=folder)
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def seconds(command, folder):
    times = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(command, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime)
    return min(times)


@dataclasses.dataclass
class Measure:
    work: typing.Callable
    unit: str
    noise: float  # no work is less
    max_slope: float
    tries: int  # until a slope is too steep
    format: str


INSTRUCTIONS = Measure(instructions, "instructions", noise=1, max_slope=1.15, tries=1, format=".0f")
# A square has the slope 2. Times are noise in part, and of a busy machine if they are too long only once.
SECONDS = Measure(seconds, "s", noise=0.02, max_slope=1.5, tries=8, format=".3g")


def fit(points):
    """The slope of the line through (log size, log work) with the least squares."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(work) for _, work in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


class Ladder:
    def __init__(self, measure, level, folder):
        self.measure = measure
        self.folder = folder
        self.command = [*COMPILE, "program.relay", f"-O{level}"]
        self.empty = 0
        self.empty = self.work("scalars", 1)

    def work(self, shape, size):
        (self.folder / "program.relay").write_text(SHAPES[shape](size).text)
        return max(self.measure.work(self.command, self.folder) - self.empty, self.measure.noise)

    def points(self, shape, sizes):
        """Pairs of a size and its work, all of the try with the least slope: what is measured at one time
        shares what else the machine does."""
        tries = []
        for _ in range(self.measure.tries):
            tries.append([(size, self.work(shape, size)) for size in sizes])
            if fit(tries[-1]) <= self.measure.max_slope:
                break
        return min(tries, key=fit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="processor time at two sizes")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="only these")
    parser.add_argument("--steps", type=int, default=STEPS, help="sizes of the ladder, the largest ones")
    parser.add_argument("--level", type=int, default=3, help="optimisation level")
    arguments = parser.parse_args()
    if not arguments.quick and shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed, so instructions cannot be counted")
        return 77
    measure = SECONDS if arguments.quick else INSTRUCTIONS
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        ladder = Ladder(measure, arguments.level, pathlib.Path(folder))
        print(f"| shape | sizes | {measure.unit} per unit of size | slope |\n|---|---|---|---|", flush=True)
        for shape in arguments.shape or SHAPES:
            sizes = sizes_of(shape, arguments.quick, arguments.steps)
            row = f"| {shape} | {' '.join(map(str, sizes))} |"
            try:
                points = ladder.points(shape, sizes)
            except RuntimeError as error:
                print(f"{row} failed | - |\n{error}", flush=True)
                failed.append(shape)
                continue
            slope = fit(points)
            each = " ".join(f"{work / size:{measure.format}}" for size, work in points)
            print(f"{row} {each} | {slope:.2f} |", flush=True)
            if slope > measure.max_slope:
                failed.append(shape)
    if failed:
        print(f"slopes above {measure.max_slope}, or failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

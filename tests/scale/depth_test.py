"""Programs of the sizes that the compiler promises to take, on a stack of 8 MiB: compiled, run, and
printed at every stage."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from processes import BIN, COMPILE, run  # noqa: E402
from programs import SHAPES  # noqa: E402

# Shape, size, levels.
SIZES = [
    ("scalars", 50000, (0, 3)),
    ("tensors", 50000, (3,)),
    ("unknown_extents", 2000, (3,)),
    ("shape_chain", 20000, (0, 3)),
    ("twin_graphs", 50000, (0, 3)),
    ("nested_ifs", 2000, (0, 3)),
    ("nested_conditions", 2000, (0, 3)),
    ("nested_matches", 2000, (0, 3)),
    ("nested_blocks", 2000, (3,)),
    ("nested_functions", 1000, (0, 3)),
    ("constructors", 1000, (0, 3)),
    ("constructor_pairs", 1000, (3,)),
    ("functions", 10000, (0, 3)),
    ("function_chain", 10000, (0, 3)),
    ("types", 1000, (3,)),
    ("sum_expression", 50000, (3,)),
    ("parameters", 2000, (3,)),
    ("tuples", 5000, (3,)),
    ("closures", 10000, (3,)),
    ("closure_chain", 2000, (3,)),
    ("deep_tuples", 2000, (3,)),
    ("deep_options", 2000, (3,)),
    ("instances", 1000, (3,)),
]


class DepthTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.work = pathlib.Path(self.directory.name)

    def compile(self, program, *options):
        """What the compiler prints."""
        (self.work / "program.relay").write_text(program.text)
        return run([*COMPILE, "program.relay", *options], cwd=self.work, timeout=300).stdout

    def compile_and_run(self, program, *options):
        self.compile(program, *options)
        values = [f"--input={value}" for value in program.inputs] + [f"--expect={value}" for value in program.results]
        run([str(BIN / "vm-run"), "program.vmexe", *values], cwd=self.work, timeout=300)

    def test_sizes(self):
        for shape, size, levels in SIZES:
            for level in levels:
                with self.subTest(shape=shape, size=size, level=level):
                    self.compile_and_run(SHAPES[shape](size), f"-O{level}")

    def test_verified_after_every_pass(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.compile_and_run(SHAPES[shape](120), "--verify-each")

    def test_printed_and_read_again(self):
        for shape, size in (("scalars", 20000), ("nested_ifs", 2000), ("nested_matches", 2000), ("constructors", 1000),
                            ("function_chain", 5000), ("deep_tuples", 300), ("closures", 2000)):
            with self.subTest(shape=shape):
                program = SHAPES[shape](size)
                for stage in ("types", "lowered", "lir", "vmasm"):
                    self.assertNotEqual(self.compile(program, "--emit", stage, "-O1"), "")
                program.text = self.compile(program, "--emit", "ir")
                self.compile_and_run(program, "-O1")
                self.assertEqual(self.compile(program, "--emit", "ir"), program.text)


if __name__ == "__main__":
    unittest.main()

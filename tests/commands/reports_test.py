"""What vm-run reports of a run: times, the profile as a table and as JSON, memory."""
import json
import re
import unittest

from support import OK, USAGE, CommandTest

PROGRAM = """
def @double(%x: Tensor[(n,), float32], %k: int64) -> Tensor[(n,), float32] {
  if (less(%k, 1i64)) { %x } else { let %y = @double(multiply(%x, 2f), subtract(%k, 1i64)); add(%y, 0f) }
}
def @main(%x: Tensor[(n,), float32], %k: int64) -> Tensor[(n,), float32] { @double(%x, %k) }
"""
INPUT = ("--input", "2xf32=1 3", "--input", "i64=5")
ANSWER = "2xf32=32 96\n"


class Reports(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls().compile("m", PROGRAM, "-O0")

    def runTest(self):
        pass

    def test_times_of_repeated_runs(self):
        result = self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--repeat", "7")
        answer, times = result.stdout.splitlines()
        self.assertEqual(answer + "\n", ANSWER)
        found = re.fullmatch(r"runs: (\d+), first ([\d.]+) us, median ([\d.]+) us, least ([\d.]+) us, most ([\d.]+) us",
                             times)
        self.assertIsNotNone(found, times)
        count, first, median, least, most = map(float, found.groups())
        self.assertEqual(count, 7)
        self.assertLess(0, least)
        self.assertLessEqual(least, median)
        self.assertLessEqual(median, most)
        self.assertLessEqual(least, first)
        self.assertLessEqual(first, most)
        self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--repeat", "1", stdout=ANSWER)
        self.expect(USAGE, "vm-run", "m.vmexe", *INPUT, "--repeat", "0", stderr="--repeat")

    def rows(self, *arguments):
        result = self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--profile=json", *arguments)
        answer, text = result.stdout.split("\n", 1)
        self.assertEqual(answer + "\n", ANSWER)
        return json.loads(text)

    def test_the_profile_as_json(self):
        rows = self.rows()
        for row in rows:
            self.assertEqual(sorted(row), ["count", "instructions", "kind", "name", "nanoseconds"])
            self.assertGreater(row["nanoseconds"], 0)
        functions = {row["name"]: row for row in rows if row["kind"] == "function"}
        kernels = [row for row in rows if row["kind"] == "kernel"]
        self.assertEqual(sorted(functions), ["double", "main"])
        self.assertEqual(functions["main"]["count"], 1)
        self.assertEqual(functions["double"]["count"], 6)
        self.assertGreater(functions["double"]["instructions"], 6 * 3)
        self.assertEqual(sorted(row["count"] for row in kernels), [5, 5])
        self.assertEqual({row["instructions"] for row in kernels}, {0})
        spent = [row["nanoseconds"] for row in rows]
        self.assertEqual(spent, sorted(spent, reverse=True))

    def test_the_profile_as_a_table(self):
        result = self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--profile")
        answer, header, *rows = result.stdout.splitlines()
        self.assertEqual(answer + "\n", ANSWER)
        self.assertEqual(header.split(), ["kind", "count", "total", "us", "mean", "us", "%", "instructions", "name"])
        self.assertEqual(len(rows), 4)
        shares = 0.0
        for row in rows:
            kind, count, total, mean, share, instructions, name = row.split(None, 6)
            self.assertIn(kind, ("function", "kernel"))
            self.assertAlmostEqual(float(total), float(mean) * int(count), delta=0.06 + 0.001 * int(count))
            self.assertEqual(int(instructions) == 0, kind == "kernel")
            self.assertNotEqual(name, "")
            shares += float(share)
        self.assertAlmostEqual(shares, 100, delta=0.5)
        self.expect(USAGE, "vm-run", "m.vmexe", *INPUT, "--profile=xml", stderr="--profile")

    def test_memory(self):
        result = self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--print-memory-stats")
        answer, *lines = result.stdout.splitlines()
        self.assertEqual(answer + "\n", ANSWER)
        found = re.fullmatch(r"memory: +in use +(\d+) bytes, peak +(\d+)", lines[0])
        self.assertIsNotNone(found, lines[0])
        self.assertGreaterEqual(int(found[2]), max(int(found[1]), 8))
        self.assertRegex(lines[1], r"^ +reserved +\d+ bytes, peak +\d+$")
        self.assertRegex(lines[2], r"^allocations:  \d+ \(released \d+, from the system \d+, from the pool \d+\)$")


if __name__ == "__main__":
    unittest.main()

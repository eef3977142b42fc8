"""Limits of one run, and programs that have none of their own: exit codes 4 and 5, never a signal."""
import subprocess
import time
import unittest

from support import BIN, DEADLINE, FAILURE, LIMIT, OK, CommandTest

PROGRAM = """
import "prelude"
def @depth(%n: int64) -> int64 { if (%n == 0i64) { 0i64 } else { 1i64 + @depth(%n - 1i64) } }
def @count(%n: int64) -> int64 {
  let %loop = fn (%i: int64, %s: int64) -> int64 {
    if (%i == %n) { %s } else { %loop(%i + 1i64, %s + %i) }
  };
  %loop(0i64, 0i64)
}
def @build(%n: int64, %l: List[int64]) -> List[int64] {
  if (%n == 0i64) { %l } else { @build(%n - 1i64, Cons(%n, %l)) }
}
def @cells(%n: int64) -> int64 {
  let %l = @build(%n, Nil);
  let %m = @map(fn (%x: int64) { %x * 2i64 }, %l);
  @foldl(fn (%a: int64, %x: int64) { %a + %x }, 0i64, %m)
}
def @list(%n: int64) -> List[int64] { @map(fn (%x: int64) { %x + 1i64 }, @build(%n, Nil)) }
def @tensors(%n: int64, %x: Tensor[(m,), float32]) -> List[Tensor[(m,), float32]] {
  @replicate(%n, exp(%x), Nil)
}
def @replicate(%n: int64, %x: Tensor[(m,), float32], %l: List[Tensor[(m,), float32]]) -> List[Tensor[(m,), float32]] {
  if (%n == 0i64) { %l } else { @replicate(%n - 1i64, exp(%x), Cons(%x, %l)) }
}
def @closure(%n: int64) -> int64 {
  let %f = fn (%k: int64) -> int64 { if (%k == 0i64) { %n } else { 1i64 + %f(%k - 1i64) } };
  let %held = Some(%f);
  match (%held) { Some(%g) => %g(5i64), None => 0i64 }
}
def @closures(%n: int64) -> int64 {
  let %loop = fn (%i: int64, %s: int64) -> int64 {
    if (%i == %n) { %s } else {
      let %f = fn (%k: int64) -> int64 { if (%k == 0i64) { %i } else { %f(%k - 1i64) } };
      let %g = if (%s < 0i64) { fn (%k: int64) -> int64 { %k } } else { %f };
      %loop(%i + 1i64, %s + %g(2i64) - %i + 1i64)
    }
  };
  %loop(0i64, 0i64)
}
def @cell(%n: int64) -> int64 {
  let %r = ref(fn (%i: int64) -> int64 { %i });
  let %f = fn (%i: int64) -> int64 { let %self = ref_read(%r); if (%i == 0i64) { 1i64 } else { %i * %self(%i - 1i64) } };
  ref_write(%r, %f);
  %f(%n)
}
def @forever(%n: int64) -> int64 { @forever(%n + 1i64) }
def @main(%n: int64) -> int64 { %n }
"""
ENTRIES = ("depth", "count", "cells", "list", "tensors", "closure", "closures", "cell", "forever")


class Limits(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for level in "03":
            cls().compile("m" + level, PROGRAM, "-O" + level, *(a for name in ENTRIES for a in ("--entry", name)))

    def runTest(self):
        pass

    def call(self, code, function, *inputs, options=(), level="3", **more):
        arguments = [a for text in inputs for a in ("--input", text)]
        return self.expect(code, "vm-run", f"m{level}.vmexe", "--function", function, *arguments, *options, **more)

    def test_depth(self):
        for level in "03":
            self.call(OK, "depth", "i64=1000000", stdout="i64=1000000\n", level=level)
            self.call(LIMIT, "depth", "i64=1000000000", stdout="", stderr=("vm-run: limit reached", "call depth limit reached", "bytes of frames", "@depth"), level=level)
            self.call(LIMIT, "depth", "i64=1001", options=("--max-call-depth", "1000"),
                      stderr=("limit reached", "call depth limit reached", "@depth"), level=level)
            self.call(OK, "depth", "i64=900", options=("--max-call-depth", "1000"), stdout="i64=900\n", level=level)
        self.call(LIMIT, "depth", "i64=1001", env={"VM_RUN_MAX_CALL_DEPTH": "1000"}, stderr="limit reached")

    def test_depth_needs_no_stack_of_ours(self):
        for stack in ("256", "8192"):
            self.call(OK, "depth", "i64=1000000", stdout="i64=1000000\n", prefix=("sh", "-c", f'ulimit -s {stack}; exec "$@"', "sh"))

    def test_instructions(self):
        self.call(LIMIT, "count", "i64=1000000", options=("--max-instructions", "1000"), stderr="limit reached")
        self.call(LIMIT, "forever", "i64=0", options=("--max-instructions", "1000000"), stderr="limit reached")
        self.call(OK, "count", "i64=10", options=("--max-instructions", "1000"), stdout="i64=45\n")

    def test_memory(self):
        for limit in ("1MiB", "16MiB"):
            self.call(LIMIT, "list", "i64=10000000", options=("--memory-limit", limit), stdout="", stderr=("limit reached: cannot allocate", "limit", "@list"))
            self.call(LIMIT, "tensors", "i64=100000", "1000xf32=" + "1 " * 1000, options=("--memory-limit", limit), stderr="limit reached: cannot allocate")
        self.call(OK, "cells", "i64=10", options=("--memory-limit", "1MiB"), stdout="i64=110\n")
        self.call(LIMIT, "list", "i64=10000000", options=("--memory-limit", "8MiB", "--allocator", "system"), stderr="limit reached: cannot allocate")

    def test_memory_of_the_machine(self):
        self.call(LIMIT, "list", "i64=1000000000", prefix=("sh", "-c", 'ulimit -v 400000; exec "$@"', "sh"), stderr="memory")

    def test_memory_of_the_compiler(self):
        # LLVM cannot be asked to survive this; the command can.
        codes = set()
        least = 150_000
        for kilobytes in range(least, 320_000, 10_000):
            result = subprocess.run(["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", str(BIN / "vm-compile"),
                                     "m3.relay", "-o", "small.vmexe"], cwd=self.work, capture_output=True, text=True)
            if result.returncode == 127:  # not even the libraries fit
                continue
            codes.add(result.returncode)
            # LLVM may notice first, and calls abort().
            self.assertIn(result.returncode, (OK, LIMIT, 70), f"{kilobytes}: {result.stderr}")
            if result.returncode == LIMIT:
                self.assertIn("out of memory", result.stderr)
        self.assertIn(OK, codes)

    def test_deadline(self):
        start = time.monotonic()
        self.call(DEADLINE, "forever", "i64=0", options=("--timeout", "200ms"), stdout="", stderr=("deadline", "@forever"))
        self.assertLess(time.monotonic() - start, 20)
        self.call(OK, "count", "i64=10", options=("--timeout", "1min"), stdout="i64=45\n")

    def test_a_counted_loop_allocates_nothing(self):
        def allocations(turns):
            out = self.call(OK, "count", f"i64={turns}", options=("--print-memory-stats",)).stdout
            return next(line for line in out.splitlines() if line.startswith("allocations:"))

        self.assertEqual(allocations(10_000_000), allocations(10))

    def test_closures_do_not_keep_themselves(self):
        def memory(function, number, *options):
            out = self.call(OK, function, f"i64={number}", options=("--print-memory-stats", *options), level=level).stdout
            return [line for line in out.splitlines() if line.startswith(("i64=", "memory:", "   "))]

        for level in "03":
            # A hundred thousand calls, each with a recursive closure of its own, and one with a cycle through a cell.
            for function, result in (("closure", "i64=10"), ("cell", "i64=120")):
                once = memory(function, 5)
                self.assertEqual(once[0], result)
                self.assertEqual(memory(function, 5, "--repeat", "100000", "--memory-limit", "1MiB"), once)
            # A million of them in one call.
            few = memory("closures", 10)
            many = memory("closures", 1_000_000, "--memory-limit", "1MiB")
            self.assertEqual((few[0], many[0]), ("i64=10", "i64=1000000"))
            self.assertEqual(many[1:], few[1:])

    def test_a_million_cells(self):
        for level in "03":
            for stack in ("256", "8192"):
                prefix = ("sh", "-c", f'ulimit -s {stack}; exec "$@"', "sh")
                self.call(OK, "cells", "i64=1000000", stdout="i64=1000001000000\n", prefix=prefix, level=level)
                out = self.call(OK, "list", "i64=1000000", prefix=prefix, level=level, options=("--output", "-")).stdout
                self.assertEqual(out.count("i64="), 1_000_000)
                self.assertTrue(out.startswith("[i64=2, i64=3, ") and out.endswith(", i64=1000001]\n"))

    def test_program_errors_are_no_limits(self):
        self.call(FAILURE, "depth", "i64=10", options=("--expect", "i64=11"))


if __name__ == "__main__":
    unittest.main()

"""Arrays that grow and change in loops: nothing is copied in a round. A copy of an array of some
length is an allocation, and growing by doubling is a few, so the number of allocations tells."""
import re
import unittest

from support import OK, CommandTest

PROGRAM = """import "prelude"
type State { State(Array[int32], int32) }
def @last(%a: Array[int32]) -> int32 { array_get(%a, array_length(%a) - 1) }
def @depth(%x: int32) -> int32 { if (%x > 3) { @depth(%x - 3) + 1 } else { %x } }

def @cell_push(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) { ref_write(%cell, array_push(ref_read(%cell), %i)); %loop(%i + 1) } else { %i }
  };
  let %end = %loop(0);
  @last(ref_read(%cell))
}
def @cell_set(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(@array_full(%n, 0));
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) { ref_write(%cell, array_set(ref_read(%cell), %i, %i)); %loop(%i + 1) } else { %i }
  };
  let %end = %loop(0);
  @last(ref_read(%cell))
}
// A cell of another type, a call and a branch between the read and the write.
def @cell_between(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %count: ref(int32) = ref(0);
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) {
      let %a = ref_read(%cell);
      let %x = if (floor_mod(array_length(%a), 2) == 0) { @depth(5) } else { ref_read(%count) };
      ref_write(%count, %i);
      ref_write(%cell, array_push(%a, %x + 1));
      %loop(%i + 1)
    } else {
      %i
    }
  };
  let %end = %loop(0);
  @last(ref_read(%cell))
}
def @add(%cell: ref(Array[int32]), %x: int32) -> () { ref_write(%cell, array_push(ref_read(%cell), %x)) }
def @add_all(%cell: ref(Array[int32]), %i: int32, %n: int32) -> int32 {
  if (%i < %n) { @add(%cell, %i); @add_all(%cell, %i + 1, %n) } else { %i }
}
def @cell_in_function(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %end = @add_all(%cell, 0, %n);
  @last(ref_read(%cell))
}
def @cell_in_closure(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %push = fn (%x: int32) -> () { ref_write(%cell, array_push(ref_read(%cell), %x)) };
  let %done = @array_map(%push, @array_build(%n, fn (%i: int32) -> int32 { %i }));
  @last(ref_read(%cell))
}
def @cell_of_data(%n: int32) -> int32 {
  let %none: Array[int32] = array_new();
  let %cell = ref(State(%none, 0));
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) {
      ref_write(%cell, match (ref_read(%cell)) { State(%a, %k) => State(array_push(%a, %k), %k + 1) });
      %loop(%i + 1)
    } else {
      %i
    }
  };
  let %end = %loop(0);
  match (ref_read(%cell)) { State(%a, _) => @last(%a) }
}
// A round that adds a few, in a loop between the read and the write.
def @append(%a: Array[int32], %i: int32, %n: int32) -> Array[int32] {
  if (%i < %n) { @append(array_push(%a, %i), %i + 1, %n) } else { %a }
}
def @cell_around_loop(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) { ref_write(%cell, @append(ref_read(%cell), %i, %i + 2)); %loop(%i + 1) } else { %i }
  };
  let %end = %loop(0);
  @last(ref_read(%cell)) - 1
}
// Of the branches after the read only one writes.
def @cell_in_branch(%n: int32) -> int32 {
  let %cell: ref(Array[int32]) = ref(array_new());
  let %loop = fn (%i: int32) -> int32 {
    if (%i < %n) {
      let %a = ref_read(%cell);
      if (array_length(%a) < 1000000) { ref_write(%cell, array_push(%a, %i)) } else { () };
      %loop(%i + 1)
    } else {
      %i
    }
  };
  let %end = %loop(0);
  @last(ref_read(%cell))
}
def @tuple_of_loop(%n: int32) -> int32 {
  let %none: Array[int32] = array_new();
  let %loop = fn (%s: (Array[int32], int32)) -> Array[int32] {
    if (%s.1 < %n) { %loop((array_push(%s.0, %s.1), %s.1 + 1)) } else { %s.0 }
  };
  @last(%loop((%none, 0)))
}
def @recursion(%s: (Array[int32], int32), %n: int32) -> (Array[int32], int32) {
  if (%n > 0) { let %r = @recursion(%s, %n - 1); (array_push(%r.0, %r.1), %r.1 + 1) } else { %s }
}
def @tuple_of_recursion(%n: int32) -> int32 {
  let %none: Array[int32] = array_new();
  @last(@recursion((%none, 0), %n).0)
}
def @fold(%n: int32) -> int32 {
  let %none: Array[int32] = array_new();
  let %push = fn (%a: Array[int32], %x: int32) -> Array[int32] { array_push(%a, %x) };
  @last(@array_foldl(%push, %none, @array_build(%n, fn (%i: int32) -> int32 { %i })))
}
def @step(%s: State) -> State {
  match (%s) { State(%a, %k) => State(array_push(%a, %k), %k + @depth(5) - 2) }
}
def @steps(%s: State, %n: int32) -> State { if (%n > 0) { @steps(@step(%s), %n - 1) } else { %s } }
def @data(%n: int32) -> int32 {
  let %none: Array[int32] = array_new();
  match (@steps(State(%none, 0), %n)) { State(%a, _) => @last(%a) }
}
def @captured_by(%f: fn(int32) -> Array[int32], %i: int32, %n: int32) -> Array[int32] {
  if (%i < %n) {
    let %a = %f(%i - 1);
    @captured_by(fn (%x: int32) -> Array[int32] { array_push(%a, %x) }, %i + 1, %n)
  } else {
    %f(%i - 1)
  }
}
def @captured(%n: int32) -> int32 { @last(@captured_by(fn (%x: int32) -> Array[int32] { array_new() }, 0, %n)) }
"""
# Allocations of a thousand rounds more: growing, and pages of a heap for what is small.
FEW = 16


class InPlaceTest(CommandTest):
    def test_no_round_copies(self):
        names = re.findall(r"^def @(\w+)\(%n: int32\)", PROGRAM, re.MULTILINE)
        self.assertEqual(len(names), 13)
        for level in "03":
            self.compile("m" + level, PROGRAM, "-O" + level, *(a for name in names for a in ("--entry", name)))
            for name in names:
                counts = [self.allocations(f"m{level}.vmexe", name, n) for n in (1000, 3000)]
                with self.subTest(name, level=level, counts=counts):
                    self.assertLessEqual(counts[1] - counts[0], FEW)

    def allocations(self, file, name, rounds):
        result = self.expect(OK, "vm-run", file, "--function", name, "--input", f"i32={rounds}", "--print-memory-stats")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], f"i32={rounds - 1}")
        return int(next(line for line in lines if line.startswith("allocations:")).split()[1])


if __name__ == "__main__":
    unittest.main()

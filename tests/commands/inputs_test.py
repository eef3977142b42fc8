"""What vm-run says about the values and files that it is given."""
import unittest

from support import BAD_FILE, FAILURE, LIMIT, OK, USAGE, CommandTest, effort, floats, npy

PROGRAM = """
type Tree { Leaf(Tensor[(3,), float32]), Node(Tree, Tree) }
def @main(%x: Tensor[(n, m), float32], %y: Tensor[(n,), float32]) -> Tensor[(n, m), float32]
    where n <= 8 {
  add(%x, expand_dims(%y, axis=1))
}
def @double(%x: Tensor[(n,), float32], %y: Tensor[(2*n,), float32]) { concatenate((%x, %y)) }
def @tree(%t: Tree) -> Tensor[(3,), float32] { match (%t) { Leaf(%x) => %x, Node(%a, %b) => @tree(%a) } }
def @scalar(%n: int32) -> int32 { %n }
def @named(%layer/0.w: int32, %x: int32) -> int32 { %layer/0.w - %x }
def @pair(%n: int32) { (%n, %n + 1i32) }
def @square(%m: Tensor[(4, 4), float32]) { %m }
def @divide(%n: int32) -> int32 { floor_divide(10i32, %n) }
"""
ENTRIES = ("main", "double", "tree", "scalar", "named", "pair", "square", "divide")


class Inputs(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        test.compile("m", PROGRAM, *(a for name in ENTRIES[1:] for a in ("--entry", name)))
        test.write("x.npy", npy("<f4", (2, 3), floats(*range(6))))
        test.write("wide.npy", npy("<f8", (2, 3), bytes(48)))

    def runTest(self):
        pass

    def call(self, code, function, *inputs, stdout=None, stderr=(), options=(), **more):
        arguments = [a for text in inputs for a in ("--input", text)]
        return self.expect(code, "vm-run", "m.vmexe", "--function", function, *arguments, *options, stdout=stdout,
                           stderr=stderr, **more)

    def test_values(self):
        self.call(OK, "main", "2x1xf32=1 2", "2xf32=10 20", stdout="2x1xf32=11 22\n")
        self.call(OK, "main", "y=2xf32=10 20", "x=2x1xf32=1 2", stdout="2x1xf32=11 22\n")
        self.call(OK, "main", "x=@x.npy", "2xf32=10 20", stdout="2x3xf32=10 11 12 23 24 25\n")
        self.call(OK, "main", "0x3xf32=", "0xf32=", stdout="0x3xf32=\n")
        self.call(OK, "tree", "Node(Leaf(3xf32=1 2 3), Leaf(3xf32=4 5 6))", stdout="3xf32=1 2 3\n")
        self.call(OK, "named", "x=i32=1", "layer/0.w=i32=5", stdout="i32=4\n")
        self.call(OK, "named", "%x = i32=1", "%layer/0.w = i32=5", stdout="i32=4\n")
        self.call(OK, "pair", "i32=1", stdout="i32=1\ni32=2\n")

    def test_values_in_files(self):
        self.write("tree.txt", "Node(Leaf(3xf32=1 2 3),\n  Leaf(@leaf.npy))\n")
        self.write("leaf.npy", npy("<f4", (3,), floats(4, 5, 6)))
        self.call(OK, "tree", "@tree.txt", stdout="3xf32=1 2 3\n")
        self.call(OK, "tree", "t=@-", stdout="3xf32=1 2 3\n", read="tree.txt")
        self.write("array", npy("<f4", (2, 3), floats(*range(6))))
        self.call(OK, "main", "x=@array", "2xf32=10 20", stdout="2x3xf32=10 11 12 23 24 25\n")
        self.call(OK, "tree", "@tree.txt", stdout="", options=("--output", "@out.txt"))
        self.assertEqual((self.work / "out.txt").read_text(), "3xf32=1 2 3\n")
        self.call(OK, "tree", "@tree.txt", stdout="[SUCCESS]\n", options=("--expect", "@out.txt"))
        self.write("bad.txt", "Node(Leaf(3xf32=1 2 3)")
        self.call(USAGE, "tree", "@bad.txt", stderr="input %t: ")
        self.call(BAD_FILE, "tree", "@missing.txt", stderr="missing.txt: ")

    # states: A program error ends the call with a message, the place in the program and the functions that were active, inlined ones too.
    # states: A call in tail position is the last thing its caller does, which is no longer active then.
    def test_backtraces_at_every_level(self):
        program = '''import "prelude"
def @second(%xs: List[int32]) -> int32 { @hd(@tl(%xs)) + 1 }
def @main(%xs: List[int32]) -> int32 {
  2 * @second(%xs)
}
'''
        for level in ("-O0", "-O1", "-O2", "-O3"):
            self.compile("trace", program, level)
            self.expect(OK, "vm-run", "trace.vmexe", "--input", "[i32=1, i32=2]", stdout="i32=6\n")
            result = self.expect(FAILURE, "vm-run", "trace.vmexe", "--input", "[i32=1]")
            frames = [line.split()[1:4] for line in result.stderr.splitlines() if line.startswith("  in @")]
            self.assertEqual(frames[0][0], "@hd", result.shown)
            self.assertEqual(frames[1], ["@second", "at", "trace.relay:2:42"], result.shown)
            self.assertEqual(frames[2], ["@main", "at", "trace.relay:4:7"], result.shown)

    def test_files_without_end(self):
        commands = (("vm-dump", "/dev/zero"), ("vm-compile", "/dev/zero", "-o", "z.vmexe"))
        for command, *arguments in commands[:effort(2, 1)]:
            self.expect(LIMIT, command, *arguments, stderr="/dev/zero: found more than 1073741824 bytes")

    def test_wrong_tensors(self):
        self.call(FAILURE, "main", "2x3xf32=1 2 3 4 5 6", "3xf32=1 2 3",
                  stderr="argument %y: dimension 0 is 3, but n was bound to 2 by dimension 0 of argument %x")
        self.call(FAILURE, "main", "2x3xf64=1 2 3 4 5 6", "2xf32=1 2", stderr="input %x: found float64 of shape (2, 3), expected Tensor[(n, m), float32]")
        self.call(FAILURE, "main", "2x3xf32=1 2 3 4 5 6", "2x1xf32=1 2", stderr="input %y: found float32 of shape (2, 1), expected Tensor[(n,), float32]")
        self.call(FAILURE, "main", "f32=1", "2xf32=1 2", stderr=("input %x: found float32", "expected Tensor[(n, m), float32]"))
        self.call(FAILURE, "main", "x=@wide.npy", "2xf32=1 2", stderr="input %x: found float64 of shape (2, 3), expected Tensor[(n, m), float32]")
        self.call(FAILURE, "main", "9x1xf32=1 2 3 4 5 6 7 8 9", "9xf32=1 2 3 4 5 6 7 8 9",
                  stderr="n <= 8 does not hold: n is 9, bound by dimension 0 of argument %x")
        self.call(FAILURE, "double", "2xf32=1 2", "3xf32=1 2 3",
                  stderr="argument %y: dimension 0 is 3, expected 2*n = 4, where n was bound to 2 by dimension 0 of argument %x")
        self.call(FAILURE, "square", "4x3xf32=1 2 3 4 5 6 7 8 9 10 11 12", stderr="argument %m: dimension 1 is 3, expected 4")
        self.call(FAILURE, "scalar", "1xi32=1", stderr="input %n: found int32 of shape (1,), expected int32")
        self.call(FAILURE, "scalar", "i64=1", stderr=("input %n: found int64", "expected int32"))

    def test_wrong_data(self):
        self.call(FAILURE, "tree", "Leaf(2xf32=1 2)", stderr=("%t", "dimension 0 is 2, expected 3"))
        self.call(FAILURE, "tree", "Twig(3xf32=1 2 3)", stderr=("%t", "found Twig, expected Tree, made by one of "))
        self.call(FAILURE, "tree", "Leaf(3xf32=1 2 3, 3xf32=1 2 3)", stderr=("%t", "Leaf has 1 field, found 2"))
        self.call(FAILURE, "tree", "Leaf", stderr=("%t", "Leaf has 1 field, found 0"))
        self.call(FAILURE, "tree", "[3xf32=1 2 3]", stderr="%t")
        self.call(FAILURE, "tree", "3xf32=1 2 3", stderr="input %t: found float32 of shape (3,), expected Tree")

    def test_text_that_is_no_value(self):
        for text, message in {"2xf32=1": "element 2 of 2", "2xf32=1 x": "column 9", "": "column 1", "2xq8=1": "column 1",
                              "(i32=1": "',' or ')'", "i32=99999999999": "column 5", "1": "i32=1" and "f32=1",
                              "[i32=1,,]": "column", "Leaf(": "column", "9223372036854775807x9xf32=1": "column"}.items():
            with self.subTest(text):
                self.call(USAGE, "scalar", text, stderr=("input %n: column", message))

    def test_files_of_values(self):
        self.call(BAD_FILE, "main", "x=@nowhere.npy", stderr="nowhere.npy: No such file or directory")
        self.call(BAD_FILE, "main", "x=@.", stderr="Is a directory")
        self.write("cut.npy", npy("<f4", (2, 3), floats(1, 2)))
        self.call(BAD_FILE, "main", "x=@cut.npy", stderr=("cut.npy", "found 8 bytes of data, expected 24"))
        self.write("empty.npy", b"")
        self.call(BAD_FILE, "main", "x=@empty.npy", stderr="empty.npy")
        self.write("bad.npz", b"PK\x03\x04 and no more")
        self.call(BAD_FILE, "main", options=("--inputs-npz", "bad.npz"), stderr="bad.npz: npz")
        self.call(BAD_FILE, "main", "x=@bad.npz", stderr="bad.npz is a .npz file, which has arrays by name")
        self.call(FAILURE, "main", "x=x.npy", stderr="the file of that name is written @x.npy")
        self.call(BAD_FILE, "main", options=("--inputs-npz", "nowhere.npz"), stderr="nowhere.npz")
        self.call(BAD_FILE, "main", options=("--inputs-npz", "x.npy"), stderr="x.npy: npz")

    def test_usage(self):
        self.call(USAGE, "scalar", stderr=("no value for parameter %n: int32", "def @scalar(%n: "))
        self.call(USAGE, "scalar", "i32=1", "i32=2", stderr="more values than the 1 parameters")
        self.call(USAGE, "scalar", "z=i32=1", stderr="no parameter %z")
        self.call(USAGE, "scalar", "n=i32=1", "n=i32=1", stderr="%n is given twice")
        self.call(USAGE, "nothing", stderr='no function "nothing" in m.vmexe; it has main, double, tree')
        self.call(USAGE, "tree", options=("--random",), stderr="only tensors can be random")
        self.call(USAGE, "main", options=("--random", "--dim", "n=2"), stderr="give it with --dim m=N")
        self.call(USAGE, "main", options=("--random", "--dim", "n=2", "--dim", "q=2"), stderr="no parameter has the extent q")
        for dim in ("n", "n=", "n=x", "n=-1", "=3", "n=99999999999999999999"):
            self.call(USAGE, "main", options=("--random", "--dim", dim), stderr="--dim")
        self.call(USAGE, "main", options=("--random", "--dim", "n=4611686018427387904", "--dim", "m=4"), stderr="too many")
        for option, value in (("--memory-limit", "lots"), ("--memory-limit", "-1"), ("--timeout", "soon"), ("--threads", "x"),
                              ("--repeat", "0"), ("--allocator", "mine"), ("--profile=tree", None), ("--max-instructions", "1e"),
                              ("--atol", "small"), ("--output", "file"), ("--unheard-of", None)):
            arguments = (option,) if value is None else (option, value)
            self.call(USAGE, "scalar", "i32=1", options=arguments, stderr=option.split("=")[0])
        self.call(USAGE, "scalar", "i32=1", options=("--output", "-", "--output", "-"), stderr="at most 1, one per result")
        self.call(USAGE, "scalar", "i32=1", options=("--expect", "i32"), stderr="--expect i32")
        for option in ("--max-instructions", "--max-call-depth", "--threads", "--atol", "--rtol"):
            self.call(USAGE, "scalar", "i32=1", options=(option, "-1"), stderr=option)
        self.expect(USAGE, "vm-run", stderr="executable")
        self.expect(USAGE, "vm-run", "m.vmexe", "another.vmexe", stderr="another.vmexe")
        self.expect(USAGE, "vm-run", "m.vmexe", "--input", "3xf32=1", "2", "3",
                    stderr="vm-run: found what no option takes: 2 3; put quotes around values with blanks")

    def test_expectations(self):
        self.call(OK, "pair", "i32=1", options=("--expect", "i32=1", "--expect", "i32=2"), stdout="[SUCCESS]\n")
        result = self.call(FAILURE, "pair", "i32=1", options=("--expect", "i32=1", "--expect", "i32=3"))
        self.assertIn("[FAILED] output_1: ", result.stdout)

    def test_program_errors(self):
        result = self.call(FAILURE, "divide", "i32=0", stderr=("vm-run: program error: ", "division by zero", "@divide", "m.relay:13"))
        self.assertEqual(result.stdout, "")

    def test_random_extents_follow_from_names(self):
        found = self.call(OK, "double", options=("--random=7", "--dim", "n=2")).stdout
        self.assertTrue(found.startswith("6xf32="), found)
        # Values that are given tell names, too.
        found = self.call(OK, "double", "3xf32=1 2 3", options=("--random=7",)).stdout
        self.assertTrue(found.startswith("9xf32=1 2 3 "), found)
        self.call(USAGE, "double", "y=4xf32=1 2 3 4", options=("--random",), stderr="give it with --dim n=N")
        self.call(FAILURE, "double", options=("--random", "--dim", "n=2", "--dim", "2*n=5"), stderr="2*n")
        self.call(USAGE, "double", "0xf32=", options=("--random", "--dim", "n=4611686018427387904"), stderr="2*n")

    def test_random_is_repeatable(self):
        options = ("--random=7", "--dim", "n=2", "--dim", "m=2")
        first = self.call(OK, "main", options=options).stdout
        self.assertEqual(first, self.call(OK, "main", options=options).stdout)
        self.assertNotEqual(first, self.call(OK, "main", options=("--random=8", *options[1:])).stdout)


if __name__ == "__main__":
    unittest.main()

"""Programs with errors: exit code 1, and a message with line, column, the line itself, a caret and
both types. Nothing is written."""
import unittest

from support import BAD_FILE, FAILURE, OK, USAGE, CommandTest


class CompileErrors(CommandTest):
    def refused(self, text, place, *parts, options=()):
        self.write("m.relay", text)
        (self.work / "m.vmexe").unlink(missing_ok=True)
        result = self.expect(FAILURE, "vm-compile", "m.relay", "-o", "m.vmexe", *options, stdout="",
                             stderr=(f"m.relay:{place}: error: ", *parts))
        line, column = map(int, place.split(":"))
        source = text.splitlines()[line - 1]
        shown = result.stderr.splitlines()
        at = next(i for i, l in enumerate(shown) if f"m.relay:{place}: error: " in l)
        self.assertEqual(shown[at + 1], f"{line:>5} | {source}", result.shown)
        caret = shown[at + 2]
        self.assertTrue(caret.startswith("      | " + " " * (column - 1) + "^"), result.shown)
        self.assertFalse((self.work / "m.vmexe").exists())

    def test_syntax(self):
        self.refused("def @main(%x: int64) {\n  add(%x, \n}\n", "3:1")

    def test_nesting_that_the_stack_does_not_hold(self):
        for deep in ("(" * 2000, "if (True) { " * 2000, "{ " * 2000, "fn () { " * 2000):
            self.write("m.relay", "def @main() { " + deep)
            self.expect(FAILURE, "vm-compile", "m.relay", "-o", "m.vmexe", stdout="",
                        stderr="levels deep, which is all that the stack of this thread holds",
                        prefix=("sh", "-c", 'ulimit -s 512; exec "$@"', "sh"))

    def test_unknown_name(self):
        self.refused("def @main(%x: int64) {\n  %x + %y\n}\n", "2:8", "%y")

    def test_dtypes(self):
        self.refused("def @main(%x: Tensor[(n,), float32], %y: Tensor[(n,), int32]) {\n  add(%x, %y)\n}\n", "2:11",
                     "float32", "int32")

    def test_extents_that_never_agree(self):
        self.refused("def @main(%x: Tensor[(n, 300), float32], %w: Tensor[(8, 512), float32]) {\n"
                     "  nn.dense(%x, %w)\n}\n", "2:12", "300", "512", "Tensor[(n, 300), float32]")

    def test_declared_result(self):
        self.refused("def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), int32] {\n  %x\n}\n", "2:3", "float32",
                     "int32")

    def test_branches(self):
        self.refused("def @main(%b: bool, %x: float32, %y: int32) {\n  if (%b) { %x } else { %y }\n}\n", "2:25", "float32", "int32")

    def test_missing_cases(self):
        self.refused('import "prelude"\ndef @main(%l: List[int64]) -> int64 {\n  match (%l) { Nil => 1i64 }\n}\n', "3:3",
                     "Cons")

    def test_unknown_operator(self):
        self.refused("def @main(%x: int64) {\n  nn.unheard_of(%x)\n}\n", "2:3", "nn.unheard_of")

    def test_every_error_is_reported(self):
        self.write("m.relay", "def @f(%x: int64) {\n  %y\n}\ndef @main(%x: int64) {\n  %z\n}\n")
        self.expect(FAILURE, "vm-compile", "m.relay", stderr=("m.relay:2:3: error", "m.relay:5:3: error"))

    def test_an_old_executable_stays(self):
        self.compile("m", "def @main(%x: int64) { %x }\n")
        old = (self.work / "m.vmexe").read_bytes()
        self.write("m.relay", "def @main(%x: int64) { %y }\n")
        self.expect(FAILURE, "vm-compile", "m.relay")
        self.assertEqual((self.work / "m.vmexe").read_bytes(), old)

    def test_bytes_that_are_no_text(self):
        for i, content in enumerate((b"", b"\x00", b"\xff\xfe", bytes(range(256)), b"\n" * 1000, b"(" * 100000,
                                     b"def @main() " + b"{" * 100000, b'"' + b"a" * 100000)):
            with self.subTest(i):
                self.write("junk.relay", content)
                result = self.run_command("vm-compile", "junk.relay", "-o", "junk.vmexe")
                self.assertEqual(result.returncode, FAILURE, result.shown)
                self.assertNotEqual(result.stderr, "", result.shown)

    def test_what_is_exported(self):
        self.write("empty.relay", "// nothing\n")
        self.expect(FAILURE, "vm-compile", "empty.relay", stderr="empty.relay: there is no function to export")
        self.assertFalse((self.work / "empty.vmexe").exists())
        self.write("f.relay", "def @f(%x: int64) { %x }\n")
        self.expect(OK, "vm-compile", "f.relay")
        self.expect(OK, "vm-run", "f.vmexe", "--function", "f", "--input", "i64=3", stdout="i64=3\n")
        self.expect(USAGE, "vm-run", "f.vmexe", "--input", "i64=3", stderr='no function "main" in f.vmexe; it has f')
        for command in ("vm-compile", "vm-opt"):
            self.expect(USAGE, command, "f.relay", "--entry", "g", stderr="no function @g to export")
        self.write("wrong.relay", "def @f(%x: int64) { %y }\n")
        self.expect(FAILURE, "vm-compile", "wrong.relay", "--entry", "g", stderr="%y is not defined here")
        self.write("generic.relay", "def @first[A](%x: A, %y: A) -> A { %x }\n")
        self.expect(FAILURE, "vm-compile", "generic.relay",
                    stderr="no function to export: @main, or one without type parameters")
        self.write("long.relay", "def @first(%x: int64) { %x }\n")
        self.expect(USAGE, "vm-compile", "long.relay", "--entry", "@first", stderr="did you mean first?")

    def test_extents_that_the_run_finds_unequal(self):
        types = "%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]"
        vector = "Tensor[({},), float32]".format
        for name, result, body, message in (
            ("named", vector("n"), "%y", "dimension 0 is 3; n = 2 is declared"),
            ("pair", f"({vector('k')}, {vector('k')})", "(%x, %y)",
             "dimension 0 of field 1 is 3, but k was bound to 2 by dimension 0 of field 0"),
        ):
            self.compile(name, f"def @main({types}) -> {result} {{ {body} }}\n")
            self.expect(FAILURE, "vm-run", f"{name}.vmexe", "--input", "2xf32=1 2", "--input", "3xf32=1 2 3",
                        stderr="the result of @main: " + message)

    def test_files(self):
        self.expect(BAD_FILE, "vm-compile", "nowhere.relay", stderr="nowhere.relay: No such file or directory")
        self.expect(BAD_FILE, "vm-compile", ".", stderr="Is a directory")
        self.write("g.relay", "def @main(%x: int64) { %x }\n")
        self.expect(OK, "vm-compile", "g.relay")
        self.expect(BAD_FILE, "vm-compile", "g.vmexe", "-o", "h.vmexe",
                    stderr="g.vmexe: found an executable or weights, expected program text")
        self.expect(BAD_FILE, "vm-verify", "g.relay", stderr="g.relay: not a .vmexe, .vmparams or .vmasm file")
        self.expect(BAD_FILE, "vm-opt", "nowhere.relay", stderr="nowhere.relay: No such file or directory")
        self.expect(BAD_FILE, "vm-opt", ".", stderr="Is a directory")

    def test_vm_opt(self):
        self.write("m.relay", "def @main(%x: int64) {\n  %x + %y\n}\n")
        self.expect(FAILURE, "vm-opt", "m.relay", stdout="", stderr=("m.relay:2:8: error", "^"))
        self.write("good.relay", "def @main(%x: int64) {\n  %x + 1i64\n}\n")
        self.assertIn("def @main", self.expect(OK, "vm-opt", "good.relay").stdout)
        self.expect(USAGE, "vm-opt", "good.relay", "--passes", "nonsense", stderr="nonsense")
        self.expect(USAGE, "vm-opt", "good.relay", "--disable-pass", "nonsense", stderr="nonsense")
        self.expect(USAGE, "vm-opt", stderr="no input")


if __name__ == "__main__":
    unittest.main()

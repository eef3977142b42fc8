"""Executables that were cut, changed, made for another version or another processor: exit code 3
and a sentence that says what to do, whatever was done to the file."""
import unittest

from support import BAD_FILE, OK, USAGE, CommandTest, effort, floats

PROGRAM = """
import "prelude"
def @main(%l: List[Tensor[(3,), float32]], %n: int64) -> Tensor[(3,), float32] {
  @foldl(fn (%a: Tensor[(3,), float32], %x: Tensor[(3,), float32]) { add(%a, exp(%x)) }, zeros(shape=[3], dtype="float32"), %l)
}
"""
INPUTS = ("--input", "[3xf32=0 0 0]", "--input", "i64=1")
ANSWER = "3xf32=1 1 1\n"
READERS = (("vm-run", *INPUTS), ("vm-verify",), ("vm-dump",))


class DamagedFiles(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        test.compile("m", PROGRAM)
        cls.good = (cls.work / "m.vmexe").read_bytes()

    def runTest(self):
        pass

    def refused(self, content, *parts, readers=READERS):
        self.write("bad.vmexe", content)
        for command, *arguments in readers:
            self.expect(BAD_FILE, command, "bad.vmexe", *arguments, stdout="", stderr=("bad.vmexe", *parts))

    def test_the_whole_file_runs(self):
        self.expect(OK, "vm-run", "m.vmexe", *INPUTS, stdout=ANSWER)
        self.expect(OK, "vm-run", "m.vmexe", *INPUTS, "--copy", stdout=ANSWER)

    def test_truncated(self):
        size = len(self.good)
        lengths = sorted({*range(1, 300, effort(13, 39)), *range(300, size, max(1, size // effort(60, 20))), size - 1})
        for length in lengths:
            with self.subTest(length):
                self.refused(self.good[:length], "truncated", "copy it again, or compile the model again" if length >= 8 else "",
                             readers=READERS[:1] if length % 3 else READERS)
        self.expect(BAD_FILE, "vm-run", "bad.vmexe", "--copy", *INPUTS, stderr="truncated")

    def test_flipped_bytes(self):
        size = len(self.good)
        places = sorted({*range(0, 400, effort(7, 21)), *range(400, size, max(1, size // effort(150, 50)))})
        for place in places:
            with self.subTest(place):
                bad = bytearray(self.good)
                bad[place] ^= 0x55
                self.write("bad.vmexe", bytes(bad))
                result = self.expect(BAD_FILE, "vm-run", "bad.vmexe", "--verify-constants", *INPUTS, stdout="",
                                     stderr="bad.vmexe")
                self.assertRegex(result.stderr, "compile the model again|vm-compile", result.shown)

    def test_longer(self):
        self.refused(self.good + b"\0", "1 bytes after the end of the file")

    def test_other_versions(self):
        for major, minor in ((99, 0), (self.good[8], 250)):
            bad = bytearray(self.good)
            bad[8], bad[10] = major, minor
            self.refused(bytes(bad), f"format {major}.{minor}", "written by `baton", "compile the model again with this version")

    def test_another_processor(self):
        text = self.expect(OK, "vm-dump", "m.vmexe", "--disasm").stdout
        self.assertRegex(text, r'features \[[^]]*\]')
        before, rest = text.split("features [", 1)
        self.write("other.vmasm", before + 'features ["quantum", ' + rest.lstrip() if not rest.startswith("]")
                   else before + 'features ["quantum"' + rest)
        self.expect(OK, "vm-asm", "other.vmasm", "-o", "other.vmexe")
        self.expect(BAD_FILE, "vm-run", "other.vmexe", *INPUTS,
                    stderr=("this processor lacks quantum", "--cpu", "--portable"))
        self.expect(BAD_FILE, "vm-run", "m.vmexe", *INPUTS, "--cpu", "z80",
                    stderr="no native code for CPU level z80: the file has native")
        self.expect(BAD_FILE, "vm-run", "m.vmexe", *INPUTS, "--no-native-code",
                    stderr="native code is switched off and the file has no loop IR for it: compile with --portable")

    def test_portable_runs_anywhere(self):
        self.compile("portable", PROGRAM, "--portable", "--cpu", "x86-64-v3")
        text = self.expect(OK, "vm-dump", "portable.vmexe", "--disasm").stdout
        before, rest = text.split("features [", 1)
        self.write("other.vmasm", before + 'features ["quantum", ' + rest)
        self.expect(OK, "vm-asm", "other.vmasm", "-o", "other.vmexe")
        self.expect(OK, "vm-run", "other.vmexe", *INPUTS, stdout=ANSWER,
                    stderr=("vm-run: warning: native code cannot be used, kernels are interpreted", "quantum"))

    def test_other_files(self):
        self.refused(b"", "not a .vmexe or .vmparams file", readers=READERS[:1])
        self.refused(b"#!/bin/sh\n", "not a .vmexe or .vmparams file", "vm-compile", readers=READERS[:1])
        self.refused(PROGRAM.encode(), "not a .vmexe or .vmparams file", "vm-compile", readers=READERS[:1])
        for command in ("vm-run", "vm-verify", "vm-dump"):
            self.expect(BAD_FILE, command, "nowhere.vmexe", stderr="nowhere.vmexe")
            self.expect(BAD_FILE, command, ".", stderr=".")
            self.write("empty.vmexe", b"")
            self.expect(BAD_FILE, command, "empty.vmexe", stderr="empty.vmexe")
        self.expect(BAD_FILE, "vm-asm", "nowhere.vmasm", "-o", "x.vmexe", stderr="nowhere.vmasm")
        self.expect(BAD_FILE, "vm-asm", ".", "-o", "x.vmexe", stderr="Is a directory")
        self.write("bad.vmasm", "vmasm 1\nfn @f () -> () {\n  r0 = nonsense\n}\n")
        self.expect(BAD_FILE, "vm-asm", "bad.vmasm", "-o", "x.vmexe", stderr=("bad.vmasm:3:8", "nonsense"))
        self.assertFalse((self.work / "x.vmexe").exists())

    def test_rules_are_named(self):
        self.write("m.vmasm", 'vmasm 1\nfn @f () -> (i64) regs s1 r0 {\n  ret [s0], []\n}\n')
        self.expect(BAD_FILE, "vm-verify", "m.vmasm", stderr="use-undefined")
        self.expect(BAD_FILE, "vm-asm", "m.vmasm", "-o", "m2.vmexe", stderr="use-undefined")
        self.expect(OK, "vm-asm", "m.vmasm", "-o", "m2.vmexe", "--no-verify")
        self.expect(BAD_FILE, "vm-run", "m2.vmexe", stderr="use-undefined")
        self.expect(USAGE, "vm-verify", stderr="expected a file, or --rules")


if __name__ == "__main__":
    unittest.main()

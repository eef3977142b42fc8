"""What becomes of outputs: whole files or none, closed pipes, full disks, devices, links."""
import os
import re
import shutil
import stat
import subprocess
import unittest

from support import BAD_FILE, BIN, FAILURE, OK, SOURCE, USAGE, CommandTest

PROGRAM = "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { add(%x, 1f) }\n"
INPUT = ("--input", "2xf32=1 2")
ANSWER = "2xf32=2 3\n"
MANY = ("--random", "--dim", "n=100000", "--output", "-")


class Outputs(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls().compile("m", PROGRAM)

    def runTest(self):
        pass

    def shell(self, text):
        """Standard error, and what bash says of every command of the pipe."""
        script = f'PATH="{BIN}:$PATH"; cd "{self.work}"; {text}; echo "${{PIPESTATUS[@]}}"'
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
        return result.stdout.splitlines(), result.stderr

    def test_files_replace_old_ones(self):
        self.write("out.npy", "old")
        os.chmod(self.work / "out.npy", 0o640)
        self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--output", "@out.npy", stdout="")
        self.assertEqual((self.work / "out.npy").read_bytes()[:6], b"\x93NUMPY")
        self.assertEqual(stat.S_IMODE(os.stat(self.work / "out.npy").st_mode), 0o640)
        self.assertEqual([p.name for p in self.work.iterdir() if p.name.startswith("out.npy.")], [])

    def test_a_link_is_followed(self):
        self.write("real.npy", "old")
        os.symlink("real.npy", self.work / "link.npy")
        self.expect(OK, "vm-run", "m.vmexe", *INPUT, "--output", "@link.npy")
        self.assertTrue((self.work / "link.npy").is_symlink())
        self.assertEqual((self.work / "real.npy").read_bytes()[:6], b"\x93NUMPY")

    def test_outputs_that_cannot_be_written(self):
        old = (self.work / "m.vmexe").read_bytes()
        (self.work / "folder").mkdir()
        for where in ("folder", "nowhere/out", "m.vmexe/out"):
            self.expect(BAD_FILE, "vm-compile", "m.relay", "-o", where, stderr=where)
            self.expect(BAD_FILE, "vm-run", "m.vmexe", *INPUT, "--output", "@" + where, stderr=where)
            self.expect(BAD_FILE, "vm-run", "m.vmexe", *INPUT, "--outputs-npz", where, stderr=where)
            self.expect(BAD_FILE, "vm-opt", "m.relay", "-o", where, stderr=where)
        self.assertEqual((self.work / "m.vmexe").read_bytes(), old)
        self.assertEqual(list((self.work / "folder").iterdir()), [])

    def test_a_file_that_becomes_too_large(self):
        # A limit on the size of files stands for a full disk: the write fails half way.
        self.write("big.npy", "old")
        script = ('ulimit -f 8; exec "$0" m.vmexe --random --dim n=1000000 --output @big.npy')
        result = subprocess.run(["bash", "-c", script, str(BIN / "vm-run")], cwd=self.work, capture_output=True, text=True)
        self.assertEqual(result.returncode, BAD_FILE, result.stderr)
        self.assertIn("big.npy: File too large", result.stderr)
        self.assertEqual((self.work / "big.npy").read_text(), "old")
        self.assertEqual([p.name for p in self.work.iterdir() if p.name.startswith("big.npy.")], [])

    def test_devices_are_written_to(self):
        for path, code in (("/dev/null", OK), ("/dev/full", BAD_FILE)):
            before = os.stat(path)
            self.expect(code, "vm-run", "m.vmexe", *INPUT, "--output", "@" + path)
            self.expect(code, "vm-compile", "m.relay", "-o", path)
            after = os.stat(path)
            self.assertEqual((before.st_ino, before.st_rdev, before.st_mode), (after.st_ino, after.st_rdev, after.st_mode))

    def test_a_reader_that_goes_away(self):
        lines, errors = self.shell("vm-run m.vmexe " + " ".join(MANY) + " | head -c 20 >/dev/null")
        self.assertEqual((lines[-1], errors), ("0 0", ""))
        for command in ("vm-dump m.vmexe --disasm", "vm-compile m.relay --emit vmasm", "vm-compile m.relay --emit asm",
                        "vm-opt m.relay", "vm-opt --list-passes", "vm-verify --rules", "vm-dump m.vmexe --json", "vm-run --help"):
            with self.subTest(command):
                lines, errors = self.shell(command + " | true")
                self.assertEqual((lines[-1], errors), ("0 0", ""))

    def test_kernels_and_their_schedules(self):
        result = self.expect(OK, "vm-compile", "m.relay", "--emit", "schedule", "-o", "-")
        self.assertIn("kernel \"", result.stdout)
        self.assertRegex(result.stdout, r"\n(vectorize|parallel) i\d")
        self.assertNotRegex(result.stdout, r"\n *vectorized %")

        result = self.expect(OK, "vm-compile", "m.relay", "--emit", "loop", "-o", "-")
        self.assertRegex(result.stdout, r"\n *(vectorized|parallel) %")
        self.assertNotRegex(result.stdout, r"\n(vectorize|parallel) i\d")

    def test_images_of_several_levels(self):
        levels = ("x86-64-v3", "x86-64-v4", "armv8-a")
        arguments = [argument for level in levels for argument in ("--cpu", level)]
        self.expect(OK, "vm-compile", "m.relay", "-o", "levels.vmexe", "--portable", *arguments)
        text = self.expect(OK, "vm-dump", "levels.vmexe", "--disasm", "--blobs", "blobs").stdout
        images = dict(re.findall(r'^image "([^"]+)" .* file "([^"]+)"$', text, re.MULTILINE))
        self.assertEqual(tuple(images), levels)
        code = {level: (self.work / "blobs" / name).read_bytes() for level, name in images.items()}
        self.assertEqual(len(set(code.values())), len(levels))
        # What returns from a function of AArch64, where its instructions stand.
        returns = {level: any(code[level][i:i + 4] == b"\xc0\x03\x5f\xd6" for i in range(0, len(code[level]), 4))
                   for level in levels}
        self.assertEqual(returns, {level: level == "armv8-a" for level in levels})
        # Whichever of them fits here, or none.
        for options in ((), ("--no-native-code",)):
            self.expect(OK, "vm-run", "levels.vmexe", *INPUT, *options, stdout=ANSWER)

    def test_kernels_as_c(self):
        compiler = os.environ.get("BATON_CC") or shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler here")
        self.expect(OK, "vm-compile", "m.relay", "--emit", "c", "-o", "kernels.c")
        command = [compiler, "-std=c11", "-Wall", f"-I{SOURCE}/include", "-shared", "-fPIC", "kernels.c", "-o", "kernels.so", "-lm"]
        result = subprocess.run(command, cwd=self.work, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_a_full_disk_under_standard_output(self):
        with open("/dev/full", "wb") as full:
            for command, *arguments in (("vm-run", "m.vmexe", *INPUT), ("vm-run", "m.vmexe", *MANY),
                                        ("vm-dump", "m.vmexe", "--disasm"), ("vm-dump", "m.vmexe", "--json"),
                                        ("vm-verify", "m.vmexe"), ("vm-verify", "--rules"), ("vm-opt", "m.relay"),
                                        ("vm-opt", "--list-passes"), ("vm-compile", "m.relay", "--emit", "lir"), ("vm-run", "--help"),
                                        ("vm-run", "m.vmexe", *INPUT, "--profile", "--repeat", "3", "--print-memory-stats")):
                with self.subTest(command + " " + " ".join(arguments)):
                    self.expect(BAD_FILE, command, *arguments, stderr="No space left on device", stream=full)

    def test_a_full_disk_under_standard_error(self):
        lines, _ = self.shell("vm-compile nowhere.relay 2>/dev/full")
        self.assertEqual(lines[-1], str(BAD_FILE))
        lines, _ = self.shell("vm-run nowhere.vmexe 2>/dev/full")
        self.assertEqual(lines[-1], str(BAD_FILE))

    def test_closed_descriptors(self):
        for redirection in ("<&-", "2>&-", "<&- 2>&-"):
            lines, _ = self.shell(f"vm-run m.vmexe --input '2xf32=1 2' {redirection}")
            self.assertEqual(lines, ["2xf32=2 3", "0"])
        lines, errors = self.shell("vm-run m.vmexe --input '2xf32=1 2' >&-")
        self.assertEqual(lines, [str(BAD_FILE)], errors)
        self.assertIn("cannot write standard output", errors)

    def test_standard_streams(self):
        text = self.expect(OK, "vm-compile", "-", "--emit", "vmasm", read="m.relay").stdout
        self.write("m.vmasm", text)
        self.expect(OK, "vm-asm", "-", "-o", "again.vmexe", read="m.vmasm")
        self.expect(OK, "vm-run", "again.vmexe", *INPUT, stdout=ANSWER)
        self.expect(OK, "vm-verify", "-", read="again.vmexe")
        self.expect(FAILURE, "vm-compile", "-", "-o", "x.vmexe", read="m.vmasm")
        self.expect(USAGE, "vm-compile", stderr="input")


if __name__ == "__main__":
    unittest.main()

"""--help lists every option that a command accepts, and each has a twin in the environment."""
import re
import subprocess
import unittest
import zipfile

from support import BIN, COMMANDS, OK, SOURCE, USAGE, CommandTest, floats, npy, safetensors

OPTION = re.compile(r"^  +(?:-(\w),)?(--[a-z][-a-z]*)", re.MULTILINE)


def long_options(text):
    return {name for _, name in OPTION.findall(text)}


class Help(CommandTest):
    def help(self, command):
        return self.expect(OK, command, "--help").stdout

    def test_every_option_of_the_source_is_listed(self):
        for command in COMMANDS:
            folder = SOURCE / "tools" / command.replace("-", "_")
            declared = set()
            for file in folder.glob("*.cc"):
                for names in re.findall(r'(?:add_option|add_flag|addRepeatable)\(\s*"([^"]*)"', file.read_text()):
                    declared.update(name for name in names.split(",") if name.startswith("--"))
            self.assertGreater(len(declared), 2)
            self.assertEqual(long_options(self.help(command)), declared | {"--help", "--version"}, command)

    def test_examples_and_exit_codes(self):
        for command in COMMANDS:
            text = self.help(command)
            self.assertIn("Exit codes: 0 ok, 1 mismatch", text)
            self.assertIn(command.upper().replace("-", "_") + "_SOME_NAME in the environment", text)
            self.assertIn(f"  {command} ", text.split("Examples:")[-1] if "Examples:" in text else text)

    def test_examples_run(self):
        """The lines under "Examples:", in a folder that has the files they name."""
        self.compile("model", "def @main(%x: Tensor[(n, 3), float32]) { multiply(%x, 2f) }\n", "--portable")
        self.compile("tree", "type Tree { Leaf(Tensor[(2,), float32]), Node(Tree, Tree) }\n"
                     "def @main(%t: Tree) -> Tensor[(2,), float32] {\n"
                     "  match (%t) { Leaf(%x) => %x, Node(%l, %r) => add(@main(%l), @main(%r)) }\n}\n")
        (self.work / "m.vmexe").write_bytes((self.work / "model.vmexe").read_bytes())
        self.write("m.vmasm", self.expect(OK, "vm-dump", "m.vmexe", "--disasm").stdout)
        self.write("x.npy", npy("<f4", (1, 3), floats(1, 2, 3)))
        self.write("a.npy", npy("<f4", (2,), floats(1, 2)))
        self.write("b.npy", npy("<f4", (2,), floats(3, 4)))
        for name, content in (("expected.npz", {"output_0": npy("<f4", (1, 3), floats(2, 4, 6))}), ("weights.npz", {})):
            with zipfile.ZipFile(self.work / name, "w") as archive:
                for entry, data in content.items():
                    archive.writestr(entry + ".npy", data)
        self.write("weights.safetensors", safetensors('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', floats(1)))
        (self.work / "weights").mkdir()
        for command in COMMANDS:
            lines = re.findall(rf"^  ({command} .*)$", self.help(command).split("Examples:")[1], re.MULTILINE)
            self.assertGreater(len(lines), 1, command)
            for line in lines:
                result = subprocess.run(["bash", "-c", f'PATH="{BIN}:$PATH"; {line}'], cwd=self.work, text=True,
                                        stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
                self.assertEqual(result.returncode, OK, f"{line}\n{result.stdout}{result.stderr}")

    def test_version(self):
        for command in COMMANDS:
            self.assertRegex(self.expect(OK, command, "--version").stdout, rf"^{command} \d+\.\d+\.\d+ \(.*\)\n$")

    def test_options_that_nobody_knows(self):
        for command in COMMANDS:
            self.expect(USAGE, command, "--unheard-of", stderr="--")

    def test_every_option_has_a_twin(self):
        # A twin that is not looked at would not be refused.
        for command in COMMANDS:
            text = self.help(command)
            prefix = command.upper().replace("-", "_") + "_"
            for name in sorted(long_options(text) - {"--help", "--version"}):
                self.assertIn(f"(Env:{prefix}{name[2:].upper().replace('-', '_')})", re.sub(r"\s+", " ", text).replace("( ", "("), name)

    def test_twins_are_used(self):
        program = self.compile("m", "def @main(%x: float32) -> float32 { exp(%x) }\ndef @other(%x: int32) { %x }\n",
                               "--entry", "other")
        self.expect(OK, "vm-run", program, env={"VM_RUN_INPUT": "f32=0"}, stdout="f32=1\n")
        self.expect(OK, "vm-run", program, env={"VM_RUN_INPUT": "i32=4", "VM_RUN_FUNCTION": "other"}, stdout="i32=4\n")
        self.expect(OK, "vm-run", program, "--function", "main", "--input", "f32=0", env={"VM_RUN_FUNCTION": "other"},
                    stdout="f32=1\n")  # the command line counts more
        for name, value in (("THREADS", "many"), ("REPEAT", "0"), ("MEMORY_LIMIT", "lots"), ("ALLOCATOR", "mine")):
            self.expect(USAGE, "vm-run", program, "--input", "f32=0", env={"VM_RUN_" + name: value}, stderr=value)
        self.assertIn("fn @main", self.expect(OK, "vm-compile", "m.relay", env={"VM_COMPILE_EMIT": "vmasm"}).stdout)
        self.expect(USAGE, "vm-compile", "m.relay", env={"VM_COMPILE_OPTIMISE": "9"}, stderr="9")
        self.assertIn("fn @main", self.expect(OK, "vm-dump", program, env={"VM_DUMP_DISASM": "1"}).stdout)
        self.assertIn("{", self.expect(OK, "vm-verify", program, env={"VM_VERIFY_FORMAT": "json"}).stdout)
        self.assertIn("contify", self.expect(OK, "vm-opt", env={"VM_OPT_LIST_PASSES": "true"}).stdout)


if __name__ == "__main__":
    unittest.main()

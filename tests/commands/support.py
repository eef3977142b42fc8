"""What the tests of the commands share: a folder to work in, running a command, saying what it
must end with. A command never ends in a signal, whatever it is given: run() checks that."""
import os
import pathlib
import struct
import subprocess
import unittest

BIN = pathlib.Path(os.environ["BATON_BIN"])
SOURCE = pathlib.Path(os.environ["BATON_SOURCE"])
WORK = pathlib.Path(os.environ["BATON_WORK"])
COMMANDS = ("vm-compile", "vm-run", "vm-dump", "vm-asm", "vm-verify", "vm-opt")

COARSE = os.environ.get("BATON_COARSE") == "1"

OK, FAILURE, USAGE, BAD_FILE, LIMIT, DEADLINE = 0, 1, 2, 3, 4, 5


def effort(usual, coarse):
    """How much a test does: less under sanitizers, as in tests/effort.h."""
    return coarse if COARSE else usual


class CommandTest(unittest.TestCase):
    """Each class has its own folder, `self.work`, empty at the start and current for commands."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.work = WORK / cls.__name__
        subprocess.run(["rm", "-rf", str(cls.work)], check=True)
        cls.work.mkdir(parents=True)

    # `env` adds to the environment, `prefix` comes before the command, `stream` is where standard
    # output goes instead of the result, `read` is the file on standard input.
    def run_command(self, command, *arguments, env=None, prefix=(), timeout=120, stream=subprocess.PIPE, read=os.devnull):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VM_")}
        environment.update(env or {})
        with open(self.work / read, "rb") as stdin:
            result = subprocess.run([*prefix, str(BIN / command), *map(str, arguments)], cwd=self.work,
                                    env=environment, stdin=stdin, stdout=stream, stderr=subprocess.PIPE,
                                    timeout=timeout)
        result.stdout = (result.stdout or b"").decode(errors="replace")
        result.stderr = result.stderr.decode(errors="replace")
        shown = f"{command} {' '.join(map(str, arguments))}"
        self.assertTrue(0 <= result.returncode < 128,
                        f"{shown} ended in a signal: {result.returncode}\n{result.stderr}")
        self.assertNotEqual(result.returncode, 70, f"{shown}: internal error\n{result.stderr}")
        result.shown = f"{shown}\nexit code {result.returncode}\n{result.stdout[:2000]}\n{result.stderr[:2000]}"
        return result

    def expect(self, code, command, *arguments, stdout=None, stderr=(), **options):
        """Runs, and checks the exit code, all of standard output, and parts of standard error."""
        result = self.run_command(command, *arguments, **options)
        self.assertEqual(result.returncode, code, result.shown)
        if stdout is not None:
            self.assertEqual(result.stdout, stdout, result.shown)
        for part in (stderr,) if isinstance(stderr, str) else stderr:
            self.assertIn(part, result.stderr, result.shown)
        if code != OK and code != FAILURE:
            self.assertNotEqual(result.stderr.strip(), "", f"no message: {result.shown}")
        return result

    def write(self, name, content):
        path = self.work / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def compile(self, name, text, *arguments):
        """Compiles program text; gives the name of the executable."""
        self.write(name + ".relay", text)
        self.expect(OK, "vm-compile", name + ".relay", "-o", name + ".vmexe", *arguments)
        return name + ".vmexe"


def npy(descr, shape, data):
    """The bytes of a .npy file."""
    dims = "".join(f"{n}, " for n in shape)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def safetensors(header, data):
    """The bytes of a .safetensors file; the header is JSON text."""
    return struct.pack("<Q", len(header)) + header.encode() + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)

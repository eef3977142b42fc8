"""Weights from files: bound when compiling, or given to vm-run."""
import io
import struct
import unittest
import zipfile

from support import BAD_FILE, OK, CommandTest, floats, npy, safetensors

MODEL = """
param @w : Tensor[(2, 3), float32] = "layer.w"
param @b : Tensor[(2,), float32] = "layer.b"
def @main(%x: Tensor[(n, 3), float32]) -> Tensor[(n, 2), float32] {
  add(nn.dense(%x, @w), @b)
}
"""
W = floats(1, 2, 3, 4, 5, 6)
B = floats(10, 20)
INPUT = ("--input", "1x3xf32=1 1 1")
ANSWER = "1x2xf32=16 35\n"


def npz(**arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name.replace("__", ".") + ".npy", content)
    return file.getvalue()


def header(w_type="F32", w_shape="[2,3]", w_name="layer.w"):
    return (f'{{"{w_name}":{{"dtype":"{w_type}","shape":{w_shape},"data_offsets":[0,24]}},'
            '"layer.b":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}}')


class Weights(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        test.write("w.npz", npz(layer__w=npy("<f4", (2, 3), W), layer__b=npy("<f4", (2,), B)))
        test.write("w.safetensors", safetensors(header(), W + B))
        test.write("only_w.safetensors",
                   safetensors('{"layer.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}', W))
        test.compile("open", MODEL)

    def runTest(self):
        pass

    def test_bound_when_compiled(self):
        for file in ("w.npz", "w.safetensors"):
            self.compile("bound", MODEL, "--params", file)
            self.expect(OK, "vm-run", "bound.vmexe", *INPUT, stdout=ANSWER)

    def test_given_to_vm_run(self):
        for file in ("w.npz", "w.safetensors", "params=w.npz", "params=w.safetensors", f"{self.work}/w.npz"):
            self.expect(OK, "vm-run", "open.vmexe", "--params", file, *INPUT, stdout=ANSWER)
        self.expect(OK, "vm-run", "open.vmexe", *INPUT, stdout=ANSWER, env={"VM_RUN_PARAMS": "w.npz"})

    def test_some_bound_and_some_given(self):
        self.compile("half", MODEL, "--params", "only_w.safetensors")
        self.expect(BAD_FILE, "vm-run", "half.vmexe", *INPUT,
                    stderr="parameter params::layer.b is external, and no file was given for scope params")
        self.expect(OK, "vm-run", "half.vmexe", "--params", "w.npz", *INPUT, stdout=ANSWER)

    def test_scopes_of_keys(self):
        self.compile("scoped", MODEL.replace('"layer.w"', '"a::layer.w"').replace('"layer.b"', '"b::layer.b"'))
        self.expect(OK, "vm-run", "scoped.vmexe", "--params", "a=w.npz", "--params", "b=w.safetensors", *INPUT,
                    stdout=ANSWER)
        self.expect(BAD_FILE, "vm-run", "scoped.vmexe", "--params", "a=w.npz", *INPUT,
                    stderr="parameter b::layer.b is external, and no file was given for scope b")
        self.expect(OK, "vm-compile", "scoped.relay", "--params", "w.npz", "-o", "warned.vmexe",
                    stderr='warning: param @w: no file of weights has "a::layer.w", so it stays open')

    def test_keys_are_printed_as_written(self):
        self.write("written.relay", MODEL.replace('"layer.b"', '"b::layer.b"'))
        for form in ("ir", "types", "lowered"):
            text = self.expect(OK, "vm-compile", "written.relay", "--emit", form).stdout
            self.assertIn('= "layer.w"', text)
            self.assertIn('= "b::layer.b"', text)
            self.compile("again", text, "--params", "only_w.safetensors")
            self.expect(OK, "vm-run", "again.vmexe", "--params", "b=w.npz", *INPUT, stdout=ANSWER)

    def test_not_given(self):
        self.expect(BAD_FILE, "vm-run", "open.vmexe", *INPUT,
                    stderr="parameter params::layer.w is external, and no file was given for scope params")

    def test_missing_name(self):
        self.write("renamed.safetensors", safetensors(header(w_name="layer.v"), W + B))
        self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", "renamed.safetensors", *INPUT,
                    stderr="parameter params::layer.w is not in the file given for scope params")
        self.write("closed.relay", MODEL)
        self.expect(OK, "vm-compile", "closed.relay", "--params", "renamed.safetensors", "-o", "closed.vmexe",
                    stderr='warning: param @w: no file of weights has "layer.w", so it stays open; did you mean layer.v?')
        self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", "only_w.safetensors", *INPUT,
                    stderr="parameter params::layer.b is not in the file given for scope params")

    def test_wrong_shape(self):
        self.write("shape.safetensors", safetensors(header(w_shape="[3,2]"), W + B))
        self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", "shape.safetensors", *INPUT,
                    stderr="parameter params::layer.w: found float32 of shape (3, 2), expected float32 of shape (2, 3)")
        self.expect(BAD_FILE, "vm-compile", "open.relay", "-o", "never.vmexe", "--params", "shape.safetensors",
                    stderr=("open.relay:2:12: error", 'param @w: the value of "layer.w" is float32 (3, 2), declared is float32 (2, 3)'))
        self.assertFalse((self.work / "never.vmexe").exists())

    def test_wrong_dtype(self):
        self.write("dtype.safetensors", safetensors(header(w_type="I32"), W + B))
        self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", "dtype.safetensors", *INPUT,
                    stderr="parameter params::layer.w: found int32 of shape (2, 3), expected float32 of shape (2, 3)")
        self.expect(BAD_FILE, "vm-compile", "open.relay", "-o", "never.vmexe", "--params", "dtype.safetensors",
                    stderr=("open.relay:2:12: error", 'param @w: the value of "layer.w" is int32 (2, 3), declared is float32 (2, 3)'))

    def test_bad_files(self):
        good = safetensors(header(), W + B)
        files = {
            "cut.safetensors": (good[:-1], 'tensor "layer.b": found bytes 24 to 32, expected a part of the 31 bytes'),
            "header.safetensors": (good[:20], "the file ends inside the header"),
            "json.safetensors": (safetensors("{]", b""), "the header is no JSON"),
            "overlap.safetensors": (safetensors(header().replace("24,32", "20,28"), W + B),
                                    'tensor "layer.b" begins at byte 20, before tensor "layer.w" ends at 24'),
            "f8.safetensors": (safetensors('{"x":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}}', b"1"),
                               'tensor "x": element type "F8_E5M2" is not supported'),
            "text.npz": (b"hello", "not a .npz, .npy, .safetensors or .vmparams file"),
            "empty.npz": (b"", "not a .npz, .npy, .safetensors or .vmparams file"),
            "cut.npz": ((self.work / "w.npz").read_bytes()[:100], "npz"),
        }
        for name, (content, message) in files.items():
            with self.subTest(name):
                self.write(name, content)
                self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", name, *INPUT, stderr=(name, message))
                self.expect(BAD_FILE, "vm-compile", "open.relay", "-o", "never.vmexe", "--params", name,
                            stderr=(name, message))
        for name in ("nowhere.npz", "."):
            self.expect(BAD_FILE, "vm-run", "open.vmexe", "--params", name, *INPUT, stderr=name)
            self.expect(BAD_FILE, "vm-compile", "open.relay", "-o", "never.vmexe", "--params", name, stderr=name)
        self.assertFalse((self.work / "never.vmexe").exists())

    def test_scalar_weight(self):
        text = 'param @s : float32 = "s"\ndef @main(%x: float32) -> float32 { add(%x, @s) }\n'
        self.write("s.safetensors", safetensors('{"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', floats(0.5)))
        self.compile("scalar", text, "--params", "s.safetensors")
        self.expect(OK, "vm-run", "scalar.vmexe", "--input", "f32=2", stdout="f32=2.5\n")


if __name__ == "__main__":
    unittest.main()

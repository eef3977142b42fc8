"""Runs commands as users do: on a stack of 8 MiB, as threads have them, and without options from the
environment. Needs BATON_BIN, the folder of the commands, in the environment."""
import os
import pathlib
import resource
import subprocess

BIN = pathlib.Path(os.environ["BATON_BIN"])
# Kernels are kept as loop IR: LLVM's time and depth are not ours.
COMPILE = [str(BIN / "vm-compile"), "--no-native-code", "--portable"]


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))


def run(arguments, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VM_")}
    result = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=limit_stack, env=environment, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)[:300]} ended with {result.returncode}\n{result.stderr[-2000:]}")
    return result

"""Every pass has a golden file, and the file knows whether the pass runs.

The file of a pass is called like the pass, `lift_lambdas.relay` for `lift-lambdas`. Its RUN lines of vm-opt
are run once more without the pass: every program must still get through, and what comes out must fail the
CHECK lines of at least one. Environment: BATON_BIN, BATON_FILECHECK, BATON_SPLIT_FILE, BATON_WORK."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PASSES = HERE.parents[2] / "compiler/passes"
WORK = pathlib.Path(os.environ["BATON_WORK"])
COMMANDS = {
    "vm-opt": os.environ["BATON_BIN"] + "/vm-opt",
    "FileCheck": os.environ["BATON_FILECHECK"],
    "split-file": os.environ["BATON_SPLIT_FILE"],
}
RUN = re.compile(r"^// RUN: (.*)$", re.M)
OPTIONS = r"(?:\{[^}]*\})?"


def passNames():
    """The names of the records that passes.def lists."""
    records = {}
    for path in PASSES.glob("*.cc"):
        records.update(re.findall(r'PassInfo (\w+)\{\s*\.name = "([^"]+)"', path.read_text()))
    listed = re.findall(r"^BATON_PASS\((\w+)\)", (PASSES / "passes.def").read_text(), re.M)
    return [records[record] for record in listed]


def without(name, passes):
    """A pipeline without a pass."""
    return re.sub(rf"(?<![\w-]){name}(?![\w-]){OPTIONS}(, )?", "", passes).removesuffix(", ").replace(", )", ")")


def run(command, path, **options):
    command = command.replace("%s", str(path)).replace("%t", str(WORK / path.stem))
    command = re.sub("|".join(COMMANDS), lambda word: COMMANDS[word.group()], command)
    return subprocess.run(command, shell=True, capture_output=True, text=True, **options)


def problemOf(name):
    path = HERE / f"{name.replace('-', '_')}.relay"
    if not path.exists():
        return f"no golden file {path.name}"
    notices = False
    for line in RUN.findall(path.read_text()):
        program, _, check = line.partition(" | ")
        pipeline = re.match(r"vm-opt .*--passes '([^']*)'", program)
        isOurs = pipeline is not None and without(name, pipeline[1]) != pipeline[1]
        if isOurs:
            program = program.replace(pipeline[1], without(name, pipeline[1]))
        elif check:
            continue
        result = run(program, path)
        if result.returncode != 0:
            return f"without the pass, '{program}' gives: {result.stderr}"
        if isOurs and run(check, path, input=result.stdout).returncode != 0:
            notices = True
    return None if notices else f"{path.name} passes without the pass"


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    names = passNames()
    problems = [f"{name}: {problem}" for name in names if (problem := problemOf(name))]
    print("\n".join(problems) or f"{len(names)} passes have golden files")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())

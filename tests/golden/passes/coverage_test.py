"""Every pass is run by name in a golden file beside this one."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PASSES = HERE.parents[2] / "compiler/passes"


def main():
    names = {name for source in PASSES.glob("*.cc")
             for name in re.findall(r"const PassInfo k\w+\{\s*\.name = \"([^\"]+)\"", source.read_text())}
    listed = len(re.findall(r"^BATON_PASS\(", (PASSES / "passes.def").read_text(), re.MULTILINE))
    runs = " ".join(line for file in HERE.glob("*.relay") for line in file.read_text().splitlines()
                    if " RUN: " in line and "FileCheck" in line)
    run = set(re.findall(r"[\w-]+", " ".join(re.findall(r"--passes '([^']*)'", runs))))
    for name in sorted(names - run):
        print(f"tests/golden/passes: no file runs {name}")
    if len(names) != listed:
        print(f"compiler/passes: {len(names)} records of passes are found, passes.def lists {listed}")
    return 1 if names - run or len(names) != listed else 0


if __name__ == "__main__":
    sys.exit(main())

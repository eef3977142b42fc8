"""Holds the tables of tests/README.md against the tests: what a row names must be there - a program, an
entry of it, a dump, a file, a unit test -, a suite's table names each of its tests once, and every function
of the prelude is called by a program."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
tests = source / "tests"
programs = {path.stem: path.read_text() for path in (tests / "run/programs").glob("*.relay")}
cases = " ".join(path.read_text() for folder in ("unit", "capi") for path in (tests / folder).rglob("*.cc"))
cases = {re.sub(r'"\s+"', "", name) for name in re.findall(r'TEST_CASE\(\s*"((?:[^"]|"\s+")*)"', cases)}
mistakes = []


def check(line, cell):
    for name in re.findall(r'"([^"]+)"', cell):
        if name not in cases:
            mistakes.append(f"{line}: no unit test is named \"{name}\"")
    for name in re.findall(r"`([^`]+/[^`]*)`", cell):
        if not (tests / name).exists() and not (source / name).exists():
            mistakes.append(f"{line}: {name} is not there")
    words = re.sub(r'"[^"]*"|`[^`]*`', "", cell)
    for name in re.findall(r"\bdumps/(\w+)", words):
        if not (tests / "run/dumps" / f"{name}.relay").exists():
            mistakes.append(f"{line}: there is no dump {name}")
    for name, entry in re.findall(r"(?<![/\w])(\w*_\w+|[a-z]+\d)(?::(\w+))?", re.sub(r"\bdumps/\w+", "", words)):
        if name not in programs:
            mistakes.append(f"{line}: there is no program {name}")
        elif entry and f"\n// entry: {entry}\n" not in programs[name]:
            mistakes.append(f"{line}: {name} has no entry {entry}")


def checkSuite(heading, names):
    count = re.search(r"\.py`, (\d+) tests\)$", heading)
    if count and len(names) != int(count[1]):
        mistakes.append(f"{heading}: {len(names)} tests are named")
    mistakes.extend(f"{heading}: {name} is named twice" for name in sorted(set(names)) if names.count(name) > 1)


text = (tests / "README.md").read_text().split("## What others test", 1)
offset = text[0].count("\n") + 1
rows = 0
heading = ""
names = []
for number, row in enumerate(text[1].split("\n")):
    cells = row.strip("|").split(" | ")
    if row.startswith("### "):
        checkSuite(heading, names)
        heading, names = row, []
    if row.startswith("| ") and len(cells) > 1 and not cells[-1].strip().startswith("here"):
        rows += 1
        names += re.findall(r"\btest_\w+\b(?!\.py)", cells[0])
        check(f"tests/README.md:{number + offset}", cells[-1])
checkSuite(heading, names)

for name in re.findall(r"^def @(\w+)", (source / "compiler/prelude/prelude.relay").read_text(), re.MULTILINE):
    # Those that only another one calls have its name and what they start from.
    if not name.endswith(("_from", "_onto")) and not any(
            re.search(rf"@{name}\b", program) for stem, program in programs.items() if stem.startswith("prelude_")):
        mistakes.append(f"@{name} of the prelude is in none of run/programs/prelude_*.relay")

if rows < 100:
    mistakes.append(f"only {rows} rows were found")
print("\n".join(mistakes) or f"{rows} rows name tests that are there")
sys.exit(bool(mistakes))

"""The documentation's command lines do what it says.

Fenced blocks of `sh` are scripts that must succeed. In blocks of `console`, lines that begin with
`$ ` are commands (`> ` goes on with one), and what follows is all that they print, `...` standing for
any text, and a line of its own for any lines. The blocks of a page run in order, in one folder in which
`examples`, `include` and `tools` are those of the project and `build/release` holds what was built.
Commands of `tools/dev` build the project and are only looked up.

Blocks of `relay`, `c` and `cpp` begin with a comment that names a file, to which they are written; those
of `relay` must compile without a message. A block whose first comment names a file of the sources, with its
folder, shows parts of it: they must be there, in this order, lines of `...` standing for any lines. `c++` and `cc` are the project's compilers; a page that needs
one is skipped where there is none. A block in another language, or none, holds no commands."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from support import BIN, COMMANDS, SOURCE, CommandTest

FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def folder_pages():
    """READMEs of folders that have blocks."""
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "build")
        page = pathlib.Path(folder, "README.md")
        if "README.md" in files and FENCE.search(page.read_text()):
            yield page.relative_to(SOURCE).as_posix()


PAGES = sorted({*folder_pages(), *(f"docs/{p.name}" for p in (SOURCE / "docs").glob("*.md"))})
COMPILERS = {"c": ("cc", os.environ.get("BATON_CC")), "cpp": ("c++", os.environ.get("BATON_CXX"))}


def commands_of(block):
    """Pairs of a command and what it prints."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append([line[2:], []])
        elif line.startswith("> ") and pairs and not pairs[-1][1]:
            pairs[-1][0] += "\n" + line[2:]
        else:
            pairs[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in pairs]


def pattern_of(expected):
    parts = [r".*(?:\n.*)*?" if line.strip() == "..." else r"[^\n]*".join(map(re.escape, line.split("...")))
             for line in expected.splitlines()]
    return re.compile("\n".join(parts))


class Documentation(CommandTest):
    def shell(self, folder, script, previous=0):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VM_")}
        environment["PATH"] = f"{folder / 'compilers'}:{BIN}:{environment['PATH']}"
        return subprocess.run(["bash", "-c", f"(exit {previous})\n{script}"], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)

    def make_compilers(self, folder, languages):
        """`cc` and `c++` that link with what the libraries were built with."""
        (folder / "compilers").mkdir()
        for language in languages & COMPILERS.keys():
            name, path = COMPILERS[language]
            path = path or shutil.which(name)
            if path is None:
                self.skipTest(f"no {name} here")
            wrapper = folder / "compilers" / name
            wrapper.write_text(f'#!/bin/sh\nexec "{path}" "$@" {os.environ.get("BATON_FLAGS", "")}\n')
            wrapper.chmod(0o755)

    def check_excerpt(self, page, path, block):
        """Each part of the block is in the file, after the one before."""
        text = (SOURCE / path).read_text()
        at = 0
        for part in re.split(r"^\.\.\.\n", block, flags=re.MULTILINE):
            found = text.find(part, at)
            self.assertNotEqual(found, -1, f"{page}: not in {path}, or not in this place:\n{part}")
            at = found + len(part)

    def run_page(self, page):
        folder = self.work / page.replace("/", "_")
        folder.mkdir()
        for name in ("examples", "include", "tools"):
            os.symlink(SOURCE / name, folder / name)
        (folder / "build").mkdir()
        os.symlink(BIN.parent, folder / "build/release")
        blocks = FENCE.findall((SOURCE / page).read_text())
        self.make_compilers(folder, {language for language, _ in blocks})
        previous = 0
        for language, block in blocks:
            if excerpt := re.match(r"(?://|#) ([\w.-]+(?:/[\w.-]+)+)\n", block):
                self.check_excerpt(page, excerpt[1], block[excerpt.end():])
            elif language in ("relay", "c", "cpp"):
                named = re.match(r"// ([\w.]+)\n", block)
                self.assertTrue(named, f"{page}: a block of {language} that names no file:\n{block}")
                (folder / named[1]).write_text(block)
                if language == "relay":
                    result = self.shell(folder, f"vm-compile {named[1]} --emit types -o /dev/null")
                    self.assertEqual((result.returncode, result.stdout), (0, ""), f"{page}: {named[1]}")
            elif language == "sh":
                # Builds, and what benchmarks/command_lines_test.py runs.
                lines = [l for l in block.splitlines() if not l.startswith(("tools/dev ", "benchmarks/"))]
                result = self.shell(folder, "set -e\n" + "\n".join(lines))
                self.assertEqual(result.returncode, 0, f"{page}:\n{block}\nprints\n{result.stdout}")
            elif language == "console":
                for command, expected in commands_of(block):
                    result = self.shell(folder, command, previous)
                    previous = result.returncode
                    self.assertTrue(previous < 70, f"{page}: {command} ends with {previous}")
                    found = result.stdout.rstrip("\n")
                    self.assertRegex(found, re.compile(r"\A" + pattern_of(expected).pattern + r"\Z"),
                                     f"{page}: {command}\nprints\n{found}\nexpected\n{expected}")
            else:
                for line in block.splitlines():
                    first = (line.split() or [""])[0].removeprefix("$")
                    self.assertNotIn(first, COMMANDS, f"{page}: a command in a block that is not tested: {line}")

    def test_targets_of_tools_dev(self):
        known = set(re.findall(r"^  ([a-z]+)\)$", (SOURCE / "tools/dev").read_text(), re.MULTILINE))
        for page in PAGES:
            for name in re.findall(r"^(?:\$ )?tools/dev (\w+)", (SOURCE / page).read_text(), re.MULTILINE):
                self.assertIn(name, known, page)

    def test_links(self):
        for page in PAGES:
            text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", (SOURCE / page).read_text()))
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
                if "://" not in target:
                    self.assertTrue((SOURCE / page).parent.joinpath(target).exists(), f"{page}: {target}")

    def test_prelude_is_complete(self):
        """The tables of the prelude are its types and documented functions, with their sentences."""
        text = (SOURCE / "compiler/prelude/prelude.relay").read_text()
        types = re.findall(r"((?:^///.*\n)*)(type [^{]*\{[^}]*\})", text, re.MULTILINE)
        functions = re.findall(r"((?:^///.*\n)+)def ([^{]*?) \{", text, re.MULTILINE)
        rows = []
        for doc, item in types + functions:
            item = " ".join(item.split()).replace(", }", " }")
            rows.append(f"| `{item}` | {' '.join(line[3:].strip() for line in doc.splitlines())} |")
        page = (SOURCE / "docs/language.md").read_text()
        section = re.search(r"^## The prelude\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)[1]
        listed = re.findall(r"^\| `.*$", section, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(rows))

    def test_index_lists_all_pages(self):
        listed = re.findall(r"^\| `([\w-]+\.md)` \|", (SOURCE / "docs/README.md").read_text(), re.MULTILINE)
        pages = [p.name for p in (SOURCE / "docs").glob("*.md") if p.name != "README.md"]
        self.assertEqual(sorted(listed), sorted(pages))

    def test_options_are_those_of_the_commands(self):
        sections = re.split(r"^## ", (SOURCE / "docs/commands.md").read_text(), flags=re.MULTILINE)
        for command in COMMANDS:
            section = next(s for s in sections if s.startswith(command + "\n"))
            listed = set()
            for row in re.findall(r"^\| (`-.*?`) \|", section, re.MULTILINE):
                listed.update(re.findall(r"--[a-z][-a-z]*", row))
            text = self.expect(0, command, "--help").stdout
            declared = {name for name in re.findall(r"^  +(?:-\w,)?(--[a-z][-a-z]*)", text, re.MULTILINE)}
            self.assertEqual(listed, declared - {"--help", "--version"}, command)


for _page in PAGES:
    setattr(Documentation, "test_page_" + re.sub(r"\W", "_", _page), lambda self, page=_page: self.run_page(page))

if __name__ == "__main__":
    unittest.main()

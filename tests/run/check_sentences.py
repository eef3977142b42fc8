#!/usr/bin/env python3
"""Every sentence of docs/semantics.md is stated by a test, and no test states one that is not there.

  check_sentences.py SOURCE_ROOT

A test quotes the sentence in a comment of its own, `// states: SENTENCE`."""
import pathlib
import re
import sys

# What opens the page says what its sentences are for.
PREAMBLE = "# What programs mean"


def sentences(page):
    """Sentences of all paragraphs and list items, without list marks."""
    for paragraph in page.split("\n"):
        text = re.sub(r"^(\*|\d+\.|-) +", "", paragraph.strip())
        if not text or text.startswith("#"):
            continue
        yield from re.split(r"(?<=[.]) (?=[A-Z`(])", text)


def stated(root):
    found = {}
    for folder in ("tests/run", "tests/unit", "tests/commands"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".relay", ".cc", ".py"):
                continue
            text = path.read_text()
            if path.suffix == ".cc":
                # Comments of C++ are wrapped.
                text = re.sub(r"\n\s*// (?!states: )", " ", text)
            for sentence in re.findall(r"^\s*(?://|#) states: (.+)$", text, re.MULTILINE):
                found.setdefault(sentence.strip(), path.relative_to(root))
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    wanted = list(sentences((root / "docs/semantics.md").read_text()))
    if len(wanted) < 20:
        sys.exit("docs/semantics.md: hardly a sentence found")
    by_test = stated(root)
    missing = [s for s in wanted if s not in by_test]
    unknown = [f"{path}: {s}" for s, path in by_test.items() if s not in wanted]
    for sentence in missing:
        print(f"no test states: {sentence}")
    for line in unknown:
        print(f"not in docs/semantics.md: {line}")
    print(f"{len(wanted) - len(missing)} of {len(wanted)} sentences are stated by tests")
    sys.exit(1 if missing or unknown else 0)


main()

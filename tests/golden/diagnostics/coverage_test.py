"""Every message of the front end, of typing and of what operators demand has a golden case.

The messages are the string literals of the sources that read like text. Each must be part of a
CHECK line of a file beside this one, with something in the place of each argument; lit proves that
the lines hold. Literals that are no messages are listed below, with the reason."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
FOLDERS = ["compiler/frontend", "compiler/types"]
FILES = ["compiler/ir/metadata.cc", "compiler/ir/saved_tensor.cc"]
# Those that hold the relations of operators, and what these share.
FILES += ["compiler/ops/registry.cc"]
FILES += sorted(path.relative_to(SOURCE).as_posix() for path in (SOURCE / "compiler/ops").rglob("*.cc")
                if re.search(r"(Structure|Dims)Context& context", path.read_text()))


def runs(program):
    path = f"run/programs/{program}.relay"
    assert (SOURCE / "tests" / path).exists(), path
    return f"only when the program runs: in {path}"


RUNS = runs("operator_errors")

# Literals that are no messages, or that no program text can bring about.
OTHER = {
    ("compiler/frontend/lexer.cc", "a graph binding"): "nowhere expected",
    ("compiler/frontend/lexer.cc", "a global name"): "nowhere expected",
    ("compiler/frontend/lexer.cc", "a token"): "of no kind",
    ("compiler/frontend/parse_attributes.cc", "a list of dims"): "all such attributes may be None",
    ("compiler/frontend/parse_attributes.cc", "a value"): "of no kind",
    ("compiler/frontend/parse_expressions.cc", "operator {} is not available"): "all are registered",
    ("compiler/frontend/parse_expressions.cc", "operator negative is not available"): "it is registered",
    ("compiler/frontend/parse_items.cc", "before type parameters"): "the bracket has been seen",
    ("compiler/frontend/parser.cc", "nested {} levels deep, which is all that the stack of this thread holds"):
        "takes a small stack: in compile_errors_test.py",
    ("compiler/frontend/parse_meta.cc", "after 'meta'"): "the bracket has been seen",
    ("compiler/ops/arrange/create.cc", "arange: the {} is above 9223372036854775807, the largest extent"): RUNS,
    ("compiler/ops/elementwise/division.cc", "{}: the divisor is zero, or the least value is divided by -1"):
        runs("id3_division_by_zero_in_constants"),
    ("compiler/ops/gather/adv_index.cc", "an index is out of range"): runs("operators_indexing"),
    ("compiler/ops/gather/gather_nd.cc", "an index is out of range"): runs("operators_positions"),
    ("compiler/ops/arrange/grid.cc", "an index is out of range"): runs("operators_windows"),
    ("compiler/ops/arrange/grid.cc", "unravel_index: an index is out of range: {0} for {1} elements"):
        runs("operators_windows"),
    ("compiler/ops/arrange/grid.cc", "unravel_index: the shape has no elements"): "every index is out of range then",
    ("compiler/ops/image/sample.cc", "an index is out of range"): runs("operators_samples"),
    ("compiler/ops/gather/index.cc", "the depth is not known"): "that of a scalar is a symbol at least",
    ("compiler/ops/gather/index.cc", "{}: nothing to take from"): "the relation has excluded it",
    ("compiler/ops/gather/index.cc", "{}: an index is out of range: {{0}} for an extent of {{1}}"): RUNS,
    ("compiler/ops/gather/index.cc", "an index is out of range"): RUNS,
    ("compiler/ops/nn/matmul.cc", "nn.dense_packed: the weight has {0} panels; expected {1}"):
        "a pass makes the operator, with its weight",
    ("compiler/ops/arrange/pad.cc", "dimension {} of the data has no elements to continue"): runs("operators_padding"),
    ("compiler/ops/arrange/pad.cc", "dimension {} of the result is negative or too large"): runs("operators_padding"),
    ("compiler/ops/pooling/global.cc", "there are no elements"): runs("operators_pooling"),
    ("compiler/ops/pooling/pool.cc", "division by an extent of zero"): "a count is 1 at least",
    ("compiler/ops/reduction/reduction.cc", "{}: there are no elements"): RUNS,
    ("compiler/ops/registry.cc", "any type"): "nowhere expected",
    ("compiler/ops/relations.cc", "{} inputs expected, {} given"): "the parser has counted",
    ("compiler/ops/relations.cc", "at least {}"): "the parser has counted",
    ("compiler/ops/arrange/reshape.cc", " is {0}, which stands for an extent of the data"): RUNS,
    ("compiler/ops/arrange/reshape.cc", "{} is {{0}}, which stands for extent {} of the data, which has {}"): RUNS,
    ("compiler/ops/arrange/reshape.cc", "{}: the new shape holds {{0}} times -1"): RUNS,
    ("compiler/ops/gather/scatter.cc", "an index is out of range"): runs("operators_scatter"),
    ("compiler/ops/gather/search.cc", "an index is out of range"): runs("operators_search"),
    ("compiler/ops/gather/search.cc", "argwhere.rows: {0} elements are true; the count says {1}"): runs("operators_search"),
    ("compiler/ops/gather/search.cc", "the count is wrong"): runs("operators_search"),
    ("compiler/ops/vision/rois.cc", "an index is out of range"): runs("operators_boxes"),
    ("compiler/ops/sparse/positions.cc", "a sparse tensor: a position is out of range: {0} for an extent of {1}"):
        runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "a position is out of range"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "a shape is wrong"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "the shapes do not fit"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "sparse.shape: a shape is wrong: it has an extent of {0}"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "sparse.shape: a shape is wrong: {0} extents are -1, where {1} may be"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "sparse.shape: a shape is wrong: it has too many elements"): runs("operators_sparse"),
    ("compiler/ops/sparse/positions.cc", "sparse.shape: the shapes do not fit: {0} elements become {1}, or as often as a -1 says"): runs("operators_sparse"),
    ("compiler/ops/sparse/rows.cc", "an index is out of range"): runs("operators_sparse"),
    ("compiler/ops/sparse/rows.cc", "the row pointers are wrong"): runs("operators_sparse"),
    ("compiler/ops/sparse/rows.cc", "{}: an index is out of range: {{0}} for an extent of {{1}}"): runs("operators_sparse"),
    ("compiler/ops/sparse/rows.cc", "a sparse matrix"): "begins the next two",
    ("compiler/ops/sparse/rows.cc", "a sparse matrix: no rows are given for {0} elements"): runs("operators_sparse"),
    ("compiler/ops/sparse/rows.cc", "{}: row pointers {{0}} and {{1}} for {{2}} elements; expected 0 first, none less than "
     "the one before, and the number of elements last"): runs("operators_sparse"),
    ("compiler/types/specialise_function.cc", "the type of the result of @{} is not known; annotate it"):
        "the operator that does not know it is reported first",
    ("compiler/types/specialise_function.cc", "the type of {} is not known; annotate it"):
        "the operator that does not know it is reported first",
    ("compiler/types/specialise_function.cc", "{} is used with ever more types"):
        "takes hundreds of types: in structure_test.cc",
    ("compiler/types/structure_pending.cc", "a parameter or result that is not annotated"):
        "what is still unknown takes any type",
}


def literals(text):
    """String literals in order, adjacent ones joined; comments and includes are left out."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|#include[^\n]*|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)\'|\s+|.',
                       re.S)
    joined = None
    for match in token.finditer(text):
        if match.group(1) is not None:
            joined = (joined or "") + match.group(1)
        elif match.group(0).isspace() or match.group(0).startswith("//"):
            continue
        elif joined is not None:
            yield joined
            joined = None


def isMessage(literal):
    return " " in literal.strip() and re.search(r"[a-z]{2}", literal) is not None


def pattern(literal):
    text = literal.replace('\\"', '"').replace("\\\\", "\\").strip()
    text = text.removesuffix("\\n")
    parts = re.split(r"\{\{\d\}\}|\{[^{}]*\}", text)
    parts = [part.replace("{{", "{").replace("}}", "}") for part in parts]
    return r".*?".join(re.escape(part) for part in parts).removeprefix(".*?").removesuffix(".*?")


def main():
    checks = []
    for path in sorted(HERE.glob("*.relay")):
        for line in path.read_text().splitlines():
            check = re.match(r"// (?!RUN|REQUIRES)[A-Z0-9_-]+: (.*)", line)
            if check:
                checks.append(check.group(1))
    together = "\n".join(checks)  # a pattern stays within a line
    paths = [path for folder in FOLDERS for path in sorted((SOURCE / folder).glob("*.cc"))]
    paths += [SOURCE / file for file in FILES]
    missing = []
    used = set()
    for path in paths:
        name = path.relative_to(SOURCE).as_posix()
        for literal in literals(path.read_text()):
            if not isMessage(literal):
                continue
            if (name, literal) in OTHER:
                used.add((name, literal))
                continue
            if not re.search(pattern(literal), together):
                missing.append(f"{name}: no golden case has: {literal}")
    for entry in OTHER:
        if entry not in used:
            missing.append(f"{entry[0]}: not in the source any more: {entry[1]}")
    print("\n".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

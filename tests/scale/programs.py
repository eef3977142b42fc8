"""Programs of a given size, by shape: values, control flow and functions here, data in data_programs.py.
`python3 programs.py SHAPE SIZE` writes the text to standard output, so that a shape can be looked at or
profiled by hand."""
import sys

import data_programs  # noqa: F401: its shapes are among SHAPES
from shapes import SHAPES, Program, define, shape, wrap


@shape
def scalars(n):
    """A chain of additions of scalars."""
    lines = ["  let %x0 = %a + %b;", "  let %x1 = %x0 + %a;"]
    x, y = 3 + 4, 3 + 4 + 3
    for i in range(2, n):
        lines.append(f"  let %x{i} = %x{i - 1} + %x{i - 2};")
        x, y = y, wrap(x + y)
    text = define("@main(%a: int64, %b: int64) -> int64", lines, f"%x{max(n, 2) - 1}")
    return Program(text, ["i64=3", "i64=4"], [f"i64={y}"])


def tensor_chain(n, extent):
    lines = ["  let %x0 = %x + %y;"] + [f"  let %x{i} = %x{i - 1} + %y;" for i in range(1, n)]
    tensor = f"Tensor[({extent},), int64]"
    text = define(f"@main(%x: {tensor}, %y: {tensor})", lines, f"%x{n - 1}")
    return Program(text, ["2xi64=1 2", "2xi64=1 -1"], [f"2xi64={1 + n} {2 - n}"])


@shape
def tensors(n):
    """A chain of operators on tensors of a named extent: fused, in groups of limited size."""
    return tensor_chain(n, "n")


@shape
def unknown_extents(n):
    """A chain of operators on tensors with `?` extents, each checked."""
    return tensor_chain(n, "?")


@shape
def reshapes(n):
    """Extents that are computed from extents: reshapes there and back, through shape_of."""
    lines = []
    last = "%x"
    for i in range(n // 4):
        lines.append(f"  let %s{i} = shape_of({last});")
        lines.append(f"  let %r{i} = reshape({last}, newshape=[-1]);")
        lines.append(f"  let %q{i} = reshape(%r{i}, %s{i});")
        lines.append(f"  let %x{i} = %q{i} + %x;")
        last = f"%x{i}"
    text = define("@main(%x: Tensor[(n, m), int64])", lines, last)
    k = n // 4 + 1
    return Program(text, ["1x2xi64=1 2"], [f"1x2xi64={k} {2 * k}"])


@shape
def shape_chain(n):
    """Shapes of tensors that are made of shapes: nothing of it needs a tensor."""
    lines = ["  let %s0 = shape_of(%x, dtype=\"int64\");"]
    lines += [f"  let %s{i} = shape_of(ones(%s{i - 1}, dtype=\"float32\"), dtype=\"int64\");" for i in range(1, n)]
    text = define("@main(%x: Tensor[(?, 5, 2), float32]) -> Tensor[(3,), int64]", lines, f"%s{n - 1}")
    return Program(text, ["7x5x2xf32=" + " ".join("0" * 70)], ["3xi64=7 5 2"])


@shape
def twin_graphs(n):
    """A chain as a dump writes it, nodes without names, and another like it that nobody needs."""
    lines = ["  %0 = add(%x, 1f);", "  %1 = add(%x, 1f);"]
    for i in range(2, 2 * n, 2):
        lines += [f"  %{i} = add(%{i - 2}, 1f);", f"  %{i + 1} = add(%{i - 1}, 1f);"]
    text = "#[version = \"0.0.5\"]\n" + define("@main(%x: Tensor[(?,), float32])", lines, f"%{2 * n - 2}")
    return Program(text, ["2xf32=0 -1"], [f"2xf32={n} {n - 1}"])


@shape
def wide_scalars(n):
    """Many independent values, all alive at once."""
    lines = [f"  let %x{i} = %a + {i}i64;" for i in range(n)]
    lines.append("  let %s0 = %x0;")
    lines += [f"  let %s{i} = %s{i - 1} + %x{i};" for i in range(1, n)]
    text = define("@main(%a: int64)", lines, f"%s{n - 1}")
    return Program(text, ["i64=3"], [f"i64={3 * n + n * (n - 1) // 2}"])


@shape
def wide_tensors(n):
    """Many independent tensors that one chain adds up, a hundred at a time."""
    lines = []
    last, total = "%x", 1
    for i in range(0, n, 200):
        block = range(i, min(i + 100, n))
        lines += [f"  let %y{k} = %x * {k % 7}i64;" for k in block]
        for k in block:
            lines.append(f"  let %s{k} = {last} + %y{k};")
            last, total = f"%s{k}", total + k % 7
    text = define("@main(%x: Tensor[(n,), int64])", lines, last)
    return Program(text, ["2xi64=1 -2"], [f"2xi64={total} {-2 * total}"])


@shape
def function_chain(n):
    """A function that calls a function that calls a function..."""
    text = ["def @f0(%x: int64) -> int64 { %x + 1i64 }"]
    text += [f"def @f{i}(%x: int64) -> int64 {{ @f{i - 1}(%x * 3i64) + {i}i64 }}" for i in range(1, n)]
    text.append(f"def @main(%x: int64) -> int64 {{ @f{n - 1}(%x) }}")
    value, add = 5, 0
    for i in range(n - 1, 0, -1):
        value, add = wrap(value * 3), wrap(add + i)
    return Program("\n".join(text) + "\n", ["i64=5"], [f"i64={wrap(value + 1 + add)}"])


@shape
def tensor_function_chain(n):
    """The same with tensors, whose extents each function names for itself."""
    text = ["def @f0(%x: Tensor[(n,), int64], %y: Tensor[(n,), int64]) { %x + %y }"]
    text += [f"def @f{i}(%x: Tensor[(n,), int64], %y: Tensor[(n,), int64]) {{ @f{i - 1}(%x + %y, %y) - %x }}"
             for i in range(1, n)]
    text.append(f"def @main(%x: Tensor[(n,), int64]) {{ @f{n - 1}(%x, %x) }}")
    # f0(x, y) = x + y, fi(x, y) = f(i-1)(x + y, y) - x: of (k, 1) as a number.
    value, k = 0, 1
    for i in range(n - 1, 0, -1):
        value, k = value - k, k + 1
    value += k + 1
    return Program("\n".join(text) + "\n", ["2xi64=1 2"], [f"2xi64={value} {2 * value}"])


@shape
def functions(n):
    """Many small functions that main calls once each."""
    text = [f"def @f{i}(%x: int64) -> int64 {{ let %y = %x * 3i64; %y - {i}i64 }}" for i in range(n)]
    lines = ["  let %x0 = @f0(%x);"] + [f"  let %x{i} = @f{i}(%x{i - 1});" for i in range(1, n)]
    text.append(define("@main(%x: int64) -> int64", lines, f"%x{n - 1}"))
    value = 5
    for i in range(n):
        value = wrap(value * 3 - i)
    return Program("\n".join(text), ["i64=5"], [f"i64={value}"])


@shape
def shared_functions(n):
    """Functions that are too large to copy, each called by the two that follow; a tenth of the size."""
    count = max(n // 10, 3)
    text = []
    for i in range(count):
        body = ["  let %y0 = %x + 1i64;"] + [f"  let %y{k} = %y{k - 1} * %x;" for k in range(1, 30)]
        # Only one of the two runs.
        result = f"if (%x < 0i64) {{ @f{i - 2}(%x) }} else {{ @f{i - 1}(%y29) }}" if i >= 2 else "%y29"
        text.append(define(f"@f{i}(%x: int64) -> int64", body, result))
    text.append(f"def @main(%x: int64) -> int64 {{ @f{count - 1}(%x) }}\n")
    value, i = 3, count - 1
    while True:
        y = wrap(value + 1)
        for _ in range(29):
            y = wrap(y * value)
        if i < 2:
            break
        i, value = (i - 2, value) if value < 0 else (i - 1, y)
    return Program("".join(text), ["i64=3"], [f"i64={y}"])


@shape
def nested_ifs(n):
    """Branches inside branches."""
    lines = [f"if (%x < {i}i64) {{ %x * {i}i64 }} else {{" for i in range(n)]
    text = "def @main(%x: int64) -> int64 {\n" + "\n".join(lines) + "\n%x\n" + "}" * n + "\n}\n"
    return Program(text, [f"i64={n // 2}"], [f"i64={(n // 2) * (n // 2 + 1)}" if n // 2 + 1 < n else f"i64={n // 2}"])


@shape
def nested_conditions(n):
    """Branches inside branches whose values are used: no tails."""
    lines = [f"let %y{i} = if (%x < {i}i64) {{ %x }} else {{" for i in range(n)]
    close = [f"}}; %y{i} + 1i64" for i in reversed(range(n))]
    text = "def @main(%x: int64) -> int64 {\n" + "\n".join(lines) + "\n%x\n" + "\n".join(close) + "\n}\n"
    depth = min(n, n // 2 + 2)
    return Program(text, [f"i64={n // 2}"], [f"i64={n // 2 + depth}"])


@shape
def nested_blocks(n):
    """Blocks inside blocks."""
    lines = [f"let %y{i} = {{" for i in range(n)]
    close = [f"}}; %y{i} + %x" for i in reversed(range(n))]
    text = "def @main(%x: int64) -> int64 {\n" + "\n".join(lines) + "\n%x\n" + "\n".join(close) + "\n}\n"
    return Program(text, ["i64=3"], [f"i64={3 * (n + 1)}"])


@shape
def nested_functions(n):
    """Local functions inside local functions, the innermost capturing from around all of them."""
    lines = [f"let %f{i} = fn (%x{i}: int64) -> int64 {{" for i in range(n)]
    close = [f"%x{n - 1} + %a }};"] + [f"%f{i + 1}(%x{i} + 1i64) }};" for i in reversed(range(n - 1))]
    text = "def @main(%a: int64) -> int64 {\n" + "\n".join(lines) + "\n" + "\n".join(close) + "\n%f0(%a)\n}\n"
    return Program(text, ["i64=3"], [f"i64={3 + (n - 1) + 3}"])


@shape
def ifs(n):
    """Branches one after the other."""
    lines = []
    last, value = "%x", 5
    for i in range(n):
        lines.append(f"  let %x{i} = if ({last} < {i}i64) {{ {last} * 3i64 }} else {{ {last} - 1i64 }};")
        last = f"%x{i}"
        value = wrap(value * 3) if value < i else wrap(value - 1)
    text = define("@main(%x: int64) -> int64", lines, last)
    return Program(text, ["i64=5"], [f"i64={value}"])


@shape
def sum_expression(n):
    """One long expression of tensors."""
    text = "def @main(%x: Tensor[(n,), int64]) {\n  %x" + " + %x" * (n - 1) + "\n}\n"
    return Program(text, ["2xi64=1 -2"], [f"2xi64={n} {-2 * n}"])


@shape
def scalar_expression(n):
    """One long expression of scalars."""
    text = "def @main(%x: int64) {\n  %x" + " + %x" * (n - 1) + "\n}\n"
    return Program(text, ["i64=-2"], [f"i64={-2 * n}"])


@shape
def parameters(n):
    """Many parameters, each with a symbol of its own."""
    params = ", ".join(f"%p{i}: Tensor[(d{i},), int64]" for i in range(n))
    lines = ["  let %s0 = sum(%p0);"] + [f"  let %s{i} = %s{i - 1} + sum(%p{i});" for i in range(1, n)]
    text = define(f"@main({params})", lines, f"%s{n - 1}")
    return Program(text, [f"{1 + i % 3}xi64={' '.join('2' for _ in range(1 + i % 3))}" for i in range(n)],
                   [f"i64={sum(2 * (1 + i % 3) for i in range(n))}"])


@shape
def closures(n):
    """Many local functions, called where they stand."""
    lines = []
    last, value = "%a", 3
    for i in range(n // 2):
        lines.append(f"  let %f{i} = fn (%x: int64) -> int64 {{ %x * 3i64 + {last} }};")
        lines.append(f"  let %y{i} = %f{i}({last}) + %f{i}(%a);")
        value = wrap(wrap(value * 3 + value) + wrap(9 + value))
        last = f"%y{i}"
    text = define("@main(%a: int64) -> int64", lines, last)
    return Program(text, ["i64=3"], [f"i64={value}"])


@shape
def closure_values(n):
    """Many closures that are stored in a list before they are called."""
    lines = ["  let %l0 = Nil;"]
    for i in range(n):
        lines.append(f"  let %y{i} = %a + {i}i64;")
        lines.append(f"  let %f{i} = fn (%x: int64) -> int64 {{ %x * 3i64 + %y{i} }};")
        lines.append(f"  let %l{i + 1} = Cons(%f{i}, %l{i});")
    text = ("type L { Nil, Cons(fn(int64) -> int64, L) }\n"
            "def @run(%l: L, %x: int64) -> int64 { match (%l) { Nil => %x, Cons(%f, %r) => @run(%r, %f(%x)) } }\n" +
            define("@main(%a: int64) -> int64", lines, f"@run(%l{n}, %a)"))
    value = 3
    for i in reversed(range(n)):
        value = wrap(value * 3 + 3 + i)
    return Program(text, ["i64=3"], [f"i64={value}"])


@shape
def closure_chain(n):
    """Closures that capture the closure before them."""
    lines = ["  let %f0 = fn (%x: int64) -> int64 { %x + %a };"]
    lines += [f"  let %f{i} = fn (%x: int64) -> int64 {{ %f{i - 1}(%x) + {i}i64 }};" for i in range(1, n)]
    text = ("type B { Box(fn(int64) -> int64) }\n"
            "def @open(%b: B, %n: int64) -> int64 { match (%b) { Box(%f) => if (%n > 0i64) { @open(%b, %n - 1i64) } "
            "else { %f(%n) } } }\n" +
            define("@main(%a: int64) -> int64", lines, f"@open(Box(%f{n - 1}), %a)"))
    return Program(text, ["i64=3"], [f"i64={3 + n * (n - 1) // 2}"])


@shape
def local_loops(n):
    """Many local recursive functions, one after the other."""
    lines = []
    last, value = "%a", 3
    for i in range(n // 4):
        lines.append(f"  let %f{i} = fn (%k: int64, %x: int64) -> int64 {{ if (%k < 1i64) {{ %x }} else "
                     f"{{ %f{i}(%k - 1i64, %x * 3i64 + {last}) }} }};")
        lines.append(f"  let %y{i} = %f{i}(2i64, {i}i64);")
        x = i
        for _ in range(2):
            x = wrap(x * 3 + value)
        value = x
        last = f"%y{i}"
    text = define("@main(%a: int64) -> int64", lines, last)
    return Program(text, ["i64=3"], [f"i64={value}"])


def constant_products(n, first):
    """Lines that multiply `first`, which is 3, by constants, and the value of %xN."""
    lines = [f"  let %x0 = {first};"]
    value = 3
    for i in range(1, n + 1):
        lines.append(f"  let %x{i} = %x{i - 1} * {1000 + i}i64;")
        value = wrap(value * (1000 + i))
    return lines, value


@shape
def constants(n):
    """Many constants with values of their own."""
    lines, value = constant_products(n, "%a")
    return Program(define("@main(%a: int64) -> int64", lines, f"%x{n}"), ["i64=3"], [f"i64={value}"])


@shape
def folded(n):
    """Constants only: all of it is computed while compiling."""
    lines, value = constant_products(n, "3i64")
    return Program(define("@main(%a: int64) -> int64", lines, f"%x{n} + %a"), ["i64=3"], [f"i64={wrap(value + 3)}"])


@shape
def aliases(n):
    """Names for names."""
    lines = ["  let %x0 = %a;"] + [f"  let %x{i} = %x{i - 1};" for i in range(1, n)]
    text = define("@main(%a: Tensor[(?,), int64])", lines, f"%x{n - 1} + %a")
    return Program(text, ["2xi64=1 2"], ["2xi64=2 4"])


@shape
def repeats(n):
    """The same operators again and again: one of each is left."""
    lines = []
    for i in range(n // 2):
        lines.append(f"  let %x{i} = %a + %b;")
        lines.append(f"  let %s{i} = " + (f"%s{i - 1} * %x{i};" if i > 0 else "%x0;"))
    value = 7
    for i in range(1, n // 2):
        value = wrap(value * 7)
    text = define("@main(%a: int64, %b: int64) -> int64", lines, f"%s{n // 2 - 1}")
    return Program(text, ["i64=3", "i64=4"], [f"i64={value}"])


@shape
def dead(n):
    """Values that nobody needs."""
    lines = ["  let %x0 = %a;"] + [f"  let %x{i} = %x{i - 1} * %a;" for i in range(1, n)]
    text = define("@main(%a: int64) -> int64", lines, "%a")
    return Program(text, ["i64=3"], ["i64=3"])


@shape
def products(n):
    """Matrix products, which are not fused with each other."""
    lines = ["  let %x0 = nn.dense(%x, %w);"] + [f"  let %x{i} = nn.dense(%x{i - 1}, %w);" for i in range(1, n)]
    text = define("@main(%x: Tensor[(n, 2), float32], %w: Tensor[(2, 2), float32])", lines, f"%x{n - 1}")
    return Program(text, ["1x2xf32=3 4", "2x2xf32=1 0 0 1"], ["1x2xf32=3 4"])


@shape
def continuations(n):
    """Functions in continuation-passing style, each called with a function of its own."""
    text = ["def @run(%k: fn(int64) -> int64, %x: int64) -> int64 { if (%x < 0i64) { %x } else { %k(%x + 1i64) } }"]
    lines = []
    last, value = "%a", 3
    for i in range(n // 2):
        lines.append(f"  let %y{i} = @run(fn (%x: int64) -> int64 {{ %x * 3i64 - {last} }}, {last});")
        value = value if value < 0 else wrap(wrap((value + 1) * 3) - value)
        last = f"%y{i}"
    text.append(define("@main(%a: int64) -> int64", lines, last))
    return Program("\n".join(text), ["i64=3"], [f"i64={value}"])


if __name__ == "__main__":
    sys.stdout.write(SHAPES[sys.argv[1]](int(sys.argv[2])).text)

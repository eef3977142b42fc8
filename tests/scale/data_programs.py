"""Shapes of programs that make and take apart data: tuples, constructors, lists, cells."""
from shapes import Program, define, shape, wrap


@shape
def nested_matches(n):
    """Matches inside matches, each of a field of the one around it."""
    lines = [f"match (%l{i}) {{ Nil => {i}i64, Cons(%x{i}, %l{i + 1}) => {{" for i in range(n)]
    text = ("type L { Nil, Cons(int64, L) }\ndef @main(%l0: L) -> int64 {\n" + "\n".join(lines) + f"\n%x{n - 1}\n" +
            "} }" * n + "\n}\n")
    return Program(text, ["Cons(i64=7, Nil)"], ["i64=1" if n > 1 else "i64=7"])


@shape
def matches(n):
    """Matches one after the other, of values that are not known."""
    lines = []
    for i in range(n):
        before = f"%o{i - 1}" if i > 0 else "%o"
        lines.append(f"  let %o{i} = match ({before}) {{ None => Some({i}i64), Some(%v{i}) => if (%v{i} > 0i64) "
                     f"{{ Some(%v{i} - 3i64) }} else {{ None }} }};")
    text = ("type O { None, Some(int64) }\n" +
            define("@main(%o: O) -> int64", lines, f"match (%o{n - 1}) {{ None => -1i64, Some(%v) => %v }}"))
    value = 5
    for i in range(n):
        value = i if value is None else value - 3 if value > 0 else None
    return Program(text, ["Some(i64=5)"], [f"i64={-1 if value is None else value}"])


@shape
def constructors(n):
    """A data type with many constructors, all made and all matched."""
    text = "type T {\n" + "\n".join(f"  C{i}(int64)," for i in range(n)) + "\n}\n"
    text += "def @value(%t: T) -> int64 {\n  match (%t) {\n"
    text += "\n".join(f"    C{i}(%x) => %x * {i}i64," for i in range(n)) + "\n  }\n}\n"
    text += "def @next(%t: T) -> T {\n  match (%t) {\n"
    text += "\n".join(f"    C{i}(%x) => C{(i + 1) % n}(%x + 1i64)," for i in range(n)) + "\n  }\n}\n"
    text += "def @main(%t: T) -> int64 { @value(@next(@next(%t))) }\n"
    k = n // 2
    return Program(text, [f"C{k}(i64=5)"], [f"i64={7 * ((k + 2) % n)}"])


@shape
def constructor_pairs(n):
    """Clauses of two constructors at a time, with a default."""
    text = "type T {\n" + "\n".join(f"  C{i}(int64)," for i in range(n)) + "\n}\n"
    text += "def @main(%a: T, %b: T) -> int64 {\n  match ((%a, %b)) {\n"
    text += "\n".join(f"    (C{i}(%x), C{(i * 7 + 1) % n}(%y)) => %x * %y + {i}i64," for i in range(n))
    text += "\n    (_, _) => -1i64,\n  }\n}\n"
    k = n // 2
    return Program(text, [f"C{k}(i64=5)", f"C{(k * 7 + 1) % n}(i64=6)"], [f"i64={30 + k}"])


@shape
def types(n):
    """Many data types, each with a function over it."""
    text = ["type T0 { A0(int64), B0 }"] + [f"type T{i} {{ A{i}(int64, T{i - 1}), B{i} }}" for i in range(1, n)]
    text.append("def @f0(%t: T0) -> int64 { match (%t) { A0(%x) => %x, B0 => 0i64 } }")
    text += [f"def @f{i}(%t: T{i}) -> int64 {{ match (%t) {{ A{i}(%x, %rest) => @f{i - 1}(%rest) + %x, B{i} => {i}i64 }} }}"
             for i in range(1, n)]
    text.append(f"def @main(%t: T{n - 1}) -> int64 {{ @f{n - 1}(%t) }}")
    return Program("\n".join(text) + "\n", [f"A{n - 1}(i64=7, B{n - 2})" if n > 1 else "A0(i64=7)"],
                   [f"i64={7 + n - 2}" if n > 2 else f"i64=7"])


@shape
def tuples(n):
    """A large tuple, made, passed and taken apart."""
    lines = [f"  let %x{i} = %a + {i}i64;" for i in range(n)]
    lines.append("  let %t = (" + ", ".join(f"%x{i}" for i in range(n)) + ",);")
    lines.append("  let %u = if (%a < 0i64) { %t } else { (" + ", ".join(f"%t.{n - 1 - i}" for i in range(n)) + ",) };")
    lines.append("  let %s0 = %u.0;")
    lines += [f"  let %s{i} = %s{i - 1} - %u.{i};" for i in range(1, n)]
    text = define("@main(%a: int64)", lines, f"%s{n - 1}")
    values = [4 + i for i in reversed(range(n))]
    return Program(text, ["i64=4"], [f"i64={values[0] - sum(values[1:])}"])


@shape
def tuple_results(n):
    """A function with a large tuple as its result."""
    elements = ", ".join(f"%x + {i}i64" for i in range(n))
    lines = ["  let %t = @pick(%c, %a);", "  let %s0 = %t.0;"]
    lines += [f"  let %s{i} = %s{i - 1} - %t.{i};" for i in range(1, n)]
    text = (f"def @make(%x: int64) {{\n  ({elements},)\n}}\n"
            f"def @pick(%c: bool, %x: int64) {{ if (%c) {{ @make(%x) }} else {{ @make(%x + 1i64) }} }}\n" +
            define("@main(%c: bool, %a: int64)", lines, f"%s{n - 1}"))
    values = [4 + i for i in range(n)]
    return Program(text, ["bool=true", "i64=4"], [f"i64={values[0] - sum(values[1:])}"])


@shape
def deep_tuples(n):
    """Tuples in tuples in tuples."""
    lines = ["  let %t0 = (%a, %a);"] + [f"  let %t{i} = (%t{i - 1}, %a);" for i in range(1, n)]
    lines.append(f"  let %u{n - 1} = if (%a < 0i64) {{ %t{n - 1} }} else {{ %t{n - 1} }};")
    lines += [f"  let %u{i - 1} = %u{i}.0;" for i in reversed(range(1, n))]
    text = define("@main(%a: int64)", lines, "%u0.0 + %u0.1")
    return Program(text, ["i64=4"], ["i64=8"])


@shape
def deep_options(n):
    """Data of data of data: a type argument as deep as the program is long."""
    lines = ["  let %o0 = Some(%a);"] + [f"  let %o{i} = Some(%o{i - 1});" for i in range(1, n)]
    text = ("type O[A] { None, Some(A) }\n" +
            define("@main(%a: int64) -> bool", lines, f"match (%o{n - 1}) {{ None => False, Some(_) => True }}"))
    return Program(text, ["i64=4"], ["bool=true"])


@shape
def long_list(n):
    """A list that is written out."""
    lines = ["  let %l0 = Nil;"] + [f"  let %l{i} = Cons(%a + {i}i64, %l{i - 1});" for i in range(1, n + 1)]
    text = ("type L { Nil, Cons(int64, L) }\n"
            "def @sum(%l: L, %x: int64) -> int64 { match (%l) { Nil => %x, Cons(%y, %r) => @sum(%r, %x + %y) } }\n" +
            define("@main(%a: int64) -> int64", lines, f"@sum(%l{n}, 0i64)"))
    return Program(text, ["i64=3"], [f"i64={3 * n + n * (n + 1) // 2}"])


@shape
def cells(n):
    """Writes and reads of a cell."""
    lines = ["  let %r = ref(%a);"]
    value = 3
    for i in range(n // 2):
        lines.append(f"  let %x{i} = ref_read(%r);")
        lines.append(f"  ref_write(%r, %x{i} * 3i64 + {i}i64);")
        value = wrap(value * 3 + i)
    text = define("@main(%a: int64) -> int64", lines, "ref_read(%r)")
    return Program(text, ["i64=3"], [f"i64={value}"])


@shape
def instances(n):
    """A polymorphic function at many types."""
    text = ["type P[A, B] { P(A, B) }"]
    text += [f"type U{i} {{ U{i}(int64) }}" for i in range(n)]
    text.append("def @second[A, B](%p: P[A, B]) -> B { match (%p) { P(_, %b) => %b } }")
    lines = []
    last, value = "%a", 3
    for i in range(n):
        lines.append(f"  let %x{i} = @second(P(U{i}({last}), {last} + {i}i64));")
        last, value = f"%x{i}", wrap(value + i)
    text.append(define("@main(%a: int64) -> int64", lines, last))
    return Program("\n".join(text), ["i64=3"], [f"i64={value}"])

"""What a program of the scale tests is: text, inputs and the results it must have. Each shape is a
function of its size that gives one."""
import dataclasses


@dataclasses.dataclass
class Program:
    text: str
    inputs: list  # values for vm-run --input
    results: list  # values for vm-run --expect
    entry: str = "main"


def wrap(value):
    """As int64 does."""
    return (value + 2**63) % 2**64 - 2**63


def define(signature, lines, result):
    """A function of `lines` that gives `result`."""
    return f"def {signature} {{\n" + "\n".join(lines) + f"\n  {result}\n}}\n"


SHAPES = {}


def shape(function):
    SHAPES[function.__name__] = function
    return function

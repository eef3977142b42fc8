// Operators on two tensors that broadcast against each other.

class BinaryOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"first operand", types>, Input<"second operand", types>], stem> {
  let Fusion = Broadcast;
  let Lowering = Element;
  let Structure = "binary";
  let Dims = "broadcast";
  let Formula = formula;
  let Summary = summary;
}
/// Keeps its elements as dims where they are known.
class ExtentOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : BinaryOperator<name, types, stem, formula, summary> {
  let Values = stem;
}
class ComparisonOperator<string name, string stem, string formula, string summary>
    : BinaryOperator<name, AnyType, stem, formula, summary> {
  let Structure = "comparison";
}

def : ExtentOperator<"add", AnyType, "add", "a + b", "Sum; integers wrap, bools are or-ed">;
def : ExtentOperator<"subtract", Numeric, "subtract", "a - b", "Difference; integers wrap">;
def : ExtentOperator<"multiply", AnyType, "multiply", "a * b", "Product; integers wrap, bools are and-ed">;
def : ExtentOperator<"divide", Numeric, "divide", "a / b", "Quotient; that of integers is rounded towards zero"> {
  let Failure = IntegerDivision;
}
def : ComparisonOperator<"less", "less", "a < b", "Whether a is less than b; false when one is NaN">;

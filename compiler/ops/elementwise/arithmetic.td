// Operators on two tensors that broadcast against each other.

class BinaryOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"first operand", types>, Input<"second operand", types>], stem> {
  let Fusion = Broadcast;
  let Lowering = Scalar;
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
class DivisionOperator<string name, string stem, string formula, string summary>
    : ExtentOperator<name, Numeric, stem, formula, summary> {
  let Failure = IntegerDivision;
}
/// The remainder of the least value by -1 is 0.
class RemainderOperator<string name, string stem, string formula, string summary>
    : ExtentOperator<name, Numeric, stem, formula, summary> {
  let Failure = IntegerRemainder;
}
class ComparisonOperator<string name, string stem, string formula, string summary>
    : ExtentOperator<name, AnyType, stem, formula, summary> {
  let Structure = "comparison";
}

def : ExtentOperator<"add", AnyType, "add", "a + b", "Sum; integers wrap, bools are or-ed">;
def : ExtentOperator<"subtract", Numeric, "subtract", "a - b", "Difference; integers wrap">;
def : ExtentOperator<"multiply", AnyType, "multiply", "a * b", "Product; integers wrap, bools are and-ed">;
def : DivisionOperator<"divide", "truncDivide", "a / b", "Quotient; that of integers is rounded towards zero"> {
  let Lower = "divide";
  let Reference = "divide";
}
def : DivisionOperator<"floor_divide", "floorDivide", "floor(a / b)", "Quotient rounded towards minus infinity">;
def : DivisionOperator<"trunc_divide", "truncDivide", "trunc(a / b)", "Quotient rounded towards zero">;
def : RemainderOperator<"mod", "truncMod", "a - b * trunc(a / b)", "Remainder with the sign of a, exact (fmod of C for floats)">;
def : RemainderOperator<"trunc_mod", "truncMod", "a - b * trunc(a / b)", "Remainder with the sign of a, exact (fmod of C for floats)">;
def : RemainderOperator<"floor_mod", "floorMod", "a - b * floor(a / b)", "Remainder with the sign of b, which a zero has, too; for floats the remainder of `mod`, plus b where their signs differ">;
def : ExtentOperator<"maximum", AnyType, "maximum", "max(a, b)", "The greater; NaN when one is NaN, and -0 is less than 0">;
def : ExtentOperator<"minimum", AnyType, "minimum", "min(a, b)", "The lesser; NaN when one is NaN, and -0 is less than 0">;

def : BinaryOperator<"power", Numeric, "power", "a ^ b", "Power; as C's pow for floats, and a * a for b = 2. Integers wrap, and a negative b gives 1 / a^-b rounded towards zero, or 0 for a = 0">;

def : BinaryOperator<"logical_and", Bool, "bitwiseAnd", "a and b", "Logical and">;
def : BinaryOperator<"logical_or", Bool, "bitwiseOr", "a or b", "Logical or">;
def : BinaryOperator<"logical_xor", Bool, "bitwiseXor", "a != b", "Logical exclusive or">;
def : BinaryOperator<"bitwise_and", BoolOrInteger, "bitwiseAnd", "a & b", "And of each bit">;
def : BinaryOperator<"bitwise_or", BoolOrInteger, "bitwiseOr", "a | b", "Or of each bit">;
def : BinaryOperator<"bitwise_xor", BoolOrInteger, "bitwiseXor", "a ^ b", "Exclusive or of each bit">;
def : BinaryOperator<"left_shift", Integer, "leftShift", "a << b", "Shift to the left; 0 where b is negative or not less than the width">;
def : BinaryOperator<"right_shift", Integer, "rightShift", "a >> b", "Shift to the right, which keeps the sign; where b is negative or not less than the width, -1 for a negative a and 0 for others">;

def : ComparisonOperator<"equal", "equal", "a == b", "Whether a equals b; false when one is NaN">;
def : ComparisonOperator<"not_equal", "notEqual", "a != b", "Whether a differs from b; true when one is NaN">;
def : ComparisonOperator<"less", "less", "a < b", "Whether a is less than b; false when one is NaN">;
def : ComparisonOperator<"less_equal", "lessEqual", "a <= b", "Whether a is at most b; false when one is NaN">;
def : ComparisonOperator<"greater", "greater", "a > b", "Whether a is greater than b; false when one is NaN">;
def : ComparisonOperator<"greater_equal", "greaterEqual", "a >= b", "Whether a is at least b; false when one is NaN">;

def : Operator<"where", [Input<"condition", Bool>, Input<"first operand", AnyType>, Input<"second operand", AnyType>], "where"> {
  let Fusion = Broadcast;
  let Lowering = Scalar;
  let Values = "where";
  let Summary = "Elements of one of two tensors, chosen by a condition; all three broadcast";
  let Formula = "condition ? a : b";
}

def : Operator<"fixed_point_multiply", [Input<"data", Integer>], "fixedPointMultiply"> {
  let Attrs = [
    RequiredAttr<"multiplier", IntAttr, "An int32 with 31 fractional bits">,
    RequiredAttr<"shift", IntAttr, "Power of 2 by which the product is multiplied, too">,
  ];
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Dims = "unary";
  let Summary = "Product of an int32 with a fixed-point number, rounded to nearest and halves up; it wraps, in 64 bits before the rounding and in 32 after it";
  let Formula = "floor(x * multiplier * 2^(shift - 31) + 1/2)";
  let Errors = "A multiplier that is no int32; data that is not int32";
}

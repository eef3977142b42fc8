// Operators on each element of one tensor.

class UnaryOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"data", types>], stem> {
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Structure = "unary";
  let Dims = "unary";
  let Formula = formula;
  let Summary = summary;
}
class PredicateOperator<string name, string stem, string formula, string summary>
    : UnaryOperator<name, Numeric, stem, formula, summary> {
  let Structure = "predicate";
}

def : UnaryOperator<"negative", Numeric, "negative", "-x", "Negation; integers wrap">;
def : UnaryOperator<"abs", Numeric, "abs", "|x|", "Absolute value; the least integer stays as it is">;
def : UnaryOperator<"sign", Numeric, "sign", "x > 0 ? 1 : x < 0 ? -1 : 0", "Sign; NaN of NaN, and 0 of -0">;
def : UnaryOperator<"floor", Numeric, "floor", "floor(x)", "Rounds towards minus infinity; the identity for integers">;
def : UnaryOperator<"ceil", Numeric, "ceil", "ceil(x)", "Rounds towards plus infinity; the identity for integers">;
def : UnaryOperator<"trunc", Numeric, "trunc", "trunc(x)", "Rounds towards zero; the identity for integers">;
def : UnaryOperator<"round", Numeric, "round", "round(x)", "Rounds to nearest, halves to even; the identity for integers">;
def : UnaryOperator<"sqrt", Float, "sqrt", "sqrt(x)", "Square root, correctly rounded">;
def : UnaryOperator<"rsqrt", Float, "rsqrt", "1 / sqrt(x)", "Reciprocal of the square root, each of the two operations rounded">;
def : UnaryOperator<"exp", Float, "exp", "exp(x)", "Exponential function, at most 4 ulp"> { let Aliases = ["fast_exp"]; }
def : UnaryOperator<"log", Float, "log", "log(x)", "Natural logarithm, at most 4 ulp">;
def : UnaryOperator<"log2", Float, "log2", "log2(x)", "Logarithm to base 2, at most 4 ulp">;
def : UnaryOperator<"log10", Float, "log10", "log10(x)", "Logarithm to base 10, at most 4 ulp">;
def : UnaryOperator<"sin", Float, "sin", "sin(x)", "Sine, at most 4 ulp; of |x| up to 2^48 in float64">;
def : UnaryOperator<"cos", Float, "cos", "cos(x)", "Cosine, at most 4 ulp; of |x| up to 2^48 in float64">;
def : UnaryOperator<"tan", Float, "tan", "tan(x)", "Tangent, at most 4 ulp; of |x| up to 2^48 in float64">;
def : UnaryOperator<"asin", Float, "asin", "asin(x)", "Inverse sine, at most 4 ulp; NaN outside [-1, 1]">;
def : UnaryOperator<"acos", Float, "acos", "acos(x)", "Inverse cosine, at most 4 ulp; NaN outside [-1, 1]">;
def : UnaryOperator<"atan", Float, "atan", "atan(x)", "Inverse tangent, at most 4 ulp">;
def : UnaryOperator<"sinh", Float, "sinh", "sinh(x)", "Hyperbolic sine, at most 4 ulp">;
def : UnaryOperator<"cosh", Float, "cosh", "cosh(x)", "Hyperbolic cosine, at most 4 ulp">;
def : UnaryOperator<"asinh", Float, "asinh", "asinh(x)", "Inverse hyperbolic sine, at most 4 ulp">;
def : UnaryOperator<"acosh", Float, "acosh", "acosh(x)", "Inverse hyperbolic cosine, at most 4 ulp; NaN below 1">;
def : UnaryOperator<"atanh", Float, "atanh", "atanh(x)", "Inverse hyperbolic tangent, at most 4 ulp; NaN outside [-1, 1], infinite at its ends">;
def : UnaryOperator<"tanh", Float, "tanh", "tanh(x)", "Hyperbolic tangent, at most 4 ulp"> { let Aliases = ["fast_tanh"]; }
def : UnaryOperator<"sigmoid", Float, "sigmoid", "1 / (1 + exp(-x))", "Logistic function, at most 4 ulp">;
def : UnaryOperator<"erf", Float, "erf", "erf(x)", "Error function, at most 4 ulp"> { let Aliases = ["fast_erf"]; }
def : UnaryOperator<"nn.relu", Numeric, "relu", "max(x, 0)", "The positive part; NaN of NaN">;
def : UnaryOperator<"logical_not", Bool, "bitwiseNot", "not x", "Logical not">;
def : UnaryOperator<"bitwise_not", BoolOrInteger, "bitwiseNot", "~x", "Not of each bit">;
def : UnaryOperator<"copy", AnyType, "copy", "x", "The tensor itself"> { let Values = "copy"; }

def : PredicateOperator<"isnan", "isnan", "x != x", "Whether an element is NaN">;
def : PredicateOperator<"isinf", "isinf", "|x| == inf", "Whether an element is infinite">;
def : PredicateOperator<"isfinite", "isfinite", "|x| < inf", "Whether an element is neither infinite nor NaN">;

def : UnaryOperator<"clip", Numeric, "clip", "min(max(x, a_min), a_max)", "Limits each element to a range; NaN of NaN"> {
  let Attrs = [
    RequiredAttr<"a_min", FloatAttr, "Lower bound, converted to the type of the data as `cast` does">,
    RequiredAttr<"a_max", FloatAttr, "Upper bound, converted likewise">,
  ];
}

def : Operator<"cast", [Input<"data", AnyType>], "cast"> {
  let Attrs = [RequiredAttr<"dtype", DTypeAttr, "Type of the result">];
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Dims = "unary";
  let Values = "cast";
  let Summary = "Conversion to another type: integers wrap, floats become integers by truncation and saturation and NaN becomes 0, anything becomes bool by comparison with 0, floats are rounded to nearest even";
  let Formula = "dtype(x)";
}
def : Operator<"cast_like", [Input<"data", AnyType>, Input<"type of the result", AnyType>], "castLike"> {
  let Lowering = Legal;
  let Dims = "unary";
  let Values = "cast";
  let Summary = "`cast` to the type of another tensor, whose shape and elements do not matter";
  let Formula = "dtype_of(b)(a)";
}
def : Operator<"reinterpret", [Input<"data", Numeric>], "reinterpret"> {
  let Attrs = [RequiredAttr<"dtype", DTypeAttr, "Type of the result, as wide as that of the data; not bool">];
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Dims = "unary";
  let Summary = "The bits of each element as another type of the same size; NaNs are seen as the canonical one";
  let Formula = "dtype(bits of x)";
}

// Operators on each element of one tensor.

class UnaryOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"data", types>], stem> {
  let Fusion = Elementwise;
  let Lowering = Element;
  let Structure = "unary";
  let Dims = "unary";
  let Formula = formula;
  let Summary = summary;
}

def : UnaryOperator<"tanh", Float, "tanh", "tanh(x)", "Hyperbolic tangent, at most 4 ulp">;
def : UnaryOperator<"sigmoid", Float, "sigmoid", "1 / (1 + exp(-x))", "Logistic function, at most 4 ulp">;

// Operators of neural networks that belong to no other family.

class SoftmaxOperator<string name, string stem, string formula, string summary>
    : Operator<name, [Input<"data", Float>], stem> {
  let Attrs = [Attr<"axis", IntAttr, "-1", "Axis along which the results sum to 1">];
  let Accessors = "softmax";
  let Fusion = Reduction;
  let Lowering = Expand;
  let Structure = "alongAxis";
  let Dims = "unary";
  let Formula = formula;
  let Summary = summary;
  let Errors = "An axis outside [-r, r)";
}
def : SoftmaxOperator<"nn.softmax", "softmax", "exp(x - m) / sum of exp(x - m), where m is the maximum of x along the axis",
                      "Softmax; a row whose maximum is infinite or NaN gives NaN"> {
  let Aliases = ["nn.fast_softmax"];
}
def : SoftmaxOperator<"nn.log_softmax", "logSoftmax", "(x - m) - log(sum of exp(x - m)), where m is the maximum of x along the axis",
                      "Logarithm of the softmax">;

def : Operator<"nn.bias_add", [Input<"data", Numeric>, Input<"bias", Numeric>], "biasAdd"> {
  let Attrs = [Attr<"axis", IntAttr, "1", "Axis of the data along which the bias lies">];
  let Fusion = Broadcast;
  let Lowering = Element;
  let Summary = "Adds a vector along an axis";
  let Formula = "data[..., i, ...] + bias[i]";
  let Errors = "An axis outside [-r, r)";
}

def : Operator<"nn.batch_flatten", [Input<"data", AnyType>], "batchFlatten"> {
  let Lowering = Legal;
  let Reference = "reshape";
  let Summary = "Puts all axes but the first into one";
  let Formula = "y[i, ...] = the elements of data[i] in row-major order";
  let Errors = "A tensor of rank 0";
}

def : Operator<"nn.leaky_relu", [Input<"data", Float>], "leakyRelu"> {
  let Attrs = [Attr<"alpha", FloatAttr, "0.25", "Slope where x is not positive">];
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Structure = "unary";
  let Dims = "unary";
  let Summary = "The identity for positive elements, and a slope for the others; NaN of NaN";
  let Formula = "x > 0 ? x : alpha * x";
}

def : Operator<"nn.prelu", [Input<"data", Float>, Input<"alpha", Float>], "prelu"> {
  let Attrs = [Attr<"axis", IntAttr, "1", "Axis of the data along which the slopes lie">];
  let Fusion = Broadcast;
  let Lowering = Element;
  let Structure = "biasAdd";
  let Dims = "biasAdd";
  let Summary = "`nn.leaky_relu` with a slope for each index along an axis";
  let Formula = "x > 0 ? x : alpha[i] * x, where x = data[..., i, ...]";
  let Errors = "An axis outside [-r, r)";
}

def : Operator<"nn.dropout", [Input<"data", Float>], "dropout"> {
  let Attrs = [Attr<"rate", FloatAttr, "0.5", "How likely an element was dropped in training, in [0, 1]">];
  let Lowering = Legal;
  let Summary = "What dropout is when a model is not trained: the data, and as its mask ones. A tuple of both";
  let Formula = "x, 1";
  let Errors = "A rate outside [0, 1]";
}

def : Operator<"nn.gelu", [Input<"data", Float>], "gelu"> {
  let Attrs = [Attr<"approximate", StringAttr, "none", "`none`, or `tanh`: x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3)">];
  let Aliases = ["gelu"];
  let Fusion = Elementwise;
  let Lowering = Scalar;
  let Dims = "unary";
  let Summary = "Gaussian error linear unit; NaN of -inf, which is 0 times infinity";
  let Formula = "x * (0.5 * (1 + erf(x / sqrt(2))))";
  let Errors = "Another approximation";
}

def : Operator<"nn.lrn", [Input<"data", Float>], "lrn"> {
  let Attrs = [
    Attr<"size", IntAttr, "5", "How many elements along the axis count: those around, and one more after than before where it is even">,
    Attr<"axis", IntAttr, "1", "Which axis">,
    Attr<"bias", FloatAttr, "2", "Added to the sum">,
    Attr<"alpha", FloatAttr, "0.0001", "Factor of the sum">,
    Attr<"beta", FloatAttr, "0.75", "Exponent">,
  ];
  let Fusion = Reduction;
  let Lowering = Element;
  let Dims = "unary";
  let Summary = "Normalisation by the squares of what is near along an axis";
  let Formula = "data[..., i, ...] / (bias + alpha * (sum of data[..., k, ...]^2 for i - floor((size - 1) / 2) <= k <= i + floor(size / 2), 0 beyond the ends) / size)^beta";
  let Errors = "An axis outside [-r, r); a size below 1";
}

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
                      "Softmax; a row whose maximum is infinite or NaN gives NaN">;
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

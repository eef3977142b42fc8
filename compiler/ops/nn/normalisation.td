// Operators that bring data to mean 0 and variance 1, or to length 1. They compute in the type of
// accumulation and round once.

class NormOperator<string name, list<Input> inputs, string stem, string axis, string formula, string summary>
    : Operator<name, inputs, stem> {
  let Attrs = [
    Attr<"axis", IntAttr, axis, "Axis along which gamma and beta lie">,
    Attr<"epsilon", FloatAttr, "1e-5", "Added to the variance">,
    Attr<"center", BoolAttr, "True", "Add beta; else it does not matter">,
    Attr<"scale", BoolAttr, "True", "Multiply by gamma; else it does not matter">,
  ];
  let Accessors = "norm";
  let Lowering = Legal;
  let Structure = "norm";
  let Dims = "norm";
  let Formula = formula;
  let Summary = summary;
  let Errors = "An axis outside [-r, r)";
}
defvar NormInputs = [Input<"data", Float>, Input<"gamma", Float>, Input<"beta", Float>];
defvar NormFormula = "gamma[c] * (x - m) / sqrt(v + epsilon) + beta[c], where x = data[..., c, ...]";

def : NormOperator<"nn.layer_norm", NormInputs, "layerNorm", "-1", NormFormula,
                   "Normalisation along an axis, with the mean m and the variance v of the elements along it">;
def : NormOperator<"nn.instance_norm", NormInputs, "instanceNorm", "1", NormFormula,
                   "Normalisation of each channel of each instance, with the mean m and the variance v over all axes but the first and that of the channels">;
def : NormOperator<"nn.group_norm", NormInputs, "groupNorm", "1", NormFormula,
                   "Normalisation of groups of channels, with the mean m and the variance v over the channels of a group and all later axes"> {
  let Attrs = [
    RequiredAttr<"num_groups", IntAttr, "Number of groups, which divides that of the channels">,
    Attr<"axis", IntAttr, "1", "Axis of the channels">,
    Attr<"epsilon", FloatAttr, "1e-5", "Added to the variance">,
    Attr<"center", BoolAttr, "True", "Add beta; else it does not matter">,
    Attr<"scale", BoolAttr, "True", "Multiply by gamma; else it does not matter">,
  ];
  let Accessors = "groupNorm";
  let Structure = "groupNorm";
  let Dims = "groupNorm";
  let Errors = "An axis outside [-r, r); a number of groups that is below 1 or does not divide the channels";
}
def : NormOperator<"nn.batch_norm", !listconcat(NormInputs, [Input<"mean", Float>, Input<"variance", Float>]), "batchNorm", "1",
                   "gamma[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + beta[c], where x = data[..., c, ...]",
                   "Normalisation of each channel with a mean and a variance that are given. A tuple of the result and, as they are, of both"> {
  let Structure = "batchNorm";
  let Dims = "batchNorm";
}

def : Operator<"nn.l2_normalize", [Input<"data", Float>], "l2Normalize"> {
  let Attrs = [
    RequiredAttr<"eps", FloatAttr, "Least square of the length that counts">,
    Attr<"axis", IntListAttr, "None", "Which axes; negative ones count from the end. None, or an empty list: all of them">,
  ];
  let Lowering = Legal;
  let Dims = "unary";
  let Summary = "Divides by the length along some axes";
  let Formula = "x / sqrt(max(sum of x^2 over the axes, eps))";
  let Errors = "An axis outside [-r, r) or listed twice";
}

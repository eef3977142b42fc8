// Operators that reduce some axes of a tensor.

defvar ReducedAxes = [
  Attr<"axis", IntListAttr, "None", "Axes to reduce; negative ones count from the end. None: all of them. An empty list: none, or all with `exclude`">,
  Attr<"keepdims", BoolAttr, "False", "Keep the reduced axes with extent 1">,
  Attr<"exclude", BoolAttr, "False", "Reduce the axes that `axis` does not list">,
];

class ReductionOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"data", types>], stem> {
  let Attrs = ReducedAxes;
  let Accessors = "reduction";
  let Fusion = Reduction;
  let Lowering = Element;
  let Structure = "reduction";
  let Dims = "reduction";
  let Lower = "reduction";
  let Reference = "reduction";
  let Formula = formula;
  let Summary = summary;
  let Errors = "An axis outside [-r, r) or listed twice";
}

def : ReductionOperator<"sum", AnyType, "sum", "sum of x over the axes", "Sum, in the order of the numeric contract; integers wrap, bools are or-ed. Of nothing: 0"> { let Values = "reduction"; }
def : ReductionOperator<"prod", AnyType, "prod", "product of x over the axes", "Product, in the order of the numeric contract; integers wrap, bools are and-ed. Of nothing: 1"> { let Values = "reduction"; }
def : ReductionOperator<"max", AnyType, "max", "greatest x over the axes", "Maximum; NaN when there is one. Of nothing: the lowest value (-inf)"> { let Values = "reduction"; }
def : ReductionOperator<"min", AnyType, "min", "least x over the axes", "Minimum; NaN when there is one. Of nothing: the highest value (inf)"> { let Values = "reduction"; }
def : ReductionOperator<"mean", Numeric, "mean", "(sum of x over the axes) / count", "Mean: the sum, divided once by the count in the type of accumulation; for integers rounded towards zero. Of nothing: NaN for floats"> {
  let Failure = IntegerMean;
}
def : ReductionOperator<"all", Bool, "all", "whether all x over the axes are true", "Logical and. Of nothing: true">;
def : ReductionOperator<"any", Bool, "any", "whether an x over the axes is true", "Logical or. Of nothing: false">;

class ArgReductionOperator<string name, string stem, string formula, string summary>
    : ReductionOperator<name, AnyType, stem, formula, summary> {
  let Attrs = !listconcat(ReducedAxes, [
    Attr<"select_last_index", BoolAttr, "False", "Only False is supported: of equal elements the first counts">,
  ]);
  let Accessors = "argReduction";
  let Structure = "argReduction";
  let Dims = "argReduction";
  let Errors = "An axis outside [-r, r) or listed twice; zero elements to reduce, or more than int32 counts";
}
def : ArgReductionOperator<"argmax", "argmax", "row-major index over the reduced axes of the greatest x", "Index of the first maximum, or of the first NaN, as int32">;
def : ArgReductionOperator<"argmin", "argmin", "row-major index over the reduced axes of the least x", "Index of the first minimum, or of the first NaN, as int32">;

def : Operator<"variance", [Input<"data", Float>, OptionalInput<"mean", Float>], "variance"> {
  let Attrs = !listconcat(ReducedAxes, [
    Attr<"unbiased", BoolAttr, "False", "Divide by the count less 1, or 0 when there is nothing">,
  ]);
  let Lowering = Legal;
  let Summary = "Mean of the squares of what is left when the mean is subtracted, which is that of the data unless the second input gives it. The mean has the axes of the data, those that are reduced with extent 1. Of nothing: NaN";
  let Formula = "(sum of (x - mean)^2 over the axes) / count";
  let Errors = "An axis outside [-r, r) or listed twice";
}
def : Operator<"logsumexp", [Input<"data", Float>], "logsumexp"> {
  let Attrs = ReducedAxes;
  let Accessors = "reduction";
  let Lowering = Legal;
  let Structure = "reduction";
  let Dims = "reduction";
  let Summary = "Logarithm of the sum of exponentials, which may be too large for the type. Of nothing: -inf";
  let Formula = "log(sum of exp(x - m) over the axes) + m, where m is the maximum of x over the axes, or 0 if that is not finite";
  let Errors = "An axis outside [-r, r) or listed twice";
}

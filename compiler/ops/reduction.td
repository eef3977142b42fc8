// Operators that reduce some axes of a tensor.

class ReductionOperator<string name, DTypeClass types, string stem, string formula, string summary>
    : Operator<name, [Input<"data", types>], stem> {
  let Attrs = [
    Attr<"axis", IntListAttr, "None", "Axes to reduce; negative ones count from the end. None: all of them. An empty list: none, or all with `exclude`">,
    Attr<"keepdims", BoolAttr, "False", "Keep the reduced axes with extent 1">,
    Attr<"exclude", BoolAttr, "False", "Reduce the axes that `axis` does not list">,
  ];
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
  let Attrs = [
    Attr<"axis", IntListAttr, "None", "Axes to reduce; negative ones count from the end. None: all of them. An empty list: none, or all with `exclude`">,
    Attr<"keepdims", BoolAttr, "False", "Keep the reduced axes with extent 1">,
    Attr<"exclude", BoolAttr, "False", "Reduce the axes that `axis` does not list">,
    Attr<"select_last_index", BoolAttr, "False", "Only False is supported: of equal elements the first counts">,
  ];
  let Accessors = "argReduction";
  let Structure = "argReduction";
  let Dims = "argReduction";
  let Errors = "An axis outside [-r, r) or listed twice; zero elements to reduce, or more than int32 counts";
}
def : ArgReductionOperator<"argmax", "argmax", "row-major index over the reduced axes of the greatest x", "Index of the first maximum, or of the first NaN, as int32">;
def : ArgReductionOperator<"argmin", "argmin", "row-major index over the reduced axes of the least x", "Index of the first minimum, or of the first NaN, as int32">;

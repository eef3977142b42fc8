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
  let Lowering = Nest;
  let Structure = "reduction";
  let Dims = "reduction";
  let Lower = "reduction";
  let Formula = formula;
  let Summary = summary;
}

def : ReductionOperator<"sum", AnyType, "sum", "sum of x over the axes", "Sum, in the order of the numeric contract; integers wrap, bools are or-ed">;

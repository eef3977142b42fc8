// Operators that give every partial result of a reduction.

class ScanOperator<string name, string stem, string formula, string summary> : Operator<name, [Input<"data", AnyType>], stem> {
  let Attrs = [
    Attr<"axis", IntAttr, "None", "Along which axis. None: along the flattened data">,
    Attr<"dtype", DTypeAttr, "None", "Type of the result, to which elements are cast first. None: that of the data">,
    Attr<"exclusive", BoolAttr, "False", "Each result leaves out its own element">,
  ];
  let Accessors = "scan";
  let Structure = "scan";
  let Dims = "scan";
  let Fusion = Reduction;
  let Lowering = Nest;
  let Formula = formula;
  let Summary = summary # ", in order from the first; float16 and bfloat16 in float32, each result rounded once";
  let Errors = "An axis outside [-r, r); a result of type bool";
}
def : ScanOperator<"cumsum", "cumsum", "y[..., i, ...] = sum of data[..., j, ...] for j <= i, or j < i where exclusive", "Sums of the elements up to each along an axis">;
def : ScanOperator<"cumprod", "cumprod", "y[..., i, ...] = product of data[..., j, ...] for j <= i, or j < i where exclusive", "Products of the elements up to each along an axis">;

// Operators that find where something is.

def : Operator<"searchsorted", [Input<"sorted sequence", AnyType>, Input<"values", AnyType>], "searchsorted"> {
  let Attrs = [
    Attr<"right", BoolAttr, "False", "Behind equal elements; else before them">,
    Attr<"dtype", DTypeAttr, "int32", "Type of the result: int32 or int64">,
  ];
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "Where each value would go in a sequence that is sorted upwards, or in its own row of several; NaN counts as greater than every number";
  let Formula = "y[..., i] = number of elements s of sequence[...] with s < values[..., i], or s <= values[..., i] where right";
  let Errors = "Sequences of a rank that is neither 1 nor that of the values; other rows; another dtype";
}
def : Operator<"invert_permutation", [Input<"data", Index>], "invertPermutation"> {
  let Lowering = Legal;
  let Failure = GatheredIndex;
  let Structure = "invertPermutation";
  let Dims = "unary";
  let Summary = "The permutation that undoes another; a place that it leaves out becomes 0";
  let Formula = "y[data[i]] = i, for all i in order";
  let Errors = "Data of another rank than 1";
}
def : Operator<"argwhere", [Input<"condition", AnyType>], "argwhere"> {
  let Lowering = Legal;
  let Counts = "element that is not 0";
  let Summary = "The positions of the elements that are not 0, one in each row, in row-major order; a scalar has a position of no numbers";
  let Formula = "y[k] = the k-th position i... with condition[i...] != 0";
}
def : Operator<"argwhere.rows", [Input<"condition", Bool>, Input<"count", Index>], "argwhereRows"> {
  let Fusion = Opaque;
  let Lowering = Nest;
  let Failure = CountedRows;
  let ValueInputs = [1];
  let Summary = "`argwhere` when the number of elements that are true is known";
  let Formula = "y[k] = the k-th position i... with condition[i...], in row-major order";
  let Errors = "A negative count";
}

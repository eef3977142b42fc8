// Operators that read elements at positions given by a tensor.

def : Operator<"take", [Input<"data", AnyType>, Input<"indices", Integer>], "take"> {
  let Attrs = [
    Attr<"batch_dims", IntAttr, "0", "Leading axes that data and indices have in common">,
    Attr<"axis", IntAttr, "None", "Axis of the data that the indices are about. None: that of the flattened data">,
    Attr<"mode", StringAttr, "clip", "What an index outside [0, n) means. `clip`: 0 when negative, else n - 1. `wrap`: its floor_mod by n. `fast`: a negative one counts from the end, and one outside [-n, n) is a program error">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = IndexRange;
  let Values = "take";
  let Summary = "Elements, rows or slices of a tensor, by index along an axis";
  let Formula = "y[i..., j..., k...] = data[i..., indices[j...], k...]";
  let Errors = "An axis outside [-r, r); batch_dims that exceed it; indices into an axis of extent 0";
}
def : Operator<"gather", [Input<"data", AnyType>, Input<"indices", Integer>], "gather"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Axis of the data that the indices are about">];
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = GatheredIndex;
  let Summary = "An element for each index, at the index's own position along the other axes; a negative index counts from the end";
  let Formula = "y[..., i, ...] = data[..., indices[..., i, ...], ...]";
  let Errors = "An axis outside [-r, r)";
}
def : Operator<"one_hot", [Input<"indices", Integer>, Input<"on value", AnyType>, Input<"off value", AnyType>, OptionalInput<"depth", Index>], "oneHot"> {
  let Attrs = [
    Attr<"depth", IntAttr, "None", "Extent of the new axis. None: given by the fourth input">,
    Attr<"axis", IntAttr, "-1", "Position of the new axis, in [-r - 1, r]">,
    Attr<"dtype", DTypeAttr, "None", "Type of the result; None: that of the values">,
  ];
  let Aliases = ["dyn.one_hot"];
  let Fusion = Injective;
  let Lowering = Element;
  let ValueInputs = [3];
  let Summary = "A new axis that holds one value at the index and another elsewhere; all off for an index outside [0, depth)";
  let Formula = "y[..., i, ...] = indices[...] == i ? on : off";
  let Errors = "An axis out of range; a negative depth";
}
def : Operator<"gather_nd", [Input<"data", AnyType>, Input<"indices", Integer>], "gatherNd"> {
  let Attrs = [
    Attr<"batch_dims", IntAttr, "0", "Leading axes that the data and the places of the indices have in common">,
    Attr<"index_rank", IntAttr, "None", "Extent of the first axis of the indices, where their type does not say it">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = GatheredIndex;
  let Summary = "An element or a slice for each place of the indices, whose first axis holds the positions along the axes of the data; negative ones count from the end";
  let Formula = "y[p..., s...] = data[b..., indices[0, p...], ..., indices[m - 1, p...], s...], where b are the first batch_dims of p";
  let Errors = "More positions than there are axes; batch_dims out of range; an index_rank that is not the first extent of the indices";
}
def : Operator<"adv_index", [InputList<"data", AnyType>], "advIndex"> {
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = GatheredIndex;
  let Summary = "An element or a slice of the first tensor for each place of the others, which hold positions along its first axes and broadcast against each other; negative ones count from the end";
  let Formula = "y[p..., s...] = data[0][data[1][p...], ..., data[m][p...], s...]";
  let Errors = "No indices, or of more axes than there are; indices that are no integers";
}

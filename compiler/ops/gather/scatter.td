// Operators that put elements to positions that a tensor holds.

class ScatterOperator<string name, string stem> : Operator<name, [Input<"data", AnyType>, Input<"indices", Integer>, Input<"updates", AnyType>], stem> {
  let Fusion = Opaque;
  let Lowering = Nest;
  let Failure = GatheredIndex;
}
def : ScatterOperator<"scatter_elements", "scatterElements"> {
  let Aliases = ["scatter"];
  let Attrs = [
    Attr<"axis", IntAttr, "0", "Axis of the data that the indices are about">,
    Attr<"reduction", StringAttr, "update", "What an update does to the element that is there: `update` replaces it; `add`, `mul`, `min`, `max`; float16 and bfloat16 in float32, rounded once">,
  ];
  let Summary = "The data, with an update for each index, at the index's own position along the other axes, one after the other; a negative index counts from the end";
  let Formula = "y = data; y[..., indices[..., i, ...], ...] = updates[..., i, ...] for all i in order";
  let Errors = "An axis outside [-r, r); updates of another shape than the indices; indices that exceed the data along another axis; another reduction; arithmetic on bool";
}
def : ScatterOperator<"scatter_nd", "scatterNd"> {
  let Attrs = [
    Attr<"mode", StringAttr, "update", "What an update does to the element that is there: `update` replaces it; `add`, `mul`, `min`, `max`; float16 and bfloat16 in float32, rounded once">,
  ];
  let Summary = "The data, with an element or a slice put to each place of the indices, whose first axis holds the positions along the first axes of the data, one after the other; negative ones count from the end";
  let Formula = "y = data; y[indices[0, p...], ..., indices[m - 1, p...], s...] = updates[p..., s...] for all p in order";
  let Errors = "Ranks that do not fit; updates of another shape than the places and the slices; another mode; arithmetic on bool";
}

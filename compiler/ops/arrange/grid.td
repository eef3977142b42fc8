// Operators on positions in several axes at once.

def : Operator<"unravel_index", [Input<"indices", Integer>, Input<"shape", Integer>], "unravelIndex"> {
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = UnravelledIndex;
  let Summary = "Positions along the axes of a shape, from positions in row-major order";
  let Formula = "y[d, p...] = floor_mod(floor(indices[p...] / product of shape[d + 1...]), shape[d])";
}
def : Operator<"meshgrid", [InputList<"data", AnyType>], "meshgrid"> {
  let Attrs = [Attr<"indexing", StringAttr, "ij", "`ij`, or `xy`: the first two axes of the results are exchanged">];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "The coordinates of all points of a grid, from those along each axis: a tuple of tensors of one shape. A scalar is a vector of one element";
  let Formula = "y[j][i...] = data[j][i[j]]";
  let Errors = "An empty tuple; elements of a rank above 1; another indexing";
}

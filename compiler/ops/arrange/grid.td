// Operators on positions in several axes at once.

def : Operator<"unravel_index", [Input<"indices", Integer>, Input<"shape", Integer>], "unravelIndex"> {
  let Fusion = Injective;
  let Lowering = Element;
  let Failure = UnravelledIndex;
  let Summary = "Positions along the axes of a shape, from positions in row-major order";
  let Formula = "y[d, p...] = floor_mod(floor(indices[p...] / product of shape[d + 1...]), shape[d])";
}

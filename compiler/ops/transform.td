// Operators that move elements and compute none.

def : Operator<"concatenate", [InputList<"data", AnyType>], "concatenate"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Axis along which the tensors are put one after the other">];
  let Fusion = Injective;
  let Lowering = Element;
  let Values = "concatenate";
  let Summary = "The tensors of a tuple, one after the other along an axis";
  let Formula = "y[..., i, ...] = data[j][..., i - (sum of the extents of data[0..j-1] along the axis), ...]";
  let Errors = "An empty tuple; an axis outside [-r, r)";
}

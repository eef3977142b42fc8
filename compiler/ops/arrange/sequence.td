// Operators on sequences of different lengths in one tensor.

def : Operator<"sequence_mask", [Input<"data", AnyType>, Input<"valid length", Index>], "sequenceMask"> {
  let Attrs = [
    Attr<"mask_value", FloatAttr, "0", "What elements beyond the length become; cast to the type of the data">,
    Attr<"axis", IntAttr, "0", "Axis of the positions, 0 or 1; the other one is that of the sequences">,
  ];
  let Fusion = Broadcast;
  let Lowering = Element;
  let Summary = "Elements beyond the length of their sequence replaced by a value";
  let Formula = "y[i, b, ...] = i < valid_length[b] ? data[i, b, ...] : mask_value, and likewise for axis 1";
  let Errors = "Data of a rank below 2; another axis";
}
def : Operator<"reverse_sequence", [Input<"data", AnyType>, Input<"sequence lengths", Index>], "reverseSequence"> {
  let Attrs = [
    Attr<"seq_axis", IntAttr, "1", "Axis of the positions">,
    Attr<"batch_axis", IntAttr, "0", "Axis of the sequences">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "The first elements of each sequence in reverse, as many as its length says, which is taken to be at most the extent";
  let Formula = "y[b, i, ...] = data[b, i < n ? n - 1 - i : i, ...], where n = min(lengths[b], extent)";
  let Errors = "An axis outside [-r, r); equal axes";
}

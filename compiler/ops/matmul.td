// Matrix products. Each element of a result is a sequence of fused multiply-adds, in
// ascending order of the reduced index; integers wrap.

def : Operator<"nn.dense", [Input<"data", Numeric>, Input<"weight", Numeric>], "dense"> {
  let Attrs = [
    Attr<"units", IntAttr, "None", "Rows of the weight">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result; None: that of the data">,
  ];
  let Fusion = Anchor;
  let Lowering = Nest;
  let Summary = "Product of the data with the transposed weight";
  let Formula = "y[..., n] = sum over k of data[..., k] * weight[n, k]";
}

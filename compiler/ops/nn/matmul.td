// Matrix products. Each element of a result is a sequence of fused multiply-adds, in
// ascending order of the reduced index; integers wrap.

class ProductOperator<string name, list<Input> inputs, string stem, string formula, string summary>
    : Operator<name, inputs, stem> {
  let Fusion = Anchor;
  let Lowering = Nest;
  let Formula = formula;
  let Summary = summary;
}

def : ProductOperator<"nn.dense", [Input<"data", Numeric>, Input<"weight", Numeric>], "dense",
                      "y[..., n] = sum over k of data[..., k] * weight[n, k]", "Product of the data with the transposed weight"> {
  let Attrs = [
    Attr<"units", IntAttr, "None", "Rows of the weight">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the data; None: that of the data">,
  ];
}
def : ProductOperator<"nn.matmul", [Input<"first operand", Numeric>, Input<"second operand", Numeric>], "matmul",
                      "y[..., m, n] = sum over k of a[..., m, k] * b[k, n]", "Product of a tensor of rank 1 or more with a matrix"> {
  let Attrs = [
    Attr<"units", IntAttr, "None", "Columns of the second operand">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the operands; None: that of the operands">,
    Attr<"transpose_a", BoolAttr, "False", "The first operand has its last two axes exchanged">,
    Attr<"transpose_b", BoolAttr, "False", "The second operand has its axes exchanged">,
  ];
}
def : ProductOperator<"nn.batch_matmul", [Input<"first operand", Numeric>, Input<"second operand", Numeric>], "batchMatmul",
                      "y[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]", "Products of the matrices of two batches; a batch of one is used for all"> {
  let Attrs = [
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the operands; None: that of the operands">,
    Attr<"transpose_a", BoolAttr, "False", "The first operand has its last two axes exchanged">,
    Attr<"transpose_b", BoolAttr, "False", "The second operand has its last two axes exchanged">,
  ];
}

/// What the compiler makes of nn.dense with a constant weight.
def : ProductOperator<"nn.dense_packed", [Input<"data", Numeric>, Input<"weight", Numeric>], "densePacked",
                      "y[..., n] = sum over k of data[..., k] * weight[floor(n / 64), k, floor_mod(n, 64)]",
                      "`nn.dense` with a weight in panels of 64 rows, the last of which is filled up with zeros: made by the compiler of constant weights"> {
  let Attrs = [
    RequiredAttr<"units", IntAttr, "Rows of the weight before it was packed">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the data; None: that of the data">,
  ];
}

def : Operator<"nn.contrib_dense_pack", [Input<"data", Numeric>, Input<"weight", Numeric>], "densePack"> {
  let Attrs = [
    Attr<"units", IntAttr, "None", "Rows of the weight">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the data; None: that of the data">,
    Attr<"weight_layout", StringAttr, "NC", "Axes of the weight by letter, rows N and columns C, which may be in blocks: NC8n">,
  ];
  let Lowering = Legal;
  let Summary = "`nn.dense` of a matrix with a weight in blocks";
  let Formula = "y[m, n] = sum over k of data[m, k] * weight[n, k]";
  let Errors = "Another layout";
}

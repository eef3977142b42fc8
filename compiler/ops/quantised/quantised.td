// Operators on quantised tensors.

class QuantisedOperator<string name, list<Input> inputs, string stem> : Operator<name, inputs, stem> {
  let Lowering = Legal;
}
def QuantisedAxis : Attr<"axis", IntAttr, "-1", "Axis of the data along which scales and zero points that are vectors lie">;
defvar Rounded = "Products of scales are numbers of 31 fractional bits and a shift; halves are rounded up";

def : QuantisedOperator<"qnn.quantize", [Input<"data", Float>, Input<"output scale", Float>, Input<"output zero point", Integer>], "qnnQuantize"> {
  let Attrs = [QuantisedAxis, Attr<"out_dtype", DTypeAttr, "int8", "Type of the result, an integer of at most 32 bits">];
  let Summary = "Floats as integers: the nearest ones, halves to even, limited to the range of the type";
  let Formula = "clip(round(x / scale) + zero point)";
  let Errors = "An axis outside [-r, r); vectors of another length; another type";
}
def : QuantisedOperator<"qnn.dequantize", [Input<"data", Integer>, Input<"input scale", Float>, Input<"input zero point", Integer>], "qnnDequantize"> {
  let Attrs = [QuantisedAxis, Attr<"out_dtype", DTypeAttr, "float32", "Type of the result, a float">];
  let Summary = "The floats that integers stand for, computed in float32, or in float64 where that is the type";
  let Formula = "(q - zero point) * scale";
  let Errors = "An axis outside [-r, r); vectors of another length; another type";
}
def : QuantisedOperator<"qnn.requantize", [Input<"data", Integer>, Input<"input scale", Float>, Input<"input zero point", Integer>,
                                           Input<"output scale", Float>, Input<"output zero point", Integer>], "qnnRequantize"> {
  let Attrs = [
    QuantisedAxis,
    Attr<"rounding", StringAttr, "UPWARD", "Where halves go: `UPWARD` (`None`, too) or `TONEAREST`, away from zero">,
    Attr<"compute_dtype", StringAttr, "int64", "`int64` (`None`, too), in which all is computed">,
    Attr<"out_dtype", DTypeAttr, "int8", "Type of the result, an integer of at most 32 bits">,
  ];
  let Summary = "The same numbers with another scale and zero point, limited to the range of the type. The quotient of the scales is a number of 31 fractional bits and a shift, 0 where it is no normal number; products with it are exact, and rounded once";
  let Formula = "clip(round((q - input zero point) * (input scale / output scale)) + output zero point)";
  let Errors = "An axis outside [-r, r); vectors of another length; another rounding, compute_dtype or type";
}

class QuantisedBinary<string name, string stem, string formula, string summary> : QuantisedOperator<name,
    [Input<"first operand", Integer>, Input<"second operand", Integer>, Input<"scale of the first operand", Float>,
     Input<"zero point of the first operand", Integer>, Input<"scale of the second operand", Float>,
     Input<"zero point of the second operand", Integer>, Input<"output scale", Float>, Input<"output zero point", Integer>], stem> {
  let Attrs = [
    Attr<"lhs_axis", IntAttr, "-1", "Axis of the first operand along which its scale and zero point lie where they are vectors">,
    Attr<"rhs_axis", IntAttr, "-1", "The same of the second">,
  ];
  let Accessors = "qnnBinary";
  let Structure = "qnnBinary";
  let Dims = "qnnBinary";
  let Formula = formula;
  let Summary = summary # ", limited to the range of the type. " # Rounded;
  let Errors = "An axis out of range; vectors of another length; shapes that do not broadcast";
}
def : QuantisedBinary<"qnn.add", "qnnAdd", "clip(requantized a + requantized b + output zero point)", "Sum of quantised tensors, each brought to the scale of the result first">;
def : QuantisedBinary<"qnn.subtract", "qnnSubtract", "clip(requantized a - requantized b + output zero point)", "Difference of quantised tensors, each brought to the scale of the result first">;
def : QuantisedBinary<"qnn.mul", "qnnMul", "clip(round((a - zero point) * (b - zero point) * (scale of a * scale of b / output scale)) + output zero point)", "Product of quantised tensors">;

def : QuantisedOperator<"qnn.concatenate", [Input<"output scale", Float>, Input<"output zero point", Integer>, InputList<"data", AnyType>], "qnnConcatenate"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Axis along which the tensors are put one after the other">];
  let Summary = "Quantised tensors one after the other, each brought to the scale of the result: the tuple has the tensors, then as many scales, then as many zero points. Text may also have them as TVM does: `qnn.concatenate(tensors, scales, zero points, output scale, output zero point)`, with three tuples that are made in the same block. " # Rounded;
  let Formula = "concatenate of qnn.requantize of each";
  let Errors = "A tuple whose elements are not three times as many as there are tensors, or of other types; what `concatenate` refuses";
}

defvar ProductInputs = [Input<"data", Integer>, Input<"weight", Integer>, Input<"input zero point", Integer>, Input<"kernel zero point", Integer>,
                        Input<"input scale", Float>, Input<"kernel scale", Float>];
def ProductType : Attr<"out_dtype", DTypeAttr, "int32", "Type of the result, int32 or int64, in which all is computed">;

def : QuantisedOperator<"qnn.dense", ProductInputs, "qnnDense"> {
  let Attrs = [Attr<"units", IntAttr, "None", "Rows of the weight">, ProductType];
  let Summary = "`nn.dense` of quantised tensors, with the product of their scales for its scale, which the operator does not look at";
  let Formula = "sum over k of (data[..., k] - input zero point) * (weight[n, k] - kernel zero point[n])";
  let Errors = "As of `nn.dense`; vectors of another length; another type";
}
def : QuantisedOperator<"qnn.batch_matmul", ProductInputs, "qnnBatchMatmul"> {
  let Attrs = [
    ProductType,
    Attr<"transpose_a", BoolAttr, "False", "The first operand has its last two axes exchanged">,
    Attr<"transpose_b", BoolAttr, "False", "The second operand has its last two axes exchanged">,
  ];
  let Summary = "`nn.batch_matmul` of quantised tensors, with the product of their scales for its scale, which the operator does not look at";
  let Formula = "sum over k of (a[b, m, k] - zero point) * (b[b, k, n] - zero point)";
  let Errors = "As of `nn.batch_matmul`; zero points that are no scalars; another type";
}
def : QuantisedOperator<"qnn.conv2d", ProductInputs, "qnnConv2d"> {
  let Attrs = !listconcat(ConvolutionWindow<"[1, 1]">.Attrs, [
    Attr<"data_layout", StringAttr, "NCHW", "Axes of the data by letter">,
    Attr<"kernel_layout", StringAttr, "OIHW", "The same of the weight">,
    Attr<"out_layout", StringAttr, "", "The same of the result; empty: that of the data">,
    ProductType,
  ]);
  let Summary = "`nn.conv2d` of quantised tensors, with the product of their scales for its scale, which the operator does not look at. Padding stands for 0";
  let Formula = "y[n, o, p...] = sum over i, k... of (data[n, group of o + i, (p * strides + k * dilation - padding)...] - input zero point) * (weight[o, i, k...] - kernel zero point[o]), without what is in the padding";
  let Errors = "As of `nn.conv2d`; axes in blocks; vectors of another length; another type";
}

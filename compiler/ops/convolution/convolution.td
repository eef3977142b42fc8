// Convolutions. Each element of a result is a sequence of fused multiply-adds: over the input channels of
// its group, for each of them over the window in row-major order. Padding is zeros, which are multiplied.

defvar ConvolutionErrors = "A number of entries that fits no axes; an entry below 1, of `padding` below 0; another layout; channels or a kernel that the weight does not have; groups that do not divide the channels; a window that does not fit into the data with its padding";

class ConvolutionWindow<string text> {
  list<Attr> Attrs = [
    Attr<"strides", IntListAttr, text, "How far the window moves along each spatial axis (D, H, W), or one number for all">,
    Attr<"padding", IntListAttr, "[0]", "Zeros around the data: one number, one for each axis, or those before all axes and then those after">,
    Attr<"dilation", IntListAttr, text, "Distance of the elements of the window">,
    Attr<"groups", IntAttr, "1", "Into how many groups the channels are split, each convolved with the part of the weight that makes its part of the result">,
    Attr<"channels", IntAttr, "None", "Channels of the result">,
    Attr<"kernel_size", IntListAttr, "None", "Extents of the window, as the weight has them">,
  ];
}
class ConvolutionLayouts<string data, string kernel> {
  list<Attr> Attrs = [
    Attr<"data_layout", StringAttr, data, "Axes of the data by letter; N and C may be in blocks, as in NCHW8c">,
    Attr<"kernel_layout", StringAttr, kernel, "The same of the weight, where I are channels of the data and O of the result: those of a group, but for O of a convolution and I of a transposed one. With `channels`, blocks of O may be filled up">,
    Attr<"out_layout", StringAttr, "", "The same of the result; empty: that of the data">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result and of what is accumulated, at least as wide as that of the data; None: that of the data">,
  ];
}
class ConvolutionOperator<string name, string stem, string formula, string summary>
    : Operator<name, [Input<"data", Numeric>, Input<"weight", Numeric>], stem> {
  let Fusion = Anchor;
  let Lowering = Nest;
  let Structure = "convolution";
  let Dims = "convolution";
  let Lower = "convolution";
  let Reference = "convolution";
  let Formula = formula;
  let Summary = summary;
  let Errors = ConvolutionErrors;
}

class Convolution<string name, string text, string data, string kernel, string summary>
    : ConvolutionOperator<name, "convolution", "y[n, o, p...] = sum over i, k... of x[n, group of o + i, (p * strides + k * dilation - padding)...] * weight[o, i, k...]", summary> {
  let Attrs = !listconcat(ConvolutionWindow<text>.Attrs, ConvolutionLayouts<data, kernel>.Attrs);
}
def : Convolution<"nn.conv1d", "[1]", "NCW", "OIW", "Convolution over one spatial axis; as all of these, a correlation with the weight as it is">;
def : Convolution<"nn.conv2d", "[1, 1]", "NCHW", "OIHW", "Convolution over two spatial axes">;
def : Convolution<"nn.conv3d", "[1, 1, 1]", "NCDHW", "OIDHW", "Convolution over three spatial axes">;
def : Convolution<"nn.contrib_conv2d_NCHWc", "[1, 1]", "NCHW", "OIHW", "`nn.conv2d` by another name, for data and weights in blocks of channels: NCHW8c and OIHW8i8o, say">;

class ConvolutionTranspose<string name, string text, string zeros, string data, string kernel>
    : ConvolutionOperator<name, "convolutionTranspose", "y[n, o, q...] = sum over i, k... of x[n, group of o + i, p...] * weight[i, o, k...], where q = p * strides + k * dilation - padding",
                          "Transposed convolution: what a convolution with the same attributes makes of its result's gradient. It is the convolution of the data, with zeros between and around its elements, and the weight with each axis of the window turned round"> {
  let Attrs = !listconcat(ConvolutionWindow<text>.Attrs, [
    Attr<"output_padding", IntListAttr, zeros, "Places that the result has more, behind each axis">,
  ], ConvolutionLayouts<data, kernel>.Attrs);
  let Errors = "A number of entries that fits no axes; an entry below 1, of `padding` or `output_padding` below 0; another layout; channels or a kernel that the weight does not have; groups that do not divide the channels; a result of less than no elements";
}
def : ConvolutionTranspose<"nn.conv1d_transpose", "[1]", "[0]", "NCW", "IOW">;
def : ConvolutionTranspose<"nn.conv2d_transpose", "[1, 1]", "[0, 0]", "NCHW", "IOHW">;
def : ConvolutionTranspose<"nn.conv3d_transpose", "[1, 1, 1]", "[0, 0, 0]", "NCDHW", "IODHW">;

def : Operator<"nn.deformable_conv2d", [Input<"data", Float>, Input<"offset", Float>, Input<"weight", Float>], "deformableConv2d"> {
  let Attrs = !listconcat(ConvolutionWindow<"[1, 1]">.Attrs, [
    Attr<"deformable_groups", IntAttr, "1", "Into how many groups the channels of the data are split, each with offsets of its own">,
  ], ConvolutionLayouts<"NCHW", "OIHW">.Attrs);
  let Lowering = Legal;
  let Summary = "Convolution over places that the second input moves: by its channels 2j and 2j + 1 downwards and to the right, where j counts groups of offsets and for each of them the elements of the window in row-major order. It has the layout of the data, and the extents of the result along H and W";
  let Formula = "y[n, o, p, q] = sum over i, u, v of x[n, group of o + i, p * strides + u * dilation - padding + offset[n, 2j, p, q], q * strides + v * dilation - padding + offset[n, 2j + 1, p, q]] * weight[o, i, u, v], where j = (group of offsets of channel group of o + i) * (elements of the window) + (place of (u, v) in it), and x is interpolated between elements, 0 outside";
  let Errors = ConvolutionErrors # "; offsets of another shape; groups of offsets that do not divide the channels";
}
def : Operator<"nn.deformable_conv2d.samples", [Input<"data", Float>, Input<"offset", Float>, Input<"weight", Float>], "deformableSamples"> {
  let Attrs = [
    Attr<"strides", IntListAttr, "[1, 1]", "As in `nn.deformable_conv2d`">,
    Attr<"padding", IntListAttr, "[0]", "As in `nn.deformable_conv2d`">,
    Attr<"dilation", IntListAttr, "[1, 1]", "As in `nn.deformable_conv2d`">,
    Attr<"deformable_groups", IntAttr, "1", "As in `nn.deformable_conv2d`">,
  ];
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "What `nn.deformable_conv2d` convolves, in NCHW, with a channel for each channel of the data and element of the window of the weight (OIHW), of which only the extents matter: the data at places that may be between its elements. 0 where that is above the first or from the extent on, or NaN";
  let Formula = "(x[y0, x0] * (1 - b) + x[y0, x1] * b) * (1 - a) + (x[y1, x0] * (1 - b) + x[y1, x1] * b) * a, where y0 and y1 are the row at or above and at or below the place, the last one at most, and a is how far it is below y0; x0, x1 and b likewise";
  let Errors = "As `nn.deformable_conv2d`";
}

def : Operator<"nn.correlation", [Input<"first operand", Float>, Input<"second operand", Float>], "correlation"> {
  let Attrs = [
    Attr<"kernel_size", IntAttr, "1", "Rows and columns of what is compared, an odd number">,
    Attr<"max_displacement", IntAttr, "1", "How far the places in the second operand are from that in the first at most">,
    Attr<"stride1", IntAttr, "1", "Distance of the places in the first operand">,
    Attr<"stride2", IntAttr, "1", "Distance of the places in the second one, for each of the first">,
    Attr<"padding", IntListAttr, "[0]", "Zeros around both operands: one number, one for each axis, or those before all axes and then those after">,
    Attr<"is_multiply", BoolAttr, "True", "Elements are multiplied; or else the absolute value of their difference counts">,
    Attr<"layout", StringAttr, "NCHW", "Only NCHW is supported">,
  ];
  let Fusion = Reduction;
  let Lowering = Element;
  let Summary = "Comparison of each place of a tensor with places around it of another: the mean of products, or of distances, of what is there. The channel of the result says which place, row by row, of those at multiples of stride2 from it";
  let Formula = "y[n, q, i, j] = (sum over c, u, v of a[n, c, m + i * stride1 + u, m + j * stride1 + v] * b[the same, moved by place q]) / (count of c, u, v), where m = max_displacement and a and b have their padding";
  let Errors = "A number of entries that fits no axes; a size or a distance below 0, a stride below 1; an even size; another layout; operands of different shapes; extents below the span of what is compared with its displacements";
}

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
  let IgnoredAttrs = ["auto_scheduler_rewritten_layout", "meta_schedule_original_shape"];
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

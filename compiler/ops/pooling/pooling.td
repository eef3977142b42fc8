// Operators that make one element of those in a window.

class PoolLayout<string text> : Attr<"layout", StringAttr, text, "Axes of the data by letter; N and C may be in blocks, as in NCHW4c">;
def PoolOutLayout : Attr<"out_layout", StringAttr, "", "The same of the result; empty: that of the data">;

class PoolWindow<string text, string layout> {
  list<Attr> Attrs = [
    Attr<"pool_size", IntListAttr, text, "Elements of a window along each spatial axis (D, H, W), or one number for all">,
    Attr<"strides", IntListAttr, text, "How far it moves">,
    Attr<"dilation", IntListAttr, text, "Distance of its elements">,
    Attr<"padding", IntListAttr, "[0]", "Places around the data where a window may lie: one number, one for each axis, or those before all axes and then those after">,
    PoolLayout<layout>,
    PoolOutLayout,
    Attr<"ceil_mode", BoolAttr, "False", "Windows that leave the padding behind the data count, too">,
  ];
}

class WindowPool<string name, string stem, string text, string layout, string formula, string summary>
    : Operator<name, [Input<"data", Numeric>], stem> {
  let Attrs = PoolWindow<text, layout>.Attrs;
  let Accessors = "windowPool";
  let Fusion = Anchor;
  let Lowering = Nest;
  let Structure = "windowPool";
  let Dims = "windowPool";
  let Lower = "pool";
  let Reference = "pool";
  let Formula = formula;
  let Summary = summary;
  let Errors = "A number of entries that fits no axes; an entry below 1, of `padding` below 0; another layout; a window that does not fit into the data with its padding";
}
class MaxPool<string name, string text, string layout>
    : WindowPool<name, "maxPool", text, layout, "y[n, c, p...] = max over k of x[n, c, (p * strides + k * dilation - padding)...], as far as that is inside",
                 "Maximum of windows; NaN when there is one. Of a window wholly in the padding: the lowest value (-inf)">;
class AvgPool<string name, string text, string layout>
    : WindowPool<name, "avgPool", text, layout, "y[n, c, p...] = (sum over k of x[n, c, (p * strides + k * dilation - padding)...], as far as that is inside) / count",
                 "Mean of windows: elements added one after the other in row-major order, divided once by their number. Integers are added in 64 bits and rounded towards zero. Of a window wholly in the padding: 0"> {
  let Attrs = !listconcat(PoolWindow<text, layout>.Attrs, [
    Attr<"count_include_pad", BoolAttr, "False", "Divide by the number of elements of a whole window">,
  ]);
  let Accessors = "avgPool";
}
def : MaxPool<"nn.max_pool1d", "[1]", "NCW">;
def : MaxPool<"nn.max_pool2d", "[1, 1]", "NCHW">;
def : MaxPool<"nn.max_pool3d", "[1, 1, 1]", "NCDHW">;
def : AvgPool<"nn.avg_pool1d", "[1]", "NCW">;
def : AvgPool<"nn.avg_pool2d", "[1, 1]", "NCHW">;
def : AvgPool<"nn.avg_pool3d", "[1, 1, 1]", "NCDHW">;

class AdaptivePool<string name, string layout, string formula, string summary>
    : Operator<name, [Input<"data", Numeric>], "adaptivePool"> {
  let Attrs = [
    Attr<"output_size", IntListAttr, "[]", "Extents of the spatial axes (D, H, W) of the result, or one number for all; empty: those of the data">,
    PoolLayout<layout>,
    PoolOutLayout,
  ];
  let Fusion = Anchor;
  let Lowering = Nest;
  let Lower = "pool";
  let Reference = "pool";
  let Formula = formula;
  let Summary = summary;
  let Errors = "A number of entries that fits no axes; an entry below 1; another layout; an axis that is divided and has no elements, or more than int32 counts";
}
defvar AdaptiveWindow = "x[n, c, i...] for floor(p * extent / output_size) <= i < ceil((p + 1) * extent / output_size)";
class AdaptiveMaxPool<string name, string layout>
    : AdaptivePool<name, layout, !strconcat("y[n, c, p...] = max of ", AdaptiveWindow), "Maxima of windows that cover the data; NaN when there is one">;
class AdaptiveAvgPool<string name, string layout>
    : AdaptivePool<name, layout, !strconcat("y[n, c, p...] = mean of ", AdaptiveWindow), "Means of windows that cover the data, added up as in `nn.avg_pool2d`">;
def : AdaptiveMaxPool<"nn.adaptive_max_pool1d", "NCW">;
def : AdaptiveMaxPool<"nn.adaptive_max_pool2d", "NCHW">;
def : AdaptiveMaxPool<"nn.adaptive_max_pool3d", "NCDHW">;
def : AdaptiveAvgPool<"nn.adaptive_avg_pool1d", "NCW">;
def : AdaptiveAvgPool<"nn.adaptive_avg_pool2d", "NCHW">;
def : AdaptiveAvgPool<"nn.adaptive_avg_pool3d", "NCDHW">;

class GlobalPool<string name, string formula, string summary>
    : Operator<name, [Input<"data", Numeric>], "globalPool"> {
  let Attrs = [PoolLayout<"NCHW">, PoolOutLayout];
  let Lowering = Legal;
  let Formula = formula;
  let Summary = summary;
  let Errors = "Another layout";
}
def : GlobalPool<"nn.global_max_pool2d", "y[n, c, 0, 0] = max over h, w of x[n, c, h, w]", "Maximum over H and W, as `max`. Of nothing: the lowest value (-inf)">;
def : GlobalPool<"nn.global_avg_pool2d", "y[n, c, 0, 0] = (sum over h, w of x[n, c, h, w]) / count", "Mean over H and W, as `mean`, in 64 bits for integers. Of nothing: NaN for floats"> {
  let Failure = IntegerMean;
}

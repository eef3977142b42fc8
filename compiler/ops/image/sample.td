// Operators that read a tensor where boxes or grids say, and dilation.

def : Operator<"image.crop_and_resize", [Input<"data", Numeric>, Input<"boxes", Float>, Input<"box indices", Index>], "cropAndResize"> {
  let Attrs = [
    Attr<"crop_size", DimListAttr, "None", "Height and width of a crop; must be given">,
    Attr<"layout", StringAttr, "NCHW", "The axes of the data, as of `image.resize2d`">,
    Attr<"method", StringAttr, "bilinear", "`bilinear` or `nearest_neighbor`, of two that are equally far the greater one">,
    Attr<"extrapolation_value", FloatAttr, "0.0", "What is outside of the data">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result. None: that of the data">,
  ];
  let Fusion = Anchor;
  let Lowering = Element;
  let Failure = GatheredIndex;
  let Summary = "Boxes [y1, x1, y2, x2], as parts of the height and the width, cut out and brought to one size: `image.resize2d` in mode `tf_crop_and_resize`, each of the batch that its index says; a negative one counts from the end";
  let Formula = "y[b, c, i, j] = data[box indices[b], c] at (y1 * (H - 1) + i * (y2 - y1) * (H - 1) / (h - 1), x1 * (W - 1) + j * (x2 - x1) * (W - 1) / (w - 1)), interpolated, where (y1, x1, y2, x2) = boxes[b] and (h, w) = crop_size; at 0.5 * (y1 + y2) * (H - 1) where h is 1, and likewise for w; extrapolation_value outside of the data";
  let Errors = "No crop_size, or another number of extents than 2; a layout without N, H and W; boxes of other shapes than (b, 4) and (b,); another method; an axis without elements";
}

def : Operator<"image.affine_grid", [Input<"data", Float>], "affineGrid"> {
  let Attrs = [Attr<"target_shape", DimListAttr, "None", "Height and width of the grid; must be given">];
  let Fusion = Anchor;
  let Lowering = Element;
  let Summary = "Grids for `image.grid_sample` from affine maps: where the places of an even grid from -1 to 1 go; the middle, 0, where there is only one. In float32 (float64 for such data)";
  let Formula = "y[n, d, i, j] = data[n, d, 0] * x + data[n, d, 1] * y + data[n, d, 2], where x = (2j - (w - 1)) / (w - 1), y = (2i - (h - 1)) / (h - 1)";
  let Errors = "No target_shape, or another number of extents than 2; data of another shape than (n, 2, 3)";
}

def : Operator<"image.grid_sample", [Input<"data", Numeric>, Input<"grid", Float>], "gridSample"> {
  let Attrs = [
    Attr<"method", StringAttr, "bilinear", "`bilinear`; `nearest`, of two that are equally far the even one; `bicubic`, of planes only, with the parameter -0.75">,
    Attr<"layout", StringAttr, "NCHW", "`NCHW`, or `NCDHW` for volumes">,
    Attr<"padding_mode", StringAttr, "zeros", "What is outside of the data: `zeros`; `border`: the nearest element; `reflection`: mirrored, as often as it takes">,
    Attr<"align_corners", BoolAttr, "True", "Whether -1 and 1 are the middles of the first and the last element; else their outer ends">,
  ];
  let Fusion = Anchor;
  let Lowering = Element;
  let Summary = "The data at the places that a grid holds along its second axis: x, y, and z for volumes, in [-1, 1] from one end of the data to the other. Places are computed in float32 (float64 for such a grid): (g + 1) * (n - 1) / 2, or ((g + 1) * n - 1) / 2 without align_corners; for `border` and `reflection` they are brought inside first, for `bicubic` each of the elements around is. Weights and sums as of `image.resize2d`; a place that is NaN counts as the first element, with weights that are NaN";
  let Formula = "y[n, c, i...] = data[n, c] at the places grid[n, :, i...], interpolated";
  let Errors = "Another method, layout or padding_mode; ranks that the layout does not have; a grid of other batches, or of another number of places; an axis without elements";
}

def : Operator<"image.dilation2d", [Input<"data", Numeric>, Input<"kernel", Numeric>], "dilation2d"> {
  let Attrs = [
    Attr<"strides", IntListAttr, "[1, 1]", "How far the kernel moves along height and width">,
    Attr<"padding", IntListAttr, "[0, 0]", "Places around the plane that count for nothing: one number; [height, width]; or [top, left, bottom, right]">,
    Attr<"dilations", IntListAttr, "[1, 1]", "Distance of the elements of the kernel along height and width">,
    Attr<"data_layout", StringAttr, "NCHW", "`NCHW` or `NHWC`">,
    Attr<"kernel_layout", StringAttr, "IHW", "`IHW`, or `HWI` with `NHWC`">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result. None: that of the data">,
  ];
  let Fusion = Anchor;
  let Lowering = Element;
  let Summary = "Greyscale dilation of planes: the greatest sum of an element and one of the kernel over it; float16 and bfloat16 in float32. Of no element at all: the least number, or minus infinity";
  let Formula = "y[n, c, i, j] = max over (k, l) of data[n, c, i * s_h + k * d_h - top, j * s_w + l * d_w - left] + kernel[c, k, l]";
  let Errors = "Strides or dilations below 1; negative padding; other layouts; a kernel of other channels, or one that does not fit into the plane";
}

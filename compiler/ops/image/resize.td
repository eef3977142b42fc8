// Operators that give a tensor other extents along some of its axes, by interpolation.

def ResizeMode : Attr<"coordinate_transformation_mode", StringAttr, "half_pixel", "Where in the data element x of the result is, along an axis of n elements that becomes m, in float32. `half_pixel`: (x + 0.5) * (n / m) - 0.5. `pytorch_half_pixel`: the same, and 0 where m is 1. `tf_half_pixel_for_nn`: (x + 0.5) * (n / m). `asymmetric`: (n / m) * x. `align_corners`: (n - 1) / (m - 1) * x, and 0 where m is 1. `tf_crop_and_resize`: start * (n - 1) + x * (end - start) * (n - 1) / (m - 1), and 0.5 * (start + end) * (n - 1) where m is 1">;

class ResizeOperator<string name, string layout, string axes> : Operator<name, [Input<"data", Numeric>, OptionalInput<"size", Index>, OptionalInput<"roi", Float>], "resize"> {
  let Attrs = [
    Attr<"size", DimListAttr, "None", "The new extents of " # axes # ". None: given by the second input">,
    Attr<"roi", FloatListAttr, "None", "Start of each of these axes, then the end of each, as parts of the data; for `tf_crop_and_resize`, unless the third input is it">,
    Attr<"layout", StringAttr, layout, "The axes of the data, a letter each; a block of an axis that stays is a number and a small letter">,
    Attr<"method", StringAttr, "linear", "`nearest_neighbor`; `linear`; `cubic`">,
    ResizeMode,
    Attr<"rounding_method", StringAttr, "round", "Which element is the nearest one: `round` and `round_prefer_ceil` the greater one of two that are equally far, `round_prefer_floor` the lesser one; `floor`; `ceil`. Empty: `round` for `align_corners`, else `floor`">,
    Attr<"cubic_alpha", FloatAttr, "-0.5", "The parameter of cubic weights">,
    Attr<"cubic_exclude", IntAttr, "0", "Whether cubic weights of places outside of the data are 0, and the others are divided by their sum; else the nearest element takes the place">,
    Attr<"extrapolation_value", FloatAttr, "0.0", "What is outside of the data, for `tf_crop_and_resize`">,
    Attr<"out_dtype", DTypeAttr, "None", "Type of the result. None: that of the data">,
  ];
  let ValueInputs = [1];
  let Fusion = Anchor;
  let Lowering = Element;
  let Summary = "The data with other extents along " # axes # ". The nearest element is found in exact arithmetic, but for `tf_crop_and_resize`. Otherwise sums of elements times weights, in ascending order, along the last of the axes first, in float32 (float64 for such data): 1 - t and t, where t is how far the place is behind an element, for `linear`; a(t^3 - 2t^2 + t), (a + 2)t^3 - (a + 3)t^2 + 1, -(a + 2)t^3 + (2a + 3)t^2 - at and at^2 - at^3, where a is cubic_alpha, for `cubic`. They become elements of the result as in `cast`: integers are truncated, not rounded";
  let Formula = "y[..., x, ...] = data at the place of x along each of the axes, interpolated";
  let Errors = "An axis that the layout lacks, or has in blocks; another method, coordinate_transformation_mode or rounding_method; no roi where it is needed; an axis without elements";
}
def : ResizeOperator<"image.resize1d", "NCW", "W">;
def : ResizeOperator<"image.resize2d", "NCHW", "H and W"> { let Aliases = ["dyn.image.resize2d"]; }
def : ResizeOperator<"image.resize3d", "NCDHW", "D, H and W">;

class UpsamplingOperator<string name, list<Input> scales, string stem> : Operator<name, !listconcat([Input<"data", Numeric>], scales), stem> {
  let Lowering = Legal;
  let Structure = "upsampling";
  let Reference = "upsampling";
  let Formula = "y[..., x, ...] = data at the place of x along each of the axes, interpolated";
}
defvar kStaticExtents = ". A new extent is the extent times the scale, rounded, halves up, in exact arithmetic: the scale is the fraction with the least denominator that is this number in float32";
defvar kGivenExtents = ". A new extent is the extent times the scale, rounded, halves up: exactly for a whole scale, otherwise in float32";
def ScaleD : Attr<"scale_d", FloatAttr, "1.0", "What the depth is multiplied by">;
def ScaleH : Attr<"scale_h", FloatAttr, "1.0", "What the height is multiplied by">;
def ScaleW : Attr<"scale_w", FloatAttr, "1.0", "What the width is multiplied by">;
def PlaneLayout : Attr<"layout", StringAttr, "NCHW", "The axes of the data, as of `image.resize2d`">;
def VolumeLayout : Attr<"layout", StringAttr, "NCDHW", "The axes of the data, as of `image.resize3d`">;
def PlaneMethod : Attr<"method", StringAttr, "nearest_neighbor", "`nearest_neighbor`, `bilinear`, or `bicubic`">;
def VolumeMethod : Attr<"method", StringAttr, "nearest_neighbor", "`nearest_neighbor` or `trilinear`">;
def AlignCorners : Attr<"align_corners", BoolAttr, "False", "As `align_corners`; else as `asymmetric`">;
def : UpsamplingOperator<"nn.upsampling", [], "upsampling"> {
  let Attrs = [ScaleH, ScaleW, PlaneLayout, PlaneMethod, AlignCorners];
  let Summary = !strconcat("`image.resize2d` to multiples of the height and the width; the nearest element is the one at or before the place, or the rounded one with align_corners", kStaticExtents);
  let Errors = "A scale outside of [1e-6, 1e6]; a layout without H and W; another method; an axis without elements";
}
def : UpsamplingOperator<"nn.upsampling3d", [], "upsampling3d"> {
  let Dims = "upsampling";
  let Lower = "upsampling";
  let Attrs = [ScaleD, ScaleH, ScaleW, VolumeLayout, VolumeMethod, ResizeMode];
  let Summary = !strconcat("`image.resize3d` to multiples of the depth, the height and the width; the nearest element is the one at or before the place, or the rounded one in mode `align_corners`", kStaticExtents);
  let Errors = "A scale outside of [1e-6, 1e6]; a layout without D, H and W; another method or coordinate_transformation_mode; an axis without elements";
}
def : UpsamplingOperator<"dyn.nn.upsampling", [Input<"height scale", Float>, Input<"width scale", Float>], "dynUpsampling"> {
  let Attrs = [PlaneLayout, PlaneMethod, AlignCorners];
  let Summary = !strconcat("`nn.upsampling` by scales that are scalars", kGivenExtents);
  let Errors = "As `nn.upsampling`";
}
def : UpsamplingOperator<"dyn.nn.upsampling3d", [Input<"depth scale", Float>, Input<"height scale", Float>, Input<"width scale", Float>], "dynUpsampling3d"> {
  let Dims = "dynUpsampling";
  let Lower = "dynUpsampling";
  let Attrs = [VolumeLayout, VolumeMethod, ResizeMode];
  let Summary = !strconcat("`nn.upsampling3d` by scales that are scalars", kGivenExtents);
  let Errors = "As `nn.upsampling3d`";
}

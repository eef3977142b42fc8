// Operators on tensors at boxes, and on boxes one by one.

class RoiOperator<string name, string stem> : Operator<name, [Input<"data", Float>, Input<"rois", Float>], stem> {
  let Fusion = Anchor;
  let Lowering = Element;
  let Failure = GatheredIndex;
  let Structure = "roi";
  let Dims = "roi";
}
def PooledSize : RequiredAttr<"pooled_size", IntListAttr, "Height and width of what a box becomes">;
def SpatialScale : RequiredAttr<"spatial_scale", FloatAttr, "What the corners are multiplied by to be places of the data">;
def RoiLayout : Attr<"layout", StringAttr, "NCHW", "`NCHW` or `NHWC`">;
defvar kRoiErrors = "pooled_size of other than two extents, or below 1; another layout; rois of another shape than (k, 5)";

def : RoiOperator<"vision.roi_align", "roiAlign"> {
  let Attrs = [
    PooledSize, SpatialScale,
    Attr<"sample_ratio", IntAttr, "-1", "Places along each side of a bin, at most 4096; below 1: the extent of a bin, rounded up, and 4096 where that is more">,
    RoiLayout,
    Attr<"mode", StringAttr, "avg", "`avg` or `max` of the places">,
  ];
  let Summary = "Boxes [batch, x1, y1, x2, y2] cut out and brought to one size: each is cut into bins, at least 1 wide and high together, and in each bin the data is interpolated linearly at places of an even grid; a place that is more than 1 outside counts as 0, one that is less is brought inside. In float32 (float64 for such data); a negative batch counts from the end";
  let Formula = "y[k, c, i, j] = mode over (a, b) of data[batch, c] at (y1 + (i + (a + 0.5) / n_h) * h, x1 + (j + (b + 0.5) / n_w) * w), where h, w are the extents of a bin";
  let Errors = kRoiErrors # "; another mode; a sample_ratio above 4096";
}
def : RoiOperator<"vision.roi_pool", "roiPool"> {
  let Attrs = [PooledSize, SpatialScale, RoiLayout];
  let Summary = "Boxes [batch, x1, y1, x2, y2], of corners rounded to places, halves away from 0, cut into bins that may share places: the greatest element of each, and 0 where there is none. A bin begins at floor(i * h) and ends before ceil((i + 1) * h), where h is the extent of the box over their number, in exact arithmetic; a negative batch counts from the end";
  let Formula = "y[k, c, i, j] = max of data[batch, c] over bin (i, j) of the box";
  let Errors = kRoiErrors;
}

def : Operator<"vision.multibox_prior", [Input<"data", Float>], "multiboxPrior"> {
  let Attrs = [
    Attr<"sizes", FloatListAttr, "[1.0]", "Extents of boxes, as parts of the height">,
    Attr<"ratios", FloatListAttr, "[1.0]", "Width over height of boxes of the first size; the first ratio is not used">,
    Attr<"steps", FloatListAttr, "[-1.0, -1.0]", "Distance of boxes along height and width; not above 0: one for each element">,
    Attr<"offsets", FloatListAttr, "[0.5, 0.5]", "Place of a box at its element, along height and width">,
    Attr<"clip", BoolAttr, "False", "Bring corners into [0, 1]">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "Boxes [x1, y1, x2, y2] around every element of planes, as parts of the plane: one for each size, and one of the first size for each further ratio; in float32 (float64 for such data)";
  let Formula = "y[0, (i * W + j) * K + k] = (x - w, y - h, x + w, y + h), where x = (j + offset) * step, y likewise, w = s * H / W * sqrt(r) / 2, h = s / sqrt(r) / 2";
  let Errors = "No sizes or ratios; other than two steps and offsets; data of another rank than 4";
}
def MultiboxClip : Attr<"clip", BoolAttr, "True", "Bring corners into [0, 1]">;
def MultiboxThreshold : Attr<"threshold", FloatAttr, "0.01", "A class that is less likely does not count">;
def MultiboxVariances : Attr<"variances", FloatListAttr, "[0.1, 0.1, 0.2, 0.2]", "What predictions are multiplied by">;
def MultiboxBackground : Attr<"keep_background", BoolAttr, "False", "Whether class 0 counts like the others, and all boxes stay; else it is the background, and ids count from the next one">;
class MultiboxDecoder<string name, string stem> : Operator<name, [Input<"class probabilities", Float>, Input<"location predictions", Float>, Input<"anchors", Float>], stem> {
  let Attrs = [MultiboxClip, MultiboxThreshold, MultiboxVariances, MultiboxBackground];
  let Accessors = "multibox";
  let Errors = "Other than four variances; ranks other than 3, 2 and 3, or extents other than (b, c, n), (b, 4n), (1, n, 4)";
}
def : MultiboxDecoder<"vision.multibox_transform_loc", "multiboxTransformLoc"> {
  let Lowering = Legal;
  let Summary = "Rows [id, score, x1, y1, x2, y2] of the boxes of each batch of which a class is likely, first, and rows of -1; and how many there are. The class is the likeliest one, of equal ones the first";
  let Formula = "rows[b, k] = (id, score, x1, y1, x2, y2) of the k-th box of an id not below 0, -1 behind counts[b] of them; x1, x2 = px * v0 * aw + ax -+ exp(pw * v2) * aw / 2, where a is the middle and the extent of the anchor and p the predictions; y1, y2 likewise; score = max over c of class probabilities[b, c, box], id = the first such c, less 1 without keep_background, which leaves out 0; background below the threshold";
}
def : MultiboxDecoder<"vision.multibox_decode", "multiboxDecode"> {
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "Rows [id, score, x1, y1, x2, y2] of every box; of id -1 where no class is likely. In float32 (float64 for such data)";
  let Formula = "x1, x2 = px * v0 * aw + ax -+ exp(pw * v2) * aw / 2, where a is the middle and the extent of the anchor and p the predictions; y1, y2 likewise";
}

def : Operator<"vision.proposal", [Input<"class probabilities", Float>, Input<"box predictions", Float>, Input<"image info", Float>], "proposal"> {
  let Attrs = [
    Attr<"scales", FloatListAttr, "[4.0, 8.0, 16.0, 32.0]", "Extents of anchors">,
    Attr<"ratios", FloatListAttr, "[0.5, 1.0, 2.0]", "Height over width of anchors">,
    Attr<"feature_stride", IntAttr, "16", "Distance of the elements of the data, in pixels">,
    Attr<"threshold", FloatAttr, "0.7", "A box that overlaps more with a better one goes">,
    Attr<"rpn_pre_nms_top_n", IntAttr, "6000", "How many of the best are looked at; all when below 1">,
    Attr<"rpn_post_nms_top_n", IntAttr, "300", "How many are wanted of each batch">,
    Attr<"rpn_min_size", IntAttr, "16", "Boxes with a lesser extent, times the scale in the image info, are the last ones">,
    Attr<"iou_loss", BoolAttr, "False", "Predictions are added to the corners; else they move and scale the box">,
  ];
  let Lowering = Legal;
  let Summary = "Rows [batch, x1, y1, x2, y2] of boxes that are likely to hold something: of `vision.proposal_boxes` the best ones, by score and, among equal ones, in order, of which none overlaps with a better one by more than the threshold; again and again, where there are fewer than are wanted";
  let Formula = "rows = boxes that stay, overlap = shared / covered of pixels";
  let Errors = "As `vision.proposal_boxes`; a negative rpn_post_nms_top_n";
}
def : Operator<"vision.proposal_boxes", [Input<"class probabilities", Float>, Input<"box predictions", Float>, Input<"image info", Float>], "proposalBoxes"> {
  let Attrs = [
    Attr<"scales", FloatListAttr, "[4.0, 8.0, 16.0, 32.0]", "As of `vision.proposal`">,
    Attr<"ratios", FloatListAttr, "[0.5, 1.0, 2.0]", "As of `vision.proposal`">,
    Attr<"feature_stride", IntAttr, "16", "As of `vision.proposal`">,
    Attr<"rpn_min_size", IntAttr, "16", "As of `vision.proposal`">,
    Attr<"iou_loss", BoolAttr, "False", "As of `vision.proposal`">,
  ];
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "Rows [x1, y1, x2, y2, score] of anchors at every element of planes, a ratio after the other and a scale after the other, moved as is predicted and brought into the image, whose info is [height, width, scale]. A box that is too small is half of the least extent larger on each side, and has the score -1, like one at an element outside of the image. In float32 (float64 for such data)";
  let Formula = "row[b, (h * W + w) * A + k] = anchor k at (w, h) * feature_stride, moved by predictions [b, 4k : 4k + 4, h, w], and class probabilities[b, A + k, h, w]";
  let Errors = "No scales or ratios; a feature_stride below 1; ranks other than 4, 4 and 2, or extents other than (b, 2A, h, w), (b, 4A, h, w), (b, 3)";
}

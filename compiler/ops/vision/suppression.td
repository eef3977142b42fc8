// Operators that choose among boxes.

def RowsInput : Input<"data", Float>;
def IdIndex : Attr<"id_index", IntAttr, "0", "Place of the class in a row; negative: there is none">;
def ScoreIndex : Attr<"score_index", IntAttr, "1", "Place of the score in a row">;

def : Operator<"vision.get_valid_counts", [RowsInput, OptionalInput<"score threshold", Float>], "getValidCounts"> {
  let Attrs = [
    Attr<"score_threshold", FloatAttr, "None", "Unless the second input says it; None: 0">,
    IdIndex, ScoreIndex,
  ];
  let Lowering = Legal;
  let Summary = "How many rows of each batch have a score above the threshold and a class that is not negative; these rows in order, then rows of -1; and where they were, then -1";
  let Formula = "counts, rows, indices";
  let Errors = "Data of another rank than 3; an index that is not in a row";
}
def : Operator<"vision.non_max_suppression", [RowsInput, Input<"valid count", Index>, Input<"indices", AnyType>, OptionalInput<"max output size", Index>, OptionalInput<"iou threshold", Float>], "nonMaxSuppression"> {
  let Attrs = [
    Attr<"max_output_size", IntAttr, "-1", "How many stay at most, unless the fourth input says it; negative: all">,
    Attr<"iou_threshold", FloatAttr, "0.5", "An overlap of so much is too much, unless the fifth input says it; not above 0: all rows stay, in order">,
    Attr<"force_suppress", BoolAttr, "False", "Boxes of other classes count, too">,
    Attr<"top_k", IntAttr, "-1", "How many of the best are looked at; all when below 1">,
    Attr<"coord_start", IntAttr, "2", "Place of the first of four numbers in a row that are two corners, in any order">,
    ScoreIndex, IdIndex,
    Attr<"return_indices", BoolAttr, "True", "Which results are wanted">,
    Attr<"invalid_to_bottom", BoolAttr, "False", "Rows that stay come first; otherwise each is at its place by score">,
  ];
  let Lowering = Legal;
  let Summary = "The valid rows by score, NaN first and equal ones in order, where a row becomes -1 that overlaps with a better one of its class; rows of scores not above 0 take no part and stay, and rows behind the valid ones are -1. With return_indices, what `indices` says of the rows that stay, unless it is negative, then -1, and how many; else the rows, and `indices` may be anything. A valid count counts as one in [0, n]";
  let Formula = "overlap = shared / (a + b - shared) of the areas; 0 where that is not above 0";
  let Errors = "Ranks other than 3, 1 and, of indices that count, 2; batches or rows of other numbers; an index that is not in a row";
}
def : Operator<"vision.all_class_non_max_suppression", [Input<"boxes", Float>, Input<"scores", Float>, Input<"max output boxes per class", Index>, Input<"iou threshold", Float>, Input<"score threshold", Float>], "allClassNonMaxSuppression"> {
  let Attrs = [Attr<"output_format", StringAttr, "onnx", "`onnx`: rows [batch, class, box] of all batches, and how many there are; `tensorflow`: rows [class, box] and scores of each batch, and how many there are">];
  let Lowering = Legal;
  let Summary = "Boxes that stay, class by class: of those with a score above the threshold, by score and, among equal ones, in order, each that does not overlap with a better one by the iou threshold; an overlap of 0 is none. At most as many as the third input says, all when it is negative. Behind them rows of 0";
  let Formula = "overlap = shared / (a + b - shared) of the areas; 0 where that is not above 0";
  let Errors = "Boxes of another shape than (b, n, 4) and scores than (b, c, n); other operands that are no scalars; another output_format";
}
def : Operator<"vision.regular_non_max_suppression", [Input<"boxes", Float>, Input<"scores", Float>], "regularNonMaxSuppression"> {
  let Attrs = [
    RequiredAttr<"max_detections_per_class", IntAttr, "How many of a class stay at most">,
    RequiredAttr<"max_detections", IntAttr, "How many of a batch stay at most">,
    RequiredAttr<"num_classes", IntAttr, "Number of classes, the last ones of the scores">,
    RequiredAttr<"iou_threshold", FloatAttr, "A box that overlaps more with a better one goes">,
    RequiredAttr<"score_threshold", FloatAttr, "A score below that does not count">,
  ];
  let Lowering = Legal;
  let Summary = "Of each batch the boxes [y1, x1, y2, x2] that stay, class by class, then the best of all classes, by score and, among equal ones, by class and in order: boxes, classes, scores, and how many there are; zeros behind them. In float32";
  let Formula = "overlap = shared / (a + b - shared) of the areas; 0 where one of them is not above 0";
  let Errors = "Boxes of another shape than (b, n, 4) and scores than (b, n, c); a negative number; more classes than scores";
}

// The kernels, of float32 and float64.
class SuppressionKernel<string name, list<Input> inputs, string stem, string algorithm> : Operator<name, inputs, stem> {
  let Lowering = Library;
  let Algorithm = algorithm;
}
def : SuppressionKernel<"library.valid_counts", [RowsInput, Input<"score threshold", Float>, Input<"id index", Index>, Input<"score index", Index>], "libraryValidCounts", "valid_counts"> {
  let ValueInputs = [2, 3];
  let Summary = "`vision.get_valid_counts`";
  let Formula = "counts, rows, indices";
  let Errors = "An index that is not in a row";
}
def : SuppressionKernel<"library.non_max_suppression", [RowsInput, Input<"valid count", Index>, Input<"indices", Index>, Input<"max output size", Index>, Input<"iou threshold", Float>, Input<"force suppress", Bool>, Input<"top k", Index>, Input<"coord start", Index>, Input<"score index", Index>, Input<"id index", Index>, Input<"invalid to bottom", Bool>], "libraryNonMaxSuppression", "non_max_suppression"> {
  let ValueInputs = [7, 8, 9];
  let Summary = "All results of `vision.non_max_suppression`: rows, indices, how many";
  let Formula = "rows, indices, counts";
  let Errors = "An index that is not in a row";
}
class ClassSuppression<string name, string stem, string algorithm, string results, string summary> : SuppressionKernel<name, [Input<"boxes", Float>, Input<"scores", Float>, Input<"max output boxes per class", Index>, Input<"iou threshold", Float>, Input<"score threshold", Float>], stem, algorithm> {
  let Summary = summary;
  let Formula = results # ", where overlap = shared / (a + b - shared) of the areas; 0 where that is not above 0";
}
def : ClassSuppression<"library.class_suppression", "libraryClassSuppression", "class_suppression", "rows, count", "`vision.all_class_non_max_suppression` of format `onnx`">;
def : ClassSuppression<"library.class_suppression_by_batch", "libraryClassSuppressionByBatch", "class_suppression_by_batch", "rows, scores, counts", "`vision.all_class_non_max_suppression` of format `tensorflow`">;
def : SuppressionKernel<"library.regular_suppression", [Input<"boxes", Float>, Input<"scores", Float>, Input<"max detections per class", Index>, Input<"max detections", Index>, Input<"num classes", Index>, Input<"iou threshold", Float>, Input<"score threshold", Float>], "libraryRegularSuppression", "regular_suppression"> {
  let ValueInputs = [3, 4];
  let Summary = "`vision.regular_non_max_suppression`";
  let Formula = "boxes, classes, scores, counts";
  let Errors = "A negative number; more classes than scores";
}
def : SuppressionKernel<"library.proposal", [Input<"boxes", Float>, Input<"considered", Index>, Input<"wanted", Index>, Input<"threshold", Float>], "libraryProposal", "proposal"> {
  let ValueInputs = [2];
  let Summary = "What `vision.proposal` makes of its boxes";
  let Formula = "rows";
  let Errors = "A negative number";
}

// Operators that move elements and compute none.

class MovingOperator<string name, list<Input> inputs, string stem, string formula, string summary>
    : Operator<name, inputs, stem> {
  let Fusion = Injective;
  let Lowering = Element;
  let Formula = formula;
  let Summary = summary;
}

defvar NewShape = [
  Attr<"newshape", DimListAttr, "None", "The shape. A name: that extent, even if it turns out to be 0. 0: the extent of the data at this position; -1: what remains, and 0 where the others leave nothing; -2: all further extents of the data; -3: the product of two; -4: splits one into the two that follow, one of which may be -1. None: given by the second input, which may hold 0 and -1">,
  Attr<"allowzero", BoolAttr, "False", "0 is an extent of zero">,
];
def : MovingOperator<"reshape", [Input<"data", AnyType>, OptionalInput<"new shape", Index>], "reshape",
                     "elements in row-major order", "The same elements in another shape"> {
  let Attrs = NewShape;
  let Aliases = ["dyn.reshape"];
  let Values = "reshape";
  let ValueInputs = [1];
  let Errors = "An element count that differs; more than one -1; a 0, -2, -3 or -4 without an extent of the data";
}
def : MovingOperator<"transpose", [Input<"data", AnyType>], "transpose", "y[i...] = data[j...], where j[axes[d]] = i[d]", "Permutes axes"> {
  let Attrs = [Attr<"axes", IntListAttr, "None", "Which axis of the data each axis of the result is; negative ones count from the end. None: in reverse">];
  let Values = "copy";
  let Errors = "Axes that are no permutation";
}
def : MovingOperator<"expand_dims", [Input<"data", AnyType>], "expandDims", "y[..., 0, ...] = data[...]", "Inserts axes of extent 1"> {
  let Reference = "reshape";
  let Attrs = [
    RequiredAttr<"axis", IntAttr, "Position of the first new axis, in [-r - 1, r]">,
    Attr<"num_newaxis", IntAttr, "1", "How many">,
  ];
  let Values = "copy";
  let Errors = "An axis out of range; a negative number of new axes";
}
def : MovingOperator<"squeeze", [Input<"data", AnyType>], "squeeze", "y[...] = data[..., 0, ...]", "Removes axes of extent 1"> {
  let Reference = "reshape";
  let Attrs = [Attr<"axis", IntListAttr, "None", "Which axes; negative ones count from the end. None: those of extent 1, where the type says which">];
  let Values = "copy";
  let Errors = "An axis outside [-r, r) or listed twice; an extent that is not 1";
}
def : MovingOperator<"reverse", [Input<"data", AnyType>], "reverse", "y[..., i, ...] = data[..., n - 1 - i, ...]", "Reverses an axis"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Which">];
  let Structure = "alongAxis";
  let Dims = "unary";
  let Values = "reverse";
  let Errors = "An axis outside [-r, r)";
}
def : MovingOperator<"concatenate", [InputList<"data", AnyType>], "concatenate",
                     "y[..., i, ...] = data[j][..., i - (sum of the extents of data[0..j-1] along the axis), ...]",
                     "The tensors of a tuple, one after the other along an axis"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Axis along which the tensors are put one after the other">];
  let Values = "concatenate";
  let Errors = "An empty tuple; an axis outside [-r, r)";
  let Lowering = Nest;
}
def : MovingOperator<"stack", [InputList<"data", AnyType>], "stack", "y[..., j, ...] = data[j][...]",
                     "The tensors of a tuple, side by side along a new axis"> {
  let Attrs = [Attr<"axis", IntAttr, "0", "Position of the new axis, in [-r - 1, r]">];
  let Values = "stack";
  let Errors = "An empty tuple; an axis out of range";
  let Lowering = Nest;
}
def : MovingOperator<"split", [Input<"data", AnyType>], "split", "y[j][..., i, ...] = data[..., i + (start of part j), ...]",
                     "A tuple of the parts of a tensor along an axis"> {
  let Attrs = [
    RequiredAttr<"indices_or_sections", IntOrIntListAttr, "A number of equal parts, or where each part but the first begins">,
    Attr<"axis", IntAttr, "0", "Axis to split">,
  ];
  let Errors = "An extent that the number of parts does not divide; positions that are negative, decrease or exceed the extent; an axis outside [-r, r)";
}
def : MovingOperator<"strided_slice", [Input<"data", AnyType>, OptionalInput<"begin", Index>, OptionalInput<"end", Index>,
                                       OptionalInput<"strides", Index>], "stridedSlice",
                     "y[..., i, ...] = data[..., begin + i * stride, ...]", "A part of a tensor"> {
  let Attrs = [
    Attr<"begin", DimListAttr, "None", "First position along each axis. Negative ones count from the end; then they are clamped to the extent">,
    Attr<"end", DimListAttr, "None", "Position after the last, likewise. None: to the end">,
    Attr<"strides", IntListAttr, "[1]", "Distance from one position to the next, not 0; 1 where the list is too short. A negative one goes backwards">,
    Attr<"slice_mode", StringAttr, "end", "`end`, or `size`: `end` holds sizes, -1 for the rest of the axis, and strides do not count">,
    Attr<"axes", IntListAttr, "None", "Which axes the lists are about. None: the first ones">,
  ];
  let Aliases = ["dyn.strided_slice"];
  let Values = "stridedSlice";
  let ValueInputs = [1, 2, 3];
  let Errors = "Lists longer than the rank or than `axes`; a stride of 0 or not known when compiling; an axis outside [-r, r) or listed twice";
}
def : MovingOperator<"strided_set", [Input<"data", AnyType>, Input<"values", AnyType>, Input<"begin", Index>, Input<"end", Index>,
                                     OptionalInput<"strides", Index>], "stridedSet",
                     "y = data; y[..., begin + i * stride, ...] = values[..., i, ...]", "A tensor with what `strided_slice` would take replaced"> {
  let Fusion = Opaque;
  let Lowering = Nest;
  let ValueInputs = [2, 3, 4];
  let Errors = "Lists longer than the rank; a stride of 0 or not known when compiling; values of another shape than what is replaced";
}
def : MovingOperator<"broadcast_to", [Input<"data", AnyType>, OptionalInput<"shape", Index>], "broadcastTo",
                     "y[i...] = data[those of i where the data has more than one]", "Repeats a tensor along axes of extent 1 and new leading axes"> {
  let Attrs = [Attr<"shape", DimListAttr, "None", "Shape of the result. None: given by the second input">];
  let IgnoredAttrs = ["dtype"];
  let Aliases = ["dyn.broadcast_to"];
  let Fusion = Broadcast;
  let Values = "broadcastTo";
  let ValueInputs = [1];
}
def : MovingOperator<"repeat", [Input<"data", AnyType>], "repeat", "y[..., i, ...] = data[..., floor(i / repeats), ...]", "Repeats each element along an axis"> {
  let Attrs = [
    RequiredAttr<"repeats", IntAttr, "How often, 0 or more">,
    Attr<"axis", IntAttr, "None", "Which axis. None: of the flattened data">,
  ];
  let Errors = "A negative number of repeats; an axis outside [-r, r)";
}
def : MovingOperator<"tile", [Input<"data", AnyType>, OptionalInput<"repetitions", Index>], "tile",
                     "y[i...] = data[floor_mod(i, n)...]", "Repeats the whole tensor along each axis; the shorter of shape and repetitions is preceded by ones"> {
  let Attrs = [Attr<"reps", DimListAttr, "None", "How often along each axis, 0 or more. None: given by the second input">];
  let Aliases = ["dyn.tile"];
  let ValueInputs = [1];
}

// Written with those.
class ShapedOperator<string name, list<Input> inputs, string stem, string formula, string summary>
    : Operator<name, inputs, stem> {
  let Lowering = Legal;
  let Formula = formula;
  let Summary = summary;
}
defvar DataAndShape = [Input<"data", AnyType>, Input<"shape", AnyType>];

def : ShapedOperator<"contrib_reverse_reshape", [Input<"data", AnyType>, OptionalInput<"new shape", Index>], "reshape",
                     "elements in row-major order", "`reshape` with the extents and the new shape taken from the last to the first"> {
  let Attrs = NewShape;
  let Values = "copy";
  let Lower = "reshapeToResult";
  let ValueInputs = [1];
  let Errors = "As of `reshape`; a -4";
}
def : ShapedOperator<"reshape_like", DataAndShape, "reshapeLike",
                     "elements in row-major order", "The same elements with the extents of another tensor, whose elements do not matter, in place of some"> {
  let Attrs = [
    Attr<"lhs_begin", IntAttr, "0", "First axis of the data that is replaced; negative ones count from the end">,
    Attr<"lhs_end", IntAttr, "None", "Axis after the last that is replaced, likewise. None: to the end">,
    Attr<"rhs_begin", IntAttr, "0", "First axis of the other tensor whose extent is taken, likewise">,
    Attr<"rhs_end", IntAttr, "None", "Axis after the last whose extent is taken, likewise. None: to the end">,
  ];
  let Values = "copy";
  let Lower = "reshapeToResult";
  let Reference = "reshape";
  let Errors = "Axes that are none, or end before they begin";
}
def : ShapedOperator<"broadcast_to_like", DataAndShape, "broadcastToLike",
                     "y[i...] = data[those of i where the data has more than one]", "`broadcast_to` the shape of another tensor, whose elements do not matter"> {
  let Values = "broadcastTo";
  let Reference = "broadcastTo";
}
def : ShapedOperator<"slice_like", DataAndShape, "sliceLike",
                     "y[i...] = data[i...]", "The first elements along some axes, as many as another tensor has, whose elements do not matter"> {
  let Attrs = [Attr<"axes", IntListAttr, "None", "Which axes; negative ones count from the end. None, or an empty list: those that both have">];
  let Errors = "An axis that one of them does not have; an extent that is greater than that of the data";
}
def : ShapedOperator<"dyn.expand_dims", [Input<"data", AnyType>, Input<"axis", Index>], "dynamicExpandDims",
                     "y[..., 0, ...] = data[...]", "`expand_dims` at a position that a scalar, or a vector of one element, holds"> {
  let Attrs = [Attr<"num_newaxis", IntAttr, "1", "How many">];
  let ValueInputs = [1];
  let Lower = "reshapeToResult";
  let Reference = "reshape";
  let Errors = "An axis outside [-r - 1, r]; a negative number of new axes";
}
def : ShapedOperator<"dyn.squeeze", [Input<"data", AnyType>, Input<"axis", Index>], "dynamicSqueeze",
                     "y[...] = data[..., 0, ...]", "`squeeze` of the axes that a vector lists"> {
  let ValueInputs = [1];
  let Lower = "reshapeToResult";
  let Reference = "reshape";
  let Errors = "An axis outside [-r, r) or listed twice; an extent that is not 1";
}

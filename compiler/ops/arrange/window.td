// Operators that spread elements, or pick some by where they are.

def : Operator<"nn.dilate", [Input<"data", AnyType>], "dilate"> {
  let Attrs = [
    Attr<"strides", IntListAttr, "[1, 1]", "Distance of what were neighbours along each axis, 1 or more">,
    Attr<"dilation_value", FloatAttr, "0", "What is between them; cast to the type of the data">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "A value put between the elements of a tensor";
  let Formula = "y[i...] = data[i / strides...] where the strides divide i, else dilation_value";
  let Errors = "Another number of strides than axes; a stride below 1";
}
def : Operator<"sliding_window", [Input<"data", AnyType>], "slidingWindow"> {
  let Attrs = [
    RequiredAttr<"axis", IntAttr, "The first axis along which the window slides; it does along all that follow">,
    RequiredAttr<"window_shape", IntListAttr, "Its extents, for each of these axes">,
    RequiredAttr<"strides", IntListAttr, "How far it moves along each of them, 1 or more">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "Every position of a window, and what is in it";
  let Formula = "y[b..., p..., w...] = data[b..., (p * strides + w)...]";
  let Errors = "Another number of extents or strides than axes; a stride or an extent below 1; a window that does not fit into the data";
}
def : Operator<"trilu", [Input<"data", AnyType>, Input<"k", Index>], "trilu"> {
  let Attrs = [Attr<"upper", BoolAttr, "True", "What is kept: from diagonal k on upwards, or up to it">];
  let Fusion = Broadcast;
  let Lowering = Element;
  let Dims = "unary";
  let Summary = "The upper or lower triangle of matrices, and zeros";
  let Formula = "y[..., i, j] = j - i >= k ? data[..., i, j] : 0, or j - i <= k where not upper";
  let Errors = "A rank below 2";
}
def : Operator<"matrix_set_diag", [Input<"data", AnyType>, Input<"diagonal", AnyType>], "matrixSetDiag"> {
  let Attrs = [
    Attr<"k1", IntAttr, "0", "The lowest diagonal that is set">,
    Attr<"k2", IntAttr, "0", "The highest">,
    Attr<"super_diag_right_align", BoolAttr, "True", "Shorter diagonals above the main one are at the end of their row of the input">,
    Attr<"sub_diag_right_align", BoolAttr, "False", "The same for those below">,
  ];
  let Fusion = Injective;
  let Lowering = Element;
  let Summary = "Matrices with some of their diagonals replaced";
  let Formula = "y[..., i, j] = diagonal[..., k2 - (j - i), place of (i, j) in its diagonal] where k1 <= j - i <= k2, else data[..., i, j]; without the axis of k2 - (j - i) where k1 = k2";
  let Errors = "A rank below 2; k1 above k2; diagonals that the matrices do not have; another shape of the diagonals";
}

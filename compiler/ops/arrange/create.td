// Operators that make tensors from shapes and scalars, and shapes from tensors.

class FillOperator<string name, string stem, string formula, string summary>
    : Operator<name, [OptionalInput<"shape", Index>], stem> {
  let Attrs = [
    Attr<"shape", DimListAttr, "None", "Shape of the result. None: given by the input">,
    Attr<"dtype", DTypeAttr, "float32", "Type of the result">,
  ];
  let Accessors = "fill";
  let Fusion = Injective;
  let Lowering = Element;
  let Structure = "fill";
  let Dims = "fill";
  let Values = stem;
  let ValueInputs = [0];
  let Formula = formula;
  let Summary = summary;
}
def : FillOperator<"zeros", "zeros", "0", "A tensor of zeros"> { let Aliases = ["dyn.zeros"]; }
def : FillOperator<"ones", "ones", "1", "A tensor of ones"> { let Aliases = ["dyn.ones"]; }

def : Operator<"full", [Input<"fill value", AnyType>, OptionalInput<"shape", Index>], "full"> {
  let Attrs = [
    Attr<"shape", DimListAttr, "None", "Shape of the result. None: given by the second input">,
    Attr<"dtype", DTypeAttr, "None", "Type of the result, to which the fill value is cast. None: that of the fill value">,
  ];
  let Aliases = ["dyn.full"];
  let Fusion = Injective;
  let Lowering = Element;
  let Values = "full";
  let ValueInputs = [1];
  let Summary = "A tensor of which every element is the given scalar";
  let Formula = "value";
}

class LikeOperator<string name, string stem, string formula, string summary> : Operator<name, [Input<"data", AnyType>], stem> {
  let Fusion = Elementwise;
  let Lowering = Element;
  let Structure = "unary";
  let Dims = "unary";
  let Lower = stem;
  let Reference = stem;
  let Formula = formula;
  let Summary = summary;
}
def : LikeOperator<"zeros_like", "zeros", "0", "Zeros of the shape and type of the data">;
def : LikeOperator<"ones_like", "ones", "1", "Ones of the shape and type of the data">;
def : Operator<"full_like", [Input<"data", AnyType>, Input<"fill value", AnyType>], "fullLike"> {
  let Fusion = Elementwise;
  let Lowering = Element;
  let Dims = "unary";
  let Summary = "A scalar, cast to the type of the data, in every place of its shape";
  let Formula = "value";
}

def : Operator<"arange", [Input<"start", Numeric>, Input<"stop", Numeric>, Input<"step", Numeric>], "arange"> {
  let Attrs = [Attr<"dtype", DTypeAttr, "None", "Type of the result. None: that of the inputs">];
  let IgnoredAttrs = ["start", "stop", "step"];
  let Fusion = Injective;
  let Lowering = Element;
  let Values = "arange";
  let ValueInputs = [0, 1, 2];
  let Summary = "Numbers from start, which is included, to stop, which is not, at a distance of step";
  let Formula = "start + i * step, max(ceil((stop - start) / step), 0) of them";
  let Errors = "A step of zero; float bounds that are not known when compiling";
}

def : Operator<"shape_of", [Input<"data", AnyType>], "shapeOf"> {
  let Attrs = [Attr<"dtype", DTypeAttr, "int32", "Type of the result, an integer">];
  let Fusion = Opaque;
  let Lowering = Element;
  let Values = "shapeOf";
  let Summary = "The extents of a tensor";
  let Formula = "y[d] = extent d of the data";
  let Errors = "An extent that does not fit the type";
}

def : Operator<"ndarray_size", [Input<"data", AnyType>], "ndarraySize"> {
  let Attrs = [Attr<"dtype", DTypeAttr, "int32", "Type of the result, an integer">];
  let Lowering = Legal;
  let Values = "ndarraySize";
  let Summary = "How many elements a tensor has, as a scalar";
  let Formula = "product of the extents of the data";
  let Errors = "A number that does not fit the type";
}

// Operators that put elements in order.

class SortOperator<string name, string stem> : Operator<name, [Input<"data", AnyType>], stem> {
  let Lowering = Legal;
  string Order = "NaN counts as greater than every number and -0 equals 0; equal elements stay in order";
}
def SortAxis : Attr<"axis", IntAttr, "-1", "Axis that is sorted">;
def IndexType : Attr<"dtype", DTypeAttr, "int32", "Type of the indices">;

def : SortOperator<"sort", "sort"> {
  let Attrs = [SortAxis, Attr<"is_ascend", BoolAttr, "True", "Upwards; else downwards">];
  let Structure = "alongAxis";
  let Dims = "unary";
  let Summary = "The elements along an axis in order. " # Order;
  let Formula = "y[..., i, ...] = data[..., argsort(data)[..., i, ...], ...]";
  let Errors = "An axis outside [-r, r)";
}
def : SortOperator<"argsort", "argsort"> {
  let Attrs = [SortAxis, Attr<"is_ascend", BoolAttr, "True", "Upwards; else downwards">, IndexType];
  let Dims = "unary";
  let Summary = "The indices of the elements along an axis in their order. " # Order;
  let Formula = "data[..., y[..., i, ...], ...] <= data[..., y[..., i + 1, ...], ...]";
  let Errors = "An axis outside [-r, r)";
}
def : SortOperator<"topk", "topk"> {
  let Inputs = [Input<"data", AnyType>, OptionalInput<"k", Index>];
  let Attrs = [
    Attr<"k", IntAttr, "1", "How many, unless the second input says it; all of them when below 1">,
    Attr<"axis", IntAttr, "-1", "Axis that is searched">,
    Attr<"ret_type", StringAttr, "both", "`values`, `indices`, or `both` as a tuple">,
    Attr<"is_ascend", BoolAttr, "False", "The least ones, upwards; else the greatest, downwards">,
    IndexType,
  ];
  let Aliases = ["dyn.topk"];
  let ValueInputs = [1];
  let Summary = "The first elements along an axis when they are in order, and their indices. " # Order;
  let Formula = "values, indices = sort(data)[..., :k, ...], argsort(data)[..., :k, ...]";
  let Errors = "An axis outside [-r, r); more elements than there are; another ret_type";
}
def : Operator<"unique", [Input<"data", AnyType>], "unique"> {
  let Lowering = Legal;
  let Counts = "distinct value";
  let Attrs = [
    Attr<"sorted", BoolAttr, "True", "The values upwards; else in the order in which they first occur">,
    Attr<"return_counts", BoolAttr, "False", "A fifth result: how often each value occurs">,
  ];
  let Summary = "The values of a vector, each once; where each occurs first; which of them each element is; and how many there are, as a vector of one element. All NaNs are one value and the greatest, -0 is 0";
  let Formula = "values, indices, inverse, count: values = data[indices], data = values[inverse]";
  let Errors = "Data of another rank than 1, or with more elements than int32 has indices";
}

// The kernels, along the middle one of three axes.
class SortKernel<string name, list<Input> inputs, string stem, string algorithm> : Operator<name, inputs, stem> {
  let Lowering = Library;
  let Algorithm = algorithm;
}
def : SortKernel<"library.sort", [Input<"data", AnyType>, Input<"upwards", Bool>], "librarySort", "sort"> {
  let Dims = "unary";
  let Summary = "`sort` along the middle one of three axes";
  let Formula = "y[a, i, b] = data[a, argsort(data)[a, i, b], b]";
}
def : SortKernel<"library.argsort", [Input<"data", AnyType>, Input<"upwards", Bool>], "libraryArgsort", "argsort"> {
  let Dims = "unary";
  let Attrs = [RequiredAttr<"dtype", DTypeAttr, "int32 or int64">];
  let Summary = "`argsort` along the middle one of three axes";
  let Formula = "data[a, y[a, i, b], b] <= data[a, y[a, i + 1, b], b]";
}
def : SortKernel<"library.topk", [Input<"data", AnyType>, Input<"upwards", Bool>, Input<"k", Index>], "libraryTopk", "topk"> {
  let Attrs = [RequiredAttr<"dtype", DTypeAttr, "int32 or int64">];
  let ValueInputs = [2];
  let Summary = "`topk` along the middle one of three axes";
  let Formula = "values, indices = sort(data)[:, :k, :], argsort(data)[:, :k, :]";
  let Errors = "A negative k; more elements than there are";
}

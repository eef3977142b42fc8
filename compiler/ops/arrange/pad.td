// Operators that put elements around a tensor.

def PadWidth : Attr<"pad_width", IntListAttr, "None", "Before and after each axis: [[before, after], ...]; negative ones remove elements. None: given by an input">;
def PadMode : Attr<"pad_mode", StringAttr, "constant", "`constant`; `edge`: the first or last element; `reflect`: mirrored at the first and last element, as often as it takes">;
class PadOperator<string name, list<Input> inputs, string stem> : Operator<name, inputs, stem> {
  let Fusion = Injective;
  let Lowering = Element;
  let Lower = "pad";
  let Reference = "pad";
  let Formula = "y[i...] = data[i - before...], or what the mode says where that is outside";
}

def : PadOperator<"nn.pad", [Input<"data", AnyType>, OptionalInput<"pad value", AnyType>, OptionalInput<"pad widths", Index>], "pad"> {
  let Attrs = [
    PadWidth,
    PadMode,
    Attr<"pad_value", FloatAttr, "0", "The constant, unless the second input is it; cast to the type of the data">,
  ];
  let ValueInputs = [2];
  let Summary = "Elements put around a tensor";
  let Errors = "Another number of widths than two for each axis; an extent below 0; an edge or a reflection of an axis without elements; another mode";
}
def : Operator<"dyn.nn.pad", [Input<"data", AnyType>, Input<"pad widths", Index>, Input<"pad value", AnyType>], "dynPad"> {
  let Attrs = [PadMode];
  let Lowering = Legal;
  let ValueInputs = [1];
  let Summary = "`nn.pad` by widths that are a tensor of shape (r, 2), or flat";
  let Formula = "y[i...] = data[i - before...], or what the mode says where that is outside; before = pad widths[:, 0]";
  let Errors = "As `nn.pad`";
}
def : PadOperator<"nn.mirror_pad", [Input<"data", AnyType>], "mirrorPad"> {
  let Attrs = [
    Attr<"mode", StringAttr, "SYMMETRIC", "`SYMMETRIC`: mirrored behind the first and last element; `REFLECT`: at it; as often as it takes">,
    RequiredAttr<"pad_width", IntListAttr, "Before and after each axis: [[before, after], ...]; negative ones remove elements">,
  ];
  let Summary = "A tensor continued by its mirror image";
  let Errors = "Another number of widths than two for each axis; an extent below 0; an axis without elements; another mode";
}

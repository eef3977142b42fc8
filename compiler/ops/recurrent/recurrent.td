// Layers that go over a sequence, and attention over one.

class RecurrentOperator<string name, string stem> : Operator<name, [], stem> {
  let Lowering = Legal;
}
defvar Sequence = [
  Attr<"layout", StringAttr, "TNC", "Axes of the data and of the sequence that comes of it: `TNC`, steps first, or `NTC`, batches first">,
  Attr<"direction", StringAttr, "forward", "`forward`, or `reverse`: from the last step to the first">,
];

def : RecurrentOperator<"lstm", "lstm"> {
  let Inputs = [Input<"data", Float>, Input<"weight", Float>, Input<"recurrent weight", Float>, OptionalInput<"bias", Float>,
                OptionalInput<"recurrent bias", Float>, OptionalInput<"initial state", Float>, OptionalInput<"initial cell state", Float>];
  let Attrs = Sequence # [
    Attr<"gates", StringAttr, "ifgo", "In which order the weights and biases hold the input, forget, cell and output gate">,
  ];
  let Summary = "Long short-term memory: the states after each step, and the last state and cell state. Data (t, b, i), weight (4h, i), recurrent weight (4h, h), biases (4h), states (b, h); results (t, b, h), (b, h), (b, h). What is not given is 0; float16 and bfloat16 in float32, rounded once";
  let Formula = "h, c = sigmoid(o) * tanh(c'), c' where c' = sigmoid(f) * c + sigmoid(i) * tanh(g), and i, f, g, o are parts of (weight x + bias) + (recurrent weight h + recurrent bias)";
  let Errors = "Weights and biases that are not four times as long as the state; another layout, direction or order of gates";
}
def : RecurrentOperator<"gru", "gru"> {
  let Inputs = [Input<"data", Float>, Input<"weight", Float>, Input<"recurrent weight", Float>, OptionalInput<"bias", Float>,
                OptionalInput<"recurrent bias", Float>, OptionalInput<"initial state", Float>];
  let Attrs = Sequence # [
    Attr<"gates", StringAttr, "rzn", "In which order the weights and biases hold the reset, update and new gate">,
    Attr<"linear_before_reset", BoolAttr, "True", "The reset gate applies to the product with the recurrent weight; else to the state before">,
  ];
  let Summary = "Gated recurrent unit: the states after each step, and the last state. Data (t, b, i), weight (3h, i), recurrent weight (3h, h), biases (3h), state (b, h); results (t, b, h), (b, h). What is not given is 0; float16 and bfloat16 in float32, rounded once";
  let Formula = "h = (1 - z) * n + z * h', where r, z = sigmoid((weight x + bias) + (recurrent weight h' + recurrent bias)) and n = tanh((weight x + bias) + r * (recurrent weight h' + recurrent bias)), or (recurrent weight (r * h') + recurrent bias) in place of that product";
  let Errors = "Weights and biases that are not three times as long as the state; another layout, direction or order of gates";
}
def : Operator<"attention", [Input<"query", Float>, Input<"key", Float>, Input<"value", Float>, OptionalInput<"mask", AnyType>], "attention"> {
  let Lowering = Legal;
  let Attrs = [
    Attr<"scale", FloatAttr, "None", "Factor of the products. None: 1 / sqrt(last extent of the query)">,
    Attr<"causal", BoolAttr, "False", "Place i of the query sees places 0 to i of the key">,
  ];
  let Summary = "The values, weighted by how much their keys are like each query. Query (..., s, d), key (..., t, d), value (..., t, e), mask at most (..., s, t); result (..., s, e). Leading axes are batches. A mask broadcasts to the products: bool says what is seen, floats are added; a query that sees nothing gives NaN. float16 and bfloat16 in float32, rounded once";
  let Formula = "softmax(scale * query key^T + mask) value, over the last axis";
  let Errors = "Ranks below 2, or that differ; batches or extents that do not fit; a mask of another type than bool and the query's";
}

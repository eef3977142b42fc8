// Sums of products over axes with names.

def : Operator<"einsum", [InputList<"data", Numeric>], "einsum"> {
  let Attrs = [RequiredAttr<"equation", StringAttr, "A letter for each axis of each operand, operands separated by commas; then `->` and the letters of the result. Without that the result has the letters that stand once, in alphabetical order. `...` stands for any further axes">];
  let Lowering = Legal;
  let Summary = "Products of elements of several tensors, summed over the axes that the result does not have. From the first operand on each is multiplied with what the ones before gave, as soon as an axis is in no other it is summed; float16 and bfloat16 in float32, rounded once";
  let Formula = "y[result...] = sum over all other letters of data[0][labels...] * data[1][labels...] * ...";
  let Errors = "An equation that does not fit the number of operands or their ranks; a letter of the result that no operand has, or twice; extents of one letter that differ";
}

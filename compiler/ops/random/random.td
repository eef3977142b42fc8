// Random numbers from keys.

defvar kKey = Input<"key", Integer>;
def NumbersShape : Attr<"out_shape", DimListAttr, "None", "Shape of the numbers; must be given">;
def NumbersType : Attr<"out_dtype", DTypeAttr, "float32", "Type of the numbers: float32 or float64">;

def : Operator<"random.threefry_generate", [kKey], "threefryGenerate"> {
  let Attrs = [NumbersShape];
  let Accessors = "threefryGenerate";
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "The next key, and 64 random bits for each element. A key is ten uint64: four of a key, two of a path, two of a counter, of which the second counts, and two that hold the bit of the path that is set next; a new one from a seed is the seed, 256 bits, least significant word first, then 0, 0, 0, 0, 2^63, 0. H(k, c) is Threefry with four words of 64 bits and 20 rounds, of which every four begin with an injection of the key, on the words c with the key k. Elements in row-major order are in blocks of four: block b of whole ones is H(words 0 to 3, words 4 to 7 with b added to each), a last one that is not whole H(words 0 to 3, words 4 to 7 with 4b added to the last). The next key has 0 for word 6, and word 7 counts four more for each block. Where word 7 is not below 2^64 - 1 minus the number of elements, the key is another one first: words 8 and 9 are set in words 4 and 5, and move one bit to the right, and words 6 and 7 are 0; or, where words 8 and 9 are 0, it is a new one with the seed H(words 0 to 3, four words of ones)";
  let Formula = "next, y = key moved on, H(key, counter of the block)[place in the block]";
  let Errors = "No out_shape; a key of another type than uint64 with ten elements";
}
def : Operator<"random.threefry_split", [kKey], "threefrySplit"> {
  let Fusion = Opaque;
  let Lowering = Element;
  let Summary = "Two keys, neither of which gives what the other one does: the path is a bit longer, 0 on the left and 1 on the right. Words as of `random.threefry_generate`. On the left words 8 and 9 move one bit to the right, and on the right they are set in words 4 and 5 first. Where they are 0, words 0 to 3 are H(words 0 to 3, words 4 to 7) for both, word 4 is 2^63 on the right, word 8 is 2^62, and all others are 0";
  let Formula = "left, right = key with 0 and with 1 behind its path";
  let Errors = "A key of another type than uint64 with ten elements";
}
def : Operator<"random.uniform", [kKey, Input<"low", Float>, Input<"high", Float>], "uniform"> {
  let Attrs = [NumbersShape, NumbersType];
  let Lowering = Legal;
  let Summary = "The next key, and numbers in [low, high), equally distributed: the bits of `random.threefry_generate`, of which bits 9 to 31 make a float32 and bits 12 to 63 a float64";
  let Formula = "y = (bits floor_mod 2^32 >> 9) * 2^-23 * (high - low) + low, or (bits >> 12) * 2^-52 * (high - low) + low";
  let Errors = "No out_shape; another out_dtype; a key of another type than uint64 with ten elements; bounds that are no scalars";
}
def : Operator<"random.normal", [kKey, Input<"mean", Float>, Input<"scale", Float>], "normal"> {
  let Attrs = [NumbersShape, NumbersType];
  let Lowering = Legal;
  let Summary = "The next key, and numbers of a normal distribution, by Box and Muller from `random.uniform` in [0, 1) with 2 before the shape";
  let Formula = "y = sqrt(-2 * log(1 - u[0])) * sin(2 * pi * u[1]) * scale + mean";
  let Errors = "As `random.uniform`";
}
def : Operator<"random.multinomial", [kKey, Input<"probabilities", Float>], "multinomial"> {
  let Attrs = [RequiredAttr<"num_samples", IntAttr, "How many for each row">];
  let Lowering = Legal;
  let Summary = "The next key, and int32 indices, drawn for each row of weights with probabilities like those: numbers of `random.uniform` in [0, 1), found among the partial sums of the weights over their sum, in float32. Negative weights count as 0; a row whose sum is 0, infinite or NaN gives whatever stands in the formula";
  let Formula = "y[..., i] = min(number of k with cumsum(max(w, 0) / sum(max(w, 0)))[..., k] <= u[..., i], n - 1)";
  let Errors = "A negative num_samples; scalars; rows without elements; a key of another type than uint64 with ten elements";
}

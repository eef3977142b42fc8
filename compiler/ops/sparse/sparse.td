// Operators on tensors that are given by their elements that are not 0.

def RowFailure : Failure<"IndexRange", "Fails where row pointers decrease, or do not begin at 0 and end at the number of elements">;
def SparseFailure : Failure<"IndexRange", "Fails where row pointers decrease, or do not begin at 0 and end at the number of elements, and on an index that is out of range">;
def ShapeFailure : Failure<"IndexRange", "Fails on a position outside [0, n), and on shapes of which the second does not have the elements of the first">;
def ElementFailure : Failure<"IndexRange", "Fails on a negative extent but one -1 of the second, and unless both have the same number of elements, of 63 bits">;
def PositionFailure : Failure<"IndexRange", "Fails on a position outside [0, n)">;

defvar SparseRows = [Input<"data of the sparse matrix", Numeric>, Input<"indices", Index>, Input<"row pointers", Index>];

def : Operator<"nn.sparse_dense", !listconcat([Input<"data", Numeric>], SparseRows), "sparseDense"> {
  let Attrs = [Attr<"sparse_lhs", BoolAttr, "False", "The sparse matrix is the first factor and the data the second; else the other way round">];
  let Fusion = Opaque;
  let Lowering = Nest;
  let Failure = SparseFailure;
  let Summary = "Product of a matrix with the transpose of another, one of which is sparse: each of its rows has the elements from one row pointer to the next, in the columns of their indices. Elements may be blocks of an extent of their own; then rows and columns count blocks. Data (m, k), elements (q) or blocks (q, a, c), indices (q), row pointers (n + 1); result (m, n) or (m, a n), transposed where sparse_lhs. Each result is a sequence of fused multiply-adds in the order of the elements";
  let Formula = "y = data sparse^T, or sparse data^T where sparse_lhs";
  let Errors = "Sparse data of another rank than 1 or 3, or of another number of elements than indices; no row pointer; columns that are no whole number of blocks";
}
def : Operator<"nn.sparse_transpose", SparseRows, "sparseTranspose"> {
  let Lowering = Legal;
  let Failure = SparseFailure;
  let Summary = "The transpose of a sparse matrix of as many columns as rows: its elements, their indices, the row pointers. The elements of a row are in the order of their indices";
  let Formula = "data', indices', pointers' of sparse^T";
  let Errors = "Other ranks than 1; another number of elements than indices; no row pointer";
}
def : Operator<"nn.sparse_add", !listconcat([Input<"data", Numeric>], SparseRows), "sparseAdd"> {
  let Lowering = Legal;
  let Failure = SparseFailure;
  let Summary = "A matrix with the elements of a sparse one added, one after the other; float16 and bfloat16 in float32, rounded once";
  let Formula = "data + sparse";
  let Errors = "Ranks that do not fit; another number of elements than indices; another number of row pointers than one more than rows";
}

class FromPositions<string name, list<Input> inputs, string stem> : Operator<name, inputs, stem> {
  let Lowering = Legal;
  let Failure = PositionFailure;
}
def : FromPositions<"sparse_to_dense", [Input<"positions", Index>, Input<"values", AnyType>, OptionalInput<"default value", AnyType>], "sparseToDense"> {
  let Attrs = [RequiredAttr<"output_shape", DimListAttr, "Shape of the result">];
  let Summary = "A tensor of one value but for given positions, each a row of a matrix; a vector has positions of one number, a scalar is one such. Of several values at one position the last stays. One value may be for all positions. No default value is 0";
  let Formula = "y[positions[i]...] = values[i]; the default value elsewhere";
  let Errors = "Ranks that do not fit; another number of values than positions";
}
def : FromPositions<"dyn.sparse_to_dense", [Input<"positions", Index>, Input<"shape", Index>, Input<"values", AnyType>, OptionalInput<"default value", AnyType>], "dynSparseToDense"> {
  let ValueInputs = [1];
  let Summary = "`sparse_to_dense` to a shape that is a tensor";
  let Formula = "y[positions[i]...] = values[i]; the default value elsewhere";
  let Errors = "Ranks that do not fit; another number of values than positions";
}
def : FromPositions<"sparse_fill_empty_rows", [Input<"positions", Index>, Input<"values", AnyType>, Input<"shape", Index>, Input<"default value", AnyType>], "sparseFillEmptyRows"> {
  let ValueInputs = [2];
  let Counts = "row that has none";
  let Summary = "A list of positions, each a row of a matrix, and values, with one more in column 0 for each row of the tensor that has none, and ordered by rows; and which rows these are";
  let Formula = "positions', values', for each row whether none of the positions is in it";
  let Errors = "Ranks that do not fit; another number of values than positions, or of extents than numbers of a position";
}
def : FromPositions<"sparse_reshape", [Input<"positions", Index>, Input<"shape", Index>, Input<"new shape", Index>], "sparseReshape"> {
  let Summary = "Positions, each a row of a matrix, in a tensor of another shape with its elements in row-major order; and that shape, with what is left in place of a -1";
  let Formula = "positions', shape'";
  let Failure = ShapeFailure;
  let Errors = "Ranks that do not fit; another number of extents than numbers of a position";
}

// What those are written with.
def : Operator<"sparse.rows", [Input<"row pointers", Index>, Input<"count", Index>], "sparseRows"> {
  let Fusion = Opaque;
  let Lowering = Nest;
  let Failure = RowFailure;
  let ValueInputs = [1];
  let Summary = "The row of each of so many elements of a sparse matrix, as int64";
  let Formula = "y[i] = r where pointers[r] <= i < pointers[r + 1]";
  let Errors = "No row pointer; a negative count";
}
def : Operator<"sparse.positions", [Input<"positions", Index>, Input<"shape", Index>], "sparsePositions"> {
  let Fusion = Opaque;
  let Lowering = Element;
  let Failure = PositionFailure;
  let Summary = "Positions in a tensor of a shape, each a row of a matrix, as int64: those that are in it";
  let Formula = "y[i, d] = positions[i, d], which is in [0, shape[d])";
  let Errors = "Another number of extents than numbers of a position";
}
def : Operator<"sparse.shape", [Input<"shape", Index>, Input<"new shape", Index>], "sparseShape"> {
  let Fusion = Opaque;
  let Lowering = Nest;
  let Failure = ElementFailure;
  let Summary = "The second shape as int64, with what is left in place of a -1, and 0 where the others leave nothing";
  let Formula = "y[d] = new shape[d], or (product of shape) / (product of the others)";
}

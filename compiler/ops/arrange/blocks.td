// Operators that move blocks of one axis to another one.

class BlockOperator<string name, string stem> : Operator<name, [Input<"data", AnyType>], stem> {
  let Lowering = Legal;
}
def BlockSize : Attr<"block_size", IntAttr, "1", "Extent of a block along both axes">;
def BlockLayout : Attr<"layout", StringAttr, "NCHW", "`NCHW` or `NHWC`">;
def BlockMode : Attr<"mode", StringAttr, "DCR", "Which part of the channel is the place in the block: `DCR` the first, `CRD` the last">;
def BlockShape : Attr<"block_shape", IntListAttr, "[1, 1]", "Extent of a block along each of the axes after the first">;

def : BlockOperator<"nn.depth_to_space", "depthToSpace"> {
  let Attrs = [BlockSize, BlockLayout, BlockMode];
  let Summary = "Channels as blocks of the plane";
  let Formula = "y[n, c, h * b + i, w * b + j] = data[n, (i * b + j) * C + c, h, w], where C = channels / b^2; of channel c * b^2 + i * b + j in mode CRD; b = block_size";
  let Errors = "Another rank than 4; channels that b^2 does not divide; a block below 1; another layout or mode";
}
def : BlockOperator<"nn.space_to_depth", "spaceToDepth"> {
  let Attrs = [BlockSize, BlockLayout, Attr<"mode", StringAttr, "DCR", "Only `DCR`">];
  let Summary = "Blocks of the plane as channels";
  let Formula = "y[n, (i * b + j) * channels + c, h, w] = data[n, c, h * b + i, w * b + j]";
  let Errors = "Another rank than 4; an extent of the plane that b does not divide; a block below 1; another layout or mode";
}
def : BlockOperator<"nn.space_to_batch_nd", "spaceToBatchNd"> {
  let Attrs = [
    BlockShape,
    RequiredAttr<"paddings", IntListAttr, "What is put before and after each of these axes: [[before, after], ...]">,
    Attr<"pad_value", FloatAttr, "0", "What it is">,
  ];
  let Summary = "The places in the blocks of some axes as batches";
  let Formula = "y[(i... in row-major order) * n + b, p..., r...] = padded[b, (p * block_shape + i)..., r...], where n is the number of batches";
  let Errors = "Fewer axes than blocks; a block below 1; a negative padding; an extent that the block does not divide";
}
def : BlockOperator<"nn.batch_to_space_nd", "batchToSpaceNd"> {
  let Attrs = [
    BlockShape,
    RequiredAttr<"crops", IntListAttr, "What is removed before and after each of these axes: [[before, after], ...]">,
  ];
  let Summary = "Batches as the places in the blocks of some axes";
  let Formula = "y[b, q..., r...] = data[(i... in row-major order) * n + b, p..., r...], where p * block_shape + i = q + before, 0 <= i < block_shape, n is the number of batches of the result, and before are the first of each of the crops";
  let Errors = "Fewer axes than blocks; a block below 1; a negative crop, or one of more than there is; a number of batches that the blocks do not divide";
}
def : BlockOperator<"layout_transform", "layoutTransform"> {
  let Attrs = [
    RequiredAttr<"src_layout", StringAttr, "The axes of the data: a capital letter for each, and a small one after a number for the place in blocks of so many along the axis of that letter: NCHW, NCHW4c">,
    RequiredAttr<"dst_layout", StringAttr, "The axes of the result">,
  ];
  let Summary = "Axes in another order, split into blocks or put together again";
  let Formula = "y[..., c, ..., i] = data[..., c * 4 + i, ...] from C to C4c";
  let Errors = "A layout that cannot be read; other axes in one than in the other; another rank; an extent that the block does not divide";
}

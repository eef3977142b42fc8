// What programs say of where and how they want to be run. The value is that of the data.

class AnnotationOperator<string name, string summary> : Operator<name, [Input<"data", AnyType>], "identity"> {
  let Lowering = Legal;
  let Structure = "unary";
  let Dims = "unary";
  let Values = "copy";
  let Reference = "reshape";
  let Formula = "x";
  let Summary = summary;
}
def : AnnotationOperator<"on_device", "The tensor itself: there is one device"> {
  let IgnoredAttrs = ["virtual_device", "constrain_result", "constrain_body", "device_type"];
}
def : AnnotationOperator<"device_copy", "The tensor itself: there is one device"> {
  let IgnoredAttrs = ["src_virtual_device", "dst_virtual_device", "src_device", "dst_device", "src_dev_type", "dst_dev_type"];
}
def : AnnotationOperator<"annotation.checkpoint", "The tensor itself; what a gradient would compute again">;
def : AnnotationOperator<"annotation.stop_fusion", "The tensor itself, which is in memory before anything that uses it is computed"> {
  // Nothing but a barrier to fusion: a view of the data.
  let Lowering = Scalar;
  let Fusion = Opaque;
  let Lower = "copy";
  let Reference = "copy";
}

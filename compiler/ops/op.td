// Vocabulary of the operator records. One record per operator, in the .td file of its
// family; `baton-tblgen -gen-op-*` derives the declarations, the table of the registry,
// the typed attribute accessors and docs/operators.md. The functions that a record names
// are written by hand in the family's .cc file: one that is missing does not link.

//===-- Types ---------------------------------------------------------------===//

/// Which element types an input may have.
class DTypeClass<string name, string doc> {
  string Name = name;   // enumerator of ops::DTypeClass
  string Doc = doc;
}
def AnyType : DTypeClass<"Any", "any type">;
def Numeric : DTypeClass<"Numeric", "an integer or float type">;
def Float : DTypeClass<"Float", "a float type">;
def Integer : DTypeClass<"Integer", "an integer type">;
def BoolOrInteger : DTypeClass<"BoolOrInteger", "bool or an integer type">;
def Bool : DTypeClass<"Bool", "bool">;
def Index : DTypeClass<"Index", "int32 or int64">;

//===-- Inputs and attributes -----------------------------------------------===//

/// An input, by the name that messages use.
class Input<string name, DTypeClass types> {
  string Name = name;
  DTypeClass Types = types;
  bit IsOptional = 0;
  bit IsList = 0;
}
class OptionalInput<string name, DTypeClass types> : Input<name, types> { let IsOptional = 1; }
/// One tuple of any number of tensors; the last input.
class InputList<string name, DTypeClass types> : Input<name, types> { let IsList = 1; }

class AttrKind<string name> { string Name = name; }   // enumerator of ops::AttrKind
def BoolAttr : AttrKind<"Bool">;
def IntAttr : AttrKind<"Int">;
def FloatAttr : AttrKind<"Float">;
def StringAttr : AttrKind<"String">;
def DTypeAttr : AttrKind<"DType">;
def IntListAttr : AttrKind<"IntList">;
def FloatListAttr : AttrKind<"FloatList">;
def DimListAttr : AttrKind<"DimList">;
def IntOrIntListAttr : AttrKind<"IntOrIntList">;

/// `text` is the default as program text writes it: "True", "-1", "[0, 1]", "None" (then
/// None is accepted when written, too); strings without quotes.
class Attr<string name, AttrKind kind, string text, string doc> {
  string Name = name;
  AttrKind Kind = kind;
  string Default = text;
  string Doc = doc;
  bit IsRequired = 0;
}
class RequiredAttr<string name, AttrKind kind, string doc> : Attr<name, kind, "", doc> { let IsRequired = 1; }

//===-- Operators -----------------------------------------------------------===//

/// What fusion may do with an operator; enumerator of ops::FusionKind.
class FusionKind<string name, string doc> {
  string Name = name;
  string Doc = doc;
}
def Elementwise : FusionKind<"Elementwise", "each element of the result needs the element of each input at the same index">;
def Broadcast : FusionKind<"Broadcast", "elementwise, with inputs broadcast to the shape of the result">;
def Injective : FusionKind<"Injective", "each element of the result needs one element of an input, at an index computed from its own">;
def Reduction : FusionKind<"Reduction", "each element of the result needs many elements of the input; takes producers and consumers">;
def Anchor : FusionKind<"Anchor", "a loop nest of its own; takes elementwise consumers">;
def Opaque : FusionKind<"Opaque", "never fused">;

/// For which elements an operator ends in a program error, its obligations aside. Several
/// records may share a kind and differ in what they say.
class Failure<string name, string doc> {
  string Name = name;   // enumerator of ops::FailureKind
  string Doc = doc;
}
def Never : Failure<"Never", "Never fails for its elements">;
def IntegerDivision : Failure<"IntegerDivision", "Fails with integers when the divisor is zero, or when the least value is divided by -1">;
def IntegerRemainder : Failure<"IntegerDivision", "Fails with integers when the divisor is zero">;
def IntegerMean : Failure<"IntegerDivision", "Fails with integers when there are no elements">;
def IndexRange : Failure<"IndexRange", "Fails on an index out of range in mode `fast`">;
def GatheredIndex : Failure<"IndexRange", "Fails on an index outside [-n, n)">;
def CountedRows : Failure<"IndexRange", "Fails where the count is wrong">;
def UnravelledIndex : Failure<"IndexRange", "Fails on an index outside [0, product of the shape)">;

/// How an operator becomes loop IR (types of the functions: op.h).
class Lowering<string name> { string Name = name; }
def Scalar : Lowering<"Scalar">;     // <Lower>Scalar, and <Reference>Reference on scalars
def Element : Lowering<"Element">;   // <Lower>Element, and <Reference>Reference on tensors
def Nest : Lowering<"Nest">;         // <Lower>Nest, and <Reference>Reference on tensors
def Expand : Lowering<"Expand">;     // <Lower>Expand, and <Reference>Reference on tensors
def Legal : Lowering<"Legal">;       // not at all: <Lower>Legal writes other operators, before any
                                     // other pass; <Reference>Reference on tensors
def Library : Lowering<"Library">;   // not as loops: the Algorithm of kernels/library, for the
                                     // types of the operands; <Reference>Reference on tensors

/// `Structure`, `Dims`, `Values` (empty: element values are never known), `Lower` and
/// `Reference` are stems of C++ functions in namespace baton::ops: sumDims, sumElement.
class Operator<string name, list<Input> inputs, string stem> {
  string Name = name;
  list<Input> Inputs = inputs;
  list<Attr> Attrs = [];
  string Accessors = stem;                // stem of the attribute accessors: SumAttrs
  list<string> Aliases = [];              // other names found by the registry
  list<string> IgnoredAttrs = [];         // accepted in text and dropped
  FusionKind Fusion = ?;                  // none where Lowering is Legal or Library
  Failure Failure = Never;
  Lowering Lowering = ?;
  list<int> ValueInputs = [];             // inputs whose values the shape depends on
  string Counts = "";                     // documentation: what a result that is counted first has one of for each
  string Structure = stem;
  string Dims = stem;
  string Values = "";
  string Lower = stem;
  string Algorithm = "";                  // of kernels/library; where Lowering is Library
  string Reference = stem;
  string Summary = ?;                     // one sentence
  string Formula = ?;                     // in terms of input and attribute names; shown as code, so without backquotes,
                                          // and whole: none that refers to another operator
  string Errors = "";                     // beyond types, ranks and shapes that do not fit
}

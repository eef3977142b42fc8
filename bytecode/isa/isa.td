// The instruction set: one record per instruction, and nothing else anywhere. Numbers are
// explicit and append-only; a retired number stays reserved. `baton-tblgen` derives
// generated/{opcodes,instrs,descs}.inc and docs/isa.md from this file.
//
// Encoding. An instruction is a run of 16-bit units in 64-bit little-endian words: the
// opcode, then its operands in declared order (16-bit ones take one unit, 32-bit ones two
// and are aligned to two, 64-bit ones four and are aligned to four). A list puts its count
// there, as one unit; the elements of all lists follow the fixed part, in declared order,
// aligned to their own size. The last word is padded with zero units.
// A register operand is 15 bits of register and, in bit 15, its last use.

//===-- Vocabulary ----------------------------------------------------------===//

/// How an operand is encoded and what it does.
class OperandKind<string bank, int units, bit isList, bit isDef, bit isOwned> {
  string Bank = bank;   // "s", "r", or "imm"
  int Units = units;    // of one element
  bit IsList = isList;
  bit IsDef = isDef;      // writes the register
  bit IsOwned = isOwned;    // the receiver owns the reference it reads
}
def SUse : OperandKind<"s", 1, 0, 0, 0>;
def SDef : OperandKind<"s", 1, 0, 1, 0>;
def RUse : OperandKind<"r", 1, 0, 0, 0>;      // borrowed
def ROwn : OperandKind<"r", 1, 0, 0, 1>;
def RDef : OperandKind<"r", 1, 0, 1, 0>;
def SUseList : OperandKind<"s", 1, 1, 0, 0>;
def SDefList : OperandKind<"s", 1, 1, 1, 0>;
def RUseList : OperandKind<"r", 1, 1, 0, 0>;
def ROwnList : OperandKind<"r", 1, 1, 0, 1>;
def RDefList : OperandKind<"r", 1, 1, 1, 0>;
def DTypeImm : OperandKind<"imm", 1, 0, 0, 0>;   // a DType
def SmallImm : OperandKind<"imm", 1, 0, 0, 0>;   // axis, slot, constructor, log2 of an alignment, device
def FunctionRef : OperandKind<"imm", 2, 0, 0, 0>;
def KernelRef : OperandKind<"imm", 2, 0, 0, 0>;
def ConstantRef : OperandKind<"imm", 2, 0, 0, 0>;
def TypeRef : OperandKind<"imm", 2, 0, 0, 0>;    // an entry of the type table
def KindRef : OperandKind<"imm", 2, 0, 0, 0>;    // an entry of the kind table
def MessageRef : OperandKind<"imm", 2, 0, 0, 0>;
def Target : OperandKind<"imm", 2, 0, 0, 0>;     // word offset in the function
def TargetList : OperandKind<"imm", 2, 1, 0, 0>;
def Imm64 : OperandKind<"imm", 4, 0, 0, 0>;

/// What the generic part of the verifier knows of a register operand: a scalar dtype
/// ("i64"), a class of references ("tensor", "adt", "closure", "cell", "array", "storage"), or
/// "any", and then a hook decides.
class Operand<string name, OperandKind kind, string of = "any"> {
  string Name = name;
  OperandKind Kind = kind;
  string Of = of;
}

class Effect<string name> { string Name = name; }
def Terminator : Effect<"terminator">;   // ends a block
def MayFail : Effect<"mayFail">;         // can end the call with a program error
def Allocates : Effect<"allocates">;     // can end the call for lack of memory
def Calls : Effect<"calls">;             // enters or leaves a frame
def Writes : Effect<"writes">;           // changes an object that others may see

class Instruction<int number, string mnemonic, list<Operand> operands, string summary, string formula> {
  int Number = number;
  string Mnemonic = mnemonic;
  list<Operand> Operands = operands;
  string Summary = summary;
  string Formula = formula;
  list<Effect> Effects = [];
  /// The kinds of this instruction are not decided by its operands' `Of` alone.
  bit HasVerifyHook = ?;
  /// Minor version of the format in which it appeared.
  int Since = 1;
}
/// No instruction may leave the question of the hook open.
class Plain<int n, string m, list<Operand> o, string s, string f> : Instruction<n, m, o, s, f> { let HasVerifyHook = 0; }
class Hooked<int n, string m, list<Operand> o, string s, string f> : Instruction<n, m, o, s, f> { let HasVerifyHook = 1; }

/// Suffix is part of record names, Short of mnemonics; Index is the DType.
class ScalarType<string suffix, string short, int index> {
  string Suffix = suffix;
  string Short = short;
  int Index = index;
}
def TBool : ScalarType<"Bool", "bool", 0>;
def TI8 : ScalarType<"I8", "i8", 1>;
def TI16 : ScalarType<"I16", "i16", 2>;
def TI32 : ScalarType<"I32", "i32", 3>;
def TI64 : ScalarType<"I64", "i64", 4>;
def TU8 : ScalarType<"U8", "u8", 5>;
def TU16 : ScalarType<"U16", "u16", 6>;
def TU32 : ScalarType<"U32", "u32", 7>;
def TU64 : ScalarType<"U64", "u64", 8>;
def TF32 : ScalarType<"F32", "f32", 11>;
def TF64 : ScalarType<"F64", "f64", 12>;

defvar SignedTypes = [TI8, TI16, TI32, TI64];
defvar IntTypes = [TI8, TI16, TI32, TI64, TU8, TU16, TU32, TU64];
defvar FloatTypes = [TF32, TF64];
defvar NumberTypes = !listconcat(IntTypes, FloatTypes);

class Binary<int base, string name, ScalarType t, string formula>
    : Plain<!add(base, t.Index), name # "." # t.Short,
            [Operand<"dst", SDef, t.Short>, Operand<"a", SUse, t.Short>, Operand<"b", SUse, t.Short>],
            name # " of two " # t.Short, "dst = " # formula>;
class Unary<int base, string name, ScalarType t, string formula>
    : Plain<!add(base, t.Index), name # "." # t.Short,
            [Operand<"dst", SDef, t.Short>, Operand<"a", SUse, t.Short>],
            name # " of one " # t.Short, "dst = " # formula>;
class Compare<int base, string name, ScalarType t, string formula>
    : Plain<!add(base, t.Index), name # "." # t.Short,
            [Operand<"dst", SDef, "bool">, Operand<"a", SUse, t.Short>, Operand<"b", SUse, t.Short>],
            "compare two " # t.Short, "dst = " # formula>;

//===-- Control: 0x000 ------------------------------------------------------===//

let Effects = [Terminator] in {
def Jump : Plain<0x001, "jump", [Operand<"target", Target>], "go to a block", "pc = target">;
def Branch : Plain<0x002, "branch",
    [Operand<"condition", SUse, "bool">, Operand<"then", Target>, Operand<"otherwise", Target>],
    "go to one of two blocks", "pc = condition ? then : otherwise">;
def SwitchTag : Hooked<0x003, "switch_tag", [Operand<"value", RUse, "adt">, Operand<"targets", TargetList>],
    "go to the block of the value's constructor; one target per constructor", "pc = targets[tag(value)]">;
def Switch : Hooked<0x004, "switch", [Operand<"index", SUse, "i64">, Operand<"targets", TargetList>],
    "go to a block by number; the last target is for every other number",
    "pc = targets[0 <= index < n-1 ? index : n-1]">;
}
let Effects = [Terminator, Calls] in {
def Ret : Hooked<0x005, "ret", [Operand<"scalars", SUseList>, Operand<"references", ROwnList>],
    "leave the function with its results", "caller's results = scalars, references">;
def TailCall : Hooked<0x006, "tail_call",
    [Operand<"function", FunctionRef>, Operand<"scalars", SUseList>, Operand<"references", ROwnList>],
    "leave the function by calling another in its place", "return function(scalars, references)">;
def TailCallClosure : Hooked<0x007, "tail_call_closure",
    [Operand<"closure", ROwn, "closure">, Operand<"scalars", SUseList>, Operand<"references", ROwnList>],
    "leave the function by calling a closure in its place", "return closure(scalars, references)">;
}
let Effects = [Calls] in {
def Call : Hooked<0x008, "call",
    [Operand<"function", FunctionRef>, Operand<"scalars", SUseList>, Operand<"references", ROwnList>,
     Operand<"scalarResults", SDefList>, Operand<"referenceResults", RDefList>],
    "call a function", "scalarResults, referenceResults = function(scalars, references)">;
def CallClosure : Hooked<0x009, "call_closure",
    [Operand<"closure", ROwn, "closure">, Operand<"scalars", SUseList>, Operand<"references", ROwnList>,
     Operand<"scalarResults", SDefList>, Operand<"referenceResults", RDefList>],
    "call a closure, which becomes r0 of its function", "results = closure(scalars, references)">;
}
let Effects = [Terminator, MayFail] in
def Fail : Hooked<0x00a, "fail", [Operand<"message", MessageRef>, Operand<"values", SUseList>],
    "end the call with a program error", "error(message, values)">;
let Effects = [MayFail] in
def Check : Hooked<0x00b, "check",
    [Operand<"condition", SUse, "bool">, Operand<"message", MessageRef>, Operand<"values", SUseList>],
    "end the call with a program error unless the condition holds", "if (!condition) error(message, values)">;

//===-- Scalars: 0x020 .. 0x2ff ---------------------------------------------===//

def Const : Hooked<0x020, "const", [Operand<"dst", SDef>, Operand<"dtype", DTypeImm>, Operand<"value", Imm64>],
    "a scalar constant in its 64-bit form", "dst = value">;
def MoveScalar : Hooked<0x021, "move_scalar", [Operand<"dst", SDef>, Operand<"a", SUse>], "copy a scalar", "dst = a">;
def Select : Hooked<0x022, "select",
    [Operand<"dst", SDef>, Operand<"condition", SUse, "bool">, Operand<"a", SUse>, Operand<"b", SUse>],
    "one of two scalars", "dst = condition ? a : b">;
def Cast : Hooked<0x023, "cast",
    [Operand<"dst", SDef>, Operand<"a", SUse>, Operand<"from", DTypeImm>, Operand<"to", DTypeImm>],
    "convert a scalar: integers wrap, float to integer truncates and saturates, NaN gives 0", "dst = to(a)">;
def Bitcast : Hooked<0x024, "bitcast",
    [Operand<"dst", SDef>, Operand<"a", SUse>, Operand<"from", DTypeImm>, Operand<"to", DTypeImm>],
    "take the bits of a scalar for those of another type of the same size", "dst = bits(a) as to">;
let Effects = [MayFail] in {
def ExtentAdd : Plain<0x025, "extent_add",
    [Operand<"dst", SDef, "i64">, Operand<"a", SUse, "i64">, Operand<"b", SUse, "i64">],
    "sum of extents; an error on overflow or a negative result", "dst = a + b">;
def ExtentSub : Plain<0x026, "extent_sub",
    [Operand<"dst", SDef, "i64">, Operand<"a", SUse, "i64">, Operand<"b", SUse, "i64">],
    "difference of extents; an error on overflow or a negative result", "dst = a - b">;
def ExtentMul : Plain<0x027, "extent_mul",
    [Operand<"dst", SDef, "i64">, Operand<"a", SUse, "i64">, Operand<"b", SUse, "i64">],
    "product of extents; an error on overflow or a negative result", "dst = a * b">;
def CeilDivI64 : Plain<0x028, "ceil_div.i64",
    [Operand<"dst", SDef, "i64">, Operand<"a", SUse, "i64">, Operand<"b", SUse, "i64">],
    "quotient rounded up; an error on a zero divisor or overflow", "dst = ceil(a / b)">;
}
def AndBool : Binary<0x030, "and", TBool, "a && b">;
def OrBool : Binary<0x031, "or", TBool, "a || b">;
def XorBool : Binary<0x032, "xor", TBool, "a != b">;
def NotBool : Unary<0x033, "not", TBool, "!a">;

foreach t = NumberTypes in {
  def Add # t.Suffix : Binary<0x040, "add", t, "a + b">;
  def Sub # t.Suffix : Binary<0x050, "sub", t, "a - b">;
  def Mul # t.Suffix : Binary<0x060, "mul", t, "a * b">;
  def Min # t.Suffix : Binary<0x070, "min", t, "min(a, b); NaN wins, -0 < +0">;
  def Max # t.Suffix : Binary<0x080, "max", t, "max(a, b); NaN wins, -0 < +0">;
  def Neg # t.Suffix : Unary<0x090, "neg", t, "-a">;
  def Abs # t.Suffix : Unary<0x0a0, "abs", t, "|a|">;
  def Lt # t.Suffix : Compare<0x0b0, "lt", t, "a < b">;
  def Le # t.Suffix : Compare<0x0c0, "le", t, "a <= b">;
  def Eq # t.Suffix : Compare<0x0d0, "eq", t, "a == b">;
  def Ne # t.Suffix : Compare<0x0e0, "ne", t, "a != b">;
}
def EqBool : Compare<0x0d0, "eq", TBool, "a == b">;
def NeBool : Compare<0x0e0, "ne", TBool, "a != b">;

foreach t = IntTypes in {
  let Effects = [MayFail] in {
  def FloorDiv # t.Suffix : Binary<0x100, "floor_div", t, "floor(a / b); an error on zero and MIN / -1">;
  def FloorMod # t.Suffix : Binary<0x110, "floor_mod", t, "a - b * floor(a / b); an error on zero and MIN / -1">;
  def TruncDiv # t.Suffix : Binary<0x120, "trunc_div", t, "trunc(a / b); an error on zero and MIN / -1">;
  def TruncMod # t.Suffix : Binary<0x130, "trunc_mod", t, "a - b * trunc(a / b); an error on zero and MIN / -1">;
  }
  def And # t.Suffix : Binary<0x140, "and", t, "a & b">;
  def Or # t.Suffix : Binary<0x150, "or", t, "a | b">;
  def Xor # t.Suffix : Binary<0x160, "xor", t, "a ^ b">;
  def Shl # t.Suffix : Binary<0x170, "shl", t, "a << b; 0 when b is not below the width">;
  def Shr # t.Suffix : Binary<0x180, "shr", t, "a >> b; the sign, or 0, when b is not below the width">;
  def Not # t.Suffix : Unary<0x190, "not", t, "~a">;
}
foreach t = FloatTypes in {
  def Div # t.Suffix : Binary<0x1a0, "div", t, "a / b">;
  def FloorMod # t.Suffix : Binary<0x110, "floor_mod", t, "the remainder with the sign of b">;
  def TruncMod # t.Suffix : Binary<0x130, "trunc_mod", t, "the remainder with the sign of a, exact">;
  def Sqrt # t.Suffix : Unary<0x1b0, "sqrt", t, "sqrt(a), correctly rounded">;
  def Floor # t.Suffix : Unary<0x1c0, "floor", t, "floor(a)">;
  def Ceil # t.Suffix : Unary<0x1d0, "ceil", t, "ceil(a)">;
  def Trunc # t.Suffix : Unary<0x1e0, "trunc", t, "trunc(a)">;
  def Round # t.Suffix : Unary<0x1f0, "round", t, "the nearest integer, ties to even">;
}

//===-- References: 0x300 ---------------------------------------------------===//

def Move : Hooked<0x300, "move", [Operand<"dst", RDef>, Operand<"a", ROwn>],
    "move or copy a reference, as the last-use mark says", "dst = a">;
def Drop : Hooked<0x301, "drop", [Operand<"a", ROwn>], "end a value; the operand is its last use", "release(a)">;
def LoadConst : Hooked<0x302, "load_const", [Operand<"dst", RDef>, Operand<"constant", ConstantRef>],
    "a constant tensor; not counted", "dst = constants[constant]">;

//===-- Data: 0x320 ---------------------------------------------------------===//

let Effects = [Allocates] in {
def MakeAdt : Hooked<0x320, "make_adt",
    [Operand<"dst", RDef>, Operand<"constructor", SmallImm>, Operand<"type", TypeRef>,
     Operand<"references", ROwnList>, Operand<"scalars", SUseList>],
    "build a value of a data type or a tuple", "dst = constructor(references, scalars)">;
def MakeClosure : Hooked<0x321, "make_closure",
    [Operand<"dst", RDef>, Operand<"function", FunctionRef>, Operand<"references", ROwnList>, Operand<"scalars", SUseList>],
    "build a closure over captured values", "dst = closure(function, references, scalars)">;
def CellNewRef : Hooked<0x322, "cell_new_ref", [Operand<"dst", RDef>, Operand<"kind", KindRef>, Operand<"value", ROwn>],
    "a mutable cell that holds a reference", "dst = cell(value)">;
def CellNewScalar : Hooked<0x323, "cell_new_scalar", [Operand<"dst", RDef>, Operand<"kind", KindRef>, Operand<"value", SUse>],
    "a mutable cell that holds a scalar", "dst = cell(value)">;
}
def GetTag : Plain<0x324, "get_tag", [Operand<"dst", SDef, "i64">, Operand<"value", RUse, "adt">],
    "the number of a value's constructor", "dst = tag(value)">;
let Effects = [MayFail] in {
def GetFieldRef : Hooked<0x325, "get_field_ref",
    [Operand<"dst", RDef>, Operand<"value", RUse, "adt">, Operand<"constructor", SmallImm>, Operand<"slot", SmallImm>],
    "a reference field; an error unless the value has this constructor", "dst = value.references[slot]">;
def GetFieldScalar : Hooked<0x326, "get_field_scalar",
    [Operand<"dst", SDef>, Operand<"value", RUse, "adt">, Operand<"constructor", SmallImm>, Operand<"slot", SmallImm>],
    "a scalar field; an error unless the value has this constructor", "dst = value.scalars[slot]">;
}
def CaptureRef : Hooked<0x327, "capture_ref", [Operand<"dst", RDef>, Operand<"closure", RUse, "closure">, Operand<"slot", SmallImm>],
    "a captured reference; the closure's function is known from its kind", "dst = closure.references[slot]">;
def CaptureScalar : Hooked<0x328, "capture_scalar", [Operand<"dst", SDef>, Operand<"closure", RUse, "closure">, Operand<"slot", SmallImm>],
    "a captured scalar", "dst = closure.scalars[slot]">;
let Effects = [MayFail] in
def CellReadRef : Hooked<0x329, "cell_read_ref", [Operand<"dst", RDef>, Operand<"cell", RUse, "cell">],
    "the reference in a cell; an error when it is empty", "dst = *cell">;
def CellReadScalar : Hooked<0x32a, "cell_read_scalar", [Operand<"dst", SDef>, Operand<"cell", RUse, "cell">],
    "the scalar in a cell", "dst = *cell">;
let Effects = [Writes] in {
def CellWriteRef : Hooked<0x32b, "cell_write_ref", [Operand<"cell", RUse, "cell">, Operand<"value", ROwn>],
    "replace the reference in a cell, or fill one that is empty", "*cell = value">;
def CellWriteScalar : Hooked<0x32c, "cell_write_scalar", [Operand<"cell", RUse, "cell">, Operand<"value", SUse>],
    "replace the scalar in a cell", "*cell = value">;
}
let Effects = [MayFail, Writes], Since = 3 in
def CellTakeRef : Hooked<0x32d, "cell_take_ref", [Operand<"dst", RDef>, Operand<"cell", RUse, "cell">],
    "move the reference out of a cell, which is empty until it is written; an error when it is empty already",
    "dst = *cell; *cell = nothing">;

//===-- Arrays: 0x340 -------------------------------------------------------===//

def ArrayNew : Hooked<0x340, "array_new", [Operand<"dst", RDef>, Operand<"kind", KindRef>],
    "an array without elements, which will have elements of this kind", "dst = []">;
def ArrayLength : Plain<0x341, "array_length", [Operand<"dst", SDef, "i64">, Operand<"array", RUse, "array">],
    "the number of elements", "dst = length(array)">;
let Effects = [Allocates, MayFail] in {
def ArrayPushRef : Hooked<0x342, "array_push_ref",
    [Operand<"dst", RDef>, Operand<"array", ROwn, "array">, Operand<"value", ROwn>],
    "the array with a reference more at its end; in place when nobody else can see it, amortised by doubling the capacity",
    "dst = array + [value]">;
def ArrayPushScalar : Hooked<0x343, "array_push_scalar",
    [Operand<"dst", RDef>, Operand<"array", ROwn, "array">, Operand<"value", SUse>],
    "the array with a scalar more at its end; in place when nobody else can see it, amortised by doubling the capacity",
    "dst = array + [value]">;
}
let Effects = [MayFail] in {
def ArrayGetRef : Hooked<0x344, "array_get_ref",
    [Operand<"dst", RDef>, Operand<"array", RUse, "array">, Operand<"index", SUse, "i64">],
    "a reference in an array; an error when there is no such element", "dst = array[index]">;
def ArrayGetScalar : Hooked<0x345, "array_get_scalar",
    [Operand<"dst", SDef>, Operand<"array", RUse, "array">, Operand<"index", SUse, "i64">],
    "a scalar in an array; an error when there is no such element", "dst = array[index]">;
}
let Effects = [Allocates, MayFail] in {
def ArraySetRef : Hooked<0x346, "array_set_ref",
    [Operand<"dst", RDef>, Operand<"array", ROwn, "array">, Operand<"index", SUse, "i64">, Operand<"value", ROwn>],
    "the array with one reference replaced; in place when nobody else can see it", "dst = array with [index] = value">;
def ArraySetScalar : Hooked<0x347, "array_set_scalar",
    [Operand<"dst", RDef>, Operand<"array", ROwn, "array">, Operand<"index", SUse, "i64">, Operand<"value", SUse>],
    "the array with one scalar replaced; in place when nobody else can see it", "dst = array with [index] = value">;
def StackArray : Hooked<0x348, "stack_array",
    [Operand<"dst", RDef>, Operand<"array", RUse, "array">, Operand<"dtype", DTypeImm>, Operand<"extents", SUseList, "i64">],
    "a tensor whose rows are the elements, which must have one shape; the extents are those of a row, which an array without elements cannot tell: a negative one is taken from the elements",
    "dst = stack(array[0], array[1], ...)">;
def ConcatArray : Hooked<0x349, "concat_array",
    [Operand<"dst", RDef>, Operand<"array", RUse, "array">, Operand<"dtype", DTypeImm>, Operand<"extents", SUseList, "i64">],
    "the rows of all elements one after another; the extents are those of a row, as in stack_array",
    "dst = concatenate(array[0], array[1], ...)">;
def UnstackArray : Hooked<0x34a, "unstack_array",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"kind", KindRef>],
    "the rows of a tensor as an array: scalars, or views", "dst = [source[0], source[1], ...]">;
def SplitArray : Hooked<0x34b, "split_array",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"counts", RUse, "tensor">, Operand<"kind", KindRef>],
    "views of so many rows each, one after another; an error unless the counts add up to the rows",
    "dst = [source[0 : counts[0]], source[counts[0] : counts[0] + counts[1]], ...]">;
}

//===-- Tensors: 0x360 ------------------------------------------------------===//

let Effects = [Allocates, MayFail] in {
def AllocTensor : Hooked<0x360, "alloc_tensor",
    [Operand<"dst", RDef>, Operand<"dtype", DTypeImm>, Operand<"device", SmallImm>, Operand<"extents", SUseList, "i64">],
    "a fresh tensor, contents undefined", "dst = tensor(dtype, extents)">;
def AllocStorage : Hooked<0x361, "alloc_storage",
    [Operand<"dst", RDef>, Operand<"sizeBytes", SUse, "i64">, Operand<"alignmentLog2", SmallImm>, Operand<"device", SmallImm>],
    "a fresh region of memory", "dst = storage(sizeBytes)">;
def TensorAt : Hooked<0x362, "tensor_at",
    [Operand<"dst", RDef>, Operand<"storage", RUse, "storage">, Operand<"offsetBytes", SUse, "i64">,
     Operand<"dtype", DTypeImm>, Operand<"extents", SUseList, "i64">],
    "a tensor inside a storage; an error when it does not fit", "dst = tensor(storage + offsetBytes, extents)">;
def AllocReuse : Hooked<0x363, "alloc_reuse",
    [Operand<"dst", RDef>, Operand<"source", RUse, "tensor">, Operand<"dtype", DTypeImm>, Operand<"extents", SUseList, "i64">],
    "a tensor over the source's memory when nobody else can see it and the extents and element size agree; a fresh one otherwise",
    "dst = unique(source) && same shape ? tensor(memory(source)) : tensor(dtype, extents)">;
}
def Dim : Hooked<0x364, "dim", [Operand<"dst", SDef, "i64">, Operand<"tensor", RUse, "tensor">, Operand<"axis", SmallImm>],
    "an extent of a tensor", "dst = extents(tensor)[axis]">;
let Effects = [MayFail] in
def ExpectTensor : Hooked<0x365, "expect_tensor",
    [Operand<"tensor", RUse, "tensor">, Operand<"message", MessageRef>, Operand<"extents", SUseList, "i64">],
    "an error unless the tensor has these extents; a negative one fits everything",
    "if (extents(tensor) != extents) error(message)">;
let Effects = [Allocates, MayFail] in {
def Reshape : Hooked<0x366, "reshape",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"extents", SUseList, "i64">],
    "a view with other extents and as many elements", "dst = view(source, extents)">;
def SliceOuter : Hooked<0x367, "slice_outer",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"start", SUse, "i64">, Operand<"count", SUse, "i64">],
    "a view of `count` rows", "dst = source[start : start + count]">;
def IndexOuter : Hooked<0x368, "index_outer",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"index", SUse, "i64">],
    "a view of one row, of rank one less", "dst = source[index]">;
def StoreOuter : Hooked<0x369, "store_outer",
    [Operand<"dst", RDef>, Operand<"target", ROwn, "tensor">, Operand<"index", SUse, "i64">, Operand<"row", RUse, "tensor">],
    "the target with one row replaced; in place when nobody else can see it", "dst = target with [index] = row">;
def StoreOuterScalar : Hooked<0x36a, "store_outer_scalar",
    [Operand<"dst", RDef>, Operand<"target", ROwn, "tensor">, Operand<"index", SUse, "i64">, Operand<"value", SUse>],
    "a rank-1 target with one element replaced; in place when nobody else can see it", "dst = target with [index] = value">;
def ExtendOuter : Hooked<0x36b, "extend_outer",
    [Operand<"dst", RDef>, Operand<"source", ROwn, "tensor">, Operand<"extent", SUse, "i64">],
    "the source with more rows, the new ones undefined; amortised by doubling the capacity", "dst = source resized to extent rows">;
}
let Effects = [MayFail] in
def LoadScalar : Hooked<0x36c, "load_scalar",
    [Operand<"dst", SDef>, Operand<"tensor", RUse, "tensor">, Operand<"indices", SUseList, "i64">],
    "one element, by an index per axis", "dst = tensor[indices]">;
let Effects = [Allocates] in
def BoxScalar : Hooked<0x36d, "box_scalar", [Operand<"dst", RDef>, Operand<"value", SUse>, Operand<"dtype", DTypeImm>],
    "a tensor of rank 0", "dst = tensor(value)">;

//===-- Kernels: 0x3a0 ------------------------------------------------------===//

let Effects = [MayFail, Writes] in
def CallKernel : Hooked<0x3a0, "call_kernel",
    [Operand<"kernel", KernelRef>, Operand<"inputs", RUseList, "tensor">, Operand<"outputs", RUseList, "tensor">,
     Operand<"scalars", SUseList>, Operand<"scalarResults", SDefList>],
    "run a kernel; its descriptor is checked first", "outputs, scalarResults = kernel(inputs, scalars)">;

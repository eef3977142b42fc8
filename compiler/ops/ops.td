// All operators.
include "op.td"
include "arithmetic.td"
include "unary.td"
include "reduction.td"
include "matmul.td"
include "transform.td"

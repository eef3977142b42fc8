// All twins for one CPU level: BATON_TWIN_LEVEL is its name, BATON_TWIN_SYMBOL the table's.
#include "benchmarks/twins/twins.h"

#include "benchmarks/twins/arrange.h"
#include "benchmarks/twins/elementwise.h"
#include "benchmarks/twins/gemm.h"
#include "benchmarks/twins/limits.h"
#include "benchmarks/twins/reduction.h"
#include "benchmarks/twins/rows.h"

extern "C" const baton::benchmarks::Twins BATON_TWIN_SYMBOL;
const baton::benchmarks::Twins BATON_TWIN_SYMBOL = {
    .level = BATON_TWIN_LEVEL,
    .lanes = kLanes,
    .scaledRelu = scaledRelu,
    .gelu = gelu,
    .lstmCell = lstmCell,
    .sum = sum,
    .max = max,
    .rowSums = rowSums,
    .rowMaxima = rowMaxima,
    .columnSums = columnSums,
    .transpose = transpose,
    .take = take,
    .softmax = softmax,
    .layerNorm = layerNorm,
    .packedGemm = packedGemm,
    .multiplyAddsPerTurn = kChains * kLanes,
    .multiplyAdd = multiplyAdd,
    .issuesPerTurn = 4 * kMixed,
    .issue = issue,
    .divisionsPerTurn = 4,
    .divide = divide,
    .read = read,
    .copy = copy,
    .stream = stream,
};

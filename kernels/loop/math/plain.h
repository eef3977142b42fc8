// The transcendental functions on float and double: the same bits as compiled and interpreted
// kernels give. For reference versions, scalar instructions and constant folding.
#pragma once

namespace baton::math {

float exp(float x);
double exp(double x);
float log(float x);
double log(double x);
float tanh(float x);
double tanh(double x);
float sigmoid(float x);
double sigmoid(double x);
float erf(float x);
double erf(double x);
float rsqrt(float x);
double rsqrt(double x);

}  // namespace baton::math

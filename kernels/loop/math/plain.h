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
/// |x| up to 2^48 in double; any float.
float sin(float x);
double sin(double x);
float cos(float x);
double cos(double x);
float tan(float x);
double tan(double x);
float asin(float x);
double asin(double x);
float acos(float x);
double acos(double x);
float atan(float x);
double atan(double x);
float sinh(float x);
double sinh(double x);
float cosh(float x);
double cosh(double x);
float asinh(float x);
double asinh(double x);
float acosh(float x);
double acosh(double x);
float atanh(float x);
double atanh(double x);
float log2(float x);
double log2(double x);
float log10(float x);
double log10(double x);
float pow(float x, float y);
double pow(double x, double y);

}  // namespace baton::math

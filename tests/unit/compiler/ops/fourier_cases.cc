// Random calls of Fourier transforms.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

void addFourierMakers(Makers& makers) {
  makers["dft"] = [](Random& random) {
    const DType dtype = random.pick(kFloats);
    Ints shape;
    for (int64_t i = random.between(0, 2); i > 0; --i) shape.push_back(random.pick<int64_t>({0, 1, 2, 3}));
    shape.push_back(random.pick<int64_t>({0, 1, 2, 3, 5, 8, 9}));
    Case c{{random.tensor(dtype, shape), random.tensor(dtype, shape)}, {}};
    c.attrs.set("inverse", random.chance(50));
    return c;
  };
  makers["stft"] = [](Random& random) {
    const DType dtype = random.pick(kFloats);
    const int64_t length = random.between(1, 9);
    const int64_t window = random.chance(50) ? length : random.between(1, length);
    Ints shape;
    if (random.chance(50)) shape.push_back(random.between(0, 2));
    shape.push_back(length + random.between(random.chance(5) ? -1 : 0, 12));
    Case c{{random.tensor(dtype, shape)}, {}};
    if (random.chance(60)) c.inputs.push_back(random.tensor(dtype, {window}));
    c.attrs.set("n_fft", length);
    if (random.chance(60)) c.attrs.set("hop_length", random.between(1, 5));
    if (window != length || random.chance(50)) c.attrs.set("win_length", window);
    c.attrs.set("normalized", random.chance(50));
    c.attrs.set("onesided", random.chance(50));
    return c;
  };
}

}  // namespace baton::ops::test

// Relations of layers over sequences, attention and Fourier transforms.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall onAll(std::string_view name, const std::vector<Dims>& inputs) {
  TypedCall call(name);
  for (const Dims& dims : inputs) call.on(DType::F32, dims);
  return call;
}

}  // namespace

TEST_CASE("layers over sequences") {
  const std::vector<Dims> lstm = {{n, m, dim(3)}, {dim(8), dim(3)}, {dim(8), dim(2)}};
  TypedCall call = onAll("lstm", lstm);
  CHECK(call.type() == "float32(n, m, 2); float32(m, 2); float32(m, 2)");
  CHECK(call.checks().empty());
  CHECK(onAll("lstm", lstm).with("layout", std::string("NTC")).type() ==
        "float32(n, m, 2); float32(n, 2); float32(n, 2)");
  CHECK(onAll("gru", {{n, m, dim(3)}, {dim(6), dim(3)}, {dim(6), dim(2)}, {dim(6)}, {dim(6)}, {m, dim(2)}})
            .type() == "float32(n, m, 2); float32(m, 2)");
  CHECK(onAll("lstm", {{n, m, dim(3)}, {dim(8), dim(4)}, {dim(8), dim(2)}}).type() ==
        "error: lstm: dimension 1 of the weight is 4; expected 3");
  CHECK(onAll("lstm", {{n, m, dim(3)}, {dim(8), dim(3)}, {dim(6), dim(2)}}).type() ==
        "error: lstm: dimension 0 of the recurrent weight is 6; expected 8");
  CHECK(onAll("gru", {{n, m, dim(3)}, {dim(6), dim(3)}, {dim(6), dim(2)}, {dim(2)}}).type() ==
        "error: gru: dimension 0 of the bias is 2; expected 6");
  CHECK(onAll("lstm", lstm).with("gates", std::string("iofc")).type() ==
        "error: lstm: gates is \"iofc\"; expected the letters of \"ifgo\" in any order");
  CHECK(onAll("lstm", lstm).with("layout", std::string("CNT")).type() ==
        "error: lstm: layout is \"CNT\"; expected \"TNC\" or \"NTC\"");
  CHECK(onAll("lstm", lstm).with("direction", std::string("both")).type() ==
        "error: lstm: direction is \"both\"; expected \"forward\" or \"reverse\"");
}

TEST_CASE("attention over sequences") {
  const std::vector<Dims> plain = {{n, m, dim(4)}, {n, symbol(2), dim(4)}, {n, symbol(2), dim(5)}};
  CHECK(onAll("attention", plain).type() == "float32(n, m, 5)");
  CHECK(onAll("attention", plain).on(DType::Bool, Dims{m, symbol(2)}).type() == "float32(n, m, 5)");
  TypedCall masked = onAll("attention", plain);
  CHECK(masked.on(DType::F32, Dims{dim(1), dim(3)}).type() == "float32(n, m, 5)");
  CHECK(masked.checks() == Strings{"3 == k"});
  CHECK(onAll("attention", plain).on(DType::I32, Dims{m, symbol(2)}).type() ==
        "error: attention: the mask has element type int32; expected bool or that of the query, float32");
  CHECK(onAll("attention", plain).on(DType::Bool, Dims{m, m, m, m}).type() ==
        "error: attention: the mask has rank 4; expected at most that of the query, 3");
  CHECK(onAll("attention", {{n}, {n}, {n}}).type() ==
        "error: attention: the query has rank 1; expected 2 or more");
  CHECK(onAll("attention", {{n, dim(4)}, {m, dim(3)}, {m, dim(5)}}).type() ==
        "error: attention: dimension 1 of the key (3) does not match that of the query (4)");
  CHECK(onAll("attention", {{dim(2), dim(4)}, {dim(3), dim(4)}, {dim(3), dim(5)}})
            .on(DType::Bool, {2, 2})
            .type() == "error: attention: dimension 1 of the mask is 2; expected 1 or 3");
}

TEST_CASE("transforms") {
  CHECK(onAll("dft", {{n, m}, {n, m}}).type() == "float32(n, m); float32(n, m)");
  CHECK(onAll("dft", {{dim(3)}, {dim(2)}}).type() ==
        "error: dft: dimension 0 of the real part (3) does not match that of the imaginary part (2)");
  CHECK(onAll("dft", {{}, {}}).type() == "error: dft: the real part is a scalar; expected rank 1 or more");
  const auto stft = [](int64_t length, const std::vector<Dims>& inputs) {
    TypedCall call = onAll("stft", inputs);
    call.with("n_fft", length);
    return call;
  };
  CHECK(stft(8, {{n, dim(20)}}).type() == "float32(n, 5, 7, 2)");
  CHECK(stft(8, {{dim(20)}}).with("onesided", false).with("hop_length", int64_t{3}).type() ==
        "float32(8, 5, 2)");
  TypedCall any = stft(8, {{n}, {dim(8)}});
  CHECK(any.type() == "float32(5, floor_div(n, 2) - 3, 2)");
  CHECK(any.checks() == Strings{"n >= 8"});
  CHECK(stft(8, {{dim(7)}}).type() == "error: stft: the data has 7 elements; expected n_fft, 8, or more");
  CHECK(stft(8, {{dim(8)}, {dim(7)}}).type() == "error: stft: the window has 7 elements; expected 8");
  CHECK(stft(0, {{n}}).type() == "error: stft: n_fft is 0; expected 1 to 1048576");
  CHECK(stft(8, {{n}}).with("hop_length", int64_t{0}).type() ==
        "error: stft: hop_length is 0; expected 1 or more");
  CHECK(stft(8, {{n}}).with("win_length", int64_t{9}).type() ==
        "error: stft: win_length is 9; expected 1 to n_fft, 8");
  CHECK(stft(8, {{n, n, n}}).type() == "error: stft: the data has rank 3; expected 1 or 2");
}

// Fourier transforms.

def : Operator<"dft", [Input<"real part", Float>, Input<"imaginary part", Float>], "dft"> {
  let Lowering = Legal;
  let Attrs = [Attr<"inverse", BoolAttr, "False", "The inverse transform, which divides by the number of elements">];
  let Summary = "Discrete Fourier transform along the last axis, as a product with the matrix of the transform, in the type of accumulation; its elements are computed in float64";
  let Formula = "re + i im = sum over k of (re[k] + i im[k]) exp(-+ 2 pi i j k / n), divided by n where inverse";
  let Errors = "Scalars; parts of different shapes";
}
def : Operator<"stft", [Input<"data", Float>, OptionalInput<"window", Float>], "stft"> {
  let Lowering = Legal;
  let Attrs = [
    RequiredAttr<"n_fft", IntAttr, "How many elements are transformed at a time">,
    Attr<"hop_length", IntAttr, "None", "How far it is from one piece to the next. None: a quarter of n_fft">,
    Attr<"win_length", IntAttr, "None", "Length of the window, which stands in the middle of zeros where it is less than n_fft. None: n_fft">,
    Attr<"normalized", BoolAttr, "False", "The results are divided by the square root of n_fft">,
    Attr<"onesided", BoolAttr, "True", "Only the first n_fft / 2 + 1 frequencies: those of a real signal repeat">,
  ];
  let Summary = "Short-time Fourier transform of a signal, or of each row of a matrix: the transforms of pieces of it, multiplied with a window. Without a window all elements count alike";
  let Formula = "y[..., j, t, :] = (re, im) of sum over k of window[k] data[..., t hop_length + k] exp(-2 pi i j k / n_fft)";
  let Errors = "Data of another rank than 1 or 2, or shorter than n_fft; lengths below 1; a window that is longer than n_fft, or not of its length";
}

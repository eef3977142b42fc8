"""Writes `operators_boxes.relay` and `operators_suppression.relay`: what tensors hold at boxes, boxes that are decoded,
and boxes that stay beside each other. In float64, with numbers that float32 has too."""
import itertools
import math

import numpy as np

from cases import Program, rng, tame
from values import Tensor, like

TOLERANCE = 2e-5


def eighths(low, high, *shape):
    """Numbers of which float32 has the sums and the products."""
    return np.asarray(rng.integers(low * 8, high * 8 + 1, shape)) / 8


def linear(a, y, x):
    """a: (channels, h, w)."""
    h, w = a.shape[1:]
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = math.floor(y), math.floor(x)
    t, u = y - i, x - j
    k, m = min(i + 1, h - 1), min(j + 1, w - 1)
    return (a[:, i, j] * (1 - t) * (1 - u) + a[:, i, m] * (1 - t) * u + a[:, k, j] * t * (1 - u) + a[:, k, m] * t * u)


def roi_align(a, rois, size, scale, ratio, mode):
    out = np.zeros((len(rois), a.shape[1], *size))
    for k, (batch, x1, y1, x2, y2) in enumerate(rois):
        x1, y1, x2, y2 = (v * scale for v in (x1, y1, x2, y2))
        h, w = max(y2 - y1, 1) / size[0], max(x2 - x1, 1) / size[1]
        n, m = (ratio, ratio) if ratio > 0 else (math.ceil(h), math.ceil(w))
        for i, j in np.ndindex(*size):
            found = []
            for p, q in np.ndindex(n, m):
                y, x = y1 + (i + (p + 0.5) / n) * h, x1 + (j + (q + 0.5) / m) * w
                outside = y < -1 or x < -1 or y > a.shape[2] or x > a.shape[3]
                found.append(np.zeros(a.shape[1]) if outside else linear(a[int(batch)], y, x))
            out[k, :, i, j] = np.mean(found, 0) if mode == "avg" else np.max(found, 0)
    return out


def away(v):
    return int(math.copysign(math.floor(abs(v) + 0.5), v))


def roi_pool(a, rois, size, scale):
    out = np.zeros((len(rois), a.shape[1], *size))
    for k, (batch, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (away(v * scale) for v in corners)
        h, w = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i, j in np.ndindex(*size):
            rows = range(max(y1 + i * h // size[0], 0), min(y1 + -(-(i + 1) * h // size[0]), a.shape[2]))
            columns = range(max(x1 + j * w // size[1], 0), min(x1 + -(-(j + 1) * w // size[1]), a.shape[3]))
            if len(rows) and len(columns):
                out[k, :, i, j] = a[int(batch)][:, rows][:, :, columns].max((1, 2))
    return out


def rois(p):
    for layout, scale in (("NCHW", 0.5), ("NHWC", 1.0)):
        x = tame("float32", *((2, 2, 4, 5) if layout == "NCHW" else (2, 4, 5, 2)))
        a = (x.a if layout == "NCHW" else np.moveaxis(x.a, 3, 1)).astype(np.float64)
        r = np.array([[0, 0, 0, 6, 5], [1, 1.25, 2.5, 3, 3], [-1, -4.5, -3, 12, 9], [0, 2, 2, 1, 1], [1, 9, 9, 30, 30]])
        back = lambda v: v if layout == "NCHW" else np.moveaxis(v, 1, 3)
        results = []
        for mode, ratio in (("avg", -1), ("max", 2), ("avg", 3)):
            results.append((f'vision.roi_align(%x, %r, pooled_size=[2, 3], spatial_scale={scale}f, sample_ratio={ratio}, layout="{layout}", mode="{mode}")',
                            like(x, back(roi_align(a, r, (2, 3), scale, ratio, mode)))))
        results.append((f'vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale={scale}f, layout="{layout}")',
                        like(x, back(roi_pool(a, r, (3, 2), scale)))))
        p.case(f"rois_{layout}", results, {"x": x, "r": Tensor("float32", r)}, TOLERANCE)
    p.define("wrong_batch", ["%x: Tensor[(n, 1, 2, 2), float32]", "%r: Tensor[(k, 5), float32]"],
             ["vision.roi_align(%x, %r, pooled_size=[1, 1], spatial_scale=1f)", "vision.roi_pool(%x, %r, pooled_size=[1, 1], spatial_scale=1f)"])
    p.fails("wrong_batch", {"x": tame("float32", 1, 1, 2, 2), "r": Tensor("float32", [[1, 0, 0, 1, 1]])}, "an index is out of range")
    p.run("wrong_batch", {"x": tame("float32", 1, 1, 2, 2), "r": Tensor("float32", np.zeros((0, 5)))},
          [Tensor("float32", np.zeros((0, 1, 1, 1)))] * 2)


def priors(p):
    x = tame("float32", 1, 1, 2, 3)
    for name, attrs, sizes, ratios, steps, offsets, clip in (
            ("plain", "", [1], [1], [-1, -1], [0.5, 0.5], False),
            ("several", "sizes=[0.5f, 0.25f], ratios=[1f, 2f, 0.5f], clip=True", [0.5, 0.25], [1, 2, 0.5], [-1, -1], [0.5, 0.5], True),
            ("stepped", "ratios=[1f, 4f], steps=[0.25f, 0.5f], offsets=[0f, 1f]", [1], [1, 4], [0.25, 0.5], [0, 1], False)):
        h, w = 2, 3
        rows = []
        for i, j in np.ndindex(h, w):
            cy = (i + offsets[0]) * (steps[0] if steps[0] > 0 else 1 / h)
            cx = (j + offsets[1]) * (steps[1] if steps[1] > 0 else 1 / w)
            for s, r in [(s, 1) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]:
                half = s * h / w * math.sqrt(r) / 2, s / math.sqrt(r) / 2
                rows.append([cx - half[0], cy - half[1], cx + half[0], cy + half[1]])
        rows = np.array(rows)
        p.case(f"priors_{name}", [(f"vision.multibox_prior(%x{', ' if attrs else ''}{attrs})", Tensor("float32", [np.clip(rows, 0, 1) if clip else rows]))],
               {"x": x}, TOLERANCE)


def decoded(p):
    c = Tensor("float32", rng.integers(0, 64, (2, 3, 4)) / 64)
    l = Tensor("float32", eighths(-1, 1, 2, 16))
    a = Tensor("float32", [[[0, 0, 0.5, 0.5], [0.25, 0.25, 0.75, 1], [0.5, 0, 1, 0.25], [0, 0, 1, 1]]])
    for name, threshold, clip, keep, v in (("plain", 0.5, True, False, [0.1, 0.1, 0.2, 0.2]), ("kept", 0.25, False, True, [1, 0.5, 0.25, 1])):
        every, counts, kept = [], [], []
        for b in range(2):
            rows = []
            for j in range(4):
                scores = [c.a[b, k, j] if k or keep else -1 for k in range(3)]
                klass = int(np.argmax(scores))
                if scores[klass] < threshold:
                    best, klass = scores[klass], 0
                else:
                    best = scores[klass]
                x1, y1, x2, y2 = a.a[0, j]
                px, py, pw, ph = l.a[b, 4 * j:4 * j + 4]
                ox, oy = px * v[0] * (x2 - x1) + (x1 + x2) / 2, py * v[1] * (y2 - y1) + (y1 + y2) / 2
                ow, oh = math.exp(pw * v[2]) * (x2 - x1) / 2, math.exp(ph * v[3]) * (y2 - y1) / 2
                box = [ox - ow, oy - oh, ox + ow, oy + oh]
                rows.append([klass if keep else klass - 1, best] + (list(np.clip(box, 0, 1)) if clip else box))
            stay = [row for row in rows if row[0] >= 0]
            every.append(rows)
            counts.append(len(stay))
            kept.append(stay + [[-1] * 6] * (4 - len(stay)))
        attrs = f"clip={clip}, threshold={threshold}f, variances=[{', '.join(f'{float(x)}f' for x in v)}], keep_background={keep}"
        p.case(f"decoded_{name}", [(f"vision.multibox_decode(%c, %l, %a, {attrs})", Tensor("float32", every)),
                                   (f"vision.multibox_transform_loc(%c, %l, %a, {attrs})", (Tensor("float32", kept), Tensor("int32", counts)))],
               {"c": c, "l": l, "a": a}, TOLERANCE)


def anchor(ratio, scale, stride):
    middle = 0.5 * (stride - 1)
    side = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
    w, h = side * scale, math.floor(side * ratio + 0.5) * scale
    return [middle - 0.5 * (w - 1), middle - 0.5 * (h - 1), middle + 0.5 * (w - 1), middle + 0.5 * (h - 1)]


def pixels(a, b):
    w = max(0, min(a[2], b[2]) - max(a[0], b[0]) + 1)
    h = max(0, min(a[3], b[3]) - max(a[1], b[1]) + 1)
    area = lambda r: (r[2] - r[0] + 1) * (r[3] - r[1] + 1)
    return w * h / (area(a) + area(b) - w * h)


def proposals(p):
    scales, ratios, stride = [2.0, 4.0], [0.5, 1.0], 8
    anchors = [anchor(r, s, stride) for r in ratios for s in scales]
    c = Tensor("float32", rng.permutation(2 * 8 * 2 * 3).reshape(2, 8, 2, 3) / 128)
    d = Tensor("float32", eighths(-1, 1, 2, 16, 2, 3) / 4)
    info = Tensor("float32", [[16, 24, 1], [16, 20, 0.5]])
    for iou in (False, True):
        every, chosen = [], []
        for b in range(2):
            rows = []
            for h, w, k in np.ndindex(2, 3, 4):
                x1, y1, x2, y2 = (v + (w, h)[i % 2] * stride for i, v in enumerate(anchors[k]))
                dx, dy, dw, dh = d.a[b, 4 * k:4 * k + 4, h, w].astype(np.float64)
                if iou:
                    box = [x1 + dx, y1 + dy, x2 + dw, y2 + dh]
                else:
                    bw, bh = x2 - x1 + 1, y2 - y1 + 1
                    px, py = dx * bw + x1 + 0.5 * (bw - 1), dy * bh + y1 + 0.5 * (bh - 1)
                    pw, ph = math.exp(dw) * bw, math.exp(dh) * bh
                    box = [px - 0.5 * (pw - 1), py - 0.5 * (ph - 1), px + 0.5 * (pw - 1), py + 0.5 * (ph - 1)]
                ih, iw, scale = map(float, info.a[b])
                box = [max(min(v, (iw, ih)[i % 2] - 1), 0) for i, v in enumerate(box)]
                score = float(c.a[b, 4 + k, h, w])
                if h >= int(ih / stride) or w >= int(iw / stride):
                    score = -1.0
                least = scale * 12
                if box[2] - box[0] + 1 < least or box[3] - box[1] + 1 < least:
                    box = [v - least / 2 for v in box[:2]] + [v + least / 2 for v in box[2:]]
                    score = -1.0
                rows.append(box + [score])
            every.append(rows)
            best = sorted(rows, key=lambda row: -row[4])[:20]
            stay = []
            for row in best:
                if all(pixels(row, other) <= 0.6 for other in stay):
                    stay.append(row)
            chosen += [[b] + stay[i % len(stay)][:4] for i in range(7)]
        attrs = f"scales=[2f, 4f], ratios=[0.5f, 1f], feature_stride=8, rpn_min_size=12, iou_loss={iou}"
        p.case(f"proposals_{iou}", [(f"vision.proposal_boxes(%c, %d, %i, {attrs})", Tensor("float32", every)),
                                    (f"vision.proposal(%c, %d, %i, {attrs}, threshold=0.6f, rpn_pre_nms_top_n=20, rpn_post_nms_top_n=7)", Tensor("float32", chosen))],
               {"c": c, "d": d, "i": info}, TOLERANCE)
    rows = Tensor("float32", [[[0, 0, 9, 9, 0.5], [0, 0, 9, 8, 0.75], [20, 20, 29, 29, 0.25]]])
    p.case("proposal_kernel", [("library.proposal(%r, 0i64, 4i64, 0.5f64)", Tensor("float32", [[0, 0, 0, 9, 8], [0, 20, 20, 29, 29]] * 2))], {"r": rows})


def overlap(a, b):
    l = lambda v, i: min(v[i], v[i + 2])
    h = lambda v, i: max(v[i], v[i + 2])
    shared = math.prod(max(0, min(h(a, i), h(b, i)) - max(l(a, i), l(b, i))) for i in (0, 1))
    covered = sum(math.prod(h(v, i) - l(v, i) for i in (0, 1)) for v in (a, b)) - shared
    return shared / covered if covered > 0 else 0


def rows_of(batches, count, classes=2):
    """[class, score, box], scores all different."""
    out = np.zeros((batches, count, 6))
    out[:, :, 0] = rng.integers(-1, classes, (batches, count))
    out[:, :, 1] = rng.permutation(batches * count).reshape(batches, count) / 16 - 0.25
    out[:, :, 2:4] = rng.integers(0, 6, (batches, count, 2))
    out[:, :, 4:6] = out[:, :, 2:4] + rng.integers(1, 5, (batches, count, 2))
    return out


def valid_counts(data, threshold, id_index=0, score_index=1):
    counts, rows, indices = [], [], []
    for batch in data:
        kept = [i for i, row in enumerate(batch) if row[score_index] > threshold and (id_index < 0 or row[id_index] >= 0)]
        rest = len(batch) - len(kept)
        counts.append(len(kept))
        rows.append([batch[i] for i in kept] + [[-1] * len(batch[0])] * rest)
        indices.append(kept + [-1] * rest)
    return (Tensor("int32", counts), Tensor("float32", rows), Tensor("int32", indices))


def counted(p):
    d = Tensor("float32", rows_of(2, 5))
    none = Tensor("float32", np.zeros((1, 0, 6)))
    p.case("counted", [("vision.get_valid_counts(%d, 0.125f)", valid_counts(d.a, 0.125)),
                       ("vision.get_valid_counts(%d, id_index=-1)", valid_counts(d.a, 0, -1)),
                       ("vision.get_valid_counts(%d, score_threshold=0.25f, id_index=1, score_index=5)", valid_counts(d.a, 0.25, 1, 5)),
                       ("library.valid_counts(%d, 0.125f64, 0i64, 1i64)", valid_counts(d.a, 0.125)),
                       ("vision.get_valid_counts(%n, 0f)", (Tensor("int32", [0]), none, Tensor("int32", np.zeros((1, 0)))))],
           {"d": d, "n": none})


def suppressed(data, valid, indices, most=-1, iou=0.5, force=False, top=-1, down=False):
    out_rows, out_indices, out_counts = [], [], []
    for batch, v, names in zip(data, valid, indices):
        width = len(batch[0]) if len(batch) else 6
        order = sorted(range(v), key=lambda i: -batch[i][1]) if iou > 0 else list(range(v))
        if iou > 0 and 0 < top < v:
            order = order[:top]
        rows = [[-1.0] * width for _ in batch]
        boxes = [-1] * len(batch)
        better = []
        for j, i in enumerate(order):
            row = batch[i]
            if iou > 0:
                if len(better) == most:
                    continue
                if row[1] > 0:
                    if any(o[0] >= 0 and (force or o[0] == row[0]) and overlap(o[2:], row[2:]) >= iou for o in better):
                        continue
                    better.append(row)
            rows[j], boxes[j] = list(row), i
        if down:
            stay = [row for row in rows if row[0] >= 0]
            rows = stay + [[-1.0] * width] * (len(rows) - len(stay))
        found = [int(names[b]) for b in boxes if b >= 0 and names[b] >= 0]
        out_rows.append(rows)
        out_indices.append(found + [-1] * (len(rows) - len(found)))
        out_counts.append([len(found)])
    return Tensor("float32", np.array(out_rows).reshape(data.shape)), Tensor("int32", out_indices), Tensor("int32", out_counts)


def suppressions(p):
    d = Tensor("float32", rows_of(2, 8))
    v = Tensor("int32", [8, 5])
    i = Tensor("int32", [[10, 11, 12, 13, 14, 15, 16, 17], [0, 1, 2, 3, 4, -1, -1, -1]])
    inputs = {"d": d, "v": v, "i": i}
    results = []
    for attrs, own in (("", {}), ("force_suppress=True", {"force": True}), ("top_k=3", {"top": 3}), ("max_output_size=2", {"most": 2}),
                       ("max_output_size=0", {"most": 0}), ("iou_threshold=0.25f, invalid_to_bottom=True", {"iou": 0.25, "down": True}),
                       ("iou_threshold=0f", {"iou": 0})):
        rows, indices, counts = suppressed(d.a, v.a, i.a, **own)
        text = f"vision.non_max_suppression(%d, %v, %i{', ' if attrs else ''}{attrs}"
        results += [(text + ")", (indices, counts)), (text + ", return_indices=False)", rows)]
    rows, indices, counts = suppressed(d.a, v.a, i.a, most=3, iou=0.375)
    results += [("vision.non_max_suppression(%d, %v, %i, 3, 0.375f)", (indices, counts)),
                ("library.non_max_suppression(%d, %v, %i, 3i64, 0.375f64, False, -1i64, 2i64, 1i64, 0i64, False)", (rows, indices, counts))]
    results += [(f"vision.non_max_suppression(%d, %v, {given}, return_indices=False)", suppressed(d.a, v.a, i.a)[0]) for given in ("%v", "%d")]
    p.case("suppressed", results, inputs)
    # Five boxes, and none.
    p.define("of_any_number", ["%d: Tensor[(1, n, 6), float32]", "%v: Tensor[(1,), int32]", "%i: Tensor[(1, n), int32]"],
             ["vision.non_max_suppression(%d, %v, %i, 2, 0.7f)"])
    for count in (5, 0):
        d = Tensor("float32", rows_of(1, count))
        v, i = Tensor("int32", [count]), Tensor("int32", np.arange(count).reshape(1, count))
        p.run("of_any_number", {"d": d, "v": v, "i": i}, [suppressed(d.a, v.a, i.a, most=2, iou=0.7)[1:]])


def by_class(boxes, scores, most, iou, threshold):
    every = []
    for b, k in np.ndindex(*scores.shape[:2]):
        stay = []
        for n in sorted(range(scores.shape[2]), key=lambda n: -scores[b, k, n]):
            if scores[b, k, n] > threshold and (most < 0 or len(stay) < most):
                if not any(0 < (o := overlap(boxes[b, n], boxes[b, s])) and o >= iou for s in stay):
                    stay.append(n)
        every.append(stay)
    return every


def classes(p):
    boxes = Tensor("float32", rows_of(2, 6)[:, :, 2:])
    scores = Tensor("float32", rng.permutation(2 * 3 * 6).reshape(2, 3, 6) / 64)
    p.define("class_by_class", ["%b: Tensor[(n, m, 4), float32]", "%s: Tensor[(n, c, m), float32]", "%k: int64", "%o: float32", "%t: float32"],
             ["vision.all_class_non_max_suppression(%b, %s, %k, %o, %t)",
              'vision.all_class_non_max_suppression(%b, %s, %k, %o, %t, output_format="tensorflow")',
              "library.class_suppression(%b, %s, %k, cast(%o, dtype=\"float64\"), cast(%t, dtype=\"float64\"))",
              "library.class_suppression_by_batch(%b, %s, %k, cast(%o, dtype=\"float64\"), cast(%t, dtype=\"float64\"))"])

    def run(boxes, scores, most, iou, threshold):
        n, c, m = scores.a.shape
        every = by_class(boxes.a, scores.a, most, iou, threshold)
        rows = [[b, k, box] for (b, k), stay in zip(np.ndindex(n, c), every) for box in stay]
        onnx = (Tensor("int64", np.array(rows + [[0, 0, 0]] * (n * c * m - len(rows))).reshape(n * c * m, 3)), Tensor("int64", [len(rows)]))
        pairs, found, counts = [], [], []
        for b in range(n):
            own = [(k, box) for k in range(c) for box in every[b * c + k]]
            pairs.append(own + [(0, 0)] * (c * m - len(own)))
            found.append([float(scores.a[b, k, box]) for k, box in own] + [0.0] * (c * m - len(own)))
            counts.append(len(own))
        flow = (Tensor("int64", np.array(pairs).reshape(n, c * m, 2)), Tensor("float32", np.array(found).reshape(n, c * m)), Tensor("int64", counts))
        p.run("class_by_class", {"b": boxes, "s": scores, "k": Tensor("int64", most), "o": Tensor("float32", iou), "t": Tensor("float32", threshold)},
              [onnx, flow, onnx, flow])
    for most, iou, threshold in ((-1, 0.25, 0.125), (2, 0.5, 0.0), (1, 0.125, 0.25), (-1, 0.5, 9.0)):
        run(boxes, scores, most, iou, threshold)
    # Two boxes far apart: no output size, none, five with a high threshold, five.
    two = Tensor("float32", [[[0, 0, 1, 1], [5, 5, 6, 6]]])
    score = Tensor("float32", [[[0.9, 0.8]]])
    for most, threshold in ((0, 0.0), (5, 0.95), (5, 0.0)):
        run(two, score, most, 0.0, threshold)
    run(Tensor("float32", np.zeros((1, 0, 4))), Tensor("float32", np.zeros((1, 2, 0))), 3, 0.5, 0.0)


def regular(p):
    boxes = Tensor("float32", rows_of(2, 6)[:, :, 2:])
    scores = Tensor("float32", rng.permutation(2 * 6 * 3).reshape(2, 6, 3) / 64)
    for name, per_class, most, count, iou, threshold in (("some", 2, 3, 2, 0.25, 0.125), ("all", 9, 9, 3, 0.5, 0.0), ("none", 0, 2, 2, 0.5, 0.0)):
        out = [[], [], [], []]
        for b in range(2):
            found = []
            for k in range(count):
                label = k + 3 - count
                stay = []
                for n in sorted(range(6), key=lambda n: -scores.a[b, n, label]):
                    if scores.a[b, n, label] >= threshold and len(stay) < per_class and all(overlap(boxes.a[b, n], boxes.a[b, s]) <= iou for s in stay):
                        stay.append(n)
                found += [(float(scores.a[b, n, label]), k, n) for n in stay]
            found = sorted(found, key=lambda f: -f[0])[:most]
            rest = most - len(found)
            out[0].append([list(boxes.a[b, n]) for _, _, n in found] + [[0] * 4] * rest)
            out[1].append([k for _, k, _ in found] + [0] * rest)
            out[2].append([s for s, _, _ in found] + [0] * rest)
            out[3].append(len(found))
        value = (Tensor("float32", np.array(out[0]).reshape(2, most, 4)), Tensor("float32", out[1]), Tensor("float32", out[2]), Tensor("int32", out[3]))
        p.case(f"regular_{name}", [(f"vision.regular_non_max_suppression(%b, %s, max_detections_per_class={per_class}, max_detections={most}, num_classes={count}, "
                                    f"iou_threshold={iou}f, score_threshold={threshold}f)", value),
                                   (f"library.regular_suppression(%b, %s, {per_class}i64, {most}i64, {count}i64, {iou}f64, {threshold}f64)", value)],
               {"b": boxes, "s": scores})


if __name__ == "__main__":
    for name, summary, parts in (("boxes", "What tensors hold at boxes, and boxes that are decoded.", (rois, priors, decoded, proposals)),
                                 ("suppression", "Boxes that stay beside each other.", (counted, suppressions, classes, regular))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()

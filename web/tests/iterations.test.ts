import { tableFromArrays } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { ramp } from "../src/base/palettes.ts";
import { byRow, cellAt, heatDots, heatLayout, heatOf, heatShare, isOutlier, iterationAt, percentEnd, robustScale, rowsByName, timeOf } from "../src/views/iterations/heat.ts";
import { evidenceOf, headline, savingsOf, whyNot } from "../src/view-kit/sentences.ts";
import type { IterationsFoundReply, IterationsReply } from "../src/wire/protocol.ts";

const cells = tableFromArrays({
  location: [0, 0, 0, 1, 1, 1],
  iteration: [0, 1, 2, 0, 1, 2],
  time_s: [1, 2, 3, 4, 0, 6],
  difference_s: [-1.5, 1, -1.5, 1.5, -1, 1.5],
});

describe("the map of iterations", () => {
  it("has a number for each location and iteration", () => {
    const heat = heatOf(cells, [0, 1], 3, "time");
    expect([...heat.values]).toEqual([1, 2, 3, 4, 0, 6]);
    expect([heat.low, heat.high]).toEqual([0, 6]);
    expect(heatShare(heat, 3)).toBe(0.5);
  });

  it("has locations in the order of their names, numbers by their size", () => {
    const rows = rowsByName(["rank 10 thread 0", "rank 9 thread 0"]);
    expect(byRow(["ten", "nine"], rows)).toEqual(["nine", "ten"]);
    expect([...heatOf(cells, rows, 3, "time").values]).toEqual([4, 0, 6, 1, 2, 3]);
  });

  it("puts no difference into the middle of its colours", () => {
    const heat = heatOf(cells, [0, 1], 3, "difference");
    expect([heat.low, heat.high]).toEqual([-1.5, 1.5]);
    expect(heatShare(heat, 0)).toBe(0.5);
    expect(heatShare(heat, 1.5)).toBe(1);
  });

  it("draws nothing where all times are 0", () => {
    const none = tableFromArrays({ location: [0], iteration: [0], time_s: [0] });
    expect(heatShare(heatOf(none, [0], 1, "time"), 0)).toBe(0);
  });

  it("finds the cell under the pointer, and the iteration above the map", () => {
    const heat = { locations: 2, iterations: 3 };
    const layout = heatLayout(heat, 400, 300, 10);
    const { left, top, cellWidth, cellHeight } = layout;
    expect(cellAt(layout, heat, left + 2.5 * cellWidth, top + 1.5 * cellHeight)).toEqual([1, 2]);
    expect(cellAt(layout, heat, left + 1.5 * cellWidth, top - 10)).toEqual([0, 1]);
    expect(cellAt(layout, heat, left - 1, top + 1)).toBeNull();
    expect(cellAt(layout, heat, left + 1, top + 2 * cellHeight + 1)).toBeNull();
  });

  it("fits many locations and iterations into the picture", () => {
    const layout = heatLayout({ locations: 10_000, iterations: 50_000 }, 800, 400, 20);
    expect(layout.left + 50_000 * layout.cellWidth).toBeLessThanOrEqual(800);
    expect(layout.top + 10_000 * layout.cellHeight).toBeLessThanOrEqual(400);
  });

  it("shows the largest of neighbours that share a dot, and makes iterations paler that do not count", () => {
    const locations = 2;
    const iterations = 8192;
    const values = new Float64Array(locations * iterations);
    values[5] = 1;
    const { width, height, pixels } = heatDots({ locations, iterations, values, low: 0, high: 1, outliers: 0, farthest: 0 }, ramp("greys"), (iteration) => iteration >= 8000);
    expect([width, height]).toEqual([4096, 2]);
    const dot = (x: number): readonly number[] => [...pixels.slice(x * 4, x * 4 + 4)];
    expect(dot(2)).toEqual([...ramp("greys").rgb(1), 255]);
    expect(dot(1)).toEqual([...ramp("greys").rgb(0), 255]);
    expect(dot(4050)[3]).toBeLessThan(255);
  });

  it("is not one colour because of one outlier, which is marked instead", () => {
    const values = Float64Array.from({ length: 100 }, (_, at) => 1 + (at % 10) / 10);
    values[37] = 500;
    const scale = robustScale(values);
    expect(scale).toEqual({ high: 1.9, outliers: 1, farthest: 500 });
    const heat = { locations: 1, iterations: 100, values, low: 0, ...scale };
    const { pixels } = heatDots(heat, ramp("greys"), () => false, [1, 2, 3]);
    const dot = (x: number): readonly number[] => [...pixels.slice(x * 4, x * 4 + 3)];
    expect(dot(37)).toEqual([1, 2, 3]);
    expect(dot(0)).not.toEqual(dot(9));
    expect([isOutlier(heat, 1.9), isOutlier(heat, 500)]).toEqual([false, true]);
  });

  it("has no outliers where values spread, or where most are the same", () => {
    expect(robustScale(Float64Array.of(1, 2, 3, 4, 0, 6))).toEqual({ high: 6, outliers: 0, farthest: 0 });
    expect(robustScale(Float64Array.of(5, 5, 5, 5, 5, 5, 5, 7))).toEqual({ high: 7, outliers: 0, farthest: 0 });
    expect(robustScale(Float64Array.of())).toEqual({ high: 0, outliers: 0, farthest: 0 });
  });

  it("takes the nearest iteration for a drag that leaves the map", () => {
    const layout = heatLayout({ locations: 2, iterations: 3 }, 400, 300, 10);
    expect(iterationAt(layout, { iterations: 3 }, -50)).toBe(0);
    expect(iterationAt(layout, { iterations: 3 }, 10_000)).toBe(2);
  });

  it("ends iterations where the next one begins, and the last one after its length", () => {
    expect(timeOf(0, 1, [1, 2, 4], [0.5, 1, 3])).toEqual([1e9, 4e9]);
    expect(timeOf(2, 2, [1, 2, 4], [0.5, 1, 3])).toEqual([4e9, 7e9]);
    expect(timeOf(3, 3, [1, 2, 4], [0.5, 1, 3])).toBeNull();
  });

  it("rounds the end of the imbalance up to tens", () => {
    expect(percentEnd([1, Number.NaN, 41])).toBe(50);
    expect(percentEnd([])).toBe(10);
    expect(percentEnd([99])).toBe(100);
  });
});

const found: IterationsFoundReply = {
  group: "first threads", marker: "CalcForce [libm.so]", is_named: false, marked_by: null, extraordinary: 0, locations: ["rank 0", "rank 1"], tracks: [0, 1], left_out: 1, count: 100, whole: 97,
  warm_up: 2, partial: 1, period_s: 0.08, from_s: 0.2, to_s: 8.2, span_percent: 97.5, window_s: 150, is_aligned: true, guessed_percent: 0, interval_s: null,
  similarity_percent: 90, waited_s: 30, saving_s: 20, joint_saving_s: 15, lasting_saving_s: 3, unresolved: 0,
};
const best = { marker: "CalcForce", path: "main > CalcForce", context_id: 7, count: 100, period_s: 0.08, regular_percent: 99, coverage_percent: 98, agreement_percent: 100, is_pooled: false, is_in_step: false, is_estimate: false, explained_percent: 90, contexts: 5, chance: 0, is_order: false };
const reply: IterationsReply = { found, groups: [{ group: "first threads", locations: 3, best, others: [], why_not: null }], stalls: [], notes: [] };

describe("what is said about iterations", () => {
  it("says how many, of what, where, and what would be saved", () => {
    expect(headline(reply, { context: "CalcForce", seconds: 12 }).replaceAll("\u202f", " ")).toBe(
      "100 iterations of CalcForce, 80.00 ms each, found on 2 of 3 first threads; balancing CalcForce would save up to 12.00 s, 8.0 %.",
    );
  });

  it("speaks of each location's sum where no context can be judged, and of nothing where there is one location", () => {
    expect(headline(reply, null)).toContain("balancing the computation of each location would save up to 15");
    const alone = { ...reply, found: { ...found, locations: ["rank 0"] } };
    expect(headline(alone, { context: "CalcForce", seconds: 12 })).not.toContain("save");
    expect(savingsOf(alone.found)).toEqual([]);
  });

  it("says that the number is an estimate where distances are irregular", () => {
    const rough = { ...reply, groups: [{ group: "first threads", locations: 3, best: { ...best, regular_percent: 80, is_estimate: true }, others: [], why_not: null }] };
    expect(headline(rough, null)).toMatch(/^About 100 iterations/);
  });

  it("tells what does not count, and why it is believed", () => {
    const facts = evidenceOf(reply).join(" ");
    expect(facts).toContain("2 iterations at the beginning take much longer or shorter");
    expect(facts).toContain("The last iteration is incomplete");
    expect(facts).toContain("99 % of the intervals between iteration starts are within a factor of 1.5");
  });

  it("says what the number rests on where ranks pass synchronisations together", () => {
    const inStep = { ...reply, groups: [{ group: "first threads", locations: 3, best: { ...best, is_pooled: true, is_in_step: true, agreement_percent: 76 }, others: [], why_not: null }] };
    expect(evidenceOf(inStep).join(" ")).toContain("Counted by the synchronisations that all locations pass together; one location alone shows 76 % of the iterations.");
  });

  it("says why there are none", () => {
    expect(whyNot({ found: null, groups: [{ group: "first threads", locations: 1, best: null, others: [], why_not: "no context repeats" }], stalls: [], notes: [] })).toEqual(["1 location (first threads): no context repeats."]);
  });
});

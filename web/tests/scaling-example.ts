import { tableFromArrays, type Table } from "@uwdata/flechette";
import { ScalingData } from "../src/views/scaling/data.ts";
import type { RegionReply, ScalingReply } from "../src/wire/protocol.ts";

/** A region that says nothing but its id and where it lies. */
export function region(id: string, parent: number | null, more: Partial<RegionReply> = {}): RegionReply {
  return {
    id, parent, depth: parent === null ? 0 : 1, kind: "function", name: id, display_name: more.name ?? id, path: id, file: null, first_line: null,
    last_line: null, share_min: null, share_max: null, imbalance: null, cause: null, sentences: [], range_absolute: null, range_relative: null, ...more,
  };
}

/** What an engine would answer: whole program, `a` with `a.1` and `a.2` inside, `b`; two inputs, on one and four cores. */
export function exampleAnswer(more: Partial<ScalingReply> = {}, regions?: readonly RegionReply[]): { reply: ScalingReply; tables: Record<string, Table> } {
  const list = regions ?? [
    region("0", null, { range_absolute: 0.5, range_relative: 0.4 }),
    region("a", 0, { name: "alpha", file: "src/solve.c", first_line: 10, last_line: 20, share_max: 30, range_absolute: 0.9 }),
    region("a.1", 1, { name: "inner", share_max: 90 }),
    region("a.2", 1, { name: "outer", share_max: 5 }),
    region("b", 0, { name: "beta", share_max: 60 }),
  ];
  const losses = [20, Number.NaN, 12, 1, 7];
  const cell = (at: number): { region: number; input: number; core: number } => ({ region: Math.floor(at / 4), input: Math.floor(at / 2) % 2, core: at % 2 });
  const every = (of: (where: { region: number; input: number; core: number }) => number | null): (number | null)[] => Array.from({ length: list.length * 4 }, (_, at) => of(cell(at)));
  const time = every(({ input, core }) => (input + 1) * (core === 0 ? 8 : 4));
  const cells = tableFromArrays({
    repetitions: every(() => 3),
    estimated: every(({ input, core }) => (input === 1 && core === 1 ? 2 : 0)),
    time,
    time_min: time.map((value) => (value ?? 0) - 1),
    time_max: time.map((value) => (value ?? 0) + 1),
    speedup: every(({ core }) => (core === 0 ? 1 : 2)),
    efficiency: every(({ region: at, input, core }) => (at === 3 ? null : core === 0 ? 1 : 0.5 - input / 10)),
    scalability_abs: every(({ input }) => -input / 10),
    strong_abs: every(({ core }) => -core / 2),
    weak_abs: every(() => 0),
    scalability_rel: every(({ input }) => (input === 0 ? null : -0.1)),
    strong_rel: every(() => 0),
    weak_rel: every(() => 0),
    loss: every(({ region: at, input, core }) => (input === 1 && core === 1 ? (Number.isNaN(losses[at]) ? null : (losses[at] ?? null)) : 0)),
    own_loss: every(({ region: at, input, core }) => (input === 1 && core === 1 ? ([0, null, 11, 1, 7][at] ?? null) : 0)),
  });
  const ranked = tableFromArrays({
    region: ["a.1", "b", "a.2", "0"], name: ["inner", "beta", "outer", "whole program"], input: ["big", "big", "big", "big"], cores: [4, 4, 4, 4],
    loss: [12, 7, 1, 20], own_loss: [11, 7, 1, 0], share: [55, 35, 5, 0], cause: ["serial", null, null, null],
  });
  const reply: ScalingReply = {
    title: "p", source: "", unit: "s", inputs: ["small", "big"], cores: [1, 4], rows: [0, 1], baselines: [1, 1], regions: [...list], worst: [1, 1], verdict: [], warnings: [], notes: [],
    parameters: [
      { name: "cores", values: ["1", "4"], numbers: [1, 4] },
      { name: "frequency", values: ["1200000", "2300000"], numbers: [1.2e9, 2.3e9] },
      { name: "input", values: ["small", "big"], numbers: [null, null] },
    ],
    metrics: ["time"], ...more,
  };
  return { reply, tables: { cells: cells as unknown as Table, losses: ranked as unknown as Table } };
}

/** The same, made easy to look cells up in. */
export function example(more: Partial<ScalingReply> = {}, regions?: readonly RegionReply[]): ScalingData {
  const { reply, tables } = exampleAnswer(more, regions);
  return new ScalingData(reply, tables);
}

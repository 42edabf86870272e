import { tableFromArrays, type Table } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { treeRows } from "../src/base/tree-rows.ts";
import { example, region } from "./scaling-example.ts";
import { suggested } from "../src/views/scaling/context.svelte.ts";
import { ComparedData, changeMark, changeReason, changeText, ratioWords } from "../src/views/scaling/compared.ts";
import { amountText, placeOf, regionName, type ScalingData } from "../src/views/scaling/data.ts";
import { cellSentence, cellTip } from "../src/views/scaling/describe.ts";
import { exportNotes, mapCsv } from "../src/views/scaling/export.ts";
import { cellText, lettersOf, mapColumn, mapValue, MAP_KINDS, rangesOf, tickText } from "../src/views/scaling/maps.ts";
import { moved } from "../src/views/scaling/order.ts";
import { columnsOf, headerOf, sortedRows, valueText } from "../src/views/scaling/rows.ts";
import { amdahl, axisOf, curveValues, formulaText, idealPoints, linePoints, modelOf, modelsOf, usl, type Law, type Model } from "../src/views/scaling/series.ts";
import { axisParameter, DEFAULT_SETTINGS, extraParameters, parameterValue, settingsText, scalingView } from "../src/views/scaling/settings.ts";
import { isInside, pathTo, regionTree, startOpen } from "../src/views/scaling/tree.ts";
import type { CompareReply } from "../src/wire/protocol.ts";

describe("cells", () => {
  it("are found by region, input and cores, and undefined ones are NaN", () => {
    const data = example();
    expect(data.cell("time", 0, 1, 1)).toBe(8);
    expect(data.cell("efficiency", 2, 1, 1)).toBe(0.4);
    expect(data.cell("efficiency", 3, 0, 0)).toBeNaN();
    expect(data.cell("time", 99, 0, 0)).toBeNaN();
  });

  it("lie in maps as PaScal Viewer draws them: rows are cores, columns are inputs", () => {
    const map = example().grid("time", 0);
    expect([map.rows, map.columns]).toEqual([2, 2]);
    expect(Array.from(map.values)).toEqual([8, 16, 4, 8]);
  });

  it("lie in the order of the file when the engine says so, and are described by their core counts", () => {
    const data = example({ rows: [1, 0] });
    expect(Array.from(data.grid("time", 0).values)).toEqual([4, 8, 8, 16]);
    const settings = { ...DEFAULT_SETTINGS, order: "file" } as const;
    expect(cellSentence(data, "efficiency", settings, 0, 0, 0)).toContain("4 cores");
    expect(cellSentence(data, "efficiency", settings, 0, 1, 0)).toContain("1 core,");
    expect(mapCsv(data, [0], ["time"]).split("\r\n").slice(1, 3)).toEqual(["0,small,4,4", "0,small,1,8"]);
    expect(settingsText(settings)).toEqual(["cores in the order of the file"]);
  });

  it("say which times are estimates", () => {
    const data = example();
    expect(cellSentence(data, "efficiency", DEFAULT_SETTINGS, 0, 1, 1)).toMatch(/, estimated$/);
    expect(cellSentence(data, "efficiency", DEFAULT_SETTINGS, 0, 1, 0)).not.toContain("estimated");
    const rect = { left: 0, right: 1, top: 0, bottom: 1 };
    const lines = (column: number): readonly string[] => cellTip(data, "efficiency", DEFAULT_SETTINGS, 0, 1, column, rect).lines.map((line) => `${line.name}: ${line.value}`);
    expect(lines(1)).toContain("Estimated: 2 of them, from first iterations");
    expect(lines(0).join()).not.toContain("Estimated");
    expect(exportNotes(data, DEFAULT_SETTINGS)).toEqual(["i1: small", "i2: big", "estimated from first iterations (≈): i2 on 4"]);
    expect(mapCsv(data, [0]).split("\r\n")[4]).toMatch(/^0,big,4,3,8,.*,2$/);
  });

  it("are written as the command line writes them", () => {
    const text = mapCsv(example(), [0], ["time", "scalability_rel"]);
    expect(text.split("\r\n").slice(0, 4)).toEqual(["region,input,cores,time,scalability_rel", "0,small,1,8,", "0,small,4,4,", "0,big,1,16,-0.1"]);
  });
});

describe("the tree of regions", () => {
  const names = (data: ScalingData, tree: ReturnType<typeof regionTree>): readonly string[] =>
    Array.from(treeRows(tree, () => true).nodes, (node) => data.regions[node]?.id ?? "");

  it("is ordered by lost time, with unknown losses taken from what is inside", () => {
    const data = example();
    // `a` itself has no known loss, but a.1 inside it loses more than b.
    expect(names(data, regionTree(data, null, "loss", true, ""))).toEqual(["0", "a", "a.1", "a.2", "b"]);
    expect(names(data, regionTree(data, null, "loss", false, ""))).toEqual(["0", "b", "a", "a.2", "a.1"]);
    expect(names(data, regionTree(data, null, "share", true, ""))).toEqual(["0", "b", "a", "a.1", "a.2"]);
    expect(names(data, regionTree(data, null, "tree", true, ""))).toEqual(["0", "a", "a.1", "a.2", "b"]);
  });

  it("keeps what a search finds by name, file or id, and what is around it", () => {
    const data = example();
    const found = regionTree(data, null, "tree", true, "OUTER");
    expect(names(data, found)).toEqual(["0", "a", "a.2"]);
    expect([...(found.matches ?? [])]).toEqual([3]);
    expect(names(data, regionTree(data, null, "tree", true, "solve.c"))).toEqual(["0", "a"]);
    expect(names(data, regionTree(data, null, "tree", true, "nowhere"))).toEqual([]);
  });

  it("is restricted to a part by spot", () => {
    const data = example();
    expect(names(data, regionTree(data, 1, "tree", true, ""))).toEqual(["a", "a.1", "a.2"]);
    expect(names(data, regionTree(data, 1, "tree", true, "beta"))).toEqual([]);
    expect([isInside(data, 3, 1), isInside(data, 4, 1), isInside(data, 1, 1)]).toEqual([true, false, true]);
    expect(pathTo(data, 3)).toEqual([0, 1, 3]);
  });

  it("opens a small tree whole, and of a large one only the costly path", () => {
    const small = example();
    expect([...startOpen(small)]).toEqual([0, 1]);
    const many = [region("0", null), region("hot", 0), ...Array.from({ length: 60 }, (_, at) => region(`c${String(at)}`, at % 2 === 0 ? 0 : 1))];
    const large = example({}, many);
    // Losses of the example: position 2 (`c0`, directly below the top) loses 12 of 20, position 4 loses 7.
    const open = [...startOpen(large)];
    expect(open).toContain(0);
    expect(open.length).toBeLessThan(5);
  });

  it("survives depths beyond a call stack", () => {
    const deep = example({}, Array.from({ length: 20_000 }, (_, at) => region(String(at), at === 0 ? null : at - 1)));
    expect(pathTo(deep, 19_999).length).toBe(20_000);
    expect(startOpen(deep).size).toBeGreaterThan(0);
    expect(treeRows(regionTree(deep, null, "loss", true, ""), () => true).length).toBe(20_000);
  });

  it("suggests the whole program and what loses most by itself", () => {
    expect(suggested(example(), null)).toEqual([0, 2]);
    expect(suggested(example({ worst: null }), null)).toEqual([0]);
    expect(suggested(example(), 4)).toEqual([4]);
  });
});

describe("cards", () => {
  it("move to another place, and the others keep their order", () => {
    expect(moved(["a", "b", "c", "d"], 3, 1)).toEqual(["a", "d", "b", "c"]);
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b"], 0, 9)).toEqual(["b", "a"]);
    expect(moved(["a", "b"], 7, 0)).toEqual(["a", "b"]);
  });

  it("have a range of their own, or the largest of all that are shown", () => {
    const data = example();
    expect(rangesOf(data, [0, 1], DEFAULT_SETTINGS)).toEqual([0.5, 0.9]);
    expect(rangesOf(data, [0, 1], { ...DEFAULT_SETTINGS, range: "selected" })).toEqual([0.9, 0.9]);
    expect(rangesOf(data, [0], { ...DEFAULT_SETTINGS, differences: "relative" })).toEqual([0.4]);
  });
});

describe("words and numbers", () => {
  it("say efficiency in per cent and differences in points", () => {
    expect(mapValue("efficiency", 0.37424)).toBe("37.42\u202f%");
    expect(mapValue("strong", -0.1231)).toBe("−12.31 points");
    expect(mapValue("weak", Number.NaN)).toBe("undefined");
    expect([cellText("efficiency", 1), cellText("strong", -0.0591), cellText("strong", -0.00001), cellText("weak", Number.NaN)]).toEqual(["100", "−5.9", "0.0", ""]);
    expect([tickText("efficiency", 0.5), tickText("weak", -0.886), tickText("weak", 0)]).toEqual(["50", "−88.6", "0"]);
    expect([mapColumn("weak", "relative"), mapColumn("efficiency", "relative")]).toEqual(["weak_rel", "efficiency"]);
  });

  it("gives numbers in maps next to each other one width, that of the longest", () => {
    const data = example();
    expect(lettersOf(data, [0], ["efficiency"], "absolute")).toBe("50.0".length);
    expect(lettersOf(data, [0], MAP_KINDS, "absolute")).toBe("−50.0".length);
    expect(lettersOf(data, [], MAP_KINDS, "absolute")).toBe(1);
  });

  it("name regions and their places", () => {
    const data = example();
    expect(data.regions.map((one) => regionName(one))).toEqual(["Whole program", "alpha", "inner", "outer", "beta"]);
    expect(placeOf(region("x", 0, { file: "a/b.c", first_line: 3, last_line: 3 }))).toBe("b.c:3");
    expect(placeOf(region("x", 0, { file: "a/b.c", first_line: 3, last_line: 9 }), false)).toBe("a/b.c:3–9");
    expect(placeOf(region("x", 0, { file: "binary", first_line: 0, last_line: 0 }))).toBe("binary");
    expect(data.worstWords).toBe("input i2 on 4 cores");
  });

  it("know marked regions by their numbers, and show small amounts next to large ones as nothing", () => {
    expect(regionName(region("1.2.5", 0, { kind: "region", name: "", display_name: "solver.c:102-107" }))).toBe("1.2.5 solver.c:102-107");
    expect(regionName(region("1.2", 0, { kind: "region", name: "", display_name: "" }))).toBe("Region 1.2");
    expect([amountText(25.2193, 25.22), amountText(-0.0000048, 25.22), amountText(-0.5, 25.22), amountText(Number.NaN, 1)]).toEqual(["25.22", "0.00", "−0.50", "–"]);
    expect([amountText(0.1615, 0.1615), amountText(1234.5, 1234.5)]).toEqual(["0.1615", "1235"]);
  });

  it("tell which parameters are axes and which are held", () => {
    const { reply } = example();
    expect(axisParameter(reply, "cores")?.name).toBe("cores");
    expect(axisParameter(reply, "inputs")?.name).toBe("input");
    const extra = extraParameters(reply);
    expect(extra.map((one) => one.name)).toEqual(["frequency"]);
    // Two parameters besides the cores make up the input together: each can be chosen.
    const two = { ...reply, parameters: [...reply.parameters, { name: "version", values: ["a", "b"], numbers: [null, null] }] };
    expect(extraParameters(two).map((one) => one.name)).toEqual(["frequency", "input", "version"]);
    expect(extra.map((one) => parameterValue(one, 1))).toEqual(["2.30\u202fGHz"]);
  });

  it("ask the engine for what was set, and say what is unusual", () => {
    const settings = { ...DEFAULT_SETTINGS, statistic: "mean" as const, fixed: { frequency: "1200000" }, baseline: "2" as const, clamp: true };
    expect(scalingView(settings)).toMatchObject({ statistic: "mean", fixed: [["frequency", "1200000"]], baseline: "2", clamp: true, metric: null });
    expect(settingsText(settings)).toEqual(["mean of repetitions", "baseline: 2 cores", "frequency: 1200000", "efficiency at most 100 % in differences"]);
    expect(settingsText({ ...DEFAULT_SETTINGS, fixed: { frequency: "1200000" } }, example().reply.parameters)).toEqual(["frequency: 1.20\u202fGHz"]);
    expect(settingsText(DEFAULT_SETTINGS)).toEqual([]);
  });
});

describe("lines", () => {
  const law: Law = {
    region: "0", input: "small", serial: 0.25, serialTime: 8, maxSpeedup: 4, amdahlErrorPercent: 1, contention: 0.1, coherency: 0.01, peakCores: 9, uslErrorPercent: 1,
  };

  it("go along cores with a line for each input, or turned", () => {
    const data = example();
    expect(axisOf(data, "cores")).toMatchObject({ values: [1, 4], lines: ["i1", "i2"] });
    // Inputs are no numbers here, so they lie next to each other.
    expect(axisOf(data, "inputs")).toMatchObject({ values: [1, 2], labels: ["i1", "i2"], lines: ["1 core", "4 cores"] });
    expect(linePoints(data, 0, "time", "cores", 1)).toEqual([{ x: 1, y: 16, low: 15, high: 17 }, { x: 4, y: 8, low: 7, high: 9 }]);
    expect(linePoints(data, 0, "efficiency", "inputs", 1)).toEqual([{ x: 1, y: 0.5 }, { x: 2, y: 0.4 }]);
  });

  it("have an ideal that starts at the baseline", () => {
    const data = example();
    expect(idealPoints(data, 0, "speedup", 0)?.map((one) => one.y)).toEqual([1, 4]);
    expect(idealPoints(data, 0, "time", 0)?.map((one) => one.y)).toEqual([8, 2]);
    expect(idealPoints(data, 0, "efficiency", 0)?.map((one) => one.y)).toEqual([1, 1]);
    expect(idealPoints(example({ baselines: [null, null] }), 0, "time", 0)).toBeNull();
    expect(idealPoints(example({ baselines: [4, 4] }), 0, "speedup", 0)?.map((one) => one.y)).toEqual([0.25, 1]);
  });

  it("follow the laws whose numbers the engine gives", () => {
    expect(amdahl(law, "time", 3)).toBeCloseTo(8 * (0.25 + 0.25), 12);
    expect(amdahl(law, "speedup", 3)).toBe(2);
    expect(amdahl(law, "efficiency", 1)).toBe(1);
    expect(usl(law, "speedup", 1)).toBe(1);
    expect(usl(law, "speedup", 3)).toBeCloseTo(3 / (1 + 0.2 + 0.06), 12);
    expect(usl(law, "time", 3)).toBeNaN();
    // Relative to two cores, as measured ones are when nothing ran on one.
    expect(amdahl(law, "speedup", 2, 2)).toBe(1);
    expect(amdahl(law, "efficiency", 6, 2)).toBeCloseTo(((0.25 + 0.375) / (0.25 + 0.125)) * (2 / 6), 12);
    expect(usl(law, "speedup", 2, 2)).toBe(1);
    expect(curveValues({ values: [1, 4, 16], isLogarithmic: true }).at(0)).toBe(1);
    expect(curveValues({ values: [1, 4, 16], isLogarithmic: true }).at(-1)).toBe(16);
  });

  it("take the model whose other parameters are those of the line", () => {
    const model = (group: string): Model => ({ region: "0", group, formula: group, smape: 1, points: 5, curve: [] });
    const models = [model("frequency=1200000 input=small"), model("frequency=2300000 input=small"), model("frequency=2300000 input=big")];
    const { reply } = example();
    // Without a choice the engine takes the highest frequency.
    expect(modelOf(models, reply, DEFAULT_SETTINGS, "0", "cores", "input", "big")?.formula).toBe("frequency=2300000 input=big");
    expect(modelOf(models, reply, { ...DEFAULT_SETTINGS, fixed: { frequency: "1200000" } }, "0", "cores", "input", "small")?.formula).toBe("frequency=1200000 input=small");
    expect(modelOf(models, reply, DEFAULT_SETTINGS, "a", "cores", "input", "big")).toBeNull();
  });

  it("are read from the tables of the answer, each with its own curve", () => {
    const rows = tableFromArrays({ region: ["0", "a"], group: ["", "input=big"], model: ["2 * p", "3"], smape: [1.5, 0], points: [5, 4] }) as unknown as Table;
    const curves = tableFromArrays({ model: [0, 0, 1], x: [1, 2, 1], y: [2, null, 3] }) as unknown as Table;
    const models = modelsOf({ rows, curves });
    expect(models.map(({ region, group, formula, points }) => [region, group, formula, points])).toEqual([["0", "", "2 * p", 5], ["a", "input=big", "3", 4]]);
    expect(models.map(({ curve }) => curve)).toEqual([[{ x: 1, y: 2 }, { x: 2, y: Number.NaN }], [{ x: 1, y: 3 }]]);
    expect(() => modelsOf({ rows })).toThrow("no models");
  });

  it("say formulas as they are written", () => {
    expect(formulaText("0.323401 + -0.032309500000000005 * log2(cores)^(1)")).toBe("0.3234 − 0.03231 · log₂(cores)");
    expect(formulaText("0.1388 + 3.316971530993027e-8 * input^(2) * log2(input)^(2)")).toBe("0.1388 + 3.32 · 10⁻⁸ · input² · log₂(input)²");
    expect(formulaText("2.5 * p^(5/4)")).toBe("2.5 · p⁵ᐟ⁴");
  });
});

describe("tables", () => {
  it("are sorted by numbers, not by their text, with what is unknown last", () => {
    const columns = columnsOf(tableFromArrays({ cores: [16, 4, null, 8], name: ["b", "", "c10", "c9"] }) as unknown as Table);
    const order = (column: string, descending: boolean): readonly number[] => Array.from(sortedRows(columns, 4, { column, descending }));
    expect(order("cores", false)).toEqual([1, 3, 0, 2]);
    expect(order("cores", true)).toEqual([0, 3, 1, 2]);
    expect(order("name", false)).toEqual([0, 3, 2, 1]);
    expect(Array.from(sortedRows(columns, 4, null))).toEqual([0, 1, 2, 3]);
    expect(columns.map((column) => valueText(column, 2))).toEqual(["–", "c10"]);
  });

  it("say units in their headers", () => {
    const table = tableFromArrays({ time_min: [1.5], speedup: [2] }) as unknown as Table;
    const fields = table.schema.fields as unknown as { metadata: Map<string, string> | null }[];
    const [time] = fields;
    if (time !== undefined) time.metadata = new Map([["head", "Shortest"], ["unit", "s"], ["doc", "Shortest repetition."]]);
    const columns = columnsOf(table);
    expect(columns.map(headerOf)).toEqual(["Shortest (s)", "speedup"]);
    expect(columns.map((column) => column.help)).toEqual(["Shortest repetition.", ""]);
  });
});

describe("comparison", () => {
  const reply: CompareReply = {
    titles: ["v1", "v2"], inputs: ["x"], cores: [1, 2], only_old: [], only_new: [], sentences: [], evidence: "", notes: [],
    regions: [{ id: "0", parent: null, display_name: "whole program", path: "", range: 0.2 }],
  };
  const cells = tableFromArrays({ time_ratio: [0.5, 1.01], change: ["faster", "within noise"], p_adjusted: [0.01, 0.4], efficiency: [0, -0.2] });
  const data = new ComparedData(reply, { cells: cells as unknown as Table });

  it("puts twice and half as fast at the same distance", () => {
    expect(Array.from(data.grid("time_ratio", 0).values)).toEqual([-1, Math.log2(1.01)]);
    expect(changeText("time_ratio", -1)).toBe("×0.50");
    expect(changeText("efficiency", -0.2)).toBe("−20.0");
  });

  it("marks and counts what is beyond noise only", () => {
    expect(data.counts(0)).toEqual({ faster: 1, slower: 0, cells: 2 });
    expect([changeMark(data.change(0, 0, 0)), changeMark(data.change(0, 0, 1)), changeMark("not tested")]).toEqual(["▼ ", "", "? "]);
    expect(changeReason("not tested", Number.NaN, [1, 1])).toBe("Not tested: 1 versus 1 runs; the variance of a single run is unknown.");
    expect(changeReason("slower", 0.01, [3, 3])).toBe("Significantly slower: 3 versus 3 runs, p = 0.010 adjusted for all tests.");
    expect([ratioWords(0.75), ratioWords(1.25), ratioWords(1)]).toEqual(["takes 25.0\u202f% less time", "takes 25.0\u202f% more time", "the same time"]);
  });
});

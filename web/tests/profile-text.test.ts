import { describe, expect, test } from "vitest";
import { Latest } from "../src/view-kit/ask.svelte.ts";
import { metricExpression, metricsOf, moved } from "../src/view-kit/cost-columns.ts";
import { filterParts, globOf, locationExpression, NO_FILTER, profilesOf, pruneChoice, windowOf } from "../src/view-kit/filter.ts";
import { familyOf } from "../src/view-kit/flame-colours.ts";
import { shareText, valueFormat } from "../src/view-kit/format.ts";
import { isNamed, nextStep } from "../src/view-kit/next-step.ts";
import type { NextAction } from "../src/wire/protocol.ts";
import { withContext } from "../src/view-kit/selection.ts";
import { loadViews } from "../src/views/registry.ts";

describe("filters", () => {
  test("locations become ranges of an expression", () => {
    expect(locationExpression([4, 1, 2, 3, 9, 4])).toBe("profile(1-4,9)");
  });

  test("the part that all views show narrows the filter's own expression", () => {
    expect(profilesOf(NO_FILTER, null)).toBeNull();
    expect(profilesOf({ ...NO_FILTER, profiles: " rank(0)|rank(2) " }, null)).toBe("rank(0)|rank(2)");
    expect(profilesOf({ ...NO_FILTER, profiles: "rank(0)|rank(2)" }, { item: "x", locations: [1, 2] })).toBe("(rank(0)|rank(2)) & (profile(1-2))");
  });

  test("the end of a window is not in it, but in an expression both ends are", () => {
    expect(windowOf({ item: "x", window: [100, 200] })).toBe("100ns..199ns");
  });

  test("taking back a part leaves the others", () => {
    const filter = { ...NO_FILTER, mpi: true, belowPercent: 1, hide: ["a*", "b"] };
    const parts = filterParts(filter);
    expect(parts.map((part) => part.label)).toEqual(["Without MPI internals", "At least 1 %", "Hidden: a*", "Hidden: b"]);
    expect(parts[2]?.without.hide).toEqual(["b"]);
    expect(parts[0]?.without).toEqual({ ...filter, mpi: false });
    expect(filterParts(NO_FILTER)).toEqual([]);
    expect(pruneChoice(NO_FILTER).below_percent).toBeNull();
  });

  test("a name with signs of globs stays one that matches it", () => {
    expect(globOf("operator*")).toBe("operator?");
  });

  test("a spot without its context is none when nothing else restricts", () => {
    expect(withContext({ item: "x", context: 3 }, "x", null)).toBeNull();
    expect(withContext({ item: "x", context: 3, locations: [1] }, "x", null)).toEqual({ item: "x", locations: [1] });
    expect(withContext(null, "x", 7)).toEqual({ item: "x", context: 7 });
  });
});

describe("columns", () => {
  test("metrics are asked by quoted names, formulas as they are", () => {
    expect(metricExpression("IO Bytes Read")).toBe("\"IO Bytes Read\"");
    expect(metricExpression("=$a/$b")).toBe("=$a/$b");
  });

  test("each metric is asked once, in the order of columns", () => {
    const column = (metric: string, scope: "inclusive" | "exclusive"): { metric: string; scope: "inclusive" | "exclusive"; title: string } => ({ metric, scope, title: "" });
    expect(metricsOf([column("b", "inclusive"), column("a", "inclusive"), column("b", "exclusive")])).toEqual(["b", "a"]);
  });

  test("moving a column stops at the edges", () => {
    expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
    expect(moved(["a", "b", "c"], 2, 1)).toEqual(["a", "b", "c"]);
    expect(moved(["a", "b", "c"], 0, -1)).toEqual(["a", "b", "c"]);
  });
});

describe("numbers", () => {
  test("a column has one unit, and what rounds to zero is not zero", () => {
    const format = valueFormat("s", 260.3);
    expect(format.unit).toBe("s");
    expect(format.text(260.3)).toBe("260.3");
    expect(format.text(0.001)).toBe("0.0");
    expect(format.text(0)).toBe("0");
    expect(valueFormat("s", 0.0123).unit).toBe("ms");
    expect(valueFormat("B", 3e9).text(1e9)).toBe("1.000");
    expect(valueFormat("", 12).text(3)).toBe("3");
    expect(valueFormat("", 5e9).unit).toBe("G");
    expect(valueFormat("s", 12_345).text(12_345)).toBe("12\u202f345");
  });

  test("shares are in per cent, and tiny ones are not zero", () => {
    expect(shareText(0.4567)).toBe("45.7");
    expect(shareText(0.0001)).toBe("<0.1");
  });
});

describe("findings", () => {
  test("lead to the view that shows what to look at next", () => {
    expect(nextStep("balance", 8)).toEqual({ view: "profile.distribution", label: "Show over locations", state: { by: "rank" } });
    expect(nextStep("balance", 0).state).toEqual({ by: "profile" });
    expect(nextStep("callers", 8)).toMatchObject({ view: "profile.callers" });
    expect(nextStep("iterations", 8)).toEqual({ view: "trace.iterations", label: "Show the iterations", state: {} });
    expect(nextStep("rank_clusters", 8)).toEqual({ view: "groups.clusters", label: "Show the clusters", state: { by: "rank" } });
    expect(nextStep("critical_path", 8).state).toEqual({ show: "path" });
    expect(nextStep("node_racks", 8)).toMatchObject({ view: "groups.racks" });
    expect(nextStep("gpu_blame", 8)).toMatchObject({ view: "trace.idle-gpus" });
    expect(nextStep("idleness", 8)).toMatchObject({ view: "profile.flat" });
    expect(nextStep("info", 8)).toMatchObject({ view: "item.information" });
  });

  test("lead to views that exist", async () => {
    const known = new Set((await loadViews()).map((view) => view.id));
    const actions: readonly NextAction[] = ["info", "balance", "callers", "idleness", "gpu_blame", "iterations", "rank_clusters", "node_clusters", "rank_racks", "node_racks", "waits", "critical_path", "differences"];
    for (const action of actions) expect(known, action).toContain(nextStep(action, 8).view);
  });

  test("name functions in their short form", () => {
    expect(isNamed("react", "react")).toBe(true);
    expect(isNamed("PMPI_Allreduce [libmpi.so.40]", "MPI_Allreduce")).toBe(true);
    expect(isNamed("std::sort<int>", "std::sort")).toBe(true);
    expect(isNamed("MPI_Send", "MPI_*")).toBe(true);
    expect(isNamed("reactor", "react")).toBe(false);
  });
});

test("frames of the program, of MPI and of OpenMP have families of their own", () => {
  expect(familyOf("react", "/opt/reactor")).toBe("own");
  expect(familyOf("PMPI_Allreduce [libmpi.so.40.30.4]", "")).toBe("mpi");
  expect(familyOf("libopen-pal.so.40.30.2+0x359ed", "")).toBe("mpi");
  expect(familyOf("GOMP_parallel [libgomp.so.1.0.0]", "/usr/lib/libgomp.so.1.0.0")).toBe("runtime");
  expect(familyOf("poll", "/usr/lib/libc.so.6")).toBe("unknown");
  expect(familyOf("<unknown>", "/opt/reactor")).toBe("unknown");
});

describe("the newest answer", () => {
  test("an older answer that comes late is not shown", async () => {
    const latest = new Latest<string>();
    const answers: ((text: string) => void)[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const ask = (key: string): void => {
      latest.ask(key, (options) => {
        signals.push(options.signal);
        return new Promise((resolve) => { answers.push(resolve); });
      });
    };
    ask("first");
    ask("second");
    ask("second");
    expect(answers).toHaveLength(2);
    expect(signals[0]?.aborted).toBe(true);
    answers[1]?.("new");
    await Promise.resolve();
    answers[0]?.("old");
    await Promise.resolve();
    expect(latest.value).toBe("new");
    expect(latest.isWaiting).toBe(false);
  });

  test("a problem is told with what to do", async () => {
    const latest = new Latest<string>();
    latest.ask("x", () => Promise.reject(Object.assign(new Error("there is no metric cpu"), { hint: "did you mean CPUTIME?" })));
    await new Promise((resolve) => { setTimeout(resolve, 0); });
    expect(latest.problem).toBe("There is no metric cpu. Did you mean CPUTIME?");
  });
});

import { describe, expect, it } from "vitest";
import { functionIn, namesIn, sentenceOf, withoutMetric } from "../src/views/correlations/states.ts";

describe("correlations in words", () => {
  it("says which way, and how strongly", () => {
    expect(sentenceOf("solve", "rank", 0.97)).toBe("rank grows with solve (correlation 0.97)");
    expect(sentenceOf("solve", "MPI_Wait", -0.8)).toBe("MPI_Wait falls with solve (correlation \u22120.80)");
    expect(sentenceOf("solve", "MPI_Wait", 0.4)).toBe("MPI_Wait grows with solve (correlation 0.40)");
    expect(sentenceOf("solve", "MPI_Wait", 0.1)).toBe("solve and MPI_Wait: no correlation");
  });

  it("takes the function out of the name of a column", () => {
    expect(functionIn("main > solve (REALTIME)")).toBe("solve");
    expect(functionIn("operator() (double) (cycles)")).toBe("operator() (double)");
    expect(functionIn("rank")).toBeNull();
  });

  it("omits the metric where there is one", () => {
    const short = withoutMetric(["solve (cycles)", "rank", "cycles"]);
    expect(["solve (cycles)", "rank"].map(short)).toEqual(["solve", "rank"]);
    expect(withoutMetric(["solve (cycles)", "solve (misses)"])("solve (cycles)")).toBe("solve (cycles)");
  });

  it("takes names apart by commas", () => {
    expect(namesIn(" rank, MPI_* ,,")).toEqual(["rank", "MPI_*"]);
    expect(namesIn("")).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { functionIn, namesIn, sentenceOf, withoutMetric } from "../src/views/correlations/states.ts";

describe("correlations in words", () => {
  it("says which way, and how often", () => {
    expect(sentenceOf("solve", "rank", 0.97)).toBe("Where solve is more, rank is more");
    expect(sentenceOf("solve", "MPI_Wait", -0.8)).toBe("Where solve is more, MPI_Wait is mostly less");
    expect(sentenceOf("solve", "MPI_Wait", 0.4)).toBe("Where solve is more, MPI_Wait is somewhat more");
    expect(sentenceOf("solve", "MPI_Wait", 0.1)).toBe("solve and MPI_Wait hardly go together");
  });

  it("takes the function out of the name of a column", () => {
    expect(functionIn("main > solve (REALTIME)")).toBe("solve");
    expect(functionIn("operator() (double) (cycles)")).toBe("operator() (double)");
    expect(functionIn("rank")).toBeNull();
  });

  it("leaves out the metric where there is one", () => {
    const short = withoutMetric(["solve (cycles)", "rank", "cycles"]);
    expect(["solve (cycles)", "rank"].map(short)).toEqual(["solve", "rank"]);
    expect(withoutMetric(["solve (cycles)", "solve (misses)"])("solve (cycles)")).toBe("solve (cycles)");
  });

  it("takes names apart by commas", () => {
    expect(namesIn(" rank, MPI_* ,,")).toEqual(["rank", "MPI_*"]);
    expect(namesIn("")).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { describeInfo } from "../src/views/information/describe.ts";
import { sortIssues } from "../src/views/issues/issues.ts";

describe("the information about an experiment", () => {
  it("has counts, time, metrics and files in the words of the glossary", () => {
    const sections = describeInfo({
      contexts: 97_833,
      locations: 12,
      span: { start_ns: 500_000_000, end_ns: 2_000_000_000 },
      kinds: [{ name: "rank", count: 4 }],
      component_list: [
        { name: "md", ranks: 3, start_s: 0, end_s: 1.5, depends_on: [] },
        { name: "analysis", ranks: 1, start_s: null, end_s: null, depends_on: ["md"] },
      ],
      metric_list: [{ name: "cputime", unit: "s", scopes: ["execution", "function"] }],
      fact_list: [{ name: "Hostname", value: "node17" }],
      file_list: [{ name: "meta.db", size_bytes: 2048 }],
    });
    const drawn = sections.flatMap((section) => [section.title, ...section.facts.map((fact) => `  ${fact.name}: ${fact.value.replace(/\u202f/g, " ")}`)]);
    expect(drawn).toEqual([
      "Contents", "  Contexts: 97 833", "  Locations: 12", "  Time traced: 1.500 s",
      "Locations", "  rank: 4",
      "Components", "  md: 3 ranks · 0 s to 1.500 s", "  analysis: 1 rank · takes data from md",
      "Metrics", "  cputime: s · inclusive, exclusive",
      "Metadata", "  Hostname: node17",
      "Files", "  meta.db: 2.05 kB",
    ]);
  });

  it("omits what is not known", () => {
    expect(describeInfo({})).toEqual([]);
  });
});

describe("issues", () => {
  const rows = ([["a", "note", "first", 5], ["b", "error", "second", 1], ["c", "warning", "third", 9]] as const).map(
    ([kind, severity, message, count]) => ({ kind, severity, stage: "read" as const, place: "x", file: null, offset: null, message, count }),
  );

  it("come with errors first", () => {
    expect(sortIssues(rows, "severity", true).map((issue) => issue.kind)).toEqual(["b", "c", "a"]);
  });

  it("can be ordered by how often, and the other way round", () => {
    expect(sortIssues(rows, "count", true).map((issue) => issue.count)).toEqual([9, 5, 1]);
    expect(sortIssues(rows, "message", false).map((issue) => issue.message)).toEqual(["first", "second", "third"]);
  });
});

import { describe, expect, it } from "vitest";
import { describeInfo, describeTables } from "../src/views/information/describe.ts";
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
    expect(describeTables({})).toEqual([]);
  });

  it("has what is known of components and processes in tables", () => {
    const info = {
      component_list: [
        { name: "md", fact_list: [{ name: "CPU Type", value: "Xeon" }, { name: "Hostname", value: "n1" }] },
        { name: "analysis", fact_list: [{ name: "CPU Type", value: "EPYC" }] },
      ],
      processes: 3,
      process_list: [
        { component: "md", process: "rank 0", threads: 2, host: "n1", cpu: "Xeon", start_s: 0, pid: "10", command: null, fact_list: [] },
        { component: "analysis", process: "rank 0", threads: 1, host: "n2", cpu: "EPYC", start_s: 0.5, pid: null, command: null, fact_list: [{ name: "tid", value: "77" }] },
      ],
      fact_list: [{ name: "md: Hostname", value: "n1" }, { name: "creator", value: "TAU" }],
    };
    const plain = (text: string): string => text.replace(/\u202f/g, " ");
    expect(describeTables(info)).toEqual([
      { title: "Metadata of components", heads: ["", "md", "analysis"], rows: [["CPU Type", "Xeon", "EPYC"], ["Hostname", "n1", ""]], note: "" },
      {
        title: "Processes", heads: ["", "Locations", "Host", "Start", "PID", "CPU", "tid"],
        rows: [["md rank 0", "2", "n1", expect.stringMatching(/^0.s$/u), "10", "Xeon", ""], ["analysis rank 0", "1", "n2", expect.stringMatching(/^500/u), "", "EPYC", "77"]],
        note: "The first 2 of 3 processes.",
      },
    ]);
    expect(describeInfo(info).find((section) => section.title === "Metadata")?.facts.map((fact) => plain(fact.value))).toEqual(["TAU"]);
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

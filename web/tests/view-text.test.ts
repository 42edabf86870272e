// What views say about data of different tools.
import { describe, expect, test } from "vitest";
import { EngineError } from "../src/engine-client/client.ts";
import { errorText } from "../src/state/notices.svelte.ts";
import { linkNotice, sharedLink } from "../src/app/share-link.ts";
import { metricGroups } from "../src/views/profile/metric-groups.ts";
import { missingTextHint, sourceHint } from "../src/views/profile/source-hints.ts";
import type { MetricReply } from "../src/wire/protocol.ts";

const metric = (name: string, total: number | null, description = "", unit = ""): MetricReply => ({ name, unit, scopes: [], statistics: [], description, total, formula: null });

describe("metrics to choose", () => {
  const METRICS = [
    metric("GSYNC:STR", null, "GPU synchronizations: stream", "s"), metric("GSYNC", 3, "GPU time: synchronization", "s"),
    metric("GSYNC:CTX", 2, "GPU synchronizations: context", "s"), metric("CPUTIME", 9, "CPU time used", "s"),
  ];

  test("are grouped by what their names begin with, those with totals first", () => {
    const groups = metricGroups(METRICS, "");
    expect(groups.map((group) => [group.prefix, group.about, group.metrics.map((one) => one.name)])).toEqual([
      ["", "", ["CPUTIME"]],
      ["GSYNC", "GPU synchronizations", ["GSYNC", "GSYNC:CTX", "GSYNC:STR"]],
    ]);
  });

  test("that are statistics of one user event are a group", () => {
    const events = ["count", "max", "mean"].map((what) => metric(`Message size for gather ${what}`, null));
    expect(metricGroups([...METRICS, ...events], "").at(-1)?.prefix).toBe("Message size for gather");
  });

  test("are found by name and description, in any order of words", () => {
    expect(metricGroups(METRICS, "context gpu").flatMap((group) => group.metrics.map((one) => one.name))).toEqual(["GSYNC:CTX"]);
    expect(metricGroups(METRICS, "nothing")).toEqual([]);
  });
});

describe("what to do where source text is missing", () => {
  test("suits the tool that wrote the data", () => {
    const of = (format: string, has_activations = false): { format: string; has_activations: boolean } => ({ format, has_activations });
    expect(sourceHint(of("HPCToolkit 4.0"))).toContain("hpcprof");
    expect(sourceHint(of("TAU profiles"))).toMatch(/^TAU files have names and lines/);
    expect(sourceHint(of("TAU profiles"))).not.toContain("hpcprof");
    expect(sourceHint(of("Parallax recording", true))).toContain("recording");
    expect(missingTextHint(of("HPCToolkit 4.0"), "src/a.c").command).toContain("hpcprof");
    expect(missingTextHint(of("Callgrind"), "src/a.c")).toEqual({ text: "Copy the file into the folder of the data, as src/a.c, and open the folder again.", command: "" });
  });
});

describe("a link to a view", () => {
  const served = new URL("http://127.0.0.1:8123/#v1=abc");

  test("has the token of the server, with a warning and the way from another computer", () => {
    expect(sharedLink(served, "secret")).toBe("http://127.0.0.1:8123/?token=secret#v1=abc");
    const notice = linkNotice(served, { hasToken: true, isLocal: false });
    expect([notice.tone, notice.title]).toEqual(["warning", "Link with the access token copied"]);
    expect(notice.text).toContain("treat it like a password");
    expect(notice.text).toContain("ssh -L 8123:127.0.0.1:8123");
    expect(linkNotice(new URL("http://node17:8123/"), { hasToken: true, isLocal: false }).text).not.toContain("ssh");
  });

  test("without a server is as it was", () => {
    expect(sharedLink(new URL("https://example.org/#v1=abc"), null)).toBe("https://example.org/#v1=abc");
    expect(linkNotice(new URL("https://example.org/"), { hasToken: false, isLocal: true }).text).toContain("not the data");
  });
});

test("code in messages is quoted, not marked as in Markdown", () => {
  const error = (message: string, hint: string | null): EngineError => new EngineError({ kind: "query", message, hint } as never);
  expect(errorText(error("there is no field `rnak` in a profile expression", "did you mean `rank`?"))).toBe("There is no field “rnak” in a profile expression. Did you mean “rank”?");
  expect(errorText(error("no metric is called $`IO Bytes`", null))).toBe("No metric is called $`IO Bytes`.");
});

import type { MetricReply } from "../../wire/protocol.ts";

/** Metrics that are about the same, such as the kinds of one GPU operation. */
export interface MetricGroup {
  /** What their names begin with; empty for metrics that stand alone. */
  readonly prefix: string;
  /** What their descriptions begin with; empty where they have nothing in common. */
  readonly about: string;
  readonly metrics: readonly MetricReply[];
}

/** Metrics that match a search by name or description, by prefix; those without a total come last in their group. */
export function metricGroups(metrics: readonly MetricReply[], wanted: string): readonly MetricGroup[] {
  const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const matches = ({ name, description }: MetricReply): boolean => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const sizes = new Map<string, number>();
  for (const metric of metrics) sizes.set(prefixOf(metric.name), (sizes.get(prefixOf(metric.name)) ?? 0) + 1);
  const groups = new Map<string, MetricReply[]>();
  for (const metric of metrics) {
    const prefix = prefixOf(metric.name);
    // One metric is no group.
    const key = (sizes.get(prefix) ?? 0) > 1 ? prefix : "";
    if (!groups.has(key)) groups.set(key, []);
    if (matches(metric)) groups.get(key)?.push(metric);
  }
  return [...groups]
    .filter(([, members]) => members.length > 0)
    .map(([prefix, members]): MetricGroup => ({ prefix, about: prefix === "" ? "" : commonSubject(members), metrics: members.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en", { numeric: true })) }))
    .toSorted((a, b) => Number(a.prefix !== "") - Number(b.prefix !== "") || Number(!hasValues(a)) - Number(!hasValues(b)) || a.prefix.localeCompare(b.prefix));
}

/** `GSYNC` of `GSYNC:CTX` and of `GSYNC` itself, `PAPI` of `PAPI_TOT_CYC`, a user event of its five statistics. */
function prefixOf(name: string): string {
  return /^([^\s:]+):/.exec(name)?.[1] ?? /^(PAPI)_/.exec(name)?.[1] ?? /^(.+) (?:count|max|mean|min|sumsqr)$/.exec(name)?.[1] ?? name;
}

/** What has no total, or a total of 0, says least. */
function rank({ total }: MetricReply): number {
  return total !== null && total !== 0 ? 0 : 1;
}

function hasValues({ metrics }: MetricGroup): boolean {
  return metrics.some((metric) => rank(metric) === 0);
}

/** What stands before the colon in most descriptions. */
function commonSubject(metrics: readonly MetricReply[]): string {
  const counts = new Map<string, number>();
  for (const { description } of metrics) {
    const subject = /^([^:]+): /.exec(description)?.[1] ?? "";
    if (subject !== "") counts.set(subject, (counts.get(subject) ?? 0) + 1);
  }
  const [best] = [...counts].toSorted((a, b) => b[1] - a[1]);
  return best !== undefined && best[1] * 2 > metrics.length ? best[0] : "";
}

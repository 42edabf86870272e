import { isObject, textOf, type Json } from "../../base/json.ts";

/** One kind of record that was repaired, dropped or guessed. */
export interface IssueRow {
  readonly severity: string;
  readonly kind: string;
  readonly message: string;
  readonly place: string;
  readonly stage: string;
  readonly count: number;
}

/** By what the list can be in order. */
export type IssueOrder = "severity" | "count" | "place" | "message";

const RANK: Readonly<Record<string, number>> = { note: 0, warning: 1, error: 2 };

/** The issues in a reply, whichever of its members holds them. */
export function issueRows(reply: unknown): readonly IssueRow[] {
  const list: Json | undefined = Array.isArray(reply)
    ? (reply as Json[])
    : isObject(reply)
      ? (reply["issues"] ?? reply["issue_list"])
      : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter((issue) => isObject(issue)).map((issue) => ({
    severity: textOf(issue["severity"], "note"),
    kind: textOf(issue["kind"]),
    message: textOf(issue["message"]),
    place: textOf(issue["place"]),
    stage: textOf(issue["stage"]),
    count: typeof issue["count"] === "number" ? issue["count"] : 1,
  }));
}

/** The issues in an order; equal ones stay as they were read. */
export function sortIssues(rows: readonly IssueRow[], order: IssueOrder, descending: boolean): readonly IssueRow[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a, b, order));
}

function compare(a: IssueRow, b: IssueRow, order: IssueOrder): number {
  switch (order) {
    case "severity":
      return (RANK[a.severity] ?? 0) - (RANK[b.severity] ?? 0) || a.count - b.count;
    case "count":
      return a.count - b.count;
    case "place":
    case "message":
      return a[order].localeCompare(b[order]);
  }
}

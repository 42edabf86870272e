import type { IssueReply, IssueSeverity } from "../../wire/protocol.ts";

/** By what the list can be in order. */
export type IssueOrder = "severity" | "count" | "place" | "message";

const RANK: Readonly<Record<IssueSeverity, number>> = { note: 0, warning: 1, error: 2 };

/** The issues in an order; equal ones stay as they were read. */
export function sortIssues(rows: readonly IssueReply[], order: IssueOrder, descending: boolean): readonly IssueReply[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a, b, order));
}

function compare(a: IssueReply, b: IssueReply, order: IssueOrder): number {
  switch (order) {
    case "severity":
      return RANK[a.severity] - RANK[b.severity] || a.count - b.count;
    case "count":
      return a.count - b.count;
    case "place":
    case "message":
      return a[order].localeCompare(b[order]);
  }
}

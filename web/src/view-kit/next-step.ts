import type { JsonObject } from "../base/json.ts";
import type { NextAction } from "../wire/protocol.ts";

/** What a finding suggests to look at next, as a view. */
export interface NextStep {
  /** Id of a view. */
  readonly view: string;
  /** On the button. */
  readonly label: string;
  /** What of the view's state shows it. */
  readonly state: JsonObject;
}

const VIEWS: Readonly<Record<NextAction, readonly [view: string, label: string, state?: JsonObject]>> = {
  info: ["item.information", "Show the information"],
  balance: ["profile.distribution", "Show over locations"],
  callers: ["profile.callers", "Show the callers"],
  idleness: ["profile.flat", "Show the functions"],
  gpu_blame: ["trace.idle-gpus", "Show blame for GPU idle time"],
  gpu_stalls: ["profile.gpu-stalls", "Show the stalls"],
  iterations: ["trace.iterations", "Show the iterations"],
  stall: ["trace.iterations", "Show the iteration", { rows: "iterations" }],
  rank_clusters: ["groups.clusters", "Show the clusters", { by: "rank" }],
  node_clusters: ["groups.clusters", "Show the clusters", { by: "node" }],
  rank_racks: ["groups.racks", "Show the racks"],
  node_racks: ["groups.racks", "Show the racks"],
  waits: ["trace.waits", "Show the wait states", { show: "waits", kind: "all" }],
  late_launches: ["trace.waits", "Show the late launches", { show: "waits", kind: "late_launch", waitsBy: "track" }],
  critical_path: ["trace.waits", "Show the critical path", { show: "path" }],
  differences: ["profile.differences", "Show the differences"],
};

/**
 * The view that shows what a finding is about; which context it is, the finding says by its id.
 * Where there are ranks, reports compare these, and so does the view.
 */
export function nextStep(action: NextAction, ranks: number): NextStep {
  const [view, label, state = action === "balance" ? { by: ranks > 0 ? "rank" : "profile" } : {}] = VIEWS[action];
  return { view, label, state };
}

/** Whether a name is the one that a finding speaks of: in full, by glob, or by its beginning before arguments. */
export function isNamed(name: string, wanted: string): boolean {
  if (name === wanted || bare(name) === wanted) return true;
  if (!/[*?]/.test(wanted)) return false;
  const pattern = wanted.split("").map((letter) => (letter === "*" ? ".*" : letter === "?" ? "." : letter.replace(/[.+^${}()|[\]\\]/g, "\\$&"))).join("");
  return new RegExp(`^${pattern}$`).test(name);
}

function bare(name: string): string {
  const mpi = /^P?(MPI_[A-Za-z_]+)/.exec(name)?.[1];
  return mpi ?? name.replace(/(?!^)[ [.@(<].*$/, "");
}

import type { NextAction } from "../wire/protocol.ts";

/** What a finding suggests to look at next, as a view. */
export interface NextStep {
  /** Id of a view. */
  readonly view: string;
  /** On the button. */
  readonly label: string;
}

const VIEWS: Readonly<Record<NextAction, readonly [view: string, label: string]>> = {
  info: ["item.information", "Show the information"],
  balance: ["profile.distribution", "Show over locations"],
  callers: ["profile.callers", "Show the callers"],
  idleness: ["profile.flat", "Show the functions"],
  gpu_blame: ["trace.idle-gpus", "Show blame for GPU idle time"],
  gpu_stalls: ["profile.gpu-stalls", "Show the stalls"],
  iterations: ["trace.iterations", "Show the iterations"],
  stall: ["trace.iterations", "Show the iteration"],
  rank_clusters: ["groups.clusters", "Show the clusters"],
  node_clusters: ["groups.clusters", "Show the clusters"],
  rank_racks: ["groups.racks", "Show the racks"],
  node_racks: ["groups.racks", "Show the racks"],
  waits: ["trace.waits", "Show the wait states"],
  late_launches: ["trace.waits", "Show the late launches"],
  critical_path: ["trace.waits", "Show the critical path"],
  differences: ["profile.differences", "Show the differences"],
};

/** The view that shows what a finding is about; which context it is, the finding says by its id. */
export function nextStep(action: NextAction): NextStep {
  const [view, label] = VIEWS[action];
  return { view, label };
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

/** What a finding suggests to look at next, as a view and the function it is about. */
export interface NextStep {
  /** Id of a view. */
  readonly view: string;
  /** On the button. */
  readonly label: string;
  /** Name or glob of a function; null where it is about the whole program. */
  readonly name: string | null;
}

const VIEWS: Readonly<Record<string, readonly [view: string, label: string]>> = {
  tree: ["profile.tree", "Show in the tree"],
  flat: ["profile.flat", "Show the functions"],
  callers: ["profile.callers", "Show the callers"],
  balance: ["profile.distribution", "Show over locations"],
  distribution: ["profile.distribution", "Show over locations"],
  idleness: ["profile.flat", "Show the functions"],
  "idleness --blame": ["trace.idle-gpus", "Show blame for GPU idle time"],
  iterations: ["trace.iterations", "Show the iterations"],
  cluster: ["groups.clusters", "Show the clusters"],
  topology: ["groups.racks", "Show the racks"],
  correlate: ["profile.correlations", "Show the correlations"],
  waits: ["trace.waits", "Show the wait states"],
  "critical-path": ["trace.waits", "Show the critical path"],
  compare: ["profile.differences", "Show the differences"],
  info: ["item.information", "Show the information"],
};

/** The view that answers what a command line would: `parallax balance x -c 'function(react)'`. */
export function nextStep(command: string): NextStep | null {
  const word = /^parallax\s+([\w-]+)/.exec(command)?.[1];
  const isBlame = word === "idleness" && /\s--blame(\s|$)/.test(command);
  const known = word === undefined ? undefined : VIEWS[isBlame ? "idleness --blame" : word];
  if (known === undefined) return null;
  const quoted = /'([^']*)'\s*$/.exec(command)?.[1] ?? "";
  const called = /^function\("?(.*?)"?\)$/.exec(quoted)?.[1] ?? quoted;
  return { view: known[0], label: known[1], name: called === "" ? null : called };
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

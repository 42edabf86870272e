/** What a link keeps of the call graph. */

/** As what the inside of a node is shown. */
export type OpenAs = "groups" | "calls" | "executions" | "iterations" | "children";

/** Own: what it reads and writes itself. Within: with everything below. */
export type ReferencesOf = "own" | "within";

/** Names a node: `a17` is activation 17, `g17` the group whose first call is 17. */
export type NodeName = string;

/** Nodes whose inside is shown, and as what. */
export type OpenNodes = Readonly<Record<NodeName, OpenAs>>;

export interface GraphState {
  /** Whose entry call is the root; null for the main thread. */
  readonly thread: number | null;
  /** Nodes whose inside is shown, and as what; null before one was opened or closed: the hot path. */
  readonly open: OpenNodes | null;
  /** Nodes whose references are shown. */
  readonly references: Readonly<Record<NodeName, ReferencesOf>>;
  /** References whose links to all nodes on screen are shown. */
  readonly linked: readonly number[];
  /** References that all of these nodes touch. */
  readonly shared: { readonly nodes: readonly NodeName[]; readonly isInclusive: boolean } | null;
  /** Single nodes that were marked by hand, with the context that links tell other views. */
  readonly marked: readonly { readonly node: NodeName; readonly context: number }[];
  /** What is left of the graph; null for all of it. */
  readonly spot: readonly SpotNode[] | null;
  /** What is on screen; null for the beginning. */
  readonly window: { readonly x: number; readonly y: number; readonly zoom: number } | null;
}

/** A node of a graph of which only a part is left, in depth-first order. */
export interface SpotNode {
  readonly node: NodeName;
  /** Place in the list; -1 for the root. */
  readonly above: number;
  /** How many nodes between it and that one are omitted. */
  readonly skipped: number;
}

/** The state is part of the link: more open nodes would make it too long. */
export const MOST_OPEN = 400;

export const GRAPH_STATE: GraphState = { thread: null, open: null, references: {}, linked: [], shared: null, marked: [], spot: null, window: null };

/** What is open after a node was opened in some way, or closed, with what is below it. `below` names that. Null where too many would be open. */
export function withOpen(before: OpenNodes, node: NodeName, as: OpenAs | null, below: Iterable<NodeName>): Pick<GraphState, "open"> | null {
  const open: Record<NodeName, OpenAs> = { ...before };
  for (const one of below) delete open[one];
  delete open[node];
  if (as !== null) open[node] = as;
  return Object.keys(open).length > MOST_OPEN ? null : { open };
}

/** The state with the references of a node shown in some way, or not. */
export function withReferences(state: GraphState, node: NodeName, of: ReferencesOf | null): Pick<GraphState, "references"> {
  const { [node]: _before, ...rest } = state.references;
  return { references: of === null ? rest : { ...rest, [node]: of } };
}

/** A tree whose nodes are numbers, asked for node by node so that it may be loaded step by step. */
export interface TreeSource {
  readonly roots: readonly number[];
  /** In the order to show; null while they are not loaded. */
  children(node: number): readonly number[] | null;
  /** Whether a node can be opened; may be true before the children are loaded. */
  hasChildren(node: number): boolean;
}

/** The rows that a partly opened tree shows, from top to bottom. */
export interface TreeRows {
  readonly length: number;
  /** Node of each row. */
  readonly nodes: Int32Array;
  /** Levels above each row; 0 for a root. */
  readonly depths: Uint16Array;
  /** Row of the parent; -1 for a root. */
  readonly parents: Int32Array;
}

const DEEPEST = 65_535;

/** Lays an opened tree out as rows. Loops instead of recursing: depth comes from the data. */
export function treeRows(source: TreeSource, isOpen: (node: number) => boolean): TreeRows {
  let room = 1024;
  let nodes = new Int32Array(room);
  let depths = new Uint16Array(room);
  let parents = new Int32Array(room);
  let length = 0;
  const stack: { list: readonly number[]; at: number; parent: number }[] = [{ list: source.roots, at: 0, parent: -1 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const node = top.list[top.at];
    if (node === undefined) {
      stack.pop();
      continue;
    }
    top.at += 1;
    if (length === room) {
      room *= 2;
      nodes = grown(nodes, new Int32Array(room));
      depths = grown(depths, new Uint16Array(room));
      parents = grown(parents, new Int32Array(room));
    }
    nodes[length] = node;
    depths[length] = Math.min(stack.length - 1, DEEPEST);
    parents[length] = top.parent;
    length += 1;
    if (!isOpen(node) || !source.hasChildren(node)) continue;
    const children = source.children(node);
    if (children !== null && children.length > 0) stack.push({ list: children, at: 0, parent: length - 1 });
  }
  return {
    length,
    nodes: nodes.subarray(0, length),
    depths: depths.subarray(0, length),
    parents: parents.subarray(0, length),
  };
}

function grown<T extends Int32Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

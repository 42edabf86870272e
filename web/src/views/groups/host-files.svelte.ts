/** A file that was chosen. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

interface HostFiles {
  readonly hosts: readonly TextFile[];
  /** How names of nodes say where they stand. */
  readonly description: TextFile | null;
}

const NONE: HostFiles = { hosts: [], description: null };
/** By the key of the item; forgotten when the page is closed. */
let kept = $state.raw<Readonly<Record<string, HostFiles>>>({});

export function hostFiles(key: string): HostFiles {
  return kept[key] ?? NONE;
}

export function setHostFiles(key: string, files: HostFiles): void {
  kept = { ...kept, [key]: files };
}

/** A description of a system has a line `node = ...`; everything else is a host table. */
export function isDescription(text: string): boolean {
  return /^\s*node\s*=.*\{(?:rack|group|chassis|slot)\}/m.test(text);
}

import { bytes, plural } from "../base/format.ts";
import type { RootInfo } from "../state/engine.ts";

/** What stands behind the name of a root: how much it holds, or why that is not known. */
export function rootText(root: RootInfo): string {
  if (root.error !== null) return `Cannot be listed: ${root.error}`;
  return `${root.files > 0 ? `${plural(root.files, "file")} · ` : ""}${bytes(root.bytes)}`;
}

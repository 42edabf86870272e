import type { ItemReply } from "./engine.ts";

/** An experiment or ensemble that is open. */
export interface Item extends ItemReply {
  /** Stays the same across reloads, unlike `item`: id of the source and the name inside it. */
  readonly key: string;
  /** Id of the source it was found in. */
  readonly source: string;
}

/** The key of an item: what state, links and desks name it by. */
export function itemKey(source: string, name: string): string {
  return name === "" ? source : `${source}/${name}`;
}

/** What people call an item: the program, and where it lies when several lie together. */
export function itemLabel(item: Pick<Item, "title" | "name">): string {
  const title = item.title === "" ? "Untitled" : item.title;
  const last = item.name.split("/").at(-1) ?? "";
  return last === "" || last === title ? title : `${title} (${last})`;
}

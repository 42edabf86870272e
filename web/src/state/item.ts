import type { ItemReply } from "../wire/protocol.ts";

/** An experiment or ensemble that is open. */
export interface Item extends ItemReply {
  /** Stays the same across reloads, unlike `item`: id of the source and the name inside it. */
  readonly key: string;
  /** Id of the source it was found in. */
  readonly source: string;
}

/** Gives the items of one source their keys; a name that is there twice gets a number. */
export function withKeys(source: string, replies: readonly ItemReply[]): readonly Item[] {
  const seen = new Map<string, number>();
  return replies.map((reply) => {
    const name = `${source}/${reply.name}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { ...reply, source, key: times === 1 ? name : `${name}#${String(times)}` };
  });
}

/** The display name of an item: the program, and where it lies when that says more. */
export function itemLabel(item: Pick<Item, "title" | "name" | "members">): string {
  if (item.members.length > 1) return `${item.title === "" ? "Untitled" : item.title} – ${String(item.members.length)} experiments`;
  const last = item.name.split("/").findLast((part) => part !== "") ?? "";
  if (item.title === "") return last === "" ? "Untitled" : last;
  return last === "" || last === item.title ? item.title : `${item.title} – ${last}`;
}

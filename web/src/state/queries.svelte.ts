import { isObject, textOf, type Json } from "../base/json.ts";
import { browserStorage } from "./preferences.svelte.ts";

/** A statement that was saved under a name. */
export interface SavedQuery {
  readonly name: string;
  readonly statement: string;
}

const KEY = "parallax.queries.1";

/** Statements that a person saved. They belong to the person and not to the data: never part of a link. Kept in local storage. */
export class SavedQueries {
  #all = $state.raw<readonly SavedQuery[]>([]);
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | null;

  constructor(storage: Pick<Storage, "getItem" | "setItem"> | null) {
    this.#storage = storage;
    this.#all = this.#read();
  }

  /** By name. */
  get all(): readonly SavedQuery[] {
    return this.#all;
  }

  /** Saves a statement; one of the same name is replaced. */
  save(query: SavedQuery): void {
    // Another window may have saved some.
    this.#write([...this.#read().filter(({ name }) => name !== query.name), query].sort((a, b) => a.name.localeCompare(b.name)));
  }

  remove(name: string): void {
    this.#write(this.#read().filter((one) => one.name !== name));
  }

  #read(): readonly SavedQuery[] {
    if (this.#storage === null) return this.#all;
    try {
      const value = JSON.parse(this.#storage.getItem(KEY) ?? "[]") as Json;
      const list = Array.isArray(value) ? (value as readonly Json[]).filter((one) => isObject(one)) : [];
      return list.flatMap((one) => {
        const [name, statement] = [textOf(one["name"]), textOf(one["statement"])];
        return name === "" || statement === "" ? [] : [{ name, statement }];
      });
    } catch {
      return this.#all;
    }
  }

  #write(all: readonly SavedQuery[]): void {
    this.#all = all;
    try {
      this.#storage?.setItem(KEY, JSON.stringify(all));
    } catch {
      // Full or forbidden storage: they last as long as the page.
    }
  }
}

let shared: SavedQueries | null = null;

/** Those of this browser. */
export function savedQueries(): SavedQueries {
  shared ??= new SavedQueries(browserStorage());
  return shared;
}

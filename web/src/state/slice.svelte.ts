import type { JsonObject } from "../base/json.ts";
import type { PanelState } from "./app-state.ts";
import type { ChangeOptions, Store } from "./store.svelte.ts";

/** A view's own state: plain JSON, undone, kept in links, back after a reload. */
export interface Slice<S extends object> {
  /** The state now; reading it in a template or effect follows it. Missing members have the plugin's defaults. */
  readonly current: S;
  /** Changes some members. Give a label ("Sort by time"); give `coalesce` for drags; `undoable: false` for scrolling. */
  set(change: Partial<S>, options?: ChangeOptions): void;
  /** A slice that all views of a family share for the item: `state.shared("scaling", DEFAULTS)`. Ask for it once. */
  shared<T extends object>(family: string, defaults: T): Slice<T>;
}

/** What a slice needs to know of its view. */
export interface SliceShape<S extends object> {
  readonly defaultState: S;
  readonly stateVersion: number;
  readonly migrate?: (state: object, version: number) => S;
}

/** The slice of a panel in the store. */
export class PanelSlice<S extends object> implements Slice<S> {
  readonly #store: Store;
  readonly #item: string;
  readonly #panel: string;
  readonly #shape: SliceShape<S>;
  readonly #stored = $derived.by(() => this.#store.state.desks[this.#item]?.panels[this.#panel]);
  readonly #current = $derived.by((): S => ({ ...this.#shape.defaultState, ...this.#read(this.#stored) }));

  constructor(store: Store, item: string, panel: string, shape: SliceShape<S>) {
    this.#store = store;
    this.#item = item;
    this.#panel = panel;
    this.#shape = shape;
  }

  get current(): S {
    return this.#current;
  }

  set(change: Partial<S>, options: ChangeOptions = {}): void {
    const state = { ...this.#current, ...change } as unknown as JsonObject;
    this.#store.setPanel(this.#item, this.#panel, { version: this.#shape.stateVersion, state }, options);
  }

  shared<T extends object>(family: string, defaults: T): Slice<T> {
    return new FamilySlice(this.#store, this.#item, family, defaults);
  }

  /** A slice of another version is migrated, or left aside. */
  #read(stored: PanelState | undefined): Partial<S> {
    if (stored === undefined) return {};
    if (stored.version === this.#shape.stateVersion) return stored.state as unknown as Partial<S>;
    return this.#shape.migrate?.(stored.state, stored.version) ?? {};
  }
}

/** What the views of a family share for one item. */
export class FamilySlice<S extends object> implements Slice<S> {
  readonly #store: Store;
  readonly #item: string;
  readonly #family: string;
  readonly #defaults: S;
  readonly #own = $derived.by(() => this.#store.state.desks[this.#item]?.shared?.[this.#family]);
  readonly #current = $derived.by((): S => ({ ...this.#defaults, ...(this.#own as Partial<S> | undefined) }));

  constructor(store: Store, item: string, family: string, defaults: S) {
    this.#store = store;
    this.#item = item;
    this.#family = family;
    this.#defaults = defaults;
  }

  get current(): S {
    return this.#current;
  }

  set(change: Partial<S>, options: ChangeOptions = {}): void {
    this.#store.setShared(this.#item, this.#family, { ...this.#current, ...change } as unknown as JsonObject, options);
  }

  shared<T extends object>(family: string, defaults: T): Slice<T> {
    return new FamilySlice(this.#store, this.#item, family, defaults);
  }
}

import type { JsonObject } from "../base/json.ts";
import { sameJson } from "../base/json.ts";
import { EMPTY_STATE, type AppState, type Workspace, type LinkState, type PanelState } from "./app-state.ts";
import { History } from "./history.ts";

/** How a change takes part in undo. */
export interface ChangeOptions {
  /** What the step is called in the undo menu: "Sort by time". */
  readonly label?: string;
  /** Changes with the same name that follow each other quickly are one step; for drags and sliders. */
  readonly coalesce?: string;
  /** False for changes that are no action of the user, such as the position of a scroll bar. Default: true. */
  readonly undoable?: boolean;
}

/** The part of the state that undo covers: what was opened stays open. */
type Undoable = Pick<AppState, "active" | "desks" | "links">;

/** The one holder of the application's state. */
export class Store {
  #state = $state.raw<AppState>(EMPTY_STATE);
  #steps = $state(0);
  /** Grows when the state was replaced as a whole, so that the dock knows to lay itself out again. */
  #replaced = $state(0);
  readonly #history: History<Undoable>;

  constructor(history = new History<Undoable>()) {
    this.#history = history;
  }

  get state(): AppState {
    return this.#state;
  }

  /** Changes with every undo, redo and restored state. */
  get replaced(): number {
    return this.#replaced;
  }

  get undoLabel(): string | null {
    void this.#steps;
    return this.#history.undoLabel;
  }

  get redoLabel(): string | null {
    void this.#steps;
    return this.#history.redoLabel;
  }

  /** Replaces the state by what `change` makes of it. */
  update(change: (state: AppState) => AppState, options: ChangeOptions = {}): void {
    const before = this.#state;
    const after = change(before);
    if (after === before) return;
    if (options.undoable !== false) {
      this.#history.record(before, options.label ?? "Change", options.coalesce ?? null);
      this.#steps += 1;
    }
    this.#state = after;
  }

  /** Puts a state from a link or from storage in place; undo starts over. */
  restore(state: AppState): void {
    this.#history.clear();
    this.#state = state;
    this.#steps += 1;
    this.#replaced += 1;
  }

  /** Tells the dock to lay itself out by the state, after a workspace was replaced from outside. */
  arrange(): void {
    this.#replaced += 1;
  }

  undo(): string | null {
    const label = this.#history.undoLabel;
    this.#put(this.#history.undo(this.#state));
    return label;
  }

  redo(): string | null {
    const label = this.#history.redoLabel;
    this.#put(this.#history.redo(this.#state));
    return label;
  }

  /** The workspace of an item; an empty one before anything was arranged. */
  workspace(item: string): Workspace {
    return this.#state.desks[item] ?? { layout: null, panels: {} };
  }

  setWorkspace(item: string, change: (workspace: Workspace) => Workspace, options: ChangeOptions = {}): void {
    this.update((state) => {
      const before = state.desks[item] ?? { layout: null, panels: {} };
      const after = change(before);
      if (after === before || sameJson(after, before)) return state;
      return { ...state, desks: { ...state.desks, [item]: after } };
    }, options);
  }

  /** Replaces the slice of a panel; panels that are not open are left alone. */
  setPanel(item: string, panel: string, slice: Pick<PanelState, "version" | "state">, options: ChangeOptions = {}): void {
    this.setWorkspace(
      item,
      (workspace) => {
        const before: PanelState | undefined = workspace.panels[panel];
        if (before === undefined || sameJson(before.state, slice.state)) return workspace;
        return { ...workspace, panels: { ...workspace.panels, [panel]: { ...before, ...slice } } };
      },
      options,
    );
  }

  /** Replaces what the views of a family share. */
  setShared(item: string, family: string, state: JsonObject, options: ChangeOptions = {}): void {
    this.setWorkspace(
      item,
      (workspace) => (sameJson(workspace.shared?.[family], state) ? workspace : { ...workspace, shared: { ...workspace.shared, [family]: state } }),
      options,
    );
  }

  setLinks(change: (links: LinkState) => LinkState, options: ChangeOptions = {}): void {
    this.update((state) => {
      const links = change(state.links);
      return links === state.links || sameJson(links, state.links) ? state : { ...state, links };
    }, options);
  }

  #put(part: Undoable | null): void {
    if (part === null) return;
    this.#state = { ...this.#state, active: part.active, desks: part.desks, links: part.links };
    this.#steps += 1;
    this.#replaced += 1;
  }
}

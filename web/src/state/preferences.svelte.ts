import { isObject, textOf, type Json } from "../base/json.ts";
import { CELL_CHOICES, FUNCTION_PALETTES, MAP_RAMPS, type CellChoice, type FunctionPalette, type MapRamp } from "../base/palettes.ts";
import type { ItemKind } from "../wire/protocol.ts";
import { parseWorkspace, parseOrigin, type Workspace, type SourceOrigin } from "./app-state.ts";

/** Which look to use. */
export type ThemeChoice = "system" | "light" | "dark";

/** A layout of panels that was saved under a name. */
export interface SavedLayout {
  readonly name: string;
  readonly kind: ItemKind;
  /** Not `workspace`, because browsers have stored layouts under this name. */
  readonly desk: Workspace;
}

/** Something that was opened before. */
export interface Recent {
  readonly name: string;
  /** Format, size: what tells it from others of the name. */
  readonly detail: string;
  readonly origin: SourceOrigin;
  readonly atMillis: number;
}

const KEY = "parallax.preferences.1";
const MOST_RECENT = 12;

/** What belongs to the person and not to the data: never part of a link. Kept in local storage. */
export class Preferences {
  #theme = $state<ThemeChoice>("system");
  #functions = $state<FunctionPalette>(FUNCTION_PALETTES[0]);
  #maps = $state<MapRamp>(MAP_RAMPS[0]);
  #cells = $state<CellChoice>("auto");
  #layouts = $state.raw<readonly SavedLayout[]>([]);
  #recents = $state.raw<readonly Recent[]>([]);
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | null;

  constructor(storage: Pick<Storage, "getItem" | "setItem"> | null) {
    this.#storage = storage;
    this.#read();
  }

  get theme(): ThemeChoice {
    return this.#theme;
  }

  set theme(theme: ThemeChoice) {
    this.#theme = theme;
    this.#write();
  }

  /** How functions of traces are coloured. */
  get functions(): FunctionPalette {
    return this.#functions;
  }

  set functions(functions: FunctionPalette) {
    this.#functions = functions;
    this.#write();
  }

  /** The colours of maps. */
  get maps(): MapRamp {
    return this.#maps;
  }

  set maps(maps: MapRamp) {
    this.#maps = maps;
    this.#write();
  }

  /** Who colours the cells of timelines. */
  get cells(): CellChoice {
    return this.#cells;
  }

  set cells(cells: CellChoice) {
    this.#cells = cells;
    this.#write();
  }

  layoutsFor(kind: ItemKind): readonly SavedLayout[] {
    return this.#layouts.filter((layout) => layout.kind === kind);
  }

  /** Saves an arrangement; one of the same name and kind is replaced. */
  saveLayout(layout: SavedLayout): void {
    this.#layouts = [...this.#without(layout), layout].sort((a, b) => a.name.localeCompare(b.name));
    this.#write();
  }

  removeLayout(layout: SavedLayout): void {
    this.#layouts = this.#without(layout);
    this.#write();
  }

  get recents(): readonly Recent[] {
    return this.#recents;
  }

  addRecent(recent: Recent): void {
    const others = this.#recents.filter((one) => one.name !== recent.name || one.origin.kind !== recent.origin.kind);
    this.#recents = [recent, ...others].slice(0, MOST_RECENT);
    this.#write();
  }

  removeRecent(recent: Recent): void {
    this.#recents = this.#recents.filter((one) => one !== recent);
    this.#write();
  }

  #without(layout: SavedLayout): readonly SavedLayout[] {
    return this.#layouts.filter((one) => one.name !== layout.name || one.kind !== layout.kind);
  }

  #read(): void {
    let value: unknown = null;
    try {
      value = JSON.parse(this.#storage?.getItem(KEY) ?? "null");
    } catch {
      return;
    }
    if (!isObject(value)) return;
    const theme = value["theme"];
    if (theme === "light" || theme === "dark") this.#theme = theme;
    this.#functions = FUNCTION_PALETTES.find((one) => one === value["functions"]) ?? this.#functions;
    this.#maps = MAP_RAMPS.find((one) => one === value["maps"]) ?? this.#maps;
    this.#cells = CELL_CHOICES.find((one) => one === value["cells"]) ?? this.#cells;
    this.#layouts = objects(value["layouts"]).flatMap((one) => {
      const kind = one["kind"];
      const workspace = one["desk"];
      if ((kind !== "experiment" && kind !== "ensemble") || !isObject(workspace)) return [];
      return [{ name: textOf(one["name"], "Layout"), kind, desk: parseWorkspace(workspace) }];
    });
    this.#recents = objects(value["recents"]).flatMap((one) => {
      const origin = isObject(one["origin"]) ? parseOrigin(one["origin"]) : null;
      const at = one["atMillis"];
      return origin === null
        ? []
        : [{ name: textOf(one["name"]), detail: textOf(one["detail"]), origin, atMillis: typeof at === "number" ? at : 0 }];
    });
  }

  #write(): void {
    try {
      this.#storage?.setItem(KEY, JSON.stringify({ theme: this.#theme, functions: this.#functions, maps: this.#maps, cells: this.#cells, layouts: this.#layouts, recents: this.#recents }));
    } catch {
      // Full or forbidden storage: the choice lasts as long as the page.
    }
  }
}

function objects(value: Json | undefined): readonly (Json & object & { readonly [key: string]: Json | undefined })[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((one) => isObject(one)) : [];
}

/** The browser's storage, for good or as long as the page's tab is open; null where pages may not use it. */
export function browserStorage(kind: "localStorage" | "sessionStorage" = "localStorage"): Storage | null {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

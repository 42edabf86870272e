import { untrack } from "svelte";
import type { JsonObject } from "../base/json.ts";
import type { Workspace } from "../state/app-state.ts";
import type { CellChoice, FunctionPalette, MapRamp } from "../base/palettes.ts";
import { EngineError, type EngineClient } from "../state/engine.ts";
import type { Item } from "../state/item.ts";
import { Follower } from "../state/follower.svelte.ts";
import { Links } from "../state/links.svelte.ts";
import { Notices } from "../state/notices.svelte.ts";
import type { Picked } from "../state/pick.ts";
import { browserStorage, Preferences, type SavedLayout, type ThemeChoice } from "../state/preferences.svelte.ts";
import { FamilySlice, PanelSlice, type Slice } from "../state/slice.svelte.ts";
import { Session } from "../state/session.svelte.ts";
import { Store } from "../state/store.svelte.ts";
import { Tasks } from "../state/tasks.svelte.ts";
import { fromFragment, toFragment } from "../state/url.ts";
import { loadViews } from "../views/registry.ts";
import { cellPainter } from "../widgets/timeline/cell-painter.svelte.ts";
import type { ViewPlugin } from "../view-kit/plugin.ts";
import { StateAddress } from "./address.ts";
import type { DockControl } from "./dock-control.ts";
import { accessToken } from "../engine-client/served.ts";
import { linkNotice, sharedLink } from "./share-link.ts";

/** When the start page has long been painted. */
const PRELOAD_AFTER_MILLIS = 1500;

/** Panels that are in both arrangements keep what they show. */
function keptPanels(now: Workspace, next: Workspace): Workspace["panels"] {
  return Object.fromEntries(Object.entries(now.panels).filter(([id]) => next.panels[id] !== undefined));
}

/** Everything that the parts of the window share. */
export class Application {
  readonly store = new Store();
  readonly notices = new Notices();
  readonly preferences = new Preferences(browserStorage());
  readonly links = new Links(this.store);
  readonly tasks = new Tasks();
  readonly session: Session;
  readonly follower: Follower;
  #views = $state.raw<readonly ViewPlugin[]>([]);
  /** What is open above the panels. */
  overlay = $state<"palette" | "keys" | "save-layout" | "open-url" | "parameters" | null>(null);
  /** The dock on screen; null on the start page. */
  #dock = $state.raw<DockControl | null>(null);
  /** Asked for while there was no dock yet. */
  #wished: readonly [view: ViewPlugin, state: JsonObject] | null = null;
  /** The panel that has the keyboard or had it last. */
  activePanel = $state<string | null>(null);
  readonly #address = new StateAddress(browserStorage("sessionStorage"));

  get dock(): DockControl | null {
    return this.#dock;
  }

  set dock(dock: DockControl | null) {
    this.#dock = dock;
    if (dock !== null && this.#wished !== null) dock.show(this.#wished[0], { state: this.#wished[1] });
    this.#wished = null;
  }

  constructor(connect: () => Promise<EngineClient>) {
    this.session = new Session(this.store, this.notices, this.preferences, async () => this.tasks.watched(await connect()));
    this.follower = new Follower(this.session);
    this.session.prepare = async (client, item) => {
      const views = this.viewsOf(item);
      await Promise.all(views.map(async (view) => view.prepare?.({ client, item, state: this.sliceOf(item.key, view.id, view) })));
    };
  }

  /** What the engine takes in this browser; null while unknown, and with a server. */
  get memoryBytes(): number | null {
    // Asked again whenever a request ends: that is when memory has changed.
    void this.tasks.finished;
    const taken = this.session.client?.memoryBytes() ?? 0;
    return taken === 0 ? null : taken;
  }

  get views(): readonly ViewPlugin[] {
    return this.#views;
  }

  /** The views that an item has data for. */
  viewsOf(item: Item): readonly ViewPlugin[] {
    return this.#views.filter((view) => view.appliesTo(item, this.session.items));
  }

  /** Starts everything; call once, inside an effect root. */
  start(): void {
    this.links.watch();
    loadViews().then(
      (views) => {
        this.#views = views;
        // While the start page is read: what opens then is on the screen sooner.
        setTimeout(() => {
          for (const view of views) view.component().catch(() => undefined);
          import("./Dock.svelte").catch(() => undefined);
        }, PRELOAD_AFTER_MILLIS);
      },
      (error: unknown) => { this.notices.error("The views could not be loaded. Reload the page", error); },
    );
    $effect(() => {
      const { theme } = this.preferences;
      if (theme === "system") delete document.documentElement.dataset["theme"];
      else document.documentElement.dataset["theme"] = theme;
    });
    $effect(() => {
      const { functions, maps } = this.preferences;
      document.documentElement.dataset["functions"] = functions;
      document.documentElement.dataset["maps"] = maps;
    });
    $effect(() => {
      const { cells } = this.preferences;
      untrack(() => { cellPainter.choice = cells; });
    });
    $effect(() => {
      const item = this.session.active;
      document.title = item === null ? "Parallax" : `${item.title === "" ? "Untitled" : item.title} – Parallax`;
    });
    $effect(() => {
      this.#address.put(this.store.state);
    });
    this.#address.takeUp();
    void this.#begin().then(() => { this.follower.start(); });
  }

  /** Follows a link that was put into the address of the open page. */
  addressChanged(): void {
    if (!this.#address.isOwn) this.#restoreFragment();
  }

  /** The page goes away, perhaps to come back. */
  leave(): void {
    this.#address.keep();
  }

  setTheme(theme: ThemeChoice): void {
    this.preferences.theme = theme;
  }

  /** Light to dark and back, starting from what is on screen. */
  toggleTheme(): void {
    const isDark = this.preferences.theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : this.preferences.theme === "dark";
    this.setTheme(isDark ? "light" : "dark");
  }

  /** Colours of functions; views are recreated with them. */
  setFunctions(functions: FunctionPalette): void {
    this.preferences.functions = functions;
  }

  /** Colours of maps. */
  setMaps(maps: MapRamp): void {
    this.preferences.maps = maps;
  }

  /** Who colours the cells of timelines. */
  setCells(cells: CellChoice): void {
    this.preferences.cells = cells;
  }

  /** The slice of a panel, for commands that run outside of it. */
  sliceOf(itemKey: string, panelId: string, view: ViewPlugin): PanelSlice<object> {
    return new PanelSlice(this.store, itemKey, panelId, view);
  }

  /** What the views of a family share for an item, for commands that run outside of them. */
  familySlice<S extends object>(itemKey: string, family: string, defaults: S): Slice<S> {
    return new FamilySlice(this.store, itemKey, family, defaults);
  }

  /** Puts the keyboard into the search of the active panel; without one, opens the palette, which finds functions, tracks and files. */
  findInPanel(): void {
    const panel = this.activePanel === null ? null : document.querySelector(`[data-panel="${CSS.escape(this.activePanel)}"]`);
    const fields = ["input[data-search]", "input[type=search]"].flatMap((fields) => [...(panel?.querySelectorAll<HTMLInputElement>(fields) ?? [])]);
    const field = fields.find((one) => one.checkVisibility());
    if (field === undefined) {
      this.overlay = "palette";
      return;
    }
    field.focus();
    field.select();
  }

  /** Brings a view of the active item to the front; opens it where it is closed. `state`: what of it is to be so. */
  showView(id: string, state: JsonObject = {}): void {
    const view = this.#views.find((one) => one.id === id);
    if (view === undefined) return;
    if (this.#dock === null) this.#wished = [view, state];
    else this.#dock.show(view, { state });
  }

  /** Puts the arrangement of the active item aside under a name. */
  saveLayout(name: string): void {
    const item = this.session.active;
    if (item === null) return;
    const { layout, panels } = this.store.workspace(item.key);
    // Only the arrangement: what views remember names contexts of this one item.
    const plain = Object.fromEntries(Object.entries(panels).map(([id, panel]) => [id, { ...panel, state: {} }]));
    this.preferences.saveLayout({ name, kind: item.kind, desk: { layout, panels: plain } });
    this.notices.add("info", `Layout ${name} saved`);
  }

  /** Arranges the active item as saved. */
  useLayout(saved: SavedLayout): void {
    const item = this.session.active;
    if (item === null) return;
    this.store.setWorkspace(
      item.key,
      (workspace) => ({ ...workspace, layout: saved.desk.layout, panels: { ...saved.desk.panels, ...keptPanels(workspace, saved.desk) } }),
      { label: `Layout ${saved.name}` },
    );
    this.store.arrange();
  }

  undo(): void {
    const label = this.store.undo();
    this.notices.add("info", label === null ? "Nothing to undo" : `Undone: ${label}`);
  }

  redo(): void {
    const label = this.store.redo();
    this.notices.add("info", label === null ? "Nothing to redo" : `Redone: ${label}`);
  }

  /** Opens files that were dropped or picked; `null` when there were none. */
  async open(files: Promise<Picked | null>): Promise<void> {
    try {
      const picked = await files;
      if (picked === null) this.notices.add("warning", "No files were dropped", "Drop a file or a folder from this computer.");
      else await this.session.openFiles(picked);
    } catch (error) {
      this.notices.error("The files could not be read", error);
    }
  }

  /** Copies the address of what is on screen, and says what somebody else needs to see the same. */
  async copyLink(): Promise<void> {
    const address = new URL(toFragment(this.store.state), location.href);
    const token = accessToken();
    const isLocal = this.store.state.sources.some((source) => source.origin.kind === "local");
    const notice = linkNotice(address, { hasToken: token !== null, isLocal });
    await this.#copy(sharedLink(address, token), () => {
      this.notices.add(notice.tone, notice.title, notice.text, token === null ? [] : [{ label: "Copy without the token", run: () => { void this.#copyBare(address); } }]);
    });
  }

  /** For somebody who has the token already, such as by a file that both can read. */
  async #copyBare(address: URL): Promise<void> {
    await this.#copy(sharedLink(address, null), () => {
      this.notices.add("info", "Link without the token copied", "It opens only in a browser tab that was opened with the address that parallax open printed.");
    });
  }

  async #copy(text: string, done: () => void): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      done();
    } catch (error) {
      this.notices.error("The link could not be copied. Copy the address of this page instead", error);
    }
  }

  #restoreFragment(): boolean {
    const parsed = fromFragment(location.hash);
    if (parsed === null) return false;
    if ("problem" in parsed) {
      this.notices.add("error", "The view in this link cannot be shown", parsed.problem);
      return false;
    }
    this.store.restore(parsed.state);
    void this.session.reopenAll();
    return parsed.state.sources.length > 0;
  }

  async #begin(): Promise<void> {
    const isRestored = this.#restoreFragment();
    const query = new URLSearchParams(location.search);
    if (isRestored) return;
    for (const url of query.getAll("url")) {
      await this.session.openUrl(url).catch((error: unknown) => { this.notices.error(`${url} could not be opened`, error); });
    }
    for (const id of query.getAll("sample")) await this.session.openSample(id);
    if (this.session.items.length > 0) return;
    // The engine starts while the start page is shown. That it is missing is reported when something is opened; without its
    // server a page has nothing to open.
    const client = await this.session.connect().catch((error: unknown) => {
      if (error instanceof EngineError && error.kind === "connection") this.notices.error("The data cannot be shown", error);
      return null;
    });
    // A report shows the data that it carries, and a server what it offers first: its only path, or all of them together.
    const roots = client?.roots ?? [];
    for (const root of client?.kind === "worker" ? roots : roots.slice(0, 1)) await this.session.openRoot(root);
  }
}


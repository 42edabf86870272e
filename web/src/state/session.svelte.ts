import { bytes } from "../base/format.ts";
import type { SourceOrigin, SourceState } from "./app-state.ts";
import { EngineError, type EngineClient, type RootInfo } from "./engine.ts";
import { withKeys, type Item } from "./item.ts";
import { errorText, isCancelled, type Notices } from "./notices.svelte.ts";
import type { ExcludedReply, Protocol, Writing } from "../wire/protocol.ts";
import { pickFiles, withMore, type Picked } from "./pick.ts";
import type { Preferences } from "./preferences.svelte.ts";
import { loadSamples, samplesUrl, type Sample } from "./samples.ts";
import type { Store } from "./store.svelte.ts";
import { recall, remember } from "./stored.ts";

/** Between two attempts to open everything again after the engine stopped. */
const RECOVER_MILLIS = 30_000;

/** Files and experiments that one notice says are omitted. */
const MOST_EXCLUDED = 4;

/** The engine's reason for a file that is no data at all. */
const UNKNOWN_FORMAT = "is of no known format";

/** What the format of event rows is called, which need a file with names. */
const EVENT_ROWS = "Chimbuko event rows";

/** How long views may take to have their first answer before they are shown without it. */
const PREPARE_MILLIS = 80;

/** A source that the state knows but that is not open now. */
export interface Missing {
  readonly source: SourceState;
  /** `ask`: one click brings it back. `drop`: the files must be dropped again. `failed`: it can be tried again. */
  readonly need: "ask" | "drop" | "failed";
  readonly reason: string;
}

/** What is open: the engine, its items, and the sources they came from. */
export class Session {
  #client = $state.raw<EngineClient | null>(null);
  #items = $state.raw<readonly Item[]>([]);
  #missing = $state.raw<readonly Missing[]>([]);
  #opening = $state.raw<readonly string[]>([]);
  /** Whether the files of sources are still written, by their ids. */
  #writing = $state.raw<Readonly<Record<string, Writing>>>({});
  #samples: Promise<readonly Sample[]> | null = null;
  readonly #connect: () => Promise<EngineClient>;
  #connecting: Promise<EngineClient> | null = null;
  /** Asks for what views of an item will ask for first; set by who knows the views. */
  prepare: ((client: EngineClient, item: Item) => Promise<unknown>) | null = null;
  readonly #store: Store;
  readonly #notices: Notices;
  readonly #preferences: Preferences;

  constructor(store: Store, notices: Notices, preferences: Preferences, connect: () => Promise<EngineClient>) {
    this.#store = store;
    this.#notices = notices;
    this.#preferences = preferences;
    this.#connect = connect;
  }

  /** Null until the engine has started. */
  get client(): EngineClient | null {
    return this.#client;
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** The item on screen. */
  get active(): Item | null {
    const key = this.#store.state.active;
    return this.#items.find((item) => item.key === key) ?? this.#items[0] ?? null;
  }

  get missing(): readonly Missing[] {
    return this.#missing;
  }

  /** Names of what is being opened. */
  get opening(): readonly string[] {
    return this.#opening;
  }

  /** Starts the engine; all callers share one. */
  connect(): Promise<EngineClient> {
    this.#connecting ??= this.#connect().then(
      (client) => {
        const guarded = this.#guarded(client);
        this.#client = guarded;
        return guarded;
      },
      (error: unknown) => {
        // So that the next attempt tries again.
        this.#connecting = null;
        throw error;
      },
    );
    return this.#connecting;
  }

  samples(): Promise<readonly Sample[]> {
    this.#samples ??= loadSamples();
    return this.#samples;
  }

  activate(key: string): void {
    this.#store.update((state) => (state.active === key ? state : { ...state, active: key }), { label: "Show another item", coalesce: "item" });
  }

  /** Opens files of this computer. Files that a missing source waits for take its place. */
  async openFiles(picked: Picked): Promise<void> {
    const waiting = this.#missing.find((one) => one.need !== "failed" && one.source.name === picked.name && one.source.origin.kind === "local");
    const key = waiting?.source.origin.kind === "local" ? waiting.source.origin.key : newKey();
    const source = waiting?.source ?? this.#newSource(picked.name, { kind: "local", key });
    const isOpen = await this.#open(source, (client) => client.addFiles(picked.name, picked.files.map(({ path, file }) => ({ path, file }))));
    if (!isOpen) return;
    await remember(key, picked);
    await this.#askForNames(source, picked).catch(() => undefined);
  }

  /** Rows of events have numbers instead of names where the file with the names was not picked with them: it is asked for. */
  async #askForNames(source: SourceState, picked: Picked): Promise<void> {
    for (const { item } of this.#items.filter((one) => one.source === source.id && one.format.startsWith(EVENT_ROWS))) {
      const { reply } = (await this.#client?.ask("issues", { item })) ?? {};
      if (reply?.issues.some(({ kind }) => kind === "names-missing") !== true) continue;
      const add = async (): Promise<void> => {
        const more = await pickFiles();
        if (more === null) return;
        await this.close(source.id);
        await this.openFiles(withMore(picked, more));
      };
      this.#notices.add(
        "warning", `${source.name} has no function names`,
        "Event rows contain numbers of functions; the names are in a separate file, such as functions.json. Add this file, or open the folder that contains both.",
        [{ label: "Add the file with names…", run: () => { void add(); } }],
      );
      return;
    }
  }

  /** Opens something on the web. */
  async openUrl(url: string, files: readonly string[] = []): Promise<void> {
    const name = decodeURIComponent(new URL(url, document.baseURI).pathname.split("/").findLast((part) => part !== "") ?? url);
    const source = this.#newSource(name, { kind: "url", url, files });
    await this.#open(source, (client) => this.#root(client, source));
  }

  async openSample(id: string): Promise<void> {
    const sample = (await this.samples()).find((one) => one.id === id);
    if (sample === undefined) {
      this.#notices.add("error", `There is no example "${id}"`, "Select one of the examples on the start page.");
      return;
    }
    const source = { ...this.#newSource(sample.title, { kind: "sample", id }), ...(sample.parameters.length === 0 ? {} : { parameters: sample.parameters }) };
    await this.#open(source, (client) => this.#root(client, source));
  }

  async openRoot(root: RootInfo): Promise<void> {
    const source = this.#newSource(root.name, { kind: "root", key: root.key });
    await this.#open(source, () => Promise.resolve(root));
  }

  /** Opens something that was open before; call it inside a click. */
  async openAgain(name: string, origin: SourceOrigin): Promise<void> {
    const known = this.#store.state.sources.find((one) => JSON.stringify(one.origin) === JSON.stringify(origin));
    const openItem = this.#items.find((item) => item.source === known?.id);
    if (openItem !== undefined) this.activate(openItem.key);
    else await this.#reopen(known ?? this.#newSource(name, origin), true);
  }

  /** Opens all sources of the state again, after a reload or from a link. */
  async reopenAll(): Promise<void> {
    await Promise.all(this.#store.state.sources.map((source) => this.#reopen(source, false)));
  }

  /** Tries a missing source again; call it inside a click. */
  async retry(missing: Missing): Promise<void> {
    await this.#reopen(missing.source, true);
  }

  /** Opens a source again with other parameters of its ensemble; an empty list is the engine's guess. */
  async setParameters(sourceId: string, parameters: readonly string[]): Promise<void> {
    const before = this.#store.state.sources.find((source) => source.id === sourceId);
    if (before === undefined) return;
    const after: SourceState = { id: before.id, name: before.name, origin: before.origin, ...(parameters.length === 0 ? {} : { parameters }) };
    const put = (source: SourceState): void => {
      this.#store.update((state) => ({ ...state, sources: state.sources.map((one) => (one.id === sourceId ? source : one)) }), { undoable: false });
    };
    const wasActive = this.active;
    put(after);
    const root = this.#roots.get(sourceId);
    const isOpen = root === undefined ? await this.#reopen(after, true) : await this.#open(after, () => Promise.resolve(root));
    if (!isOpen) {
      put(before);
      this.#setMissing(null, sourceId);
      return;
    }
    this.#stayAt(wasActive);
  }

  /** Shows what an item became that was on screen: an ensemble may have another name now. */
  #stayAt(before: Item | null): void {
    if (before === null || this.#items.some((item) => item.key === this.#store.state.active)) return;
    const next = this.#items.find((item) => item.source === before.source && item.kind === before.kind);
    if (next !== undefined) this.#store.update((state) => ({ ...state, active: next.key }), { undoable: false });
  }

  /**
   * Looks whether files of the engine's roots were written since they were opened, and shows those that were as they
   * are now. What is half written stays as it was, until it is written again. True when something is new.
   */
  async lookAgain(): Promise<boolean> {
    const client = this.#client;
    if (client?.follow !== true) return false;
    let isNew = false;
    for (const source of this.#store.state.sources) {
      const root = this.#roots.get(source.id);
      const before = this.#fingerprints.get(source.id);
      if (root === undefined || before === undefined) continue;
      const now = await this.#look(client, source.id, root);
      if (now === before || now === null) continue;
      this.#fingerprints.set(source.id, now);
      const { reply } = await client.ask("open", openRequest(source, root), { isPatient: true }).catch(() => ({ reply: null }));
      // It may have been closed meanwhile.
      if (reply === null || reply.items.length === 0 || !this.#items.some((item) => item.source === source.id)) continue;
      const wasActive = this.active;
      this.#take(source, withKeys(source.id, reply.items), root);
      this.#stayAt(wasActive);
      isNew = true;
    }
    return isNew;
  }

  /** What the files of a root are like now; null when they cannot be looked at. */
  async #look(client: EngineClient, source: string, root: RootInfo): Promise<string | null> {
    try {
      const { fingerprint, writing } = (await client.ask("fingerprint", { root: root.key })).reply;
      if (this.#writing[source] !== writing) this.#writing = { ...this.#writing, [source]: writing };
      return fingerprint;
    } catch (error) {
      if (error instanceof EngineError && error.kind === "connection") throw error;
      return null;
    }
  }

  /** Whether the files of what is on screen are still written. */
  get writing(): Writing {
    return this.#writing[this.active?.source ?? ""] ?? "unknown";
  }

  /** Closes a source, its items and their panels. */
  async close(sourceId: string): Promise<void> {
    const gone = this.#items.filter((item) => item.source === sourceId);
    this.#items = this.#items.filter((item) => item.source !== sourceId);
    this.#missing = this.#missing.filter((one) => one.source.id !== sourceId);
    this.#store.update((state) => ({
      ...state,
      sources: state.sources.filter((source) => source.id !== sourceId),
      active: gone.some((item) => item.key === state.active) ? (this.#items[0]?.key ?? null) : state.active,
      desks: Object.fromEntries(Object.entries(state.desks).filter(([key]) => !key.startsWith(`${sourceId}/`))),
      links: { mark: state.links.mark.filter((thing) => !thing.item.startsWith(`${sourceId}/`)), focus: null, spot: null },
    }), { undoable: false });
    for (const item of gone) await this.#client?.ask("close", { item: item.item }).catch(() => undefined);
  }

  async #reopen(source: SourceState, mayAsk: boolean): Promise<boolean> {
    if (source.origin.kind !== "local") return this.#open(source, (client) => this.#root(client, source));
    const recalled = await recall(source.origin.key, mayAsk);
    if ("picked" in recalled) {
      const { name, files } = recalled.picked;
      return this.#open(source, (client) => client.addFiles(name, files.map(({ path, file }) => ({ path, file }))));
    }
    const reason = recalled.need === "ask"
      ? "The browser asks for permission before it reads these files again."
      : "The browser could not keep these files. Drop them here again to restore the view.";
    this.#setMissing({ source, need: recalled.need, reason });
    return false;
  }

  async #root(client: EngineClient, source: SourceState): Promise<RootInfo> {
    const { origin, name } = source;
    switch (origin.kind) {
      case "url":
        return client.addUrl(name, new URL(origin.url, document.baseURI).href, origin.files.length === 0 ? undefined : [...origin.files]);
      case "sample": {
        const sample = (await this.samples()).find((one) => one.id === origin.id);
        if (sample === undefined) throw new Error("This version of Parallax no longer has this example");
        return client.addUrl(name, samplesUrl(), [...sample.files]);
      }
      case "root": {
        const root = client.roots.find((one) => one.key === origin.key);
        if (root === undefined) throw new Error("The server no longer offers it. Restart the server with its path");
        return root;
      }
      case "local":
        throw new Error("Local files have no address");
    }
  }

  async #open(source: SourceState, add: (client: EngineClient) => Promise<RootInfo>): Promise<boolean> {
    this.#opening = [...this.#opening, source.name];
    try {
      const client = await this.connect();
      const root = await add(client);
      // Before it is opened: what is written from now on is new.
      const written = client.follow ? await this.#look(client, source.id, root) : null;
      if (written !== null) this.#fingerprints.set(source.id, written);
      const { reply } = await client.ask("open", openRequest(source, root));
      for (const error of reply.errors) {
        this.#notices.add(reply.items.length === 0 ? "error" : "warning", `A part of ${source.name} could not be opened`, withHint(error.message, error.hint));
      }
      if (reply.items.length === 0) {
        if (reply.errors.length === 0) {
          this.#notices.add("error", `Nothing to show in ${source.name}`, reply.notes.join(" ") || "None of its files has a known format. Open the folder of a database, or a file with measurements.");
        }
        this.#setMissing(null, source.id);
        return false;
      }
      const items = withKeys(source.id, reply.items);
      this.#tellExcluded(source, reply.excluded);
      await this.#prepared(client, items);
      this.#take(source, items, root);
      return true;
    } catch (error) {
      if (this.#store.state.sources.some((one) => one.id === source.id)) {
        this.#setMissing({ source, need: "failed", reason: isCancelled(error) ? "Opening was cancelled." : errorText(error) });
      }
      this.#notices.error(`${source.name} could not be opened`, error);
      return false;
    } finally {
      const at = this.#opening.indexOf(source.name);
      this.#opening = this.#opening.filter((_, index) => index !== at);
    }
  }

  /** Says which files and experiments are not shown, and why. */
  #tellExcluded(source: SourceState, all: readonly ExcludedReply[]): void {
    const [first] = all;
    if (first === undefined) return;
    const title = all.length === 1 ? `${first.path} was excluded` : `${String(all.length)} parts of ${source.name} were excluded`;
    const shown = all.slice(0, MOST_EXCLUDED).map(({ path, reason }) => `${path} ${reason}.`);
    if (all.length > shown.length) shown.push(`And ${String(all.length - shown.length)} more.`);
    // Other files of a folder are to be expected; a file that was dropped itself is not.
    const isExpected = ({ path, reason }: ExcludedReply): boolean =>
      reason === UNKNOWN_FORMAT && (source.origin.kind !== "local" || path.includes("/"));
    this.#notices.add(all.every(isExpected) ? "info" : "warning", title, shown.join(" "));
  }

  /** Lets views ask before they are made: with the answer at hand they draw once. */
  async #prepared(client: EngineClient, items: readonly Item[]): Promise<void> {
    const item = items.find((one) => one.key === this.#store.state.active) ?? items[0];
    if (this.prepare === null || item === undefined) return;
    const late = new Promise((resolve) => { setTimeout(resolve, PREPARE_MILLIS); });
    // What went wrong is told by the view, which asks again.
    await Promise.race([this.prepare(client, item).catch(() => undefined), late]);
  }

  #take(source: SourceState, items: readonly Item[], root: RootInfo): void {
    const isNew = !this.#store.state.sources.some((one) => one.id === source.id);
    // Opened again, it has new items; the engine need not keep the old ones.
    const old = this.#items.filter((item) => item.source === source.id && !items.some((one) => one.item === item.item));
    for (const item of old) void this.#client?.ask("close", { item: item.item }).catch(() => undefined);
    this.#items = [...this.#items.filter((item) => item.source !== source.id), ...items];
    this.#setMissing(null, source.id);
    this.#roots.set(source.id, root);
    const first = items[0];
    this.#store.update((state) => ({
      ...state,
      sources: isNew ? [...state.sources, source] : state.sources,
      active: isNew || state.active === null ? (first?.key ?? state.active) : state.active,
    }), { undoable: false });
    const size = root.bytes > 0 ? root.bytes : items.reduce((sum, item) => sum + item.size_bytes, 0);
    this.#preferences.addRecent({ name: source.name, detail: [first?.format ?? "", bytes(size)].filter((text) => text !== "").join(" · "), origin: source.origin, atMillis: Date.now() });
  }

  #setMissing(missing: Missing | null, id = missing?.source.id): void {
    const others = this.#missing.filter((one) => one.source.id !== id);
    this.#missing = missing === null ? others : [...others, missing];
  }

  #newSource(name: string, origin: SourceOrigin): SourceState {
    const taken = new Set([...this.#store.state.sources.map((source) => source.id), ...this.#reserved]);
    let number = 1;
    while (taken.has(`s${String(number)}`)) number += 1;
    const id = `s${String(number)}`;
    this.#reserved.add(id);
    return { id, name, origin };
  }

  /**
   * The same client; but when the engine had to be restarted, everything is opened again, because items of the old
   * one mean nothing to the new.
   */
  #guarded(client: EngineClient): EngineClient {
    return {
      kind: client.kind,
      get roots() {
        return client.roots;
      },
      follow: client.follow,
      sql: client.sql,
      memoryBytes: () => client.memoryBytes(),
      addFiles: (name, files) => client.addFiles(name, files),
      addUrl: (name, url, files) => client.addUrl(name, url, files),
      dispose: () => { client.dispose(); },
      ask: async (name, request, options) => {
        try {
          return await client.ask(name, request, options);
        } catch (error) {
          if (name !== "open" && error instanceof EngineError && (error.kind === "crashed" || error.kind === "unknown_item")) this.#recover();
          throw error;
        }
      },
    };
  }

  #recover(): void {
    const now = performance.now();
    // Once: what stopped the engine may stop it again.
    if (now - this.#recoveredAt < RECOVER_MILLIS) return;
    this.#recoveredAt = now;
    this.#notices.add("warning", "The engine was restarted", "It had stopped while answering a request. The open files are being reopened.");
    void this.reopenAll();
  }

  #recoveredAt = Number.NEGATIVE_INFINITY;
  /** The engine's root of each open source. */
  readonly #roots = new Map<string, RootInfo>();
  /** What the files of open sources were like when they were opened, for engines that follow them. */
  readonly #fingerprints = new Map<string, string>();
  /** Ids given to sources that are still opening. */
  readonly #reserved = new Set<string>();
}

function openRequest(source: SourceState, root: RootInfo): Protocol["open"]["request"] {
  return { root: root.key, ensemble: { parameters: [...(source.parameters ?? [])] } };
}

function withHint(message: string, hint: string | null): string {
  return hint === null ? message : `${message} ${hint}`;
}

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(36)).join("");
}

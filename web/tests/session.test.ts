import { describe, expect, it, vi } from "vitest";
import type { AppState } from "../src/state/app-state.ts";
import { EngineError, type EngineClient, type RootInfo } from "../src/state/engine.ts";
import { Notices } from "../src/state/notices.svelte.ts";
import type { Picked } from "../src/state/pick.ts";
import { Preferences } from "../src/state/preferences.svelte.ts";
import { Session } from "../src/state/session.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import type { ExcludedReply, ItemReply, Protocol, Writing } from "../src/wire/protocol.ts";

/** What the engine of a test finds in a root, by the root's name. */
type Contents = Record<string, { items?: string[]; format?: string; issues?: string[]; errors?: { kind: string; message: string; hint: string | null }[]; excluded?: ExcludedReply[]; fails?: EngineError }>;

class FakeEngine {
  readonly asked: { name: string; request: unknown }[] = [];
  readonly urls: string[] = [];
  /** The paths of files, each time some were added. */
  readonly added: string[][] = [];
  #next = 0;
  readonly #contents: Contents;
  failing: EngineError | null = null;
  /** What `parallax open --follow` has. */
  roots: RootInfo[] = [];
  follow = false;
  /** What the files of all roots are like; null when the server does not answer. */
  fingerprint: string | null = "a";
  /** Whether somebody still writes them. */
  writing: Writing = "unknown";

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  client(): EngineClient {
    const root = (name: string): Promise<RootInfo> =>
      Promise.resolve({ key: name, name, files: 1, bytes: 1024, error: null });
    return {
      kind: "worker",
      roots: this.roots,
      follow: this.follow,
      sql: false,
      memoryBytes: () => 0,
      dispose: () => undefined,
      addFiles: (name, files) => {
        this.added.push(files.map(({ path }) => path));
        return root(name);
      },
      addUrl: (name, url) => {
        this.urls.push(url);
        return root(name);
      },
      ask: <K extends keyof Protocol>(name: K, request: Protocol[K]["request"]) => {
        this.asked.push({ name, request });
        if (this.failing !== null && name !== "open") return Promise.reject(this.failing);
        if (name === "fingerprint") {
          if (this.fingerprint === null) return Promise.reject(new EngineError({ kind: "connection", message: "the server does not answer", hint: null }));
          return Promise.resolve({ reply: { fingerprint: this.fingerprint, writing: this.writing } as unknown as Protocol[K]["reply"], tables: {} });
        }
        if (name === "issues") {
          const issues = Object.values(this.#contents).flatMap(({ issues: kinds }) => kinds ?? []).map((kind) => ({ kind }));
          return Promise.resolve({ reply: { issues } as unknown as Protocol[K]["reply"], tables: {} });
        }
        const found = name === "open" ? this.#contents[(request as { root: string }).root] : undefined;
        if (found?.fails !== undefined) return Promise.reject(found.fails);
        const items = (found?.items ?? []).map((path): ItemReply => {
          this.#next += 1;
          return { item: `e${String(this.#next)}`, kind: "experiment", title: "amg", name: path, format: found?.format ?? "HPCToolkit 4.0", size_bytes: 10, issues: 0, members: [], has_trace: false, has_calls: false, has_waits: false, has_activations: false, has_chosen_calls: false, components: 0, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 2, nodes: 0 };
        });
        return Promise.resolve({ reply: { items, notes: [], errors: found?.errors ?? [], excluded: found?.excluded ?? [] } as unknown as Protocol[K]["reply"], tables: {} });
      },
    };
  }
}

const picked = (name: string): Picked => ({ name, files: [{ path: name, file: new File(["x"], name) }], handles: [] });

function setUp(contents: Contents): { engine: FakeEngine; store: Store; notices: Notices; session: Session; preferences: Preferences } {
  const engine = new FakeEngine(contents);
  const store = new Store();
  const notices = new Notices();
  const preferences = new Preferences(null);
  return { engine, store, notices, preferences, session: new Session(store, notices, preferences, () => Promise.resolve(engine.client())) };
}

describe("opening files", () => {
  it("shows the first item, and remembers the source", async () => {
    const { session, store, preferences } = setUp({ runs: { items: ["runs/a", "runs/b"] } });
    await session.openFiles(picked("runs"));
    expect(session.items.map((item) => item.key)).toEqual(["s1/runs/a", "s1/runs/b"]);
    expect(session.active?.key).toBe("s1/runs/a");
    expect(store.state.sources).toMatchObject([{ id: "s1", name: "runs", origin: { kind: "local" } }]);
    expect(preferences.recents).toMatchObject([{ name: "runs", detail: expect.stringContaining("HPCToolkit") as string }]);
    expect(store.undoLabel).toBeNull();
  });

  it("of event rows without names asks for the file with the names, and opens both together", async () => {
    const { session, notices, engine } = setUp({ "rows.json": { items: ["rows.json"], format: "Chimbuko event rows (converted)", issues: ["names-missing"] } });
    await session.openFiles(picked("rows.json"));
    expect(notices.list.map(({ title }) => title)).toEqual(["rows.json has no function names"]);
    const handle = { kind: "file", name: "functions.json", getFile: () => Promise.resolve(new File(["[]"], "functions.json")) };
    vi.stubGlobal("showOpenFilePicker", () => Promise.resolve([handle]));
    notices.list[0]?.actions[0]?.run();
    await vi.waitFor(() => { expect(engine.added.at(-1)).toEqual(["rows.json", "functions.json"]); });
    await vi.waitFor(() => { expect(session.items).toHaveLength(1); });
    vi.unstubAllGlobals();
  });

  it("with their names, or of other formats, asks for nothing", async () => {
    const { session, notices } = setUp({ "rows.json": { items: ["rows.json"], format: "Chimbuko event rows (converted)" }, amg: { items: ["amg"], issues: [] } });
    await session.openFiles(picked("rows.json"));
    await session.openFiles(picked("amg"));
    expect(notices.list).toEqual([]);
  });

  it("that cannot be opened says what and what to do, and leaves the rest open", async () => {
    const { session, store, notices } = setUp({
      good: { items: ["good"] },
      bad: { fails: new EngineError({ kind: "open", message: "no profile.db", hint: "Copy the whole folder." }) },
    });
    await session.openFiles(picked("good"));
    await session.openFiles(picked("bad"));
    expect(notices.list).toMatchObject([{ tone: "error", title: "bad could not be opened", text: "No profile.db. Copy the whole folder." }]);
    expect(session.items).toHaveLength(1);
    expect(session.active?.name).toBe("good");
    expect(store.state.sources).toHaveLength(1);
  });

  it("of which a part is damaged opens the rest with a warning", async () => {
    const { session, notices } = setUp({ runs: { items: ["runs/a"], errors: [{ kind: "open", message: "runs/b is cut off", hint: null }] } });
    await session.openFiles(picked("runs"));
    expect(session.items).toHaveLength(1);
    expect(notices.list).toMatchObject([{ tone: "warning", text: "runs/b is cut off" }]);
  });

  it("of which one is no data names it, a warning only where it was dropped itself", async () => {
    const unknown = "is of no known format";
    const { session, notices } = setUp({
      several: { items: ["a"], excluded: [{ path: "notes.txt", reason: unknown }] },
      runs: { items: ["runs/a"], excluded: [{ path: "runs/notes.txt", reason: unknown }, { path: "runs/b", reason: "is empty" }] },
      folder: { items: ["folder/a"], excluded: [{ path: "folder/notes.txt", reason: unknown }] },
    });
    for (const name of ["several", "runs", "folder"]) await session.openFiles(picked(name));
    expect(notices.list).toMatchObject([
      { tone: "warning", title: "notes.txt was excluded", text: "notes.txt is of no known format." },
      { tone: "warning", title: "2 parts of runs were excluded", text: "runs/notes.txt is of no known format. runs/b is empty." },
      { tone: "info", title: "folder/notes.txt was excluded" },
    ]);
  });

  it("without anything known in them says so", async () => {
    const { session, notices, store } = setUp({ photos: {} });
    await session.openFiles(picked("photos"));
    expect(notices.list[0]?.title).toBe("Nothing to show in photos");
    expect(store.state.sources).toEqual([]);
  });

  it("is silent after Cancel", async () => {
    const { session, notices } = setUp({ big: { fails: new EngineError({ kind: "cancelled", message: "cancelled", hint: null }) } });
    await session.openFiles(picked("big"));
    expect(notices.list).toEqual([]);
  });

  it("of the same names gives each item its own key", async () => {
    const { session } = setUp({ x: { items: ["x", "x"] } });
    await session.openFiles(picked("x"));
    expect(session.items.map((item) => item.key)).toEqual(["s1/x", "s1/x#2"]);
  });
});

const RESTORED: AppState = {
  version: 1,
  sources: [
    { id: "s1", name: "amg", origin: { kind: "local", key: "gone" } },
    { id: "s2", name: "p.json", origin: { kind: "url", url: "https://example.org/p.json", files: [] }, parameters: ["cores=ranks"] },
  ],
  active: "s1/amg",
  desks: { "s1/amg": { layout: null, panels: { v: { view: "v", version: 1, state: { sort: "time" } } } } },
  links: { mark: [], focus: null, spot: null },
};

describe("a restored state", () => {
  it("opens addresses again with their parameters, and asks for files that the browser could not keep", async () => {
    const { session, store, engine } = setUp({ "p.json": { items: ["p.json"] } });
    store.restore(RESTORED);
    await session.reopenAll();
    expect(engine.urls).toEqual(["https://example.org/p.json"]);
    expect(engine.asked[0]?.request).toMatchObject({ ensemble: { parameters: ["cores=ranks"] } });
    expect(session.missing).toMatchObject([{ need: "drop", source: { id: "s1" } }]);
    expect(store.state.sources).toHaveLength(2);
  });

  it("comes back to its view when the same files are dropped again", async () => {
    const { session, store } = setUp({ amg: { items: ["amg"] }, "p.json": { items: ["p.json"] } });
    store.restore(RESTORED);
    await session.reopenAll();
    await session.openFiles(picked("amg"));
    expect(session.missing).toEqual([]);
    expect(store.state.sources.map((source) => source.id)).toEqual(["s1", "s2"]);
    expect(session.active?.key).toBe("s1/amg");
    expect(store.workspace("s1/amg").panels["v"]?.state).toEqual({ sort: "time" });
  });

  it("keeps a source that fails, to be tried again", async () => {
    const { session, store } = setUp({ "p.json": { fails: new EngineError({ kind: "open", message: "no answer", hint: null }) } });
    store.restore(RESTORED);
    await session.reopenAll();
    expect(session.missing.map((missing) => missing.need).sort()).toEqual(["drop", "failed"]);
  });
});

describe("an engine that stopped", () => {
  it("gets everything opened again, once", async () => {
    const { session, engine, notices } = setUp({ "p.json": { items: ["p.json"] } });
    await session.openUrl("https://example.org/p.json");
    const before = session.items[0]?.item;
    engine.failing = new EngineError({ kind: "crashed", message: "out of memory", hint: null });
    const client = session.client;
    await expect(client?.ask("info", { item: before ?? "" })).rejects.toThrow("out of memory");
    await expect(client?.ask("info", { item: before ?? "" })).rejects.toThrow("out of memory");
    await vi.waitFor(() => { expect(session.items[0]?.item).not.toBe(before); });
    expect(engine.asked.filter((one) => one.name === "open")).toHaveLength(2);
    expect(session.items[0]?.key).toBe("s1/p.json");
    expect(notices.list.map((notice) => notice.title)).toContain("The engine was restarted");
  });
});

describe("closing a source", () => {
  it("forgets its items, panels and marks, and shows what is left", async () => {
    const { session, store, engine } = setUp({ a: { items: ["a"] }, b: { items: ["b"] } });
    await session.openFiles(picked("a"));
    await session.openFiles(picked("b"));
    store.setLinks((links) => ({ ...links, mark: [{ kind: "context", item: "s2/b", context: 1 }, { kind: "context", item: "s1/a", context: 2 }] }));
    await session.close("s2");
    expect(session.active?.key).toBe("s1/a");
    expect(store.state.links.mark).toEqual([{ kind: "context", item: "s1/a", context: 2 }]);
    expect(engine.asked.at(-1)?.name).toBe("close");
  });
});

describe("files that a server follows", () => {
  const root: RootInfo = { key: "sweep.json", name: "sweep.json", files: 1, bytes: 10, error: null };

  async function followed(): Promise<ReturnType<typeof setUp> & { contents: Contents }> {
    const contents: Contents = { "sweep.json": { items: ["sweep.json"] } };
    const all = setUp(contents);
    all.engine.roots = [root];
    all.engine.follow = true;
    await all.session.connect();
    await all.session.openRoot(root);
    return { ...all, contents };
  }

  it("are opened again when they were written, with the same key and state", async () => {
    const { session, engine, store } = await followed();
    const before = session.active?.item;
    store.setWorkspace(session.active?.key ?? "", (workspace) => workspace, { label: "Zoom" });
    const kept = JSON.stringify(store.state);
    expect(await session.lookAgain()).toBe(false);
    engine.fingerprint = "b";
    expect(await session.lookAgain()).toBe(true);
    expect(session.active?.key).toBe("s1/sweep.json");
    expect(session.active?.item).not.toBe(before);
    expect(JSON.stringify(store.state)).toBe(kept);
    // What the engine had before is closed there.
    expect(engine.asked.filter(({ name }) => name === "close")).toEqual([{ name: "close", request: { item: before } }]);
    expect(await session.lookAgain()).toBe(false);
  });

  it("say whether the files on screen are still written", async () => {
    const { session, engine } = await followed();
    expect(session.writing).toBe("unknown");
    for (const [fingerprint, writing] of [["b", "growing"], ["c", "complete"]] as const) {
      Object.assign(engine, { fingerprint, writing });
      await session.lookAgain();
      expect(session.writing).toBe(writing);
    }
  });

  it("stay as they were while they are half written, without a word", async () => {
    const { session, engine, contents, notices } = await followed();
    const before = session.items;
    contents["sweep.json"] = { fails: new EngineError({ kind: "open", message: "ends early", hint: null }) };
    engine.fingerprint = "b";
    expect(await session.lookAgain()).toBe(false);
    expect(session.items).toBe(before);
    expect(session.missing).toEqual([]);
    expect(notices.list).toEqual([]);
    contents["sweep.json"] = { items: ["sweep.json"] };
    expect(await session.lookAgain()).toBe(false);
    engine.fingerprint = "c";
    expect(await session.lookAgain()).toBe(true);
  });

  it("are not asked about where they do not change, and an error when the server has gone", async () => {
    const { session, engine } = await followed();
    engine.fingerprint = null;
    await expect(session.lookAgain()).rejects.toThrow("does not answer");
    const other = setUp({ "sweep.json": { items: ["sweep.json"] } });
    await other.session.openRoot(root);
    other.engine.fingerprint = "b";
    expect(await other.session.lookAgain()).toBe(false);
    expect(other.engine.asked.map(({ name }) => name)).toEqual(["open"]);
  });
});

import { SvelteMap } from "svelte/reactivity";
import type { EngineClient } from "../../state/engine.ts";
import { errorText } from "../../state/notices.svelte.ts";
import { Latest } from "../../view-kit/ask.svelte.ts";
import { Entities } from "./entities.ts";
import { firstOf, hotPath } from "./graph-find.ts";
import type { GraphState, OpenAs, OpenNodes } from "./graph-state.ts";
import { MOST_REFERENCES, shownReferences, type ShownReferences, type Touched } from "./graph-references.ts";
import { inOrder, keyOf, keyOfName, NodeIndex, shownTree, type Missing, type ShownTree } from "./graph-tree.ts";
import type { Activation, EntityKind, Reference, Relation, Thread } from "./records.ts";

/** What a node shows inside. */
interface Inside {
  readonly list: readonly Activation[];
  /** More that the engine did not send. */
  readonly omitted: number;
}

/** The references on screen, with what is known of them. */
export interface ReferencesShown extends ShownReferences {
  readonly byId: ReadonlyMap<number, Reference>;
}

const NO_REFERENCES: ReferencesShown = { references: [], links: [], omitted: 0, byId: new Map() };
/** Nodes that are asked what they touch when all links of a reference are wanted. */
const MOST_ASKED = 3000;

function kindOf(of: Activation): EntityKind {
  return of.kind === "group" ? "group" : "activation";
}

/** What the model is of. */
export interface ModelOf {
  readonly client: EngineClient;
  /** The engine's name of the item. */
  readonly item: string;
  /** The context to which all views are restricted; null for none. */
  readonly context: number | null;
}

/** Everything that the call graph shows of an item, by its state: asks for what is missing and puts it together. */
export class GraphModel {
  readonly #of: () => ModelOf;
  readonly #state: () => GraphState;
  readonly #threads = new Latest<readonly Thread[]>();
  readonly #roots = new Latest<{ readonly thread: number; readonly roots: readonly Activation[]; readonly note: string | null }>();
  readonly #whole = new Latest<number>();
  /** What is open before a node was opened or closed, of these roots. */
  readonly #hot = new Latest<{ readonly of: string; readonly open: OpenNodes }>();
  readonly #spotted = new Latest<ReadonlyMap<number, Activation>>();
  readonly #references = new Latest<ReferencesShown>();
  /** The insides of nodes that are open; the rest is in the cache. */
  #insides = new Map<string, Inside>();
  #version = $state(0);
  readonly #asked = new Set<string>();
  /** What went wrong with the inside of a node. */
  readonly #problems = new SvelteMap<string, string>();

  readonly entities = $derived.by(() => Entities.of(this.#of().client, this.#of().item));
  readonly threads = $derived.by(() => (this.#threads.value ?? []).filter((thread) => thread.entry !== null));
  readonly mainThread = $derived.by(() => this.threads.find((thread) => thread.creator === null) ?? this.threads[0] ?? null);
  readonly thread = $derived.by(() => this.threads.find((thread) => thread.id === this.#state().thread) ?? this.mainThread);
  /** How long the entry calls of all threads take together, in nanoseconds; NaN while unknown. */
  readonly wholeNs = $derived.by(() => this.#whole.value ?? Number.NaN);
  readonly problem = $derived.by(() => this.#threads.problem ?? this.#roots.problem ?? this.#spotted.problem);
  readonly hasThreads = $derived.by(() => this.#threads.value === null || this.threads.length > 0);

  // Parts of the state by themselves: a tree of a hundred thousand nodes is not recreated because the window moved.
  readonly #opened = $derived.by(() => this.#state().open);
  readonly #spot = $derived.by(() => this.#state().spot);
  readonly #wanted = $derived.by(() => this.#state().references);
  readonly #linked = $derived.by(() => this.#state().linked);
  readonly #shared = $derived.by(() => this.#state().shared);
  /** What the hot path begins with; null while that is not known. */
  readonly #hotOf = $derived.by(() => {
    const roots = this.#roots.value;
    return roots === null ? null : `${this.#of().item} ${roots.roots.map((root) => String(root.key)).join()}`;
  });
  readonly #hotPath = $derived.by(() => (this.#hot.value !== null && this.#hot.value.of === this.#hotOf ? this.#hot.value.open : null));
  /** What is open: as it was left, else the hot path. */
  readonly open = $derived.by((): OpenNodes => this.#opened ?? this.#hotPath ?? {});
  readonly #open = $derived.by(() => new Map(Object.entries(this.open).map(([name, as]) => [keyOfName(name), as])));

  /** Null while the first call is not known. */
  readonly tree = $derived.by((): ShownTree | null => {
    void this.#version;
    const roots = this.#roots.value;
    const spot = this.#spot;
    const spotted = this.#spotted.value;
    if (roots === null || roots.thread !== this.thread?.id) return null;
    // All at once: what is clicked does not move away because more of the hot path comes.
    if (this.#opened === null && this.#hot.problem === null && this.#hotPath === null) return null;
    // What was on screen is known; only after a reload there is something to wait for.
    const entityOf = (key: number): Activation | null => spotted?.get(key) ?? this.entities.known(key % 2 === 1 ? "group" : "activation", Math.floor(key / 2)) ?? null;
    if (this.#spotted.isWaiting && spot?.some((one) => entityOf(keyOfName(one.node)) === null) === true) return null;
    return shownTree(roots.roots, this.#open, (entity, as) => this.#insides.get(insideKey(entity, as))?.list ?? null, spot, entityOf);
  });

  /** Where each node is in the tree, by its key. */
  readonly nodes = $derived.by(() => new NodeIndex(this.tree ?? { entities: [] }));

  /** Nodes that an open one has but that were not sent. */
  readonly omitted = $derived.by(() => {
    void this.#version;
    let sum = 0;
    for (const key of this.#openKeys()) sum += this.#insides.get(key)?.omitted ?? 0;
    return sum;
  });

  readonly notes = $derived.by(() => [...new Set([...this.#problems.values(), ...(this.#references.problem === null ? [] : [this.#references.problem]), ...(this.#hot.problem === null ? [] : [this.#hot.problem]), ...(this.#roots.value?.note ? [this.#roots.value.note] : [])])]);
  readonly isWaiting = $derived.by(() => this.#threads.isWaiting || this.#roots.isWaiting || this.#hot.isWaiting || (this.tree?.missing.length ?? 0) > 0 || this.#references.isWaiting);
  readonly references = $derived.by(() => this.#references.value ?? NO_REFERENCES);

  /** Made while a component is. */
  constructor(of: () => ModelOf, state: () => GraphState) {
    this.#of = of;
    this.#state = state;
    $effect(() => {
      const [entities, { item }] = [this.entities, this.#of()];
      this.#threads.ask(item, (options) => entities.all("thread", options));
    });
    $effect(() => {
      const [entities, threads, { item }] = [this.entities, this.threads, this.#of()];
      if (threads.length === 0) return;
      this.#whole.ask(`${item} ${String(threads.length)}`, async (options) => {
        const calls = await Promise.all(threads.map((thread) => entities.related("thread", thread.id, "calls", options)));
        return calls.flatMap((of) => of.entities).reduce((sum, call) => sum + call.lengthNs, 0);
      });
    });
    $effect(() => {
      const [entities, thread, { client, item, context }] = [this.entities, this.thread, this.#of()];
      if (thread === null) return;
      this.#roots.ask(`${item} ${String(thread.id)} ${String(context)}`, async (options) => {
        const { entities: entries } = await entities.related("thread", thread.id, "calls", options);
        const all = { thread: thread.id, roots: inOrder(entries), note: null };
        if (context === null) return all;
        const first = await firstOf(context, entries, client, item, options);
        if (first === null) return { ...all, note: "The selected part is not in this thread" };
        const [[call], [group]] = await Promise.all([entities.get("activation", [first], options), entities.get("group", [first], options)]);
        const root = group !== null && group !== undefined && group.count > 1 ? group : call;
        return root === null || root === undefined ? all : { ...all, roots: [root] };
      });
    });
    $effect(() => {
      const [roots, of] = [this.#roots.value, this.#hotOf];
      if (roots === null || of === null || this.#opened !== null) return;
      this.#hot.ask(of, async () => ({ of, open: await hotPath(roots.roots, this) }));
    });
    $effect(() => {
      const [spot, entities] = [this.#spot, this.entities];
      const keys = (spot ?? []).map((one) => keyOfName(one.node)).filter((key) => key >= 0);
      this.#spotted.ask(JSON.stringify([this.#of().item, keys]), async (options) => {
        const ids = (isGroup: boolean): number[] => keys.filter((key) => (key % 2 === 1) === isGroup).map((key) => Math.floor(key / 2));
        const all = await Promise.all([entities.get("activation", ids(false), options), entities.get("group", ids(true), options)]);
        return new Map(all.flat().flatMap((one) => (one === null ? [] : [[keyOf(one), one] as const])));
      });
    });
    $effect(() => {
      const missing = this.tree?.missing ?? [];
      const fresh = missing.filter(({ entity, as }) => !this.#asked.has(insideKey(entity, as)));
      if (fresh.length > 0) void this.#fetch(fresh);
    });
    $effect(() => { this.#askReferences(); });
  }

  /** What is inside a node, asked for if it is not known. */
  async insideOf(entity: Activation, as: OpenAs): Promise<readonly Activation[]> {
    const known = this.#insides.get(insideKey(entity, as));
    if (known !== undefined) return known.list;
    const entities = this.entities;
    const { entities: list, omitted } = await entities.related(kindOf(entity), entity.id, as satisfies Relation);
    // A group of one call is that call.
    const single = list.filter((one) => one.kind === "group" && one.count === 1);
    const calls = new Map((await entities.get("activation", single.map((one) => one.id))).flatMap((one) => (one === null ? [] : [[one.id, one] as const])));
    const shown = calls.size === 0 ? list : list.map((one) => (one.kind === "group" && one.count === 1 ? (calls.get(one.id) ?? one) : one));
    const inside = { list: inOrder(shown), omitted };
    this.#insides.set(insideKey(entity, as), inside);
    return inside.list;
  }

  /** All at once: the picture changes once. */
  async #fetch(missing: readonly Missing[]): Promise<void> {
    for (const { entity, as } of missing) this.#asked.add(insideKey(entity, as));
    await Promise.all(missing.map(async ({ entity, as }) => {
      const key = insideKey(entity, as);
      try {
        await this.insideOf(entity, as);
        this.#problems.delete(key);
      } catch (error) {
        // Closed and opened again it is asked for again.
        this.#insides.set(key, { list: [], omitted: 0 });
        this.#problems.set(key, errorText(error));
      }
      this.#asked.delete(key);
    }));
    this.#version += 1;
    this.#forget();
  }

  /** Insides of what is closed are left to the cache, which forgets by itself. */
  #forget(): void {
    const open = new Set(this.#openKeys());
    for (const key of this.#insides.keys()) {
      if (open.has(key)) continue;
      this.#insides.delete(key);
      this.#problems.delete(key);
    }
  }

  #openKeys(): readonly string[] {
    const { tree } = this;
    return tree === null ? [] : tree.opened.flatMap((node) => {
      const [entity, as] = [tree.entities[node], tree.open[node] ?? null];
      return entity === undefined || as === null ? [] : [insideKey(entity, as)];
    });
  }

  #askReferences(): void {
    const [references, linked, shared] = [this.#wanted, this.#linked, this.#shared];
    const [tree, nodes, entities] = [this.tree, this.nodes, this.entities];
    if (tree === null) return;
    const shownOf = (name: string): Activation[] => {
      const entity = tree.entities[nodes.of(keyOfName(name))];
      return entity === undefined ? [] : [entity];
    };
    const wanted = Object.entries(references).flatMap(([name, of]) => shownOf(name).map((entity) => ({ entity, relation: of === "own" ? "references" as const : "references_within" as const })));
    const sharing = shared === null ? [] : shared.nodes.flatMap((name) => shownOf(name));
    const linking = linked.length === 0 ? [] : tree.entities.filter((entity) => entity.touched > 0).slice(0, MOST_ASKED);
    const keys = [wanted.map(({ entity, relation }) => [keyOf(entity), relation]), linked, linking.map((entity) => keyOf(entity)), sharing.map((entity) => keyOf(entity)), shared?.isInclusive ?? false];
    this.#references.ask(JSON.stringify([this.#of().item, keys]), async (options): Promise<ReferencesShown> => {
      if (wanted.length + linking.length + sharing.length === 0) return NO_REFERENCES;
      const byId = new Map<number, Reference>();
      const touchedBy = async (entity: Activation, relation: "references" | "references_within", only: ReadonlySet<number> | null): Promise<Touched> => {
        const related = await entities.related(kindOf(entity), entity.id, relation, options);
        for (const one of related.entities) byId.set(one.id, one);
        return { node: keyOf(entity), references: related.entities.map((one) => one.id), reads: related.reads, writes: related.writes, only };
      };
      const within = shared?.isInclusive === true ? "references_within" as const : "references" as const;
      const common = sharing.length < 2 || sharing.length < (shared?.nodes.length ?? 0) ? null : await entities.shared(
        sharing.filter((one) => one.kind !== "group").map((one) => one.id), sharing.filter((one) => one.kind === "group").map((one) => one.id), within === "references_within", options,
      );
      const sharedIds = new Set((common ?? []).map((one) => one.id));
      const all = await Promise.all([
        ...wanted.map(({ entity, relation }) => touchedBy(entity, relation, null)),
        ...(common === null ? [] : sharing.map((entity) => touchedBy(entity, within, sharedIds))),
        ...linking.map((entity) => touchedBy(entity, "references", new Set(linked))),
      ]);
      return { ...shownReferences(all, MOST_REFERENCES), byId };
    });
  }
}

function insideKey(entity: Activation, as: OpenAs): string {
  return `${String(keyOf(entity))} ${as}`;
}

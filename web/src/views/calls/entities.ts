import type { AskOptions, EngineClient } from "../../state/engine.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { recordsOf, RESULT, Rows, type EntityKind, type EntityOf, type Reference, type Relation, type ResultOf } from "./records.ts";

/** What belongs to one entity. */
export interface Related<K extends EntityKind> {
  readonly entities: readonly EntityOf[K][];
  /** How often it is read and written, of each; only of relations between activations and references. */
  readonly reads: Float64Array;
  readonly writes: Float64Array;
  /** Lines that read and write; NaN where unknown. */
  readonly readLine: Float64Array;
  readonly writeLine: Float64Array;
  /** More that the engine omitted. */
  readonly omitted: number;
}

/** How long questions are collected before they are asked, in milliseconds. */
const COLLECT_MILLIS = 10;
/** Entities that are kept, and as many places in lists of related ones. */
const MOST_KEPT = 500_000;

/** An answer that is waited for. */
class Waited<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;
  /** Who has not withdrawn. */
  waiting = 0;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Each waiter receives an error; when all have withdrawn it is dropped.
    this.promise.catch(() => undefined);
  }

  /** The answer, unless the waiter cancels, which the others do not notice. */
  wait(signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    this.waiting += 1;
    if (signal === undefined) return this.promise;
    return new Promise<T>((resolve, reject) => {
      const cancel = (): void => {
        this.waiting -= 1;
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", cancel, { once: true });
      const end = (): void => { signal.removeEventListener("abort", cancel); };
      this.promise.then((value) => { end(); resolve(value); }, (error: unknown) => { end(); reject(error as Error); });
    });
  }
}

/** Questions of one kind that are asked as one. */
type Batch<T> = Map<number, Waited<T>>;

const kept = new WeakMap<EngineClient, Map<string, Entities>>();

/**
 * What is known of the call instances, references and threads of an experiment, shared by all views of it.
 * Each entity is one object, whoever asks. Questions of a few milliseconds are asked together; what was
 * answered is not asked again until it has long not been used.
 */
export class Entities {
  /** What is known of an item, by the engine's name for it. */
  static of(client: EngineClient, item: string): Entities {
    let items = kept.get(client);
    if (items === undefined) kept.set(client, (items = new Map<string, Entities>()));
    let entities = items.get(item);
    if (entities === undefined) items.set(item, (entities = new Entities(client, item)));
    return entities;
  }

  readonly #client: EngineClient;
  readonly #item: string;
  readonly #most: number;
  readonly #byKind = new Map<EntityKind, Map<number, EntityOf[EntityKind]>>();
  /** References as they came with others say how often these touch them, not how often the whole run does. */
  readonly #whole = new Set<number>();
  readonly #related = new Map<string, Related<EntityKind>>();
  readonly #lists = new Map<EntityKind, Promise<readonly EntityOf[EntityKind][]>>();
  /** Asked or about to be. */
  readonly #waited = new Map<string, Waited<unknown>>();
  readonly #toGet = new Map<EntityKind, Batch<EntityOf[EntityKind] | null>>();
  readonly #toRelate = new Map<string, { kind: EntityKind; relation: Relation; longerThanNs: number | null; batch: Batch<Related<EntityKind>> }>();
  #places = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(client: EngineClient, item: string, most = MOST_KEPT) {
    this.#client = client;
    this.#item = item;
    this.#most = most;
  }

  /** An entity if it is known. */
  known<K extends EntityKind>(kind: K, id: number): EntityOf[K] | undefined {
    return this.#byKind.get(kind)?.get(id) as EntityOf[K] | undefined;
  }

  /** Entities by their numbers, in that order; null for a number that there is not. */
  get<K extends EntityKind>(kind: K, ids: readonly number[], options: AskOptions = {}): Promise<readonly (EntityOf[K] | null)[]> {
    return Promise.all(ids.map((id) => this.#one(kind, id, options.signal))) as Promise<(EntityOf[K] | null)[]>;
  }

  /** All of a kind, as many as an answer has. */
  all<K extends EntityKind>(kind: K, options: AskOptions = {}): Promise<readonly EntityOf[K][]> {
    let list = this.#lists.get(kind);
    if (list === undefined) {
      list = this.#client.ask("entities", { item: this.#item, kind, ids: null }).then(({ tables }) => {
        if (kind === "reference") this.#byKind.delete(kind);
        const all = this.#keep(kind, new Rows(rowsOf(tables)));
        if (kind === "reference") for (const one of all) this.#whole.add(one.id);
        return all;
      });
      this.#lists.set(kind, list);
      list.catch(() => { this.#lists.delete(kind); });
    }
    const waited = new Waited<readonly EntityOf[EntityKind][]>();
    list.then((value) => { waited.resolve(value); }, (error: unknown) => { waited.reject(error); });
    return waited.wait(options.signal) as Promise<readonly EntityOf[K][]>;
  }

  /** What belongs to an entity. `longerThanNs`: only what takes longer than that. */
  related<R extends Relation>(kind: EntityKind, id: number, relation: R, options: AskOptions & { longerThanNs?: number } = {}): Promise<Related<ResultOf[R]>> {
    const longerThanNs = options.longerThanNs ?? null;
    const of = `${kind} ${relation} ${String(longerThanNs)}`;
    const key = `${of} ${String(id)}`;
    const known = this.#related.get(key);
    if (known !== undefined) {
      this.#related.delete(key);
      this.#related.set(key, known);
      return Promise.resolve(known as Related<ResultOf[R]>);
    }
    let waited = this.#waited.get(key) as Waited<Related<EntityKind>> | undefined;
    if (waited === undefined) {
      waited = new Waited();
      this.#waited.set(key, waited as Waited<unknown>);
      let asked = this.#toRelate.get(of);
      if (asked === undefined) this.#toRelate.set(of, (asked = { kind, relation, longerThanNs, batch: new Map() }));
      asked.batch.set(id, waited);
      this.#soon();
    }
    return waited.wait(options.signal) as Promise<Related<ResultOf[R]>>;
  }

  /** References that all of several activations and groups read or write; with what is below them or without. */
  async shared(activations: readonly number[], groups: readonly number[], isInclusive: boolean, options: AskOptions = {}): Promise<readonly Reference[]> {
    const { tables } = await this.#client.ask("shared", { item: this.#item, activations: [...activations], groups: [...groups], is_inclusive: isInclusive }, options);
    return this.#keep("reference", new Rows(rowsOf(tables)));
  }

  #one(kind: EntityKind, id: number, signal: AbortSignal | undefined): Promise<EntityOf[EntityKind] | null> {
    const entities = this.#byKind.get(kind);
    const known = entities?.get(id);
    if (known !== undefined && (kind !== "reference" || this.#whole.has(id))) {
      entities?.delete(id);
      entities?.set(id, known);
      return Promise.resolve(known);
    }
    const key = `${kind} ${String(id)}`;
    let waited = this.#waited.get(key) as Waited<EntityOf[EntityKind] | null> | undefined;
    if (waited === undefined) {
      waited = new Waited();
      this.#waited.set(key, waited as Waited<unknown>);
      let batch = this.#toGet.get(kind);
      if (batch === undefined) {
        batch = new Map<number, Waited<EntityOf[EntityKind] | null>>();
        this.#toGet.set(kind, batch);
      }
      batch.set(id, waited);
      this.#soon();
    }
    return waited.wait(signal);
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const [gets, relates] = [[...this.#toGet], [...this.#toRelate]];
      this.#toGet.clear();
      this.#toRelate.clear();
      for (const [kind, batch] of gets) void this.#get(kind, this.#stillWanted(batch, (id) => `${kind} ${String(id)}`));
      for (const [of, { kind, relation, longerThanNs, batch }] of relates) {
        void this.#relate(of, kind, relation, longerThanNs, this.#stillWanted(batch, (id) => `${of} ${String(id)}`));
      }
    }, COLLECT_MILLIS);
  }

  /** Drops requests that all waiters have withdrawn. */
  #stillWanted<T>(batch: Batch<T>, keyOf: (id: number) => string): Batch<T> {
    for (const [id, waited] of batch) {
      if (waited.waiting > 0) continue;
      batch.delete(id);
      this.#waited.delete(keyOf(id));
    }
    return batch;
  }

  async #get(kind: EntityKind, batch: Batch<EntityOf[EntityKind] | null>): Promise<void> {
    let rest = [...batch.keys()];
    try {
      while (rest.length > 0) {
        const { reply, tables } = await this.#client.ask("entities", { item: this.#item, kind, ids: rest });
        // What came with something else has other sums; it makes way for what was requested.
        if (kind === "reference") for (const id of rest) this.#byKind.get(kind)?.delete(id);
        const found = new Map(this.#keep(kind, new Rows(rowsOf(tables))).map((one) => [one.id, one]));
        if (kind === "reference") for (const id of found.keys()) this.#whole.add(id);
        // What the limit cut off is asked for again, as long as that brings something.
        const isCut = reply.left_out > 0 && found.size > 0;
        const answered = isCut ? rest.filter((id) => found.has(id)) : rest;
        for (const id of answered) {
          this.#waited.delete(`${kind} ${String(id)}`);
          batch.get(id)?.resolve(found.get(id) ?? null);
        }
        rest = isCut ? rest.filter((id) => !found.has(id)) : [];
      }
    } catch (error) {
      for (const id of rest) {
        this.#waited.delete(`${kind} ${String(id)}`);
        batch.get(id)?.reject(error);
      }
    }
  }

  async #relate(of: string, kind: EntityKind, relation: Relation, longerThanNs: number | null, batch: Batch<Related<EntityKind>>): Promise<void> {
    const open: number[][] = [[...batch.keys()]];
    try {
      for (let ids = open[0]; ids !== undefined; ids = open[0]) {
        if (ids.length > 0) {
          const { reply, tables } = await this.#client.ask("related", { item: this.#item, kind, ids, relation, longer_than_ns: longerThanNs });
          const rows = new Rows(rowsOf(tables));
          const parts = this.#split(RESULT[relation], rows);
          // The limit cuts the end off: the last one that came may lack rows, and those after it have none.
          const cut = reply.left_out === 0 || ids.length === 1 || rows.length === 0 ? ids.length : ids.indexOf(rows.number("of", rows.length - 1));
          const whole = cut < 0 ? ids : ids.slice(0, cut);
          for (const id of whole) {
            const found = parts.get(id) ?? NOTHING;
            const key = `${of} ${String(id)}`;
            const related = ids.length === 1 ? { ...found, omitted: reply.left_out } : found;
            this.#remember(key, related);
            this.#waited.delete(key);
            batch.get(id)?.resolve(related);
          }
          // The one that was cut is asked for alone: then it is known how much of it there is more.
          if (whole.length < ids.length) open.push(ids.slice(whole.length, whole.length + 1), ids.slice(whole.length + 1));
        }
        open.shift();
      }
    } catch (error) {
      for (const id of open.flat()) {
        this.#waited.delete(`${of} ${String(id)}`);
        batch.get(id)?.reject(error);
      }
    }
  }

  /** Rows of several entities, which come one entity after the other. */
  #split(kind: EntityKind, rows: Rows): Map<number, Related<EntityKind>> {
    const all = this.#keep(kind, rows);
    const owner = rows.numbers("of");
    const counts = ["reads", "writes", "read_line", "write_line"].map((name) => rows.numbers(name));
    const parts = new Map<number, Related<EntityKind>>();
    for (let from = 0; from < rows.length; ) {
      const id = owner[from] ?? -1;
      let to = from + 1;
      while (to < rows.length && owner[to] === id) to += 1;
      const [reads, writes, readLine, writeLine] = counts.map((column) => column.subarray(from, to));
      parts.set(id, { ...NOTHING, entities: all.slice(from, to), ...(reads && writes && readLine && writeLine ? { reads, writes, readLine, writeLine } : {}) });
      from = to;
    }
    return parts;
  }

  /** Makes entities of rows, or finds those that are there; the ones that were not used longest go. */
  #keep<K extends EntityKind>(kind: K, rows: Rows): EntityOf[K][] {
    let entities = this.#byKind.get(kind);
    if (entities === undefined) {
      entities = new Map<number, EntityOf[EntityKind]>();
      this.#byKind.set(kind, entities);
    }
    const map = entities;
    const all = recordsOf(kind, rows, (id) => map.get(id) as EntityOf[K] | undefined);
    for (const one of all) if (!map.has(one.id)) map.set(one.id, one);
    for (const oldest of map.keys()) {
      if (map.size <= this.#most) break;
      map.delete(oldest);
      if (kind === "reference") this.#whole.delete(oldest);
    }
    return all;
  }

  #remember(key: string, related: Related<EntityKind>): void {
    this.#related.set(key, related);
    this.#places += related.entities.length + 1;
    for (const [oldest, { entities }] of this.#related) {
      if (this.#places <= this.#most || oldest === key) break;
      this.#related.delete(oldest);
      this.#places -= entities.length + 1;
    }
  }
}

const NONE = new Float64Array();
const NOTHING: Related<EntityKind> = { entities: [], reads: NONE, writes: NONE, readLine: NONE, writeLine: NONE, omitted: 0 };

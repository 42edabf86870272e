/** Two runs that are compared: which, how they are aligned, and what is known of both in the window. Asks; draws nothing. */
import { count } from "../../base/format.ts";
import type { Item } from "../../state/item.ts";
import { Latest, rowsOf } from "../../view-kit/ask.svelte.ts";
import { askedWindow, askTimeline, type TimelineCatalog } from "../../view-kit/catalog.ts";
import { numberColumn, wholeColumn } from "../../view-kit/columns.ts";
import type { ViewProps } from "../../view-kit/plugin.ts";
import { contextOf } from "../../view-kit/selection.ts";
import type { TimeRange } from "../../widgets/timeline/axis.ts";
import { rowsFor } from "../../widgets/trace/strips.ts";
import { alignedBy, iterationRows, MOST_ROWS, movedBy, otherWindow, otherWindows, toOwn, unmatchedSentences, type IterationRow, type RunStrip, type TimeMap } from "./aligned.ts";
import { differences, type Difference, type StatRow } from "./compared.ts";
import { rowsByName, type TraceContext } from "./context.svelte.ts";
import { askIterations, type FoundIterations } from "./run-iterations.ts";
import type { CompareState } from "./states.ts";
import { askStats } from "./stats.ts";

const BINS = 800;
/** Pictures of the other run that are asked for one by one; where more iterations are on screen, a bin is drawn across the begin of one. */
const MOST_PICTURES = 24;
const LEAST_BINS = 24;

const NO_ROWS: ReadonlyMap<string, number> = new Map<string, number>();

/** Made while the view is; its questions follow what is chosen. */
export class ComparedRuns {
  readonly #props: () => ViewProps<CompareState>;
  readonly #trace: TraceContext;
  readonly #otherCatalog = new Latest<TimelineCatalog>();
  readonly strips = new Latest<readonly [readonly RunStrip[], readonly RunStrip[]]>();
  readonly tables = new Latest<readonly [readonly StatRow[], readonly StatRow[]]>();
  readonly #calls = new Latest<readonly [number | null, number | null]>();
  readonly #iterations = new Latest<{ readonly of: string; readonly runs: readonly [FoundIterations, FoundIterations] }>();

  readonly #chosen = $derived.by(() => this.#props().state.current);
  /** Open traces besides this one. */
  readonly others = $derived.by(() => {
    const { items, item } = this.#props();
    return items.filter((one) => one.kind === "experiment" && one.has_trace && one.key !== item.key);
  });
  /** The run to compare with; null where there is none. */
  readonly other = $derived.by((): Item | null => {
    const { title } = this.#props().item;
    return this.others.find((one) => one.key === this.#chosen.other) ?? this.others.find((one) => one.title === title) ?? this.others[0] ?? null;
  });
  readonly first = $derived.by(() => this.#trace.catalog.value);
  readonly second = $derived.by(() => (this.other === null ? null : this.#otherCatalog.value));

  /** Rows of functions by their names, in each run. */
  readonly firstRows = $derived.by(() => (this.first === null ? NO_ROWS : rowsByName(this.first, "function")));
  readonly secondRows = $derived.by(() => (this.second === null ? NO_ROWS : rowsByName(this.second, "function")));
  /** Functions that both runs have, in the order of this one. */
  readonly common = $derived.by(() => [...this.firstRows.keys()].filter((name) => this.secondRows.has(name)).reverse());
  /** The function in the focus of all views; empty where it is not in both runs. */
  readonly focused = $derived.by(() => {
    const { links, item } = this.#props();
    const id = contextOf(links.focus, item.key);
    const row = id === null || this.first === null ? -1 : this.first.contextRow(id);
    const name = row < 0 || this.first === null ? "" : this.first.nameOf(this.first.contexts.function[row] ?? 0, "function");
    return this.secondRows.has(name) && this.firstRows.has(name) ? name : "";
  });
  /** The function whose n-th call is put at the same place. */
  readonly callName = $derived.by(() => (this.#chosen.functionName !== "" ? this.#chosen.functionName : this.#longestName()));

  readonly #iterationsKey = $derived.by(() => (this.other === null ? "" : JSON.stringify([this.#props().item.item, this.other.item, this.#chosen.marker.trim()])));
  /** The iterations of both; null while unknown, and where the runs are aligned in another way. Those of the pair before say nothing about this one. */
  readonly found = $derived.by(() => (this.#chosen.align === "iteration" && this.#iterations.value?.of === this.#iterationsKey ? this.#iterations.value.runs : null));
  /** What iterations begin with in the run that has them, if it is a function with a plain name that both have; empty otherwise. */
  readonly knownMarker = $derived.by(() => {
    const name = this.#chosen.marker.trim() === "" ? (this.found?.find(({ why }) => why === "")?.marker ?? "") : "";
    return /^\w+$/.test(name) && this.common.includes(name) ? name : "";
  });

  /** Where moments of this run are in the other one; null while it is not known. */
  readonly map = $derived.by((): TimeMap | null => {
    switch (this.#chosen.align) {
      case "start": return movedBy(0);
      case "offset": return movedBy(this.#chosen.offsetNs);
      case "call": {
        const [a, b] = this.#calls.value ?? [null, null];
        return a === null || b === null ? null : movedBy(b - a);
      }
      case "iteration": return this.found === null ? null : alignedBy(this.found[0].iterations, this.found[1].iterations);
    }
  });
  /** By how much the other run is moved; null where it is stretched or compressed between iterations. */
  readonly shift = $derived.by(() => (this.map === null || this.map.own.length > 1 ? null : (this.map.other[0] ?? 0) - (this.map.own[0] ?? 0)));
  /** Both runs from their first to their last record, on the clock of this one. */
  readonly bounds = $derived.by((): TimeRange => [
    Math.min(0, this.map === null ? 0 : toOwn(this.map, 0)),
    Math.max(this.first?.bounds[1] ?? 1, this.map === null || this.second === null ? 1 : toOwn(this.map, this.second.bounds[1])),
  ]);
  /** The window of each run, on its own clock. */
  readonly windows = $derived.by((): readonly [TimeRange, TimeRange] | null => {
    const { window, isWholeTime } = this.#trace;
    if (window === null || this.first === null || this.second === null || this.map === null) return null;
    // The whole trace next to the whole trace, also where one run is longer.
    return isWholeTime ? [this.first.bounds, otherWindow(this.map, this.bounds, this.second.bounds[1])] : [window, otherWindow(this.map, window, this.second.bounds[1])];
  });

  readonly byFunction = $derived.by((): readonly Difference[] => (this.tables.value === null ? [] : differences(this.tables.value[1], this.tables.value[0], this.#chosen.cost)));
  readonly byIteration = $derived.by((): readonly IterationRow[] => (this.found === null ? [] : iterationRows(this.found[0].iterations, this.found[1].iterations)));
  /** How the iterations were aligned. */
  readonly sentences = $derived.by((): readonly string[] => {
    if (this.found === null) return [];
    const [own, its] = this.found;
    const begin = own.marker === its.marker ? `Iterations begin with ${own.marker} in both runs.` : `Iterations begin with ${own.marker} in this run and with ${its.marker} in the other one: they may not correspond to each other.`;
    return [
      begin,
      ...unmatchedSentences(own.iterations.beginNs.length, its.iterations.beginNs.length, this.byIteration),
      ...own.isTogether && its.isTogether ? [] : ["Iterations do not start together on all locations: the start on the first location is used."],
      "Between two iteration starts the other run is stretched or compressed; the tooltip has its original times.",
    ];
  });

  constructor(props: () => ViewProps<CompareState>, trace: TraceContext) {
    this.#props = props;
    this.#trace = trace;
    $effect(() => {
      const { client } = this.#props();
      const of = this.other;
      if (of !== null) this.#otherCatalog.ask(of.item, () => askTimeline(client, of.item));
    });
    $effect(() => { this.#askCalls(); });
    $effect(() => { this.#askIterations(); });
    $effect(() => { this.#askWindows(); });
  }

  /** Why there is no other catalog; null where there is. */
  get otherProblem(): string | null {
    return this.#otherCatalog.problem;
  }

  /** Why the runs cannot be aligned at the chosen call; null where they can, and while that is unknown. */
  get callProblem(): string | null {
    if (this.#chosen.align !== "call") return null;
    if (this.#calls.problem !== null) return this.#calls.problem;
    if (this.#calls.value === null) return null;
    const missing = [this.#calls.value[0] === null ? "this run" : "", this.#calls.value[1] === null ? "the other run" : ""].filter((text) => text !== "");
    return missing.length === 0 ? null : `There is no call ${count(this.#chosen.nth)} of ${this.callName} in ${missing.join(" and in ")}.`;
  }

  /** Why the runs cannot be aligned by iteration; null where they can, and while that is unknown. */
  get iterationsProblem(): string | null {
    if (this.#chosen.align !== "iteration") return null;
    if (this.#iterations.problem !== null) return this.#iterations.problem;
    if (this.found === null) return null;
    const missing = this.found.flatMap(({ why }, run) => (why === "" ? [] : [`${run === 0 ? "This run" : "The other run"} has none: ${why}`]));
    return missing.length === 0 ? null : `${missing.join(" ")} If you know the first context of an iteration, enter it in the field “Marker”, such as function(time_step), or select another alignment.`;
  }

  /** Why the window could not be compared. */
  get problem(): string | null {
    return this.strips.problem ?? this.tables.problem;
  }

  #longestName(): string {
    const nanos = (name: string): number => this.first?.functions.exclusiveNs[this.firstRows.get(name) ?? -1] ?? 0;
    return this.common.reduce((best, name) => (best === "" || nanos(name) > nanos(best) ? name : best), "");
  }

  /** The n-th call of the function, in time, in each run. */
  #askCalls(): void {
    const { client, item } = this.#props();
    const of = this.other;
    if (this.#chosen.align !== "call" || of === null || this.callName === "") return;
    const nth = Math.max(1, Math.round(this.#chosen.nth));
    const ask = { name: this.callName, order: "first" as const, max_rows: nth };
    const names = [item.item, of.item] as const;
    this.#calls.ask(JSON.stringify([names, ask]), async (options) => {
      const starts = await Promise.all(names.map(async (name) => {
        const answer = await client.ask("find", { item: name, ...ask }, options);
        return numberColumn(rowsOf(answer.tables), "start_ns")[nth - 1] ?? null;
      }));
      return [starts[0] ?? null, starts[1] ?? null];
    });
  }

  #askIterations(): void {
    const { client, item } = this.#props();
    const [of, key, marker] = [this.other, this.#iterationsKey, this.#chosen.marker.trim()];
    if (this.#chosen.align !== "iteration" || of === null) return;
    this.#iterations.ask(key, async (options) => {
      const [own, its] = await Promise.all([askIterations(client, item.item, marker, options), askIterations(client, of.item, marker, options)]);
      return { of: key, runs: [own, its] };
    });
  }

  #askWindows(): void {
    const { client, item } = this.#props();
    const [first, of, at, by, over] = [this.first, this.other, this.windows, this.#trace.shared.current.by, this.map];
    const next = this.second;
    if (first === null || of === null || next === null || at === null || over === null) return;
    const names = [item.item, of.item] as const;
    const others = otherWindows(over, this.#trace.isWholeTime ? this.bounds : at[0], next.bounds[1], MOST_PICTURES);
    const length = Math.max(1, at[1][1] - at[1][0]);
    this.strips.ask(JSON.stringify([names, at[0], others, by]), ({ signal }) => Promise.all([
      this.#askStrip(first, names[0], at[0], BINS, signal).then((own) => [own]),
      Promise.all(others.map((range) => this.#askStrip(next, names[1], range, Math.max(LEAST_BINS, Math.ceil((BINS * (range[1] - range[0])) / length)), signal))),
    ]));
    this.tables.ask(JSON.stringify([names, at]), async ({ signal }) => {
      const answers = await Promise.all(names.map((name, run) => askStats(client, { item: name, ...askedWindow(at[run] ?? at[0]), by: "function" }, signal)));
      return [answers[0]?.rows ?? [], answers[1]?.rows ?? []];
    });
  }

  async #askStrip(of: TimelineCatalog, name: string, range: TimeRange, bins: number, signal: AbortSignal | undefined): Promise<RunStrip> {
    const rows = rowsFor(of.tracks.length, MOST_ROWS);
    const { reply, tables } = await this.#props().client.ask("tile", { item: name, rows, ...askedWindow(range), bins, by: this.#trace.shared.current.by }, signal === undefined ? {} : { signal });
    const cells = rowsOf(tables, "cells");
    const strip = {
      rows: rows.length, bins: reply.bins, firstNs: reply.first_ns, binNs: reply.bin_ns,
      key: wholeColumn(cells, "key"), busy: numberColumn(cells, "busy_ns"),
      full: Float64Array.from(rows, ({ from, to }) => (to - from) * reply.bin_ns),
    };
    return { range, strip };
  }
}

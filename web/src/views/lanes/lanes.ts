/** What the engine says about lanes, ready to be drawn. */

import type { Table } from "@uwdata/flechette";
import type { AskOptions, EngineClient } from "../../state/engine.ts";
import { extentOf, lane, unionOf, type Lane, type LaneRows } from "../../widgets/lanes/lane-layout.ts";
import type { TimeRange } from "../../widgets/timeline/axis.ts";
import type { Protocol } from "../../wire/protocol.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn, textAt, textColumn, wholeColumn, type TextColumn } from "../../view-kit/columns.ts";
import type { Zoom } from "./states.ts";
import type { ThreadFacts } from "./threads.ts";
import { zoomOf, zoomsOf } from "./zooms.ts";

/** The lane of one thread: its calls, and what they are. */
export interface ThreadLane {
  readonly thread: ThreadFacts;
  /** What it is zoomed to. */
  readonly zoom: Zoom | null;
  readonly lane: Lane;
  readonly name: TextColumn;
  readonly activation: Float64Array;
  readonly context: Float64Array;
  /** Number of aggregated calls; 1 where they are not. */
  readonly count: Float64Array;
  /** Of a loop. */
  readonly iterations: Float64Array;
  /** Shorter calls that are omitted, without those below them. */
  readonly omitted: number;
}

/** All lanes of one answer. */
export interface LanesAnswer {
  readonly isMerged: boolean;
  readonly lanes: readonly ThreadLane[];
  /** The thread whose lane says what time is on screen; null for all of them. */
  readonly leader: number | null;
  readonly notes: readonly string[];
}

/** How lanes are asked for. */
export interface LanesWish {
  readonly item: string;
  readonly threads: readonly ThreadFacts[];
  readonly zooms: readonly Zoom[];
  readonly isMerged: boolean;
  readonly hasLoops: boolean;
  readonly belowPercent: number;
}

/** One question, and which lanes (by their place among the threads) its tops belong to. */
export interface LanesQuestion {
  readonly ask: Protocol["lanes"]["request"];
  readonly owners: readonly number[];
}

/**
 * The questions behind the lanes. Most often it is one. Aggregated calls cannot be the top of a lane for the engine:
 * such a lane is asked for from its single top with a threshold as much lower, and cut out of the answer.
 */
export function questionsOf({ item, threads, zooms, isMerged, hasLoops, belowPercent }: LanesWish): readonly LanesQuestion[] {
  const byPercent = new Map<number, { tops: number[]; owners: number[] }>();
  for (const [at, thread] of threads.entries()) {
    const zoom = zoomOf(zooms, thread.thread, isMerged);
    const percent = belowPercent * (zoom?.share ?? 1);
    const question = byPercent.get(percent) ?? { tops: [], owners: [] };
    byPercent.set(percent, question);
    for (const top of topsOf(thread, zooms, isMerged)) {
      question.tops.push(top);
      question.owners.push(at);
    }
  }
  return [...byPercent]
    .filter(([, { tops }]) => tops.length > 0)
    .map(([percent, { tops, owners }]) => ({ ask: { item, tops, is_merged: isMerged, below_percent: percent, loops: hasLoops && !isMerged }, owners }));
}

/** The calls that a lane begins with: what it is zoomed to, or all that its thread begins with. */
function topsOf(thread: ThreadFacts, zooms: readonly Zoom[], isMerged: boolean): readonly number[] {
  const single = zoomsOf(zooms, isMerged).findLast((one) => one.thread === thread.thread && one.share === undefined);
  return single === undefined ? thread.entries : [single.activation];
}

export async function askLanes(client: EngineClient, wish: LanesWish, options: AskOptions): Promise<LanesAnswer> {
  const questions = questionsOf(wish);
  const answers = await Promise.all(questions.map(({ ask }) => client.ask("lanes", ask, options)));
  const parts: LanePart[] = wish.threads.map(() => ({ table: null, rows: [], omitted: 0 }));
  for (const [at, { reply, tables }] of answers.entries()) {
    const table = rowsOf(tables);
    const owners = questions[at]?.owners ?? [];
    const ofLane = wholeColumn(table, "lane");
    for (let row = 0; row < table.numRows; row += 1) {
      const part = parts[owners[ofLane[row] ?? 0] ?? -1];
      if (part === undefined) continue;
      part.table = table;
      part.rows.push(row);
    }
    for (const [top, left] of reply.left_out.entries()) {
      const part = parts[owners[top] ?? -1];
      if (part !== undefined) part.omitted += left;
    }
  }
  const columns = new Map<Table, LaneColumns>();
  const lanes = wish.threads.map((thread, at) => {
    const part = parts[at] ?? { table: null, rows: [], omitted: 0 };
    return threadLane(thread, zoomOf(wish.zooms, thread.thread, wish.isMerged), part, columns, wish.isMerged);
  });
  const leader = zoomsOf(wish.zooms, wish.isMerged).findLast(({ thread }) => wish.threads.some((one) => one.thread === thread))?.thread ?? null;
  return { isMerged: wish.isMerged, lanes, leader, notes: [...new Set(answers.flatMap(({ reply }) => reply.notes))] };
}

interface LanePart {
  table: Table | null;
  readonly rows: number[];
  omitted: number;
}

/** The columns of an answer, read once for all of its lanes. */
interface LaneColumns {
  readonly name: TextColumn;
  readonly kind: TextColumn;
  readonly lane: Uint32Array;
  readonly level: Uint32Array;
  readonly activation: Float64Array;
  readonly context: Float64Array;
  readonly start: Float64Array;
  readonly span: Float64Array;
  readonly count: Float64Array;
  readonly iterations: Float64Array;
}

function columnsOf(table: Table): LaneColumns {
  return {
    name: textColumn(table, "name"),
    kind: textColumn(table, "kind"),
    lane: wholeColumn(table, "lane"),
    level: wholeColumn(table, "level"),
    activation: numberColumn(table, "activation"),
    context: numberColumn(table, "context_id"),
    start: numberColumn(table, "start_ns"),
    span: numberColumn(table, "length_ns"),
    count: numberColumn(table, "count"),
    iterations: numberColumn(table, "iterations"),
  };
}

function threadLane(thread: ThreadFacts, zoom: Zoom | null, part: LanePart, known: Map<Table, LaneColumns>, isMerged: boolean): ThreadLane {
  const { table, omitted } = part;
  if (table === null) {
    const none = new Float64Array();
    const rows: LaneRows = { length: 0, level: new Uint32Array(), isLoop: new Uint8Array(), start: none, span: none };
    return { thread, zoom, lane: lane(rows), name: { codes: new Int32Array(), texts: [] }, activation: none, context: none, count: none, iterations: none, omitted };
  }
  let columns = known.get(table);
  if (columns === undefined) known.set(table, (columns = columnsOf(table)));
  const of = columns;
  const rows = zoom?.share === undefined ? part.rows : cutOut(part.rows, of, zoom.activation);
  const base = zoom?.share === undefined ? 0 : (of.level[rows[0] ?? 0] ?? 0);
  const loop = of.kind.texts.indexOf("loop");
  const taken = (column: Float64Array): Float64Array => Float64Array.from(rows, (row) => column[row] ?? Number.NaN);
  const start = taken(of.start);
  // Aggregated calls begin at the left edge of each top; several tops of a thread stand side by side.
  if (isMerged) sideBySide(rows, of, start);
  return {
    thread,
    zoom,
    lane: lane({
      length: rows.length,
      level: Uint32Array.from(rows, (row) => (of.level[row] ?? 0) - base),
      isLoop: Uint8Array.from(rows, (row) => (loop >= 0 && of.kind.codes[row] === loop ? 1 : 0)),
      start,
      span: taken(of.span),
    }),
    name: { codes: Int32Array.from(rows, (row) => of.name.codes[row] ?? -1), texts: of.name.texts },
    activation: taken(of.activation),
    context: taken(of.context),
    count: taken(of.count),
    iterations: taken(of.iterations),
    omitted,
  };
}

/** The rows of aggregated calls, with all below them. */
function cutOut(rows: readonly number[], { activation, level }: LaneColumns, top: number): readonly number[] {
  const from = rows.findIndex((row) => activation[row] === top);
  if (from < 0) return rows;
  const above = level[rows[from] ?? 0] ?? 0;
  const length = rows.slice(from + 1).findIndex((row) => (level[row] ?? 0) <= above);
  return rows.slice(from, length < 0 ? rows.length : from + 1 + length);
}

function sideBySide(rows: readonly number[], { lane: lanes, level, span }: LaneColumns, start: Float64Array): void {
  let shift = 0;
  let last = lanes[rows[0] ?? 0];
  let wide = 0;
  for (const [at, row] of rows.entries()) {
    if (lanes[row] !== last) {
      shift += wide;
      last = lanes[row];
    }
    if (level[row] === 0) wide = span[row] ?? 0;
    start[at] = (start[at] ?? 0) + shift;
  }
}

/** What a bar or a loop is called. */
export function rowName(of: ThreadLane, row: number): string {
  const name = textAt(of.name, row);
  return name !== "" ? name : of.lane.isLoop[row] === 1 ? "Loop" : "Unknown function";
}

/** How long all tops of a lane take together, in nanoseconds. */
export function topLength(of: ThreadLane): number {
  const { layout } = of.lane;
  let sum = 0;
  for (let at = layout.starts[0] ?? 0; at < (layout.starts[1] ?? 0); at += 1) sum += layout.width[layout.rows[at] ?? 0] ?? 0;
  return sum;
}

/** The time that a zoom or, without any, all lanes take: the axis that all lanes share. */
export function wholeRange({ lanes, leader }: LanesAnswer): TimeRange {
  const led = lanes.find((one) => one.thread.thread === leader);
  const range = (led === undefined ? null : extentOf(led.lane)) ?? unionOf(lanes.map((one) => extentOf(one.lane))) ?? [0, 1];
  return range[1] > range[0] ? range : [range[0], range[0] + 1];
}

/** What each lane shows from edge to edge: one time window, or of aggregated calls all of each lane. */
export function rangesOf(answer: LanesAnswer, window: TimeRange | null): readonly TimeRange[] {
  if (!answer.isMerged) {
    const range = window ?? wholeRange(answer);
    return answer.lanes.map(() => range);
  }
  return answer.lanes.map((one): TimeRange => {
    const range = extentOf(one.lane) ?? [0, 1];
    return range[1] > range[0] ? range : [range[0], range[0] + 1];
  });
}

/** The row of a call in a lane; -1 where it is not among the bars. */
export function rowOfActivation(of: ThreadLane, activation: number): number {
  const row = of.activation.indexOf(activation);
  return row >= 0 && of.lane.isLoop[row] === 1 ? of.activation.indexOf(activation, row + 1) : row;
}

/** Which rows lie in a context, or below a call or loop of it; `isAllInside` where the lane's top lies in it already. */
export function insideContext(of: ThreadLane, context: number, isAllInside: boolean): Uint8Array {
  const inside = new Uint8Array(of.lane.length);
  for (let row = 0; row < inside.length; row += 1) {
    const above = of.lane.parent[row] ?? -1;
    if (isAllInside || of.context[row] === context || (above >= 0 && inside[above] === 1)) inside[row] = 1;
  }
  return inside;
}

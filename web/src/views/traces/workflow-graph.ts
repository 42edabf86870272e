/** Where the components of a workflow stand in the drawing, and how the arrows between them go. */
import type { Table } from "@uwdata/flechette";
import { bytes, plural } from "../../base/format.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";

/** A component of a workflow; numbers that are not known are NaN. */
export interface WorkflowComponent {
  readonly name: string;
  /** Null where there is one application. */
  readonly application: number | null;
  readonly ranks: number;
  readonly locations: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly busyPercent: number;
  readonly hosts: string;
  readonly command: string;
  readonly dependsOn: string;
}

/** What goes from one component to another in one way; numbers that were not recorded are NaN. */
export interface Exchange {
  /** Row of the component; -1 for what is not in the trace. */
  readonly from: number;
  readonly to: number;
  readonly by: string;
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  readonly senders: number;
  readonly receivers: number;
  readonly firstNs: number;
  readonly lastNs: number;
  readonly isDescribed: boolean;
}

/** An arrow of the drawing: all that goes from one component to another by messages, by files, or by ADIOS. */
export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** Rows of the table of exchanges. */
  readonly rows: readonly number[];
  readonly count: number;
  readonly bytes: number;
  readonly senders: number;
  readonly receivers: number;
  readonly firstNs: number;
  readonly lastNs: number;
  /** Whether only a description of the workflow says so. */
  readonly isDescribed: boolean;
  /** The file or stream, or what there are several of. */
  readonly what: string;
  /** Number and bytes; empty where nothing was recorded. */
  readonly amount: string;
}

export function componentsOf(table: Table): readonly WorkflowComponent[] {
  const [name, hosts, command, dependsOn] = ["component", "hosts", "command", "depends_on"].map((id) => textColumn(table, id));
  const numbers = ["application", "ranks", "locations", "start_ns", "end_ns", "busy_percent"].map((id) => numberColumn(table, id));
  return Array.from({ length: table.numRows }, (_, row) => {
    const at = (column: number): number => numbers[column]?.[row] ?? Number.NaN;
    const text = (column: typeof name): string => (column === undefined ? "" : textAt(column, row));
    return {
      name: text(name), application: Number.isNaN(at(0)) ? null : at(0), ranks: at(1), locations: at(2), startNs: at(3), endNs: at(4),
      busyPercent: at(5), hosts: text(hosts), command: text(command), dependsOn: text(dependsOn),
    };
  });
}

export function exchangesOf(table: Table): readonly Exchange[] {
  const [by, name, evidence] = ["by", "name", "evidence"].map((id) => textColumn(table, id));
  const numbers = ["from_row", "to_row", "count", "bytes", "senders", "receivers", "first_ns", "last_ns"].map((id) => numberColumn(table, id));
  return Array.from({ length: table.numRows }, (_, row) => {
    const at = (column: number): number => numbers[column]?.[row] ?? Number.NaN;
    const text = (column: typeof by): string => (column === undefined ? "" : textAt(column, row));
    const side = (value: number): number => (Number.isNaN(value) ? -1 : value);
    return {
      from: side(at(0)), to: side(at(1)), by: text(by), name: text(name), count: at(2), bytes: at(3), senders: at(4), receivers: at(5),
      firstNs: at(6), lastNs: at(7), isDescribed: text(evidence) === "described",
    };
  });
}

/** Words for one and several of what goes by something. */
const WORDS: Readonly<Record<string, readonly [counted: string, several: string]>> = { message: ["message", "messages"], file: ["read", "files"], ADIOS: ["read", "ADIOS streams"] };

/** Smallest and largest of two numbers, of which one may not be known. */
const least = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b));
const most = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b));

/** One arrow for each pair of components and each way; what is not in the trace has none. */
export function arrowsOf(exchanges: readonly Exchange[]): readonly Arrow[] {
  const groups = new Map<string, { rows: number[]; of: Exchange[] }>();
  exchanges.forEach((one, row) => {
    if (one.from < 0 || one.to < 0) return;
    const key = `${String(one.from)} ${String(one.to)} ${one.by}`;
    const group = groups.get(key) ?? { rows: [], of: [] };
    groups.set(key, group);
    group.rows.push(row);
    group.of.push(one);
  });
  return [...groups.values()].flatMap(({ rows, of }) => {
    const first = of[0];
    if (first === undefined) return [];
    // A sum of what is partly unknown would be too small.
    const sum = (value: (one: Exchange) => number): number => of.reduce((all, one) => all + value(one), 0);
    const count = sum((one) => one.count);
    const size = sum((one) => one.bytes);
    const [counted, several] = WORDS[first.by] ?? ["", ""];
    const what = first.by === "dependency" ? "dependency" : first.by === "message" ? several : of.length === 1 ? first.name : `${String(of.length)} ${several}`;
    const amounts = [Number.isNaN(count) ? "" : plural(count, counted), Number.isNaN(size) ? "" : bytes(size)];
    return [{
      from: first.from, to: first.to, by: first.by, rows, count, bytes: size,
      senders: of.reduce((best, one) => most(best, one.senders), Number.NaN), receivers: of.reduce((best, one) => most(best, one.receivers), Number.NaN),
      firstNs: of.reduce((best, one) => least(best, one.firstNs), Number.NaN), lastNs: of.reduce((best, one) => most(best, one.lastNs), Number.NaN),
      isDescribed: of.every((one) => one.isDescribed), what, amount: amounts.filter((text) => text !== "").join(", "),
    }];
  });
}

export const BOX_WIDTH = 196;
const BOX_HEIGHT = 92;
const COLUMN_GAP = 216;
const ROW_GAP = 40;
const MARGIN = 16;
/** Of an arrow at the side of a box, so that labels of two do not touch. */
const PORT = 34;
/** Of an arrow inside a component, above its box. */
const LOOP = 18;

/** A box of the drawing, in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** The line of an arrow, in pixels. */
export interface Line {
  /** Of the shaft, up to the head. */
  readonly path: string;
  /** Corners of the head. */
  readonly head: string;
  readonly width: number;
  readonly labelX: number;
  readonly labelY: number;
}

export interface Drawing {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

/** Column of each component: after all that it takes data from. Of two directions the one with more bytes decides, and what closes a circle does not. */
export function columnsOf(components: number, arrows: readonly Arrow[]): readonly number[] {
  const weight = new Map<string, number>();
  for (const arrow of arrows) {
    if (arrow.from === arrow.to) continue;
    const key = `${String(arrow.from)} ${String(arrow.to)}`;
    weight.set(key, (weight.get(key) ?? 0) + (Number.isNaN(arrow.bytes) ? 0 : arrow.bytes) + 1);
  }
  const after: number[][] = Array.from({ length: components }, () => []);
  for (const [key, own] of weight) {
    const [from = 0, to = 0] = key.split(" ").map(Number);
    const other = weight.get(`${String(to)} ${String(from)}`) ?? 0;
    if (own > other || (own === other && from < to)) after[from]?.push(to);
  }
  const column = new Array<number>(components).fill(0);
  // Depth first, without edges to what is still open; last in the order of leaving is first in that of the columns.
  const seen = new Uint8Array(components);
  const order: number[] = [];
  for (let start = 0; start < components; start += 1) {
    if (seen[start] !== 0) continue;
    seen[start] = 1;
    const stack: { at: number; next: number }[] = [{ at: start, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = after[top.at]?.[top.next];
      top.next += 1;
      if (to === undefined) {
        seen[top.at] = 2;
        order.push(top.at);
        stack.pop();
      } else if (seen[to] === 0) {
        seen[to] = 1;
        stack.push({ at: to, next: 0 });
      }
    }
  }
  const place = new Map(order.reverse().map((component, at) => [component, at]));
  for (const from of order) {
    for (const to of after[from] ?? []) {
      if ((place.get(to) ?? 0) > (place.get(from) ?? 0)) column[to] = Math.max(column[to] ?? 0, (column[from] ?? 0) + 1);
    }
  }
  return column;
}

type Side = "left" | "right";

/** The sides at which an arrow begins and ends. */
function sides(fromColumn: number, toColumn: number): readonly [Side, Side] {
  if (fromColumn < toColumn) return ["right", "left"];
  return fromColumn > toColumn ? ["left", "right"] : ["right", "right"];
}

/** Places components in columns by what they take data from, and draws what goes between them. */
export function drawingOf(components: readonly WorkflowComponent[], arrows: readonly Arrow[]): Drawing {
  const column = columnsOf(components.length, arrows);
  const ports = new Map<string, number[]>();
  const loops = new Array<number>(components.length).fill(0);
  arrows.forEach((arrow, at) => {
    if (arrow.from === arrow.to) {
      loops[arrow.from] = (loops[arrow.from] ?? 0) + 1;
      return;
    }
    const [start, end] = sides(column[arrow.from] ?? 0, column[arrow.to] ?? 0);
    for (const key of [`${String(arrow.from)} ${start}`, `${String(arrow.to)} ${end}`]) ports.set(key, [...(ports.get(key) ?? []), at]);
  });
  const heights = components.map((_, row) => Math.max(BOX_HEIGHT, ...(["left", "right"] as const).map((side) => (ports.get(`${String(row)} ${side}`)?.length ?? 0) * PORT)));
  const filled: number[] = [];
  const boxes = components.map((_, row) => {
    const of = column[row] ?? 0;
    const y = (filled[of] ?? MARGIN) + (loops[row] ?? 0) * LOOP + ((loops[row] ?? 0) > 0 ? 6 : 0);
    filled[of] = y + (heights[row] ?? 0) + ROW_GAP;
    return { x: MARGIN + of * (BOX_WIDTH + COLUMN_GAP), y, height: heights[row] ?? 0 };
  });
  const largest = arrows.reduce((best, arrow) => most(best, arrow.bytes), Number.NaN);
  const middle = (row: number): number => (boxes[row]?.y ?? 0) + (boxes[row]?.height ?? 0) / 2;
  const portY = (row: number, side: Side, at: number): number => {
    // By the height of the other end, so that arrows of one side do not cross.
    const all = [...(ports.get(`${String(row)} ${side}`) ?? [])].sort((a, b) => middle(otherEnd(arrows[a], row)) - middle(otherEnd(arrows[b], row)) || a - b);
    return middle(row) + (all.indexOf(at) - (all.length - 1) / 2) * PORT;
  };
  let bottom = Math.max(...filled.filter((y) => Number.isFinite(y)), MARGIN);
  let right = 0;
  const looped = new Array<number>(components.length).fill(0);
  const lines = arrows.map((arrow, at): Line => {
    const width = Number.isNaN(arrow.bytes) || !(largest > 0) ? 1.5 : 1.5 + 8 * Math.sqrt(arrow.bytes / largest);
    const [from, to] = [boxes[arrow.from], boxes[arrow.to]];
    if (from === undefined || to === undefined) return { path: "", head: "", width, labelX: 0, labelY: 0 };
    if (arrow.from === arrow.to) {
      const nth = looped[arrow.from] ?? 0;
      looped[arrow.from] = nth + 1;
      const y = from.y - 6 - nth * LOOP;
      const [x1, x2] = [from.x + 10, from.x + 34];
      return {
        path: `M ${String(x1)} ${String(from.y)} C ${String(x1)} ${String(y - 12)} ${String(x2)} ${String(y - 12)} ${String(x2)} ${String(from.y - 7)}`,
        head: headOf(x2, from.y, "down", Math.min(width, 3)), width: Math.min(width, 3), labelX: from.x + 42, labelY: y,
      };
    }
    const span = Math.abs((column[arrow.to] ?? 0) - (column[arrow.from] ?? 0));
    const [start, end] = sides(column[arrow.from] ?? 0, column[arrow.to] ?? 0);
    const [x1, x2] = [start === "right" ? from.x + BOX_WIDTH : from.x, end === "right" ? to.x + BOX_WIDTH : to.x];
    const [y1, y2] = [portY(arrow.from, start, at), portY(arrow.to, end, at)];
    const into = end === "left" ? "right" : "left";
    const tip = x2 + (end === "left" ? -1 : 1) * (8 + width);
    // Over other columns an arrow goes below their boxes; in one column it goes round at the right.
    const bend = span > 1 ? Math.max(...filled.slice(0).filter((y) => Number.isFinite(y))) - Math.max(y1, y2) + 8 : 0;
    const out = span === 0 ? 70 : COLUMN_GAP * 0.45;
    const [c1, c2] = [x1 + (start === "right" ? out : -out), tip + (end === "right" ? out : -out)];
    const labelX = span === 0 ? x1 + 62 : (x1 + x2) / 2;
    const labelY = (y1 + y2) / 2 + bend * 0.75;
    bottom = Math.max(bottom, labelY + 40);
    right = Math.max(right, span === 0 ? labelX + 150 : 0);
    return {
      path: `M ${String(x1)} ${String(y1)} C ${String(c1)} ${String(y1 + bend)} ${String(c2)} ${String(y2 + bend)} ${String(tip)} ${String(y2)}`,
      head: headOf(x2, y2, into, width), width, labelX, labelY,
    };
  });
  const wide = MARGIN * 2 + Math.max(0, ...column) * (BOX_WIDTH + COLUMN_GAP) + BOX_WIDTH;
  return { boxes, lines, width: Math.max(wide, right), height: bottom - ROW_GAP + MARGIN };
}

function otherEnd(arrow: Arrow | undefined, row: number): number {
  return arrow === undefined ? row : arrow.from === row ? arrow.to : arrow.from;
}

/** Corners of a head whose tip is at a point. */
function headOf(x: number, y: number, into: "left" | "right" | "down", width: number): string {
  const [long, half] = [8 + width, 4 + width * 0.8];
  const corners: readonly (readonly [number, number])[] = into === "down" ? [[x, y], [x - half, y - long], [x + half, y - long]] : into === "right" ? [[x, y], [x - long, y - half], [x - long, y + half]] : [[x, y], [x + long, y - half], [x + long, y + half]];
  return corners.map((corner) => corner.map(String).join(",")).join(" ");
}

import type { Table } from "@uwdata/flechette";
import { numberColumn, textAt, textColumn, wholeColumn } from "../../view-kit/columns.ts";

/** What happens on a line, in letters and in words. */
export interface LineSigns {
  /** Such as `CR`: a call and a read. */
  readonly text: string;
  readonly title: string;
}

/** One thing that happens on a line. */
export interface LineEvent {
  readonly line: number;
  readonly what: string;
  /** The function, loop, variable or allocation. */
  readonly name: string;
  /** Calls, executions, or activations that read or write. */
  readonly times: number;
  /** The first context where it happens; -1 for none. */
  readonly context: number;
  /** The number of the variable or allocation; -1 for none. */
  readonly reference: number;
}

/** Letters in the order in which they stand on a line. */
const SIGNS: Readonly<Record<string, readonly [letter: string, verb: string]>> = {
  definition: ["D", "defines"],
  call: ["C", "calls"],
  loop: ["L", ""],
  read: ["R", "reads"],
  write: ["W", "writes"],
  allocation: ["A", "allocates"],
  release: ["F", "frees"],
};

/** What the letters stand for, for the status line. */
export const SIGN_WORDS = "D defines, C calls, L loop, R reads, W writes, A allocates, F frees";

/** Lines of a title at most. */
const MOST = 12;

/** The answer of `lines`. */
export function lineEvents(table: Table): readonly LineEvent[] {
  const [line, what, name] = [wholeColumn(table, "line"), textColumn(table, "what"), textColumn(table, "name")];
  const [times, context, reference] = [numberColumn(table, "times"), numberColumn(table, "context_id"), numberColumn(table, "reference")];
  return Array.from({ length: table.numRows }, (_, row): LineEvent => ({
    line: line[row] ?? 0, what: textAt(what, row), name: textAt(name, row), times: times[row] ?? 0,
    context: Number.isNaN(context[row] ?? Number.NaN) ? -1 : (context[row] ?? -1),
    reference: Number.isNaN(reference[row] ?? Number.NaN) ? -1 : (reference[row] ?? -1),
  }));
}

/** What happens on each line. */
export function signsOf(events: readonly LineEvent[]): ReadonlyMap<number, LineSigns> {
  const byLine = new Map<number, LineEvent[]>();
  for (const event of events) {
    const list = byLine.get(event.line);
    if (list === undefined) byLine.set(event.line, [event]);
    else list.push(event);
  }
  const order = Object.keys(SIGNS);
  const signs = (list: readonly LineEvent[]): LineSigns => {
    const kinds = order.filter((what) => list.some((event) => event.what === what));
    const lines = list.map((event) => {
      const verb = SIGNS[event.what]?.[1] ?? event.what;
      const times = event.times === 1 ? "once" : `${String(event.times)} times`;
      return event.what === "definition" ? `defines ${event.name}, called ${times}` : `${verb} ${event.name}, ${times}`.trim();
    });
    const more = lines.length > MOST ? [`and ${String(lines.length - MOST)} more`] : [];
    return { text: kinds.map((what) => SIGNS[what]?.[0] ?? "").join(""), title: [...lines.slice(0, MOST), ...more].join("\n") };
  };
  return new Map([...byLine].map(([line, list]) => [line, signs(list)]));
}

/** Lines where a function is defined, and where it is called. */
export function linesOf(events: readonly LineEvent[], name: string): { readonly definitions: ReadonlySet<number>; readonly calls: ReadonlySet<number> } {
  const on = (what: string): ReadonlySet<number> => new Set(events.filter((event) => event.what === what && event.name === name).map((event) => event.line));
  return { definitions: on("definition"), calls: on("call") };
}

/** Lines where a function is defined and called, by its name, or where a variable or allocation is touched, by its number. */
export function linesAbout(events: readonly LineEvent[], of: string | number): ReadonlySet<number> {
  const isAbout = (event: LineEvent): boolean => (typeof of === "number" ? event.reference === of : event.name === of && (event.what === "definition" || event.what === "call"));
  return new Set(events.filter(isAbout).map((event) => event.line));
}

/** Which rows there are and in which order: empty ones hidden, pinned ones first. Pure. */
import type { Row, Span } from "../../widgets/timeline/rows.ts";
import type { RowOrder } from "./states.ts";

/** What rows are ordered by: one value for each track, NaN where it has none. */
export interface TrackValues {
  readonly values: ArrayLike<number>;
  /** How the tracks of a row become one value. */
  readonly joined: "sum" | "min";
  /** Large values first. */
  readonly isDescending: boolean;
}

/** Runs of tracks without those that are empty. */
export function withoutEmpty(spans: readonly Span[], isEmpty: (track: number) => boolean): readonly Span[] {
  return spans.flatMap(({ from, to }) => {
    const kept: { from: number; to: number }[] = [];
    for (let track = from; track < to; track += 1) {
      if (isEmpty(track)) continue;
      const last = kept.at(-1);
      if (last?.to === track) last.to = track + 1;
      else kept.push({ from: track, to: track + 1 });
    }
    return kept;
  });
}

/** Whether all tracks of a row are empty. */
export function isEmptyRow(row: Span, isEmpty: (track: number) => boolean): boolean {
  for (let track = row.from; track < row.to; track += 1) if (!isEmpty(track)) return false;
  return true;
}

/** The tracks whose names pass, as ranges that links keep. */
export function tracksNamed(length: number, label: (track: number) => string, test: (name: string) => boolean): readonly (readonly [from: number, to: number])[] {
  return withoutEmpty([{ from: 0, to: length }], (track) => !test(label(track))).map(({ from, to }) => [from, to] as const);
}

const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Rows in the order that was asked for; the rows of an open group stay below it. `values` is null where they are not known yet; those of the order of locations are their places. */
export function orderedRows(rows: readonly Row[], order: RowOrder, values: TrackValues | null, pinned: readonly number[]): readonly Row[] {
  const blocks: { readonly head: Row; readonly inside: Row[] }[] = [];
  for (const row of rows) {
    const block = blocks.at(-1);
    if (row.level === 0 || block === undefined) blocks.push({ head: row, inside: [] });
    else block.inside.push(row);
  }
  const compare = comparison(order, values);
  if (compare !== null) {
    blocks.sort((a, b) => compare(a.head, b.head));
    for (const { inside } of blocks) inside.sort(compare);
  }
  const isPinned = (row: Row): boolean => pinned.includes(row.from);
  const kept = blocks.filter(({ head }) => isPinned(head));
  const rest = blocks.filter(({ head }) => !isPinned(head));
  return [...kept.map((block) => ({ ...block, head: { ...block.head, isPinned: true } })), ...rest].flatMap(({ head, inside }) => [head, ...inside]);
}

function comparison(order: RowOrder, values: TrackValues | null): ((a: Row, b: Row) => number) | null {
  if (order === "name") return (a, b) => NAMES.compare(a.label, b.label) || a.from - b.from;
  if (values === null) return null;
  const sign = values.isDescending ? -1 : 1;
  return (a, b) => {
    const [first, second] = [valueOf(a, values), valueOf(b, values)];
    // What has no value comes last in both directions.
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a.from - b.from;
    return sign * (first - second) || a.from - b.from;
  };
}

function valueOf(row: Span, { values, joined }: TrackValues): number {
  let value = Number.NaN;
  for (let track = row.from; track < row.to; track += 1) {
    const own = values[track] ?? Number.NaN;
    if (Number.isNaN(own)) continue;
    value = Number.isNaN(value) ? own : joined === "sum" ? value + own : Math.min(value, own);
  }
  return value;
}

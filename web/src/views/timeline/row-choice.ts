/** Which rows and calls a click or key leads to. Pure. */
import { adjacentCall, type CallBatch } from "../../widgets/timeline/calls.ts";
import { spansOf, type Row, type Span } from "../../widgets/timeline/rows.ts";
import { isSingle, type Outlined } from "../../widgets/timeline/scene.ts";

type Tracks = readonly (readonly [from: number, to: number])[];

/** Only the tracks of a row; all of them where it was the only one. Null: all tracks. */
export function onlyRow(shown: readonly Span[], row: Span): Tracks | null {
  const isAlone = shown.length === 1 && shown[0]?.from === row.from && shown[0].to === row.to;
  return isAlone ? null : [[row.from, row.to]];
}

/** The tracks without those of a row. Null: all tracks, because none is left. */
export function withoutRow(shown: readonly Span[], row: Span): Tracks | null {
  const next = shown.flatMap(({ from, to }) => [[from, Math.min(to, row.from)] as const, [Math.max(from, row.to), to] as const]).filter(([from, to]) => to > from);
  return next.length === 0 ? null : next;
}

/** The tracks with those of a row added, or without them where they were there. Null: all tracks, because none is left. */
export function toggledRow(shown: readonly Span[], row: Row): Tracks | null {
  const isThere = shown.some(({ from, to }) => from <= row.from && to >= row.to);
  return isThere ? withoutRow(shown, row) : spansOf([...shown.map((span): Row => ({ ...row, ...span })), row]).map(({ from, to }) => [from, to] as const);
}

/** The next row of a single track, from `row` or, where that is -1, at `first`; -1 where there is none. */
export function nextSingle(rows: readonly Row[], row: number, by: 1 | -1, first: number): number {
  let next = row < 0 ? first : row + by;
  while (rows[next] !== undefined && !isSingle(rows[next])) next += by;
  return rows[next] === undefined ? -1 : next;
}

/** The call before or after an outlined one, in the same call and at the same depth; -1 where there is none. */
export function adjacentToOutlined(calls: CallBatch, outlined: Outlined, by: 1 | -1): number {
  const { track, range, depth } = outlined;
  let call = -1;
  for (let at = 0; at < calls.length; at += 1) {
    if (calls.track[at] === track && calls.startNs[at] === range[0] && calls.endNs[at] === range[1] && calls.depth[at] === depth) call = at;
  }
  return call < 0 ? -1 : adjacentCall(calls, call, by);
}

/** Which tracks make which row of a picture of time. Pure. */

/** Tracks that follow one another, half-open. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A row of the picture: one track, or several added up. */
export interface Row extends Span {
  readonly label: string;
  /** 0, or 1 for a row inside a group. */
  readonly level: 0 | 1;
  /** Number of the group that a click opens or closes; null for a row that cannot be opened. */
  readonly group: number | null;
  readonly isOpen: boolean;
  /** Kept at the top. */
  readonly isPinned?: boolean;
}

/** What rows are made of. */
export interface RowPlan {
  /** The tracks to show, in order. */
  readonly spans: readonly Span[];
  label(track: number): string;
  /** What tracks are grouped by: equal numbers that follow one another are one group; null for a row each. */
  readonly groupBy: { readonly name: string; numberOf(track: number): number; label?(number: number): string } | null;
  /** First tracks of the groups that are open. */
  readonly open: ReadonlySet<number>;
  /** Rows at most: where there are more, tracks that follow one another share a row. Null for no limit. */
  readonly most: number | null;
}

/** The rows of a picture, from the top. */
export function rowsOf(plan: RowPlan): readonly Row[] {
  const rows: Row[] = [];
  for (const span of plan.spans) {
    if (plan.groupBy === null) {
      for (let track = span.from; track < span.to; track += 1) rows.push(single(plan, track, 0));
      continue;
    }
    for (const group of groupsOf(span, (track) => plan.groupBy?.numberOf(track) ?? Number.NaN)) {
      const number = plan.groupBy.numberOf(group.from);
      const size = group.to - group.from;
      const name = Number.isNaN(number) ? named(plan, group.from) : (plan.groupBy.label?.(number) ?? `${plan.groupBy.name} ${String(number)}`);
      if (size === 1) {
        rows.push({ ...group, label: name, level: 0, group: null, isOpen: false });
        continue;
      }
      const isOpen = plan.open.has(group.from);
      rows.push({ ...group, label: name, level: 0, group: group.from, isOpen });
      if (isOpen) for (let track = group.from; track < group.to; track += 1) rows.push(single(plan, track, 1));
    }
  }
  return plan.most === null || rows.length <= plan.most ? rows : mergedRows(plan, Math.max(1, plan.most));
}

function single(plan: RowPlan, track: number, level: 0 | 1): Row {
  return { from: track, to: track + 1, label: named(plan, track), level, group: null, isOpen: false };
}

/** What a track is called; never empty. */
function named(plan: RowPlan, track: number): string {
  const label = plan.label(track).trim();
  return label === "" ? `track ${String(track)}` : label;
}

/** The first and the last of several tracks, without saying twice what both names begin with: `rank 0 thread 0 – 3`. */
export function rangeLabel(first: string, last: string): string {
  const [a, b] = [first.split(" "), last.split(" ")];
  let same = 0;
  while (same < Math.min(a.length, b.length) - 1 && a[same] === b[same]) same += 1;
  return `${first} – ${b.slice(same).join(" ")}`;
}

/** Runs of equal numbers; tracks without a number stand alone. */
export function groupsOf(span: Span, numberOf: (track: number) => number): readonly Span[] {
  const groups: Span[] = [];
  let from = span.from;
  for (let track = span.from + 1; track <= span.to; track += 1) {
    if (track < span.to && numberOf(track) === numberOf(from)) continue;
    groups.push({ from, to: track });
    from = track;
  }
  return groups;
}

/** As many rows of equally many tracks as there may be. */
function mergedRows(plan: RowPlan, most: number): readonly Row[] {
  const total = plan.spans.reduce((sum, span) => sum + span.to - span.from, 0);
  let each = Math.ceil(total / most);
  for (;;) {
    const rows = plan.spans.flatMap((span) => cut(span, each));
    if (rows.length <= most || each >= total) {
      return rows.map((row) => ({
        ...row,
        label: row.to - row.from === 1 ? named(plan, row.from) : rangeLabel(named(plan, row.from), named(plan, row.to - 1)),
        level: 0,
        group: null,
        isOpen: false,
      }));
    }
    each += 1;
  }
}

function cut(span: Span, each: number): readonly Span[] {
  const parts: Span[] = [];
  for (let from = span.from; from < span.to; from += each) parts.push({ from, to: Math.min(span.to, from + each) });
  return parts;
}

/** The row of each track; -1 for tracks that are not on screen. A row of its own wins over a group's. */
export function rowOfTrack(rows: readonly Row[], tracks: number): Int32Array {
  const out = new Int32Array(tracks).fill(-1);
  rows.forEach((row, at) => {
    for (let track = row.from; track < row.to; track += 1) out[track] = at;
  });
  return out;
}

/** Rows as the tracks they show, joined where they follow one another; rows of several tracks only if wanted. */
export function spansOf(rows: readonly Row[], alsoMerged = true): readonly Span[] {
  const spans = rows.filter((row) => alsoMerged || row.to - row.from === 1).map(({ from, to }) => ({ from, to }));
  spans.sort((a, b) => a.from - b.from);
  const out: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else out.push({ ...span });
  }
  return out;
}

/** Where rows lie: all are equally high. */
export interface RowScale {
  readonly rowHeight: number;
  /** Pixels above the upper edge. */
  readonly scrolled: number;
}

/** How many rows from the top stay in sight when the others are scrolled: the pinned ones with what is open inside them, as long as the others have half of the height. */
export function stickyRows(rows: readonly Row[], rowHeight: number, height: number): number {
  let count = 0;
  for (const row of rows) {
    if (row.isPinned !== true && !(row.level === 1 && count > 0)) break;
    count += 1;
  }
  return Math.min(count, Math.max(0, Math.floor(height / 2 / rowHeight)));
}

/** The rows below the `sticky` ones that are at least partly between the edges of a height; `to` is one past the last. */
export function visibleRows(rows: number, scale: RowScale, height: number, sticky = 0): Span {
  const from = Math.max(0, Math.min(rows, Math.floor(scale.scrolled / scale.rowHeight) + sticky));
  return { from, to: Math.max(from, Math.min(rows, Math.ceil((scale.scrolled + height) / scale.rowHeight))) };
}

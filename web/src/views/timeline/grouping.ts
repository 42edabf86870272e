/** How tracks may be grouped, and the rows of the overview. Pure. */
import { groupsOf, rowsOf, type Row, type RowPlan } from "../../widgets/timeline/rows.ts";
import { rangesOf, type TimelineCatalog } from "../../view-kit/catalog.ts";

/** A way to group tracks. */
export interface Grouping {
  /** Of the identity kind; `component` for coupled applications. */
  readonly id: string;
  readonly title: string;
  readonly plan: NonNullable<RowPlan["groupBy"]>;
  readonly count: number;
}

/** Groupings that join some tracks and leave several groups. */
export function groupingsOf(catalog: Pick<TimelineCatalog, "tracks" | "reply">): readonly Grouping[] {
  const { tracks, reply } = catalog;
  const names = new Map(reply.components.map(({ application, name }) => [application, name]));
  const kinds = [
    ...(reply.components.length > 1 ? [{ id: "component", title: "component", numbers: tracks.component, label: (number: number) => names.get(number) ?? `component ${String(number)}` }] : []),
    ...tracks.kinds.map(({ name, numbers }) => ({ id: name, title: name, numbers, label: undefined })),
  ];
  return kinds.flatMap(({ id, title, numbers, label }) => {
    const numberOf = (track: number): number => numbers[track] ?? Number.NaN;
    const groups = groupsOf({ from: 0, to: tracks.length }, numberOf);
    const named = groups.filter(({ from }) => !Number.isNaN(numberOf(from)));
    // Where the tracks of a number lie apart, as threads of different ranks do, a row would stand for something else.
    const isTogether = new Set(named.map(({ from }) => numberOf(from))).size === named.length;
    if (named.length < 2 || groups.length >= tracks.length || !isTogether) return [];
    return [{ id, title, plan: { name: title, numberOf, ...(label === undefined ? {} : { label }) }, count: groups.length }];
  });
}

/** Rows of the overview at most. */
const MOST_ROWS = 64;

/** The outermost grouping that fits, or as many equal parts as there may be rows. */
export function overviewRows(catalog: Pick<TimelineCatalog, "tracks" | "reply">): readonly Row[] {
  const { tracks } = catalog;
  const plan: RowPlan = { spans: rangesOf({ tracks: null }, catalog), label: (track) => tracks.label(track), groupBy: null, open: new Set(), most: MOST_ROWS };
  if (tracks.length <= MOST_ROWS && catalog.reply.components.length < 2) {
    return tracks.length <= 16 ? rowsOf(plan) : grouped(catalog, plan, 24);
  }
  return grouped(catalog, plan, MOST_ROWS);
}

function grouped(catalog: Pick<TimelineCatalog, "tracks" | "reply">, plan: RowPlan, most: number): readonly Row[] {
  const fitting = groupingsOf(catalog).filter(({ count }) => count <= most);
  const best = fitting.find(({ id }) => id === "component") ?? fitting.toSorted((a, b) => b.count - a.count)[0];
  return rowsOf({ ...plan, groupBy: best?.plan ?? null, most: best === undefined ? most : null });
}

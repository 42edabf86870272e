/** Which columns of a result can be drawn, and how. Pure. */
import type { AnswerColumn } from "../../view-kit/answers.ts";

/** Points of a line at most: each is an element of its own. */
export const MOST_POINTS = 2000;

/** What is drawn: a number for each row, and what the row is called. */
export interface ChartData {
  readonly x: AnswerColumn | null;
  readonly y: AnswerColumn;
  /** Rows of the result, from left to right. */
  readonly rows: readonly number[];
}

/** Columns whose numbers can be heights: all with numbers, quantities before labels. */
export function heightColumns(columns: readonly AnswerColumn[]): readonly AnswerColumn[] {
  const numbers = columns.filter((one) => one.numbers !== null);
  return [...numbers.filter((one) => one.most > 0), ...numbers.filter((one) => one.most === 0)];
}

/** The columns of a chart: those that were chosen where they are there, else the first that fit. Null where nothing is a number. */
export function chartColumns(columns: readonly AnswerColumn[], x: string, y: string): { readonly x: AnswerColumn | null; readonly y: AnswerColumn } | null {
  const heights = heightColumns(columns);
  const height = heights.find((one) => one.id === y) ?? heights.findLast((one) => one.most > 0) ?? heights.at(-1);
  if (height === undefined) return null;
  const others = columns.filter((one) => one !== height);
  const along = columns.find((one) => one.id === x) ?? others.find((one) => one.texts !== null) ?? others[0] ?? null;
  return { x: along, y: height };
}

/** What a row is called at the horizontal axis. */
export function labelOf(x: AnswerColumn | null, row: number): string {
  if (x === null) return `Row ${String(row + 1)}`;
  if (x.texts !== null) return x.texts[row] ?? "";
  return x.format?.text(x.numbers?.[row] ?? Number.NaN) ?? "";
}

/** Whether x is a number that points can be placed by. */
export function isNumeric(x: AnswerColumn | null): boolean {
  return x !== null && x.numbers !== null;
}

/** Points of a line: by the number of x, ascending, or in the order of rows where x is a text. */
export function linePoints({ x, y, rows }: ChartData): readonly { readonly row: number; readonly x: number; readonly y: number }[] {
  const numbers = x?.numbers ?? null;
  const points = rows.map((row, at) => ({ row, x: numbers === null ? at : (numbers[row] ?? Number.NaN), y: y.numbers?.[row] ?? Number.NaN })).filter((one) => Number.isFinite(one.x));
  return numbers === null ? points : points.sort((a, b) => a.x - b.x);
}

/** Values of x that have a tick: round numbers between the first and the last, or rows that are spread evenly. */
export function lineTicks(data: ChartData, points: readonly { readonly row: number; readonly x: number }[], most = 8): readonly { readonly value: number; readonly label: string }[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  const step = Math.max(1, Math.ceil(points.length / most));
  // Of texts, one that begins at the last point would be cut off.
  const isText = data.x !== null && data.x.numbers === null;
  const chosen = points.filter((_, at) => (isText ? at % step === 0 && (at === 0 || at < points.length - 1) : at % step === 0 || at === points.length - 1));
  return chosen.filter((one, at) => chosen[at - 1]?.x !== one.x).map((one) => ({ value: one.x, label: labelOf(data.x, one.row) }));
}

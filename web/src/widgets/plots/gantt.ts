// Where the bars of a plan lie.

/** A bar: on which row, from when to when. */
export interface GanttBar {
  /** From 0. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** The bar on a row at a time, the last one painted where several are; -1 for none. */
export function barAt(bars: readonly GanttBar[], row: number, time: number, slack: number): number {
  let found = -1;
  for (let at = 0; at < bars.length; at += 1) {
    const bar = bars[at];
    if (bar?.row === row && time >= bar.start - slack && time <= bar.end + slack) found = at;
  }
  return found;
}

/** The bar that a key leads to: to the one before or after on its row, or to the nearest in time on the next row. */
export function barAfter(bars: readonly GanttBar[], from: number, key: string, rows: number): number | null {
  const start = bars[from];
  if (start === undefined) return bars.length === 0 ? null : 0;
  const on = (row: number): readonly number[] => bars.map((_, at) => at).filter((at) => bars[at]?.row === row).sort((a, b) => (bars[a]?.start ?? 0) - (bars[b]?.start ?? 0));
  const own = on(start.row);
  const place = own.indexOf(from);
  switch (key) {
    case "ArrowRight": return own[Math.min(own.length - 1, place + 1)] ?? from;
    case "ArrowLeft": return own[Math.max(0, place - 1)] ?? from;
    case "Home": return own[0] ?? from;
    case "End": return own.at(-1) ?? from;
    case "ArrowDown":
    case "ArrowUp": {
      const step = key === "ArrowDown" ? 1 : -1;
      for (let row = start.row + step; row >= 0 && row < rows; row += step) {
        const there = on(row);
        if (there.length > 0) return there.reduce((best, at) => (distance(bars[at], start) < distance(bars[best], start) ? at : best), there[0] ?? from);
      }
      return from;
    }
    default: return null;
  }
}

function distance(bar: GanttBar | undefined, to: GanttBar): number {
  return Math.abs(((bar?.start ?? 0) + (bar?.end ?? 0)) / 2 - (to.start + to.end) / 2);
}

/** What rows can be ordered by, asked for when such an order is chosen: starts and busy times from cells, metrics as Profiles shows them. */
import type { EngineClient } from "../../state/engine.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";
import { numberColumn, wholeColumn } from "../../view-kit/columns.ts";
import { metricExpression } from "../../view-kit/cost-columns.ts";
import type { TrackValues } from "./row-order.ts";
import type { RowOrder } from "./states.ts";

/** Bins in which starts are looked for: finer than a screen shows. */
const START_BINS = 4096;
/** Cells of the picture that starts are read from, at most. */
const MOST_CELLS = 1 << 22;

/** The values of all tracks for an order; null for orders that need none. Of the whole trace, so that rows stay where they are while the window moves. */
export async function askTrackValues(client: EngineClient, item: string, catalog: TimelineCatalog, order: RowOrder, signal: AbortSignal | undefined): Promise<TrackValues | null> {
  const options = signal === undefined ? {} : { signal };
  const { tracks, bounds } = catalog;
  if (order === "start" || order === "busy") {
    const bins = order === "busy" ? 1 : Math.max(1, Math.min(START_BINS, Math.floor(MOST_CELLS / Math.max(1, tracks.length))));
    const rows = Array.from({ length: tracks.length }, (_, track) => ({ from: track, to: track + 1 }));
    const { reply, tables } = await client.ask("tile", { item, rows, ...askedWindow(bounds), bins }, options);
    const busy = numberColumn(rowsOf(tables, "cells"), "busy_ns");
    const values = new Float64Array(tracks.length).fill(Number.NaN);
    for (let track = 0; track < tracks.length; track += 1) {
      for (let bin = 0; bin < reply.bins; bin += 1) {
        const ns = busy[track * reply.bins + bin] ?? 0;
        if (order === "busy") values[track] = (bin === 0 ? 0 : (values[track] ?? 0)) + ns;
        else if (ns > 0) {
          values[track] = bin;
          break;
        }
      }
    }
    return { values, joined: order === "busy" ? "sum" : "min", isDescending: order === "busy" };
  }
  if (!order.startsWith("metric ")) return null;
  const metric = metricExpression(order.slice("metric ".length));
  const { tables } = await client.ask("stacks", { item, metric, top: 1, helpers: true }, options);
  const table = rowsOf(tables, "locations");
  const [location, total] = [wholeColumn(table, "location"), numberColumn(table, "total")];
  const byLocation = new Map<number, number>();
  location.forEach((of, row) => byLocation.set(of, total[row] ?? Number.NaN));
  return { values: Float64Array.from(tracks.location, (of) => byLocation.get(of) ?? Number.NaN), joined: "sum", isDescending: true };
}

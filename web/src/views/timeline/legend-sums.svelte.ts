/** The legend of what rests on the screen: at once from the cells, then exactly. */
import type { EngineClient } from "../../state/engine.ts";
import type { TimelineBy } from "../../view-kit/asks.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";
import { legendEntries, sumsOnScreen, type LegendEntry } from "../../widgets/timeline/legend.ts";
import { spansOf, type Row } from "../../widgets/timeline/rows.ts";
import type { TileStore, TileView } from "../../widgets/timeline/tiles.ts";
import { sumsOf } from "./answers.ts";

const REST_MILLIS = 160;

/** What a legend is of. */
export interface LegendView {
  readonly item: string;
  readonly catalog: TimelineCatalog;
  readonly store: TileStore;
  readonly rows: readonly Row[];
  readonly view: TileView;
  readonly by: TimelineBy;
}

/** The entries, renewed when what is on screen rests. */
export class LegendSums {
  entries = $state.raw<readonly LegendEntry[] | null>(null);
  #exactFor = "";

  /** Gives back what stops it; undefined where what is on screen is summed up already. */
  ask(client: EngineClient, { item, catalog, store, rows, view, by }: LegendView): (() => void) | undefined {
    const tracks = spansOf(rows.slice(view.rows.from, view.rows.to)).map((span) => ({ ...span }));
    const request = { item, tracks, ...askedWindow(view.range), by, helpers: true };
    const key = JSON.stringify(request);
    if (key === this.#exactFor) return undefined;
    const cancel = new AbortController();
    const timer = setTimeout(() => {
      const pieces = store.pieces(view);
      this.entries = pieces.length === 0 ? null : legendEntries(sumsOnScreen(pieces, view.range, view.rows, (row) => Math.max(1, (rows[row]?.to ?? 1) - (rows[row]?.from ?? 0))));
      client.ask("stats", request, { signal: cancel.signal }).then(
        ({ tables }) => {
          if (cancel.signal.aborted) return;
          this.#exactFor = key;
          const sums = sumsOf(tables, (name, group) => catalog.keyNamed(name, group, by));
          if (sums !== null) this.entries = legendEntries(sums);
        },
        () => {
          // The sums of cells stay.
        },
      );
    }, REST_MILLIS);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }
}

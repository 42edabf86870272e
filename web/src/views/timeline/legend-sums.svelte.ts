/** The legend: time by function or group on the tracks that are shown, in the selected time, else in the window. */
import type { EngineClient } from "../../state/engine.ts";
import type { StatsRequest } from "../../wire/protocol.ts";
import type { TimelineBy } from "../../view-kit/asks.ts";
import type { TimelineCatalog } from "../../view-kit/catalog.ts";
import { legendEntries, sumsOnScreen, type LegendEntry } from "../../widgets/timeline/legend.ts";
import type { Row } from "../../widgets/timeline/rows.ts";
import type { TileStore, TileView } from "../../widgets/timeline/tiles.ts";
import { sharesOf } from "./answers.ts";

const REST_MILLIS = 160;
/** Numbers that do not come by then are those of another window: names come from the cells meanwhile. */
const STALE_MILLIS = 500;

/** What a legend is of. */
export interface LegendView {
  readonly item: string;
  readonly catalog: TimelineCatalog;
  /** What Statistics asks for, too: so that both have the same shares. */
  readonly where: Pick<StatsRequest, "tracks" | "from_ns" | "to_ns">;
  readonly by: TimelineBy;
  readonly store: TileStore;
  readonly rows: readonly Row[];
  readonly view: TileView;
}

/** The entries, renewed when what is on screen rests. */
export class LegendSums {
  entries = $state.raw<readonly LegendEntry[] | null>(null);
  #exactFor = "";

  /** Gives back what stops it; undefined where what is on screen is summed up already. */
  ask(client: EngineClient, { item, catalog, where, by, store, rows, view }: LegendView): (() => void) | undefined {
    const request = { item, ...where, by };
    const key = JSON.stringify(request);
    if (key === this.#exactFor) return undefined;
    const cancel = new AbortController();
    const stale = setTimeout(() => {
      const pieces = store.pieces(view);
      this.entries = pieces.length === 0 ? null : legendEntries(sumsOnScreen(pieces, view.range, view.rows, (row) => Math.max(1, (rows[row]?.to ?? 1) - (rows[row]?.from ?? 0))));
    }, this.entries === null ? REST_MILLIS : STALE_MILLIS);
    const timer = setTimeout(() => {
      const keyOf = (name: string, group: string): number => catalog.keyNamed(name, group, by);
      // Helper threads are drawn, but are no part of what shares are of: they are those that only the second answer has.
      Promise.all([client.ask("stats", request, { signal: cancel.signal }), client.ask("stats", { ...request, helpers: true }, { signal: cancel.signal })]).then(
        ([own, all]) => {
          if (cancel.signal.aborted) return;
          clearTimeout(stale);
          this.#exactFor = key;
          const [shares, drawn] = [sharesOf(own.tables, keyOf), sharesOf(all.tables, keyOf)];
          this.entries = [...shares, ...drawn.filter((entry) => !shares.some(({ key: of }) => of === entry.key)).map((entry) => ({ ...entry, share: Number.NaN, isHelper: true }))];
        },
        () => {
          // The names of cells stay.
        },
      );
    }, REST_MILLIS);
    return () => {
      clearTimeout(stale);
      clearTimeout(timer);
      cancel.abort();
    };
  }
}

/** What stands below the rows: counters that were chosen, and how many messages were sent when, where lines would be too dense. */
import { plural, siCount } from "../../base/format.ts";
import type { EngineClient } from "../../state/engine.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";
import { counterBand, counterSeries, rangeOf } from "../../view-kit/counters.ts";
import { axisFormat } from "../../view-kit/format.ts";
import { lengthText, type TimeRange } from "../../widgets/timeline/axis.ts";
import type { Span } from "../../widgets/timeline/rows.ts";
import type { Strip } from "../../widgets/timeline/strips.ts";
import { messageBinsOf } from "./answers.ts";

const REST_MILLIS = 120;
const BINS = 1024;

/** The id of the strip of messages. */
export const MESSAGES = "messages";

/** What is asked for. */
export interface WantedStrips {
  readonly item: string;
  readonly catalog: TimelineCatalog;
  readonly range: TimeRange;
  /** Null for all. */
  readonly tracks: readonly Span[] | null;
  readonly counters: readonly number[];
  readonly hasMessages: boolean;
}

/** The strips, renewed when the window rests; those of the window before stay until then, for they say where they are. */
export class FetchedStrips {
  strips = $state.raw<readonly Strip[]>([]);
  problem = $state.raw<unknown>(null);
  #key = "";
  #cancel: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  want(client: EngineClient, wanted: WantedStrips): void {
    const { item, catalog, range, tracks, counters, hasMessages } = wanted;
    const where = { item, tracks: tracks === null ? null : tracks.map(({ from, to }) => ({ from, to })), ...askedWindow(range), bins: BINS };
    const key = JSON.stringify([where, counters, hasMessages]);
    if (key === this.#key) return;
    this.#key = key;
    clearTimeout(this.#timer);
    this.#cancel?.abort();
    const isWanted = (id: string): boolean => (id === MESSAGES ? hasMessages : counters.some((counter) => id === counterId(counter)));
    this.strips = this.strips.filter(({ id }) => isWanted(id));
    if (counters.length === 0 && !hasMessages) return;
    const cancel = new AbortController();
    this.#cancel = cancel;
    this.#timer = setTimeout(() => {
      const options = { signal: cancel.signal };
      const asked = [
        ...(hasMessages ? [client.ask("link_bins", where, options).then(({ reply, tables }) => messageStrip(messageBinsOf(reply, tables)))] : []),
        ...counters.filter((counter) => counter < catalog.reply.counters.length).map(async (counter) => {
          const { reply, tables } = await client.ask("counter_bins", { ...where, counter }, options);
          return counterStrip(catalog, counter, reply, counterSeries(rowsOf(tables, "values"), reply.bins));
        }),
      ];
      Promise.all(asked).then(
        (strips) => {
          if (cancel.signal.aborted) return;
          this.problem = null;
          this.strips = strips;
        },
        (error: unknown) => {
          if (!cancel.signal.aborted) this.problem = error;
        },
      );
    }, REST_MILLIS);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#cancel?.abort();
    this.#key = "";
    this.strips = [];
  }
}

/** The id of the strip of a counter. */
export function counterId(counter: number): string {
  return `counter ${String(counter)}`;
}

/** Messages sent in each bin. */
export function messageStrip({ firstNs, binNs, counts }: { readonly firstNs: number; readonly binNs: number; readonly counts: Float64Array }): Strip {
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  return {
    id: MESSAGES, title: "Messages", says: `Messages sent in each ${lengthText(binNs)}, ${plural(most, "message")} at most`,
    firstNs, binNs, low: null, high: counts, line: null, least: 0, most: Math.max(1, most), unitSize: 1, textOf: siCount,
  };
}

/** A counter: smallest, mean and largest value over the tracks. */
export function counterStrip(catalog: Pick<TimelineCatalog, "reply">, counter: number, bins: { readonly first_ns: number; readonly bin_ns: number; readonly bins: number }, series: Parameters<typeof counterBand>[0]): Strip {
  const { name, unit: symbol } = catalog.reply.counters[counter] ?? { name: "Counter", unit: "" };
  const band = counterBand(series, bins.bins);
  const [least, most] = rangeOf([band.min, band.max]) ?? [0, 1];
  const format = axisFormat(symbol, Math.max(Math.abs(least), Math.abs(most)));
  const over = series.length > 1 ? `minimum, mean and maximum of ${plural(series.length, "track")}` : "value over time";
  return {
    id: counterId(counter), title: name, says: `${name}: ${over}, ${format.text(least)} to ${format.text(most)}`,
    firstNs: bins.first_ns, binNs: bins.bin_ns, low: band.min, high: band.max, line: band.mean, least, most, unitSize: format.size, textOf: (value) => format.text(value),
  };
}

/** Calls and messages for what is on screen: asked when it rests, kept while it still covers the screen. */
import type { EngineClient } from "../../state/engine.ts";
import { clampRange, type TimeRange } from "../../widgets/timeline/axis.ts";
import { callBatch, isBatchFor, type CallBatch } from "../../widgets/timeline/calls.ts";
import type { LinkColumns } from "../../widgets/timeline/messages.ts";
import type { Span } from "../../widgets/timeline/rows.ts";
import { callsOf, linksOf } from "./answers.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";

const REST_MILLIS = 60;
/** The engine examines no more calls than this, so that its answer comes while the window is still shown. */
const MOST_COUNTED = 1_000_000;
/** More calls than this are not drawn one by one: frames would take too long, and they could not be distinguished. */
const MOST_DRAWN = 60_000;
/** Messages drawn at most. */
export const MOST_LINKS = 2000;
/** Of more messages on screen than these, density is shown instead of lines. */
export const DENSE_LINKS = 600;
/** Calls shorter than this share of a pixel cannot be seen. */
const LEAST_PIXELS = 0.5;
/** Calls stay on screen until zooming in has made the shortest of them this many pixels long. */
const STALE_PIXELS = 4;

/** What is on screen. */
export interface Screen {
  readonly range: TimeRange;
  readonly pixels: number;
  /** Tracks that have a row of their own. */
  readonly spans: readonly Span[];
}

/** About how many calls lie in a window of tracks, if they were spread evenly. */
export function aboutCalls(catalog: Pick<TimelineCatalog, "tracks" | "bounds">, spans: readonly Span[], range: TimeRange): number {
  let calls = 0;
  for (const span of spans) {
    for (let track = span.from; track < span.to; track += 1) calls += catalog.tracks.calls[track] ?? 0;
  }
  return calls * Math.min(1, (range[1] - range[0]) / (catalog.bounds[1] - catalog.bounds[0]));
}

/** A window with room on both sides, so that a small pan needs no new question. */
export function withRoom(range: TimeRange, bounds: TimeRange, room = 0.5): TimeRange {
  const by = (range[1] - range[0]) * room;
  return clampRange([Math.max(bounds[0], range[0] - by), Math.min(bounds[1], range[1] + by)], bounds);
}

/** The calls on screen, where they are few enough to be drawn one by one. */
export class FetchedCalls {
  #batch = $state.raw<CallBatch | null>(null);
  /** How many calls there are about, where they are too many; null while unknown. */
  tooMany = $state<number | null>(null);
  isWaiting = $state(false);
  problem = $state.raw<unknown>(null);
  #refused: TimeRange | null = null;
  #cancel: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The calls to draw; null where those that are there do not cover the screen. */
  on(screen: Screen): CallBatch | null {
    const batch = this.#batch;
    if (batch === null) return null;
    const nsPerPixel = (screen.range[1] - screen.range[0]) / Math.max(1, screen.pixels);
    return isBatchFor(batch, screen.range, screen.spans, nsPerPixel * STALE_PIXELS) ? batch : null;
  }

  want(client: EngineClient, item: string, catalog: TimelineCatalog, screen: Screen, keyOf: (context: number) => number): void {
    clearTimeout(this.#timer);
    const { range, pixels, spans } = screen;
    const nsPerPixel = (range[1] - range[0]) / Math.max(1, pixels);
    if (spans.length === 0 || aboutCalls(catalog, spans, range) > 2 * MOST_COUNTED) {
      this.#cancel?.abort();
      this.isWaiting = false;
      this.tooMany = spans.length === 0 ? null : aboutCalls(catalog, spans, range);
      return;
    }
    if (this.#batch !== null && isBatchFor(this.#batch, range, spans, nsPerPixel)) return;
    // Nearly the same window would be refused again.
    if (this.#refused !== null && range[0] <= this.#refused[0] && range[1] >= this.#refused[1]) return;
    this.#timer = setTimeout(() => { this.#ask(client, item, catalog, screen, nsPerPixel, keyOf); }, REST_MILLIS);
  }

  #ask(client: EngineClient, item: string, catalog: TimelineCatalog, screen: Screen, nsPerPixel: number, keyOf: (context: number) => number): void {
    this.#cancel?.abort();
    const cancel = new AbortController();
    this.#cancel = cancel;
    this.isWaiting = true;
    const range = withRoom(screen.range, catalog.bounds);
    const tracks = screen.spans.map(({ from, to }) => ({ from, to }));
    const shortestNs = Math.floor(nsPerPixel * LEAST_PIXELS);
    client.ask("calls", { item, tracks, ...askedWindow(range), max_calls: MOST_COUNTED, shortest_ns: shortestNs }, { signal: cancel.signal }).then(
      ({ reply, tables }) => {
        if (cancel.signal.aborted) return;
        this.isWaiting = false;
        this.problem = null;
        if (!reply.is_complete || reply.calls - reply.shorter > MOST_DRAWN) {
          this.tooMany = reply.calls;
          this.#refused = screen.range;
          this.#batch = null;
          return;
        }
        this.tooMany = null;
        this.#refused = null;
        this.#batch = callBatch(callsOf(tables), { range, spans: tracks, shortestNs, shorter: reply.shorter }, keyOf);
      },
      (error: unknown) => {
        if (cancel.signal.aborted) return;
        this.isWaiting = false;
        this.problem = error;
      },
    );
  }

  /** Forgets everything: the rows or what is hidden changed. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#cancel?.abort();
    this.#batch = null;
    this.#refused = null;
    this.tooMany = null;
    this.isWaiting = false;
  }
}

/** The messages on screen. */
export class FetchedLinks {
  links = $state.raw<LinkColumns | null>(null);
  /** How many there are. */
  total = $state(0);
  #key = "";
  #cancel: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  want(client: EngineClient, item: string, range: TimeRange, tracks: Span[] | null): void {
    const request = { item, tracks, ...askedWindow(range), max_links: MOST_LINKS };
    const key = JSON.stringify(request);
    if (key === this.#key) return;
    this.#key = key;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#cancel?.abort();
      const cancel = new AbortController();
      this.#cancel = cancel;
      client.ask("links", request, { signal: cancel.signal }).then(
        ({ reply, tables }) => {
          if (cancel.signal.aborted) return;
          this.total = reply.total;
          this.links = linksOf(tables);
        },
        () => {
          // Without messages the rest is still right; the next window asks again.
          if (this.#key === key) this.#key = "";
        },
      );
    }, REST_MILLIS * 2);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#cancel?.abort();
    this.#key = "";
    this.links = null;
    this.total = 0;
  }
}

/** What is shown of the whole trace besides cells: messages, markers, transfers between components, and anomalies. */
import type { Table } from "@uwdata/flechette";
import type { EngineClient } from "../../state/engine.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";
import type { LinkColumns } from "../../widgets/timeline/messages.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn, wholeColumn } from "../../view-kit/columns.ts";
import type { MarkedCall } from "../../widgets/timeline/scene.ts";
import { linksOf, markersOf, messageBinsOf, type MessageBins } from "./answers.ts";

const MESSAGE_BINS = 512;
const MOST_MARKERS = 200;
const MOST_TRANSFERS = 2000;
/** More marks would hide what they are on. */
const MOST_ANOMALIES = 500;

/** Asked once for each trace. */
export class WholeTrace {
  messages = $state.raw<MessageBins | null>(null);
  markers = $state.raw<ReturnType<typeof markersOf> | null>(null);
  transfers = $state.raw<LinkColumns | null>(null);
  anomalies = $state.raw<readonly MarkedCall[]>([]);

  ask(client: EngineClient, item: string, { reply, bounds, tracks }: TimelineCatalog): void {
    const whole = { item, ...askedWindow(bounds) };
    const quiet = (): void => {
      // The overview is there without them, and the detail tells what is wrong with the trace.
    };
    if (reply.sends > 0) client.ask("link_bins", { ...whole, bins: MESSAGE_BINS }).then((got) => { this.messages = messageBinsOf(got.reply, got.tables); }, quiet);
    if (reply.has_calls) client.ask("markers", { ...whole, max_markers: MOST_MARKERS }).then((got) => { this.markers = got.reply.total === 0 ? null : markersOf(got.tables); }, quiet);
    if (reply.components.length > 1 && reply.sends > 0) {
      client.ask("links", { ...whole, max_links: MOST_TRANSFERS }).then((got) => { this.transfers = between(linksOf(got.tables), tracks.component); }, quiet);
    }
  }

  /** Asks for anomalies; `onerror` is told what goes wrong, because they were asked for. */
  askAnomalies(client: EngineClient, item: string, { contexts }: TimelineCatalog, onerror: (error: unknown) => void): void {
    client.ask("anomalies", { item, max_rows: MOST_ANOMALIES }).then((got) => { this.anomalies = anomaliesOf(rowsOf(got.tables), contexts.depth, got.reply.detector); }, onerror);
  }
}

/** The calls of the answer of `anomalies`; `depths` are those of contexts, `detector` named those that have a mark for it. */
export function anomaliesOf(table: Table, depths: ArrayLike<number>, detector: string | null): readonly MarkedCall[] {
  const [track, context] = [wholeColumn(table, "track"), wholeColumn(table, "context")];
  const [start, end, times] = [numberColumn(table, "start_ns"), numberColumn(table, "end_ns"), numberColumn(table, "times_median")];
  const named = wholeColumn(table, "named");
  return Array.from({ length: table.numRows }, (_, row): MarkedCall => ({
    track: track[row] ?? 0, range: [start[row] ?? 0, end[row] ?? 0], depth: depths[context[row] ?? 0] ?? 1,
    text: [...reasons(times[row] ?? Number.NaN, named[row] === 1 ? detector : null)].join(", "),
  }));
}

/** Why a call is an anomaly. */
function* reasons(times: number, namedBy: string | null): Iterable<string> {
  if (!Number.isNaN(times)) yield `${times.toPrecision(3)} times the median`;
  if (namedBy !== null) yield `named by ${namedBy}`;
}

/** The messages whose ends belong to different components. */
export function between(all: LinkColumns, component: ArrayLike<number>): LinkColumns {
  const kept = [...Array(all.length).keys()].filter((at) => component[all.sender[at] ?? 0] !== component[all.receiver[at] ?? 0]);
  const pick = (of: Float64Array): Float64Array => Float64Array.from(kept, (at) => of[at] ?? Number.NaN);
  const whole = (of: Uint32Array): Uint32Array => Uint32Array.from(kept, (at) => of[at] ?? 0);
  return { length: kept.length, sender: whole(all.sender), receiver: whole(all.receiver), sendNs: pick(all.sendNs), receiveNs: pick(all.receiveNs), bytes: pick(all.bytes), tag: pick(all.tag) };
}

/** What there is to know of the call that was clicked: its exclusive time, its arguments, and the messages and flows that begin or end in it. */
import type { EngineClient } from "../../state/engine.ts";
import { NONE } from "../../view-kit/asks.ts";
import { askedWindow, type TimelineCatalog } from "../../view-kit/catalog.ts";
import type { LinkColumns } from "../../widgets/timeline/messages.ts";
import { argumentsOfAnswer, linksOf, pathOfAnswer, type CallArgument, type PathStep } from "./answers.ts";

/** Messages and flows of one call that are listed and drawn; of more, those that take longest. */
export const MOST_OF_CALL = 500;

/** A call that was chosen, on its track. */
export interface ChosenCall {
  readonly track: number;
  readonly step: PathStep;
}

/** A message or flow, seen from the call. */
export interface CallLink {
  readonly kind: "message" | "flow";
  /** Whether it begins in the call; otherwise it ends there. */
  readonly isSent: boolean;
  /** The track at the other end; null where it is not in the trace. */
  readonly track: number | null;
  /** When it is at the other end; NaN where that is not known. */
  readonly atNs: number;
  readonly bytes: number;
  /** From its begin to its end. */
  readonly lengthNs: number;
}

/** The messages or flows that begin or end in a call, in order of time. */
export function linksOfCall(links: LinkColumns, { track, step }: ChosenCall, kind: CallLink["kind"]): readonly CallLink[] {
  const found: { readonly own: number; readonly link: CallLink }[] = [];
  const isInside = (ns: number): boolean => ns >= step.startNs && ns <= step.endNs;
  for (let at = 0; at < links.length; at += 1) {
    const [sent, received] = [links.sendNs[at] ?? Number.NaN, links.receiveNs[at] ?? Number.NaN];
    const [sender, receiver] = [links.sender[at] ?? NONE, links.receiver[at] ?? NONE];
    const of = { kind, bytes: links.bytes[at] ?? 0, lengthNs: received - sent };
    const known = (other: number): number | null => (other === NONE ? null : other);
    if (sender === track && isInside(sent)) found.push({ own: sent, link: { ...of, isSent: true, track: known(receiver), atNs: received } });
    else if (receiver === track && isInside(received)) found.push({ own: received, link: { ...of, isSent: false, track: known(sender), atNs: sent } });
  }
  return found.sort((a, b) => a.own - b.own).map(({ link }) => link);
}

/** Those of the links that {@link linksOfCall} lists, to be drawn. */
function ownColumns(links: LinkColumns, { track, step }: ChosenCall): LinkColumns {
  const isInside = (ns: number | undefined): boolean => ns !== undefined && ns >= step.startNs && ns <= step.endNs;
  const kept = [...Array(links.length).keys()].filter((at) => (links.sender[at] === track && isInside(links.sendNs[at])) || (links.receiver[at] === track && isInside(links.receiveNs[at])));
  const pick = (of: Float64Array): Float64Array => Float64Array.from(kept, (at) => of[at] ?? Number.NaN);
  const whole = (of: Uint32Array): Uint32Array => Uint32Array.from(kept, (at) => of[at] ?? NONE);
  return { length: kept.length, sender: whole(links.sender), receiver: whole(links.receiver), sendNs: pick(links.sendNs), receiveNs: pick(links.receiveNs), bytes: pick(links.bytes), tag: pick(links.tag) };
}

/** Two lists of links as one. */
function both(a: LinkColumns, b: LinkColumns): LinkColumns {
  const join = (x: Float64Array, y: Float64Array): Float64Array => Float64Array.from([...x, ...y]);
  const whole = (x: Uint32Array, y: Uint32Array): Uint32Array => Uint32Array.from([...x, ...y]);
  return {
    length: a.length + b.length, sender: whole(a.sender, b.sender), receiver: whole(a.receiver, b.receiver),
    sendNs: join(a.sendNs, b.sendNs), receiveNs: join(a.receiveNs, b.receiveNs), bytes: join(a.bytes, b.bytes), tag: join(a.tag, b.tag),
  };
}

/** The details of the chosen call. */
export class CallDetails {
  /** Null while unknown. */
  exclusiveNs = $state.raw<number | null>(null);
  /** What the trace recorded with it. */
  arguments = $state.raw<readonly CallArgument[]>([]);
  links = $state.raw<readonly CallLink[]>([]);
  /** The same, to be drawn. */
  columns = $state.raw<LinkColumns | null>(null);
  /** Whether there are more messages or flows than are listed. */
  isCut = $state(false);
  problem = $state.raw<unknown>(null);
  #key = "";
  #cancel: AbortController | null = null;

  /** Asks about a call, unless it is the one that was asked about last; null forgets everything. */
  ask(client: EngineClient, item: string, catalog: TimelineCatalog, call: ChosenCall | null): void {
    const key = call === null ? "" : JSON.stringify([item, call.track, call.step]);
    if (key === this.#key) return;
    this.#key = key;
    this.#cancel?.abort();
    this.exclusiveNs = null;
    this.arguments = [];
    this.links = [];
    this.columns = null;
    this.isCut = false;
    this.problem = null;
    if (call === null) return;
    const cancel = new AbortController();
    this.#cancel = cancel;
    this.#read(client, item, catalog, call, cancel.signal).catch((error: unknown) => {
      if (!cancel.signal.aborted) this.problem = error;
    });
  }

  async #read(client: EngineClient, item: string, catalog: TimelineCatalog, call: ChosenCall, signal: AbortSignal): Promise<void> {
    const { track, step } = call;
    const options = { signal };
    const path = client.ask("path_at", { item, track, at_ns: Math.floor(step.startNs), exclusive: true, arguments: true }, options);
    const where = { item, tracks: [{ from: track, to: track + 1 }], ...askedWindow([step.startNs, step.endNs + 1]), max_links: MOST_OF_CALL };
    // Samples have neither, and say so with an error.
    const kinds = !catalog.reply.has_calls ? [] : [...(catalog.reply.sends + catalog.reply.receives > 0 ? ["message" as const] : []), "flow" as const];
    const asked = kinds.map(async (kind) => {
      const { reply, tables } = await client.ask("links", { ...where, flows: kind === "flow" }, options);
      return { kind, columns: linksOf(tables), total: reply.total };
    });
    const { tables } = await path;
    if (signal.aborted) return;
    const steps = pathOfAnswer(tables);
    this.arguments = argumentsOfAnswer(tables, step);
    this.exclusiveNs = steps.find((one) => one.context === step.context && one.startNs === step.startNs)?.exclusiveNs ?? (step.endNs === step.startNs ? 0 : null);
    const answers = await Promise.all(asked);
    if (signal.aborted) return;
    this.links = answers.flatMap(({ kind, columns }) => linksOfCall(columns, call, kind));
    this.columns = answers.map(({ columns }) => ownColumns(columns, call)).reduce<LinkColumns | null>((all, one) => (all === null ? one : both(all, one)), null);
    this.isCut = answers.some(({ columns, total }) => total > columns.length);
  }
}

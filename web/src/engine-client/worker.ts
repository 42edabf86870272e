/// <reference lib="webworker" />
// The worker: one engine, one question after the other.
import type { ErrorReply, RootReply } from "../wire/protocol.ts";
import init, { Engine } from "./pkg/parallax_wasm.js";
import wasm from "./pkg/parallax_wasm_bg.wasm?url";
import { warmUp } from "./warm-up.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

declare const self: DedicatedWorkerGlobalScope;

/** Milliseconds between two messages about progress. */
const BETWEEN_MESSAGES = 80;

const engine = init({ module_or_path: wasm }).then(() => new Engine());

/** Milliseconds after which a page that asked for nothing leaves time to get ready. */
const BEFORE_WARM_UP = 300;

/** Whether the page has asked for anything. */
let isAsked = false;

void engine.then((it) => {
  setTimeout(() => {
    if (!isAsked) warmUp(it);
  }, BEFORE_WARM_UP);
}, () => undefined);

/** A large file that is read in parts, piece by piece as the page fetches it. */
interface Reading {
  parts: Uint8Array[];
  /** Where the next part begins. */
  from: number;
  /** What was fetched of it. */
  rest: Uint8Array[];
}

/** By the key of the root; null when a part did not fit. */
const readings = new Map<string, Reading | null>();

/** Pieces without an end of a part after which a file is not worth the memory. */
const MOST_PIECES = 4;

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}

/**
 * Whether the page still wants the answer. While wasm runs, no message arrives here; but the page
 * can take back the address of a blob, and reading from it tells. Without an address nobody can tell.
 */
function isAlive(lifeline: string): boolean {
  if (lifeline === "") return true;
  try {
    const request = new XMLHttpRequest();
    request.open("GET", lifeline, false);
    request.send();
    return true;
  } catch {
    return false;
  }
}

function asError(thrown: unknown): { error: ErrorReply; isDead: boolean } {
  if (typeof thrown === "string") return { error: JSON.parse(thrown) as ErrorReply, isDead: false };
  // A trap: memory ran out, or a defect. The instance cannot be trusted any more.
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isMemory = /memory|allocat/i.test(message);
  const error = {
    kind: "crashed",
    message: isMemory ? "the engine ran out of memory" : `the engine stopped: ${message}`,
    hint: isMemory
      ? "open fewer files at a time, or ask for fewer locations"
      : "it was started again; open the files again, and report this with the file if it repeats",
  };
  return { error, isDead: true };
}

/** Reads what a piece completes, and gives all parts to the engine after the last one. Says whether there is use in more. */
function readPart(it: Engine, { key, path, from, bytes, isLast }: Extract<ToWorker, { type: "read-part" }>): boolean {
  const reading = from === 0 ? { parts: [], from: 0, rest: [] } : (readings.get(key) ?? null);
  readings.set(key, null);
  if (reading === null || reading.rest.length >= MOST_PIECES) return false;
  const pieces = [...reading.rest, new Uint8Array(bytes)];
  const part = it.read_part(key, path, reading.from, pieces, isLast);
  const { to, bytes: read } = part;
  part.free();
  if (to > reading.from) {
    if (read.length === 0) return false;
    reading.parts.push(read);
  }
  if (isLast) {
    it.add_parts(key, path, reading.parts);
    return true;
  }
  reading.rest = to > reading.from ? restOf(pieces, to - reading.from) : pieces;
  // Given back at once: the collector would wait until there are many.
  if (!reading.rest.some((piece) => piece.buffer === bytes)) bytes.transfer(0);
  reading.from = to;
  readings.set(key, reading);
  return true;
}

/** What is left of pieces without their first `numRead` bytes, copied. */
function restOf(pieces: Uint8Array[], numRead: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let skip = numRead;
  for (const piece of pieces) {
    if (skip < piece.length) rest.push(piece.slice(skip));
    skip = Math.max(0, skip - piece.length);
  }
  return rest;
}

async function handle(message: ToWorker): Promise<void> {
  const { id } = message;
  try {
    const it = await engine;
    if (message.type === "read-part") {
      post({ id, type: "part", isUseful: readPart(it, message) });
      return;
    }
    if (message.type === "add-files") {
      const root = JSON.parse(it.add_files(message.key, message.name, message.paths, message.files));
      post({ id, type: "root", root: root as RootReply });
      return;
    }
    if (message.type === "add-url") {
      const root = JSON.parse(it.add_url(message.key, message.name, message.url, message.files));
      post({ id, type: "root", root: root as RootReply });
      return;
    }
    if (!isAlive(message.lifeline)) {
      throw JSON.stringify({ kind: "cancelled", message: "cancelled", hint: null });
    }
    let last = performance.now();
    let isStopped = false;
    const tell = (done: number, total: number, bytes: number) => {
      const now = performance.now();
      if (now - last < BETWEEN_MESSAGES) return isStopped;
      last = now;
      post({ id, type: "progress", done, total, bytes, memory: it.memory_bytes() });
      isStopped ||= !isAlive(message.lifeline);
      return isStopped;
    };
    const answer = it.answer(message.request, tell);
    const tables: [string, ArrayBuffer][] = [];
    for (const [name, bytes] of answer.tables as [string, Uint8Array<ArrayBuffer>][]) {
      tables.push([name, bytes.buffer]);
    }
    const json = answer.json;
    answer.free();
    const buffers = tables.map(([, buffer]) => buffer);
    post({ id, type: "answer", json, tables, memory: it.memory_bytes() }, buffers);
  } catch (thrown) {
    post({ id, type: "error", ...asError(thrown) });
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  isAsked = true;
  void handle(event.data);
};

/// <reference lib="webworker" />
// The worker: one engine, one question after the other.
import type { ErrorReply, RootReply } from "../wire/protocol.ts";
import init, { Engine } from "./pkg/parallax_wasm.js";
import wasm from "./pkg/parallax_wasm_bg.wasm?url";
import { readParts, type Reading } from "./read-ahead.ts";
import { warmUp } from "./warm-up.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

declare const self: DedicatedWorkerGlobalScope;

/** Milliseconds between two messages about progress. */
const BETWEEN_MESSAGES = 80;

const engine = init({ module_or_path: wasm }).then(() => new Engine());

/** Milliseconds after which a page that asked for nothing leaves time to get ready. */
const BEFORE_WARM_UP = 300;

/** Bytes of a file within which another worker says where it reads on: each time, a message may arrive. */
const MAY_BE_HEARD_BYTES = 16 * 2 ** 20;

/** Whether the page has asked for anything. */
let isAsked = false;

void engine.then((it) => {
  setTimeout(() => {
    if (!isAsked) warmUp(it);
  }, BEFORE_WARM_UP);
}, () => undefined);

/** Large files that are read in parts, by the key of their root. */
const readings = new Map<string, Reading>();

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}

/**
 * Whether the page still wants the answer. While wasm runs, no message arrives here; but the page
 * can take back the address of a blob, and reading from it tells. Without an address that cannot be known.
 */
function isAlive(cancelUrl: string): boolean {
  if (cancelUrl === "") return true;
  try {
    const request = new XMLHttpRequest();
    request.open("GET", cancelUrl, false);
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
      ? "open fewer files at a time, or select fewer locations"
      : "it was restarted; open the files again, and if this repeats, report it with the file",
  };
  return { error, isDead: true };
}

async function readLarge(it: Engine, message: Extract<ToWorker, { type: "read-parts" }>): Promise<void> {
  const { id, key, path, file } = message;
  const { from, isGuess } = message;
  const reading: Reading = { from, isGuess, until: null, isStopped: false };
  readings.set(key, reading);
  let last = performance.now();
  let wasHeard = from > 0;
  const onBegin = (at: number): void => { post({ id, type: "begins", at }); };
  const onRead = async (bytes: number): Promise<void> => {
    const isDue = performance.now() - last >= BETWEEN_MESSAGES;
    if (!isDue && wasHeard) return;
    if (isDue) post({ id, type: "progress", done: bytes, total: file.size, bytes, memory: it.memory_bytes() });
    // Bytes that are there already come without a pause in which a message could arrive.
    await new Promise((resolve) => { setTimeout(resolve); });
    wasHeard ||= reading.until !== null || bytes > MAY_BE_HEARD_BYTES;
    if (isDue) last = performance.now();
  };
  const read = await readParts(it, { key, path, file }, reading, { onBegin, onRead });
  readings.delete(key);
  post({ id, type: "parts", read }, read?.parts.map((part) => part.buffer as ArrayBuffer));
}

async function handle(message: ToWorker): Promise<void> {
  const { id } = message;
  try {
    const it = await engine;
    if (message.type === "read-parts") {
      await readLarge(it, message);
      return;
    }
    if (message.type === "read-until" || message.type === "stop-reading") {
      const reading = readings.get(message.key);
      if (reading !== undefined && message.type === "read-until") reading.until = message.until;
      if (reading !== undefined && message.type === "stop-reading") reading.isStopped = true;
      post({ id, type: "done" });
      return;
    }
    if (message.type === "add-parts") it.add_parts(message.key, message.path, message.parts);
    if (message.type === "add-parts" || message.type === "wake") {
      post({ id, type: "done" });
      return;
    }
    if (message.type === "add-files") {
      const root = JSON.parse(it.add_files(message.key, message.name, message.paths, message.files)) as RootReply;
      post({ id, type: "root", root });
      return;
    }
    if (message.type === "add-url") {
      const root = JSON.parse(it.add_url(message.key, message.name, message.url, message.files)) as RootReply;
      post({ id, type: "root", root });
      return;
    }
    let last = performance.now();
    let isStopped = false;
    const tell = (done: number, total: number, bytes: number) => {
      const now = performance.now();
      if (now - last < BETWEEN_MESSAGES) return isStopped;
      last = now;
      post({ id, type: "progress", done, total, bytes, memory: it.memory_bytes() });
      isStopped ||= !isAlive(message.cancelUrl);
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
  isAsked ||= event.data.type !== "wake";
  void handle(event.data);
};

/// <reference lib="webworker" />
// The worker: one engine, one question after the other.
import type { ErrorReply, RootReply } from "../wire/protocol.ts";
import init, { Engine } from "./pkg/parallax_wasm.js";
import wasm from "./pkg/parallax_wasm_bg.wasm?url";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

declare const self: DedicatedWorkerGlobalScope;

/** Milliseconds between two messages about progress. */
const BETWEEN_MESSAGES = 80;

let started: Promise<Engine> | null = null;

/** The engine of this worker, out of a module that another worker compiled where there is one. */
function engine(module: WebAssembly.Module | null): Promise<Engine> {
  started ??= init({ module_or_path: module ?? wasm }).then(() => new Engine());
  return started;
}

/** The module that `init` compiled; the generated script keeps it there without saying so in its types. */
function compiled(): WebAssembly.Module {
  return (init as unknown as { __wbindgen_wasm_module: WebAssembly.Module }).__wbindgen_wasm_module;
}

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

async function handle(message: ToWorker): Promise<void> {
  const { id } = message;
  try {
    const it = await engine(message.type === "start" ? message.module : null);
    let last = performance.now();
    const tell = (lifeline: string) => (done: number, total: number, bytes: number) => {
      const now = performance.now();
      if (now - last < BETWEEN_MESSAGES) return false;
      last = now;
      post({ id, type: "progress", done, total, bytes, memory: it.memory_bytes() });
      return !isAlive(lifeline);
    };
    if (message.type === "start") {
      post({ id, type: "done" });
      return;
    }
    if (message.type === "split") {
      const bounds = [...it.split(message.key, message.path, message.parts)];
      post({ id, type: "split", bounds, module: compiled() });
      return;
    }
    if (message.type === "read-part") {
      const { key, path, from, to, lifeline } = message;
      const bytes = it.read_part(key, path, from, to, tell(lifeline)).buffer as ArrayBuffer;
      post({ id, type: "part", bytes }, [bytes]);
      return;
    }
    if (message.type === "add-parts") {
      it.add_parts(message.key, message.path, message.parts.map((part) => new Uint8Array(part)));
      post({ id, type: "done" });
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
    const answer = it.answer(message.request, tell(message.lifeline));
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
  void handle(event.data);
};

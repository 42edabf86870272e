import type { PartsRead } from "./read-ahead.ts";
import type { ErrorReply, RootReply } from "../wire/protocol.ts";

/** From the page to the worker. */
export type ToWorker =
  | { id: number; type: "ask"; request: string; cancelUrl: string }
  /** Answered when the engine has started. */
  | { id: number; type: "wake" }
  /** Reads a large file in parts, from one's beginning on; from one near there, where it is a guess. */
  | { id: number; type: "read-parts"; key: string; path: string; file: Blob; from: number; isGuess: boolean }
  /** Another worker reads from there on. */
  | { id: number; type: "read-until"; key: string; until: number }
  /** What was read of all parts of a file that is about to be opened. */
  | { id: number; type: "add-parts"; key: string; path: string; parts: Uint8Array[] }
  | { id: number; type: "stop-reading"; key: string }
  | { id: number; type: "add-files"; key: string; name: string; paths: string[]; files: Blob[] }
  | { id: number; type: "add-url"; key: string; name: string; url: string; files: string[] };

/** From the worker to the page. */
export type FromWorker =
  | { id: number; type: "answer"; json: string; tables: [string, ArrayBuffer][]; memory: number }
  | { id: number; type: "root"; root: RootReply }
  | { id: number; type: "done" }
  /** Where it reads a large file from. */
  | { id: number; type: "begins"; at: number }
  | { id: number; type: "parts"; read: PartsRead | null }
  | { id: number; type: "progress"; done: number; total: number; bytes: number; memory: number }
  | { id: number; type: "error"; error: ErrorReply; isDead: boolean };

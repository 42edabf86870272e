import type { ErrorReply, RootReply } from "../wire/protocol.ts";

/** From the page to the worker. */
export type ToWorker =
  | { id: number; type: "ask"; request: string; lifeline: string }
  | { id: number; type: "read-part"; key: string; path: string; from: number; bytes: ArrayBuffer; isLast: boolean }
  | { id: number; type: "add-files"; key: string; name: string; paths: string[]; files: Blob[] }
  | { id: number; type: "add-url"; key: string; name: string; url: string; files: string[] };

/** From the worker to the page. */
export type FromWorker =
  | { id: number; type: "answer"; json: string; tables: [string, ArrayBuffer][]; memory: number }
  | { id: number; type: "root"; root: RootReply }
  | { id: number; type: "part"; isUseful: boolean }
  | { id: number; type: "progress"; done: number; total: number; bytes: number; memory: number }
  | { id: number; type: "error"; error: ErrorReply; isDead: boolean };

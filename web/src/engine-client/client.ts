import type { Table } from "@uwdata/flechette";
import type { ErrorReply, Protocol, Request, RootReply } from "../wire/protocol.ts";

/** How far a request is. */
export interface Progress {
  /** Parts done; 0 while parts are not counted. */
  done: number;
  /** Parts in all; 0 where unknown. */
  total: number;
  /** Bytes read from files for this request. */
  bytes: number;
}

export interface AskOptions {
  /** Withdraws the request: its promise is rejected with an error of the kind `cancelled`. */
  signal?: AbortSignal;
  /** Called now and then while the request runs. */
  onProgress?: (progress: Progress) => void;
  /** Lets all other questions go first: what is on screen is there, and only gets better. */
  isPatient?: boolean;
}

/** The answer to a request: the reply, and its tables by name. */
export interface Answer<K extends keyof Protocol> {
  reply: Protocol[K]["reply"];
  tables: Record<string, Table>;
}

/** A file with the path that the user knows it by. */
export interface NamedFile {
  path: string;
  file: Blob;
}

/**
 * An engine, wherever it runs. Views and state see only this; they cannot tell a worker of the page
 * from a server.
 */
export interface EngineClient {
  readonly kind: "worker" | "http";
  ask<K extends keyof Protocol>(
    name: K,
    request: Protocol[K]["request"],
    options?: AskOptions,
  ): Promise<Answer<K>>;
  /** Makes a root of files of this page. Nothing leaves the computer. */
  addFiles(name: string, files: NamedFile[]): Promise<RootReply>;
  /** Makes a root of something on the web, read in place; `files` are paths below `url`. */
  addUrl(name: string, url: string, files?: string[]): Promise<RootReply>;
  /** What can be opened without being picked: what a server offers, or what a report brought along. */
  readonly roots: RootReply[];
  /** Whether files of the roots may still be written, and are to be opened again when they are. */
  readonly follow: boolean;
  /** Whether statements in SQL can be asked. */
  readonly sql: boolean;
  /** Bytes of memory that the engine has taken; 0 while unknown. */
  memoryBytes(): number;
  dispose(): void;
}

/** Why there is no answer, human-readable. */
export class EngineError extends Error {
  readonly kind: string;
  /** What to do, where that is known. */
  readonly hint: string | null;

  constructor(reply: ErrorReply) {
    super(reply.message);
    this.name = "EngineError";
    this.kind = reply.kind;
    this.hint = reply.hint;
  }
}

/** The request as it travels. */
export function written<K extends keyof Protocol>(ask: K, request: Protocol[K]["request"]): string {
  const message: Request = { ask, with: request };
  return JSON.stringify(message);
}

import { tableFromIPC } from "@uwdata/flechette";
import type { ErrorReply, HelloReply, Protocol, RootReply } from "../wire/protocol.ts";
import {
  type Answer,
  type AskOptions,
  type EngineClient,
  EngineError,
  type Progress,
  written,
} from "./client.ts";

/** Kinds of the pieces that a server answers with: one letter each. */
const PROGRESS = "P".charCodeAt(0);
const ERROR = "E".charCodeAt(0);

/** Length of the head of a piece: its kind, and its length as four bytes, little-endian. */
const HEAD = 5;

/** The engine in a server: `parallax open`. */
export class HttpClient implements EngineClient {
  readonly kind = "http";
  readonly roots: RootReply[];
  readonly follow: boolean;
  readonly sql: boolean;
  readonly #address: string;
  readonly #token: string;

  private constructor(address: string, token: string, hello: Pick<HelloReply, "roots" | "follow" | "sql">) {
    this.#address = address;
    this.#token = token;
    this.roots = hello.roots;
    this.follow = hello.follow;
    this.sql = hello.sql;
  }

  static async connect(address: string, token: string): Promise<HttpClient> {
    const { reply } = await new HttpClient(address, token, { roots: [], follow: false, sql: false }).ask("hello", {});
    return new HttpClient(address, token, reply);
  }

  async ask<K extends keyof Protocol>(
    name: K,
    request: Protocol[K]["request"],
    options: AskOptions = {},
  ): Promise<Answer<K>> {
    let response: Response;
    try {
      response = await fetch(`${this.#address}api/ask`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.#token}` },
        body: written(name, request),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      if (!response.ok || response.body === null) throw new EngineError(refused(response.status));
      const bytes = await lastPiece(response.body, options.onProgress);
      return parsed<K>(bytes, name === "sql");
    } catch (error) {
      if (error instanceof EngineError) throw error;
      if (options.signal?.aborted) {
        throw new EngineError({ kind: "cancelled", message: "cancelled", hint: null });
      }
      throw new EngineError({
        kind: "connection",
        message: "the server does not answer",
        hint: "is `parallax open` still running? start it again and open the address that it prints",
      });
    }
  }

  addFiles(): Promise<RootReply> {
    return Promise.reject(new EngineError(ONLY_ROOTS));
  }

  addUrl(): Promise<RootReply> {
    return Promise.reject(new EngineError(ONLY_ROOTS));
  }

  memoryBytes(): number {
    return 0;
  }

  dispose(): void {
    // Nothing is held between requests.
  }
}

const ONLY_ROOTS = {
  kind: "misuse",
  message: "this page shows only the files that its server was started with",
  hint: "run `parallax open` with the other files, or open them in the page without a server",
};

function refused(status: number): ErrorReply {
  if (status === 401 || status === 403) {
    return {
      kind: "connection",
      message: "the server does not accept the access token of this page",
      hint: "open the address that `parallax open` printed, which contains the token",
    };
  }
  return { kind: "connection", message: `the server answered with status ${status}`, hint: null };
}

/** Passes progress on as it comes and returns the bytes of the reply. */
export async function lastPiece(
  body: ReadableStream<Uint8Array>,
  onProgress: ((progress: Progress) => void) | undefined,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let kept = 0;
  let bytes = new Uint8Array(0);
  const gather = () => {
    if (chunks.length === 0) return;
    const all = new Uint8Array(kept);
    let at = 0;
    for (const chunk of chunks.splice(0)) {
      all.set(chunk, at);
      at += chunk.length;
    }
    chunks.push(all);
    bytes = all;
  };
  // Pieces about progress come first and are short; the reply is everything after its head.
  let isReply = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) {
      chunks.push(value);
      kept += value.length;
    }
    if (!isReply) {
      gather();
      while (bytes.length >= HEAD) {
        const kind = bytes[0];
        if (kind !== PROGRESS && kind !== ERROR) {
          isReply = true;
          break;
        }
        const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1, true);
        if (bytes.length < HEAD + length) break;
        const text = new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length));
        if (kind === ERROR) throw new EngineError(JSON.parse(text) as ErrorReply);
        onProgress?.(JSON.parse(text) as Progress);
        bytes = bytes.slice(HEAD + length);
        chunks.splice(0, chunks.length, bytes);
        kept = bytes.length;
      }
    }
    if (done) break;
  }
  gather();
  if (!isReply) {
    throw new EngineError({ kind: "connection", message: "the server stopped before its answer was complete", hint: null });
  }
  // A copy, so that tables begin at multiples of eight.
  return bytes.slice(HEAD);
}

/**
 * The reply and tables of a frame; `Response::framed` of the engine's host writes it. With `isExact` whole numbers of 64
 * bits are `bigint`: tables of other questions have none that a number cannot hold.
 */
export function parsed<K extends keyof Protocol>(bytes: Uint8Array, isExact = false): Answer<K> {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as {
    reply: Protocol[K]["reply"];
    tables: { name: string; bytes: number }[];
  };
  const tables: Answer<K>["tables"] = {};
  let at = 4 + length;
  for (const table of head.tables) {
    at = Math.ceil(at / 8) * 8;
    tables[table.name] = tableFromIPC(bytes.subarray(at, at + table.bytes), { useBigInt: isExact });
    at += table.bytes;
  }
  return { reply: head.reply, tables };
}

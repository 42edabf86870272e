// A client of `parallax open`: asks questions over HTTP. docs/protocol.md says what goes to and fro.
import { tableFromIPC, type Table } from "@uwdata/flechette";
import type { Protocol } from "../src/wire/protocol.ts";

export interface Answer<K extends keyof Protocol> {
  readonly reply: Protocol[K]["reply"];
  readonly tables: Readonly<Record<string, Table>>;
}

/** The server at an address with its token, as `parallax open --json` prints them. */
export class Engine {
  readonly #address: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#address = new URL("api/ask", new URL(url).origin).href;
    this.#token = token;
  }

  /** The reply to a question, and its tables by name. */
  async ask<K extends keyof Protocol>(name: K, fields: Protocol[K]["request"]): Promise<Answer<K>> {
    const headers = { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json" };
    const response = await fetch(this.#address, { method: "POST", headers, body: JSON.stringify({ ask: name, with: fields }) });
    if (!response.ok) throw new Error(`the server answered with status ${String(response.status)}`);
    const body = new Uint8Array(await response.arrayBuffer());
    const view = new DataView(body.buffer);
    for (let at = 0; ; ) {
      const kind = String.fromCharCode(body[at] ?? 0);
      if (kind === "R") return unpacked(body.slice(at + 5));
      const length = view.getUint32(at + 1, true);
      if (kind === "E") throw new Error(new TextDecoder().decode(body.subarray(at + 5, at + 5 + length)));
      at += 5 + length; // progress
    }
  }
}

/** A frame: the length of its head, the head as JSON, and tables that begin at multiples of 8. */
function unpacked<K extends keyof Protocol>(frame: Uint8Array): Answer<K> {
  const length = new DataView(frame.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(frame.subarray(4, 4 + length))) as { reply: Protocol[K]["reply"]; tables: { name: string; bytes: number }[] };
  const tables: Record<string, Table> = {};
  let at = 4 + length;
  for (const { name, bytes } of head.tables) {
    at = Math.ceil(at / 8) * 8;
    tables[name] = tableFromIPC(frame.subarray(at, at + bytes));
    at += bytes;
  }
  return { reply: head.reply, tables };
}

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** A folder of files on a port of this computer. */
export interface StaticServer {
  /** With `/` at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** How long an answer from below `slow/` takes: as over a bad line. */
const SLOW_MILLIS = 700;

/**
 * What any host of static files does: types, byte ranges, and 404 for what is not there.
 * `mounts` are more folders, by the first part of the path; below `slow/` they answer late.
 */
export async function serveFolder(folder: string, mounts: Readonly<Record<string, string>> = {}): Promise<StaticServer> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname)).slice(1);
    const parts = path.split("/");
    const isSlow = parts[0] === "slow";
    const [first = "", ...rest] = isSlow ? parts.slice(1) : parts;
    const mount = mounts[first];
    const file = mount === undefined ? join(folder, path === "" ? "index.html" : path) : join(mount, ...rest);
    setTimeout(() => { void send(file, request.headers.range, request.method === "HEAD", response); }, isSlow ? SLOW_MILLIS : 0);
  });
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => { resolve(); });
        server.closeAllConnections();
      }),
  };
}

async function send(file: string, range: string | undefined, isHead: boolean, response: ServerResponse): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null || !found.isFile()) {
    response.writeHead(404, { "content-type": "text/plain" }).end("not found");
    return;
  }
  const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "accept-ranges": "bytes", "cache-control": "no-cache" };
  const asked = /^bytes=(\d+)-(\d*)$/.exec(range ?? "");
  const start = asked === null ? 0 : Number(asked[1]);
  const end = asked === null || asked[2] === "" ? found.size - 1 : Math.min(Number(asked[2]), found.size - 1);
  if (asked !== null && start > end) {
    response.writeHead(416, { "content-range": `bytes */${String(found.size)}` }).end();
    return;
  }
  const some = asked === null ? {} : { "content-range": `bytes ${String(start)}-${String(end)}/${String(found.size)}` };
  response.writeHead(asked === null ? 200 : 206, { ...headers, ...some, "content-length": String(end - start + 1) });
  if (isHead || found.size === 0) response.end();
  else createReadStream(file, { start, end }).pipe(response);
}

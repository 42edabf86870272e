import type { Channel } from "./channel.ts";
import { EngineError, type Progress } from "./client.ts";

/** Files from this size on are read in parts: while the worker reads one, the page fetches the next ones. */
const LARGE_BYTES = 24 * 2 ** 20;

/** How much is fetched at once. More takes more memory and starts later, less asks more often. */
const PIECE_BYTES = 6 * 2 ** 20;

/** Pieces that are fetched at the same time: the browser reads one while it hands over another. */
const FETCHED_AT_ONCE = 2;

/** Pieces that wait for the worker, or that it reads. */
const MOST_UNDER_WAY = 2;

/** Files of which the engine may be able to read parts. */
const MAY_HAVE_PARTS = /\.json$/i;

/** The one large file of a root. */
export interface LargeFile {
  key: string;
  path: string;
  file: Blob;
}

/** The one file of a root that is worth reading in parts; null when there is none, or several. */
export function largeFile(key: string, paths: string[], files: Blob[]): LargeFile | null {
  const [path] = paths;
  const [file] = files;
  if (paths.length !== 1 || path === undefined || file === undefined) return null;
  return file.size >= LARGE_BYTES && MAY_HAVE_PARTS.test(path) ? { key, path, file } : null;
}

/**
 * Has the worker read a large file in parts, which it keeps until it opens the root. The page fetches
 * it piece by piece: a worker that computes cannot take bytes in at the same time. Parts end where the
 * engine finds an end in these pieces. A file that has no parts, or whose parts do not fit, is read from
 * front to back when it is opened.
 */
export async function readAhead(
  channel: Channel,
  { key, path, file }: LargeFile,
  signal: AbortSignal | undefined,
  onProgress: ((progress: Progress) => void) | undefined,
): Promise<void> {
  const fetches: Promise<ArrayBuffer>[] = [];
  const underWay: Promise<boolean>[] = [];
  let next = 0;
  for (let from = 0; from < file.size; from += PIECE_BYTES) {
    if (signal?.aborted) throw new EngineError({ kind: "cancelled", message: "cancelled", hint: null });
    for (; next < file.size && next < from + FETCHED_AT_ONCE * PIECE_BYTES; next += PIECE_BYTES) fetches.push(fetched(file, next));
    let bytes: ArrayBuffer | undefined;
    try {
      bytes = await fetches.shift();
    } catch {
      // The engine reads for itself and says why that fails.
    }
    if (bytes === undefined) return;
    const to = from + bytes.byteLength;
    const message = { type: "read-part", key, path, from, bytes, isLast: to >= file.size } as const;
    underWay.push(channel.send(message, undefined, [bytes]).then((part) => part.type === "part" && part.isUseful));
    if (underWay.length >= MOST_UNDER_WAY && !(await underWay.shift())) return;
    onProgress?.({ done: to, total: file.size, bytes: to });
  }
  await Promise.all(underWay);
}

function fetched(file: Blob, from: number): Promise<ArrayBuffer> {
  const bytes = file.slice(from, from + PIECE_BYTES).arrayBuffer();
  // Nobody may wait for it any more when it fails.
  bytes.catch(() => undefined);
  return bytes;
}

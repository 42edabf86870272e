import type { Channel } from "./channel.ts";
import { EngineError, type Progress } from "./client.ts";

/** Files from this size on are read in parts: while the worker reads one, the page fetches the next ones. */
const LARGE_BYTES = 24 * 2 ** 20;

/** About how long a part is. Longer ones take more memory, shorter ones more asking. */
const PART_BYTES = 12 * 2 ** 20;

/** Parts that are fetched or wait for the worker at the same time. */
const MOST_UNDER_WAY = 2;

/** Files of which the engine may be able to read parts. */
const MAY_HAVE_PARTS = /\.json$/i;

/** Bytes of the part after it that a part is looked into: where it ends is known by what follows. */
const BEYOND = 1;

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
 * them: a worker that computes cannot take bytes in at the same time. A file that has no parts, or
 * whose parts do not fit, is read from front to back when it is opened.
 */
export async function readAhead(
  channel: Channel,
  { key, path, file }: LargeFile,
  signal: AbortSignal | undefined,
  onProgress: ((progress: Progress) => void) | undefined,
): Promise<void> {
  const split = await channel.send({ type: "split", key, path, parts: Math.ceil(file.size / PART_BYTES) });
  if (split.type !== "split" || split.bounds.length < 3) return;
  const { bounds } = split;
  const underWay: Promise<boolean>[] = [];
  for (let at = 0; at + 1 < bounds.length; at += 1) {
    if (signal?.aborted) throw new EngineError({ kind: "cancelled", message: "cancelled", hint: null });
    const [from = 0, to = 0] = [bounds[at], bounds[at + 1]];
    let bytes: ArrayBuffer;
    try {
      bytes = await file.slice(from, to + BEYOND).arrayBuffer();
    } catch {
      // The engine reads for itself and says why that fails.
      return;
    }
    const message = { type: "read-part", key, path, from, to, bytes, isLast: at + 2 === bounds.length } as const;
    underWay.push(channel.send(message, undefined, [bytes]).then((part) => part.type === "part" && part.isWhole));
    if (underWay.length >= MOST_UNDER_WAY && !(await underWay.shift())) return;
    onProgress?.({ done: to, total: file.size, bytes: to });
  }
  await Promise.all(underWay);
}

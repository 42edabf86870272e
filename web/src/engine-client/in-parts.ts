import { Channel } from "./channel.ts";
import { EngineError, type Progress } from "./client.ts";

/** Files from this size on are read by several workers at once; for smaller ones starting them takes longer. */
const LARGE_BYTES = 24 * 2 ** 20;

/** More workers than this would wait for the disk. */
const MOST_WORKERS = 4;

/** Files of which the engine may be able to read parts. */
const MAY_HAVE_PARTS = /\.json$/i;

/** What reading in parts needs to know of a root: its message and its one large file. */
export interface LargeFile {
  key: string;
  name: string;
  path: string;
  file: Blob;
}

/** Where a request can be stopped, and who is told how far it is. */
export interface Watch {
  lifeline: string;
  signal: AbortSignal | undefined;
  onProgress: ((progress: Progress) => void) | undefined;
}

/** The one file of a root that is worth reading in parts; null when there is none, or several. */
export function largeFile(key: string, name: string, paths: string[], files: Blob[]): LargeFile | null {
  const [path] = paths;
  const [file] = files;
  if (paths.length !== 1 || path === undefined || file === undefined) return null;
  return file.size >= LARGE_BYTES && MAY_HAVE_PARTS.test(path) ? { key, name, path, file } : null;
}

/**
 * Reads a large file with several workers and gives what they read to `main`, which puts it together
 * when it opens the file. A file that has no parts, or whose parts do not fit, is read by `main` alone.
 */
export async function readInParts(main: Channel, start: () => Worker, large: LargeFile, watch: Watch): Promise<void> {
  const { key, name, path, file } = large;
  const workers = Math.min(MOST_WORKERS, Math.max(1, navigator.hardwareConcurrency));
  if (workers < 2) return;
  const split = await main.send({ type: "split", key, path, parts: workers });
  if (split.type !== "split" || split.bounds.length < 3) return;
  const { bounds, module } = split;
  const gone = new EngineError({ kind: "cancelled", message: "cancelled", hint: null });
  const helpers: Channel[] = [];
  const close = () => {
    for (const helper of helpers) helper.close(gone);
  };
  watch.signal?.addEventListener("abort", close, { once: true });
  const read = new Array<number>(bounds.length - 1).fill(0);
  try {
    const parts = read.map(async (_, at) => {
      let channel = main;
      if (at > 0) {
        channel = new Channel(start(), module, () => undefined);
        helpers.push(channel);
        await channel.send({ type: "add-files", key, name, paths: [path], files: [file] });
      }
      const onProgress = ({ bytes }: Progress) => {
        read[at] = bytes;
        watch.onProgress?.({ done: 0, total: 0, bytes: read.reduce((sum, one) => sum + one, 0) });
      };
      const [from, to] = [bounds[at] ?? 0, bounds[at + 1] ?? 0];
      const part = await channel.send({ type: "read-part", key, path, from, to, lifeline: watch.lifeline }, onProgress);
      return part.type === "part" ? part.bytes : new ArrayBuffer(0);
    });
    const all = await Promise.all(parts);
    // A part that could not be read by itself is empty.
    if (all.every((part) => part.byteLength > 0)) {
      await main.send({ type: "add-parts", key, path, parts: all }, undefined, all);
    }
  } finally {
    watch.signal?.removeEventListener("abort", close);
    close();
  }
}

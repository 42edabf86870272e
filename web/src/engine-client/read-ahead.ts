/** Files from this size on are read in parts: while the engine reads one, the browser fetches the next. */
const LARGE_BYTES = 24 * 2 ** 20;

/** How much is held of a file; more only where no part ends in that much. */
const BUFFER_BYTES = 4 * 2 ** 20;

/** A file of which so much has no end of a part is not worth the memory. */
const MOST_BUFFER_BYTES = 32 * 2 ** 20;

/** New bytes from which on the engine is asked: less asks more often, more leaves the browser waiting. */
const ENOUGH_BYTES = 2 ** 20;

/** Longest name of a part that is looked for behind the end of the part before. */
const NAME_BYTES = 512;

/** Files of which the engine may be able to read parts. */
const MAY_HAVE_PARTS = /\.json$/i;

/** The one large file of a root. */
export interface LargeFile {
  key: string;
  path: string;
  file: Blob;
}

/** What reads parts, and keeps what was read of them until the root is opened. */
export interface PartReader {
  read_part(key: string, path: string, from: number, bytes: Uint8Array, isLast: boolean): { to: number; bytes: Uint8Array; free(): void };
  add_parts(key: string, path: string, parts: Uint8Array[]): void;
}

/** A range of a file that is being read; its end may be changed meanwhile. */
export interface Reading {
  /** Where it begins; where that is a guess: at the first end of parts that the engine sees behind it. */
  readonly from: number;
  readonly isGuess: boolean;
  /** Where it ends, when that is not the end of the file; ignored if it was passed already. */
  until: number | null;
  isStopped: boolean;
}

/** Where the parts of a range begin and end, and what was read of them. */
export interface PartsRead {
  begin: number;
  end: number;
  parts: Uint8Array[];
}

/** Who is told how reading goes. */
export interface ReadListener {
  /** Where the range begins, once that is known. */
  onBegin?: (at: number) => void;
  /** How far it came; what this returns is waited for. */
  onRead: (bytes: number) => void | Promise<void>;
}

/** The one file of a root that is worth reading in parts; null when there is none, or several. */
export function largeFile(key: string, paths: string[], files: Blob[]): LargeFile | null {
  const [path] = paths;
  const [file] = files;
  if (paths.length !== 1 || path === undefined || file === undefined) return null;
  return file.size >= LARGE_BYTES && MAY_HAVE_PARTS.test(path) ? { key, path, file } : null;
}

/**
 * Reads a range of a large file in parts. The browser fetches on while the engine computes, as far as
 * the stream of a file goes ahead, and fills one buffer again and again: it frees fresh ones late. Parts
 * end where the engine finds an end in what came. Null for a file that has no parts, whose parts do not
 * fit, or that cannot be read this way: it is read from front to back when it is opened.
 */
export async function readParts(
  engine: Pick<PartReader, "read_part">,
  large: LargeFile,
  reading: Reading,
  listener: ReadListener,
): Promise<PartsRead | null> {
  const stream = streamOf(large.file.slice(reading.from));
  if (stream === null) return null;
  try {
    const read = await partsOf(engine, large, reading, stream, listener);
    return read !== null && (await isUnchanged(large.file)) ? read : null;
  } finally {
    stream.cancel().catch(() => undefined);
  }
}

async function partsOf(
  engine: Pick<PartReader, "read_part">,
  { key, path, file }: LargeFile,
  reading: Reading,
  stream: ReadableStreamBYOBReader,
  { onBegin, onRead }: ReadListener,
): Promise<PartsRead | null> {
  const parts: Uint8Array[] = [];
  let buffer = new Uint8Array(BUFFER_BYTES);
  let begin = reading.isGuess ? null : reading.from;
  // The buffer holds the bytes from `start` on, of which the engine has not seen the last `fresh` ones.
  let [start, held, fresh, enough] = [reading.from, 0, 0, ENOUGH_BYTES];
  while (start + held < file.size) {
    // When that fails, the engine reads for itself and says why.
    const taken = await stream.read(buffer.subarray(held)).catch(() => null);
    if (taken === null || taken.done) return null;
    buffer = new Uint8Array(taken.value.buffer);
    held += taken.value.length;
    fresh += taken.value.length;
    const until = reading.until !== null && reading.until > start ? reading.until : null;
    // To see that a part ends somewhere, the engine looks at the name that follows.
    const most = until === null ? held : Math.min(held, until + NAME_BYTES - start);
    const isLast = start + held >= file.size || most < held;
    if (fresh < enough && held < buffer.length && !isLast) continue;

    const part = engine.read_part(key, path, start, buffer.subarray(0, most), start + most >= file.size);
    const { to, bytes } = part;
    part.free();
    const hasEnd = to > start;
    if (hasEnd) {
      if (begin === null) {
        // What stands before it is the end of a part that another range has.
        begin = to;
        onBegin?.(begin);
      } else {
        if (bytes.length === 0) return null;
        parts.push(bytes);
        if (to === until) return { begin, end: to, parts };
      }
      buffer.copyWithin(0, to - start, held);
      held -= to - start;
      start = to;
    } else if (held === buffer.length) {
      if (held >= MOST_BUFFER_BYTES || begin === null) return null;
      buffer = grown(buffer);
    }
    // What had no end is examined again when there is twice as much.
    [fresh, enough] = [0, hasEnd ? ENOUGH_BYTES : Math.max(ENOUGH_BYTES, held)];
    await onRead(start + held - reading.from);
    if (reading.isStopped || (most < held && !hasEnd)) return null;
  }
  return begin !== null && begin < file.size && start === file.size ? { begin, end: start, parts } : null;
}

/** The bytes of a file into buffers that are given; null in browsers that cannot do this. */
function streamOf(file: Blob): ReadableStreamBYOBReader | null {
  try {
    return file.stream().getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** Whether the file is what it was when it was picked: a stream that has begun does not look at that any more. */
async function isUnchanged(file: Blob): Promise<boolean> {
  return file.slice(0, 1).arrayBuffer().then(() => true, () => false);
}

function grown(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * buffer.length);
  larger.set(buffer);
  return larger;
}

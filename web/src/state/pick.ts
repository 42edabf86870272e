/** Files of this computer that were dropped or picked. */
export interface Picked {
  /** Name of the file or folder, or of the first of several. */
  readonly name: string;
  /** Paths are relative to what was picked, with `/`. */
  readonly files: readonly { readonly path: string; readonly file: File }[];
  /** What lets the browser read them again after a reload; empty where it cannot. */
  readonly handles: readonly FileSystemHandle[];
}

/** Folders with more files than this are most likely a mistake (a home directory). */
const MOST_FILES = 200_000;

/** The permission to pick a folder is not in every browser, nor in TypeScript's library. */
interface PickerWindow {
  showDirectoryPicker?: (options?: { mode: "read" }) => Promise<FileSystemDirectoryHandle>;
  showOpenFilePicker?: (options?: { multiple: boolean }) => Promise<FileSystemFileHandle[]>;
}

/** Reads what was dropped, folders with everything below them. Call it inside the drop event: later the data is gone. */
export async function fromDrop(data: DataTransfer): Promise<Picked | null> {
  const items = [...data.items].filter((item) => item.kind === "file");
  const waitingHandles = items.map((item) =>
    "getAsFileSystemHandle" in item
      ? (item as { getAsFileSystemHandle(): Promise<FileSystemHandle | null | undefined> }).getAsFileSystemHandle().catch(() => null)
      : Promise.resolve(null),
  );
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = [...data.files];
  // Null or undefined, depending on the browser, for what was made by a script and is not on disk.
  const handles = (await Promise.all(waitingHandles)).filter((handle) => handle !== null && handle !== undefined);
  const files: { path: string; file: File }[] = [];
  if (entries.length > 0 && entries.every((entry) => entry !== null)) {
    for (const entry of entries) await readEntry(entry, files);
  } else {
    for (const file of plain) files.push({ path: file.name, file });
  }
  return picked(files, handles.length === items.length ? handles : []);
}

/** Files that an `<input type="file">` holds. */
export function fromInput(list: FileList): Picked | null {
  return picked([...list].map((file) => ({ path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath, file })), []);
}

/** Asks for files; null when nothing was picked, undefined when this browser needs an `<input>` instead. */
export async function askForFiles(): Promise<Picked | null | undefined> {
  const { showOpenFilePicker } = window as PickerWindow;
  if (showOpenFilePicker === undefined) return undefined;
  try {
    return await fromHandles(await showOpenFilePicker.call(window, { multiple: true }));
  } catch (error) {
    return refused(error);
  }
}

/** Asks for files in whichever way this browser has; null when nothing was picked. Call it inside a click. */
export async function pickFiles(): Promise<Picked | null> {
  const asked = await askForFiles();
  if (asked !== undefined) return asked;
  return new Promise((resolve) => {
    const input = Object.assign(document.createElement("input"), { type: "file", multiple: true });
    input.addEventListener("change", () => { resolve(input.files === null ? null : fromInput(input.files)); });
    input.addEventListener("cancel", () => { resolve(null); });
    input.click();
  });
}

/** What was picked, with more files next to it. */
export function withMore(before: Picked, more: Picked): Picked {
  const added = new Set(more.files.map(({ path }) => path));
  const isKept = before.handles.length > 0 && more.handles.length > 0;
  return {
    name: before.name,
    files: [...before.files.filter(({ path }) => !added.has(path)), ...more.files],
    handles: isKept ? [...before.handles, ...more.handles] : [],
  };
}

/** Asks for a folder; see `askForFiles`. */
export async function askForFolder(): Promise<Picked | null | undefined> {
  const { showDirectoryPicker } = window as PickerWindow;
  if (showDirectoryPicker === undefined) return undefined;
  try {
    return await fromHandles([await showDirectoryPicker.call(window, { mode: "read" })]);
  } catch (error) {
    return refused(error);
  }
}

/** Reads files and folders behind handles. */
export async function fromHandles(handles: readonly FileSystemHandle[]): Promise<Picked | null> {
  const files: { path: string; file: File }[] = [];
  for (const handle of handles) await readHandle(handle, handle.name, files);
  return picked(files, handles);
}

function refused(error: unknown): null {
  if (error instanceof DOMException && error.name === "AbortError") return null;
  throw error;
}

function picked(files: readonly { path: string; file: File }[], handles: readonly FileSystemHandle[]): Picked | null {
  const first = files[0];
  if (first === undefined) return null;
  const tops = new Set(files.map(({ path }) => path.split("/")[0]));
  const [top = first.file.name] = tops;
  const more = tops.size - 1;
  return { name: more === 0 ? top : `${top} and ${String(more)} more`, files, handles };
}

async function readEntry(entry: FileSystemEntry, into: { path: string; file: File }[]): Promise<void> {
  const queue: FileSystemEntry[] = [entry];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (into.length > MOST_FILES) throw tooMany();
    const one = next;
    const path = one.fullPath.replace(/^\//, "");
    if (one.isFile) {
      const file = await new Promise<File>((resolve, reject) => { (one as FileSystemFileEntry).file(resolve, reject); });
      into.push({ path, file });
      continue;
    }
    const reader = (one as FileSystemDirectoryEntry).createReader();
    for (;;) {
      // Browsers give at most 100 entries at a time and an empty list at the end.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => { reader.readEntries(resolve, reject); });
      if (some.length === 0) break;
      queue.push(...some);
    }
  }
}

async function readHandle(handle: FileSystemHandle, path: string, into: { path: string; file: File }[]): Promise<void> {
  if (into.length > MOST_FILES) throw tooMany();
  if (handle.kind === "file") {
    into.push({ path, file: await (handle as FileSystemFileHandle).getFile() });
    return;
  }
  const folder = handle as FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> };
  for await (const child of folder.values()) await readHandle(child, `${path}/${child.name}`, into);
}

function tooMany(): Error {
  return new Error(`The folder holds more than ${String(MOST_FILES)} files. Open the folder of one database or of one experiment`);
}

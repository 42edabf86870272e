import { fromHandles, type Picked } from "./pick.ts";

/** Files of this computer that the browser can bring back after a reload. */
export interface StoredFiles {
  readonly key: string;
  readonly name: string;
  readonly atMillis: number;
  readonly bytes: number;
  /** References to the files; the data itself stays where it is. */
  readonly handles?: readonly FileSystemHandle[];
  /** Copies in the browser's own storage on this computer. */
  readonly copies?: readonly { readonly path: string; readonly file: Blob }[];
}

/** Why files are not back. `ask` needs a click, because browsers ask for the permission only then. */
export type Recalled = { readonly picked: Picked } | { readonly need: "ask" | "drop" };

/** Up to this size files are copied into the browser's storage where no handle can be kept. */
export const MOST_COPIED_BYTES = 64 * 1024 * 1024;

const STORE = "files";

interface WithPermission extends FileSystemHandle {
  queryPermission?(options: { mode: "read" }): Promise<PermissionState>;
  requestPermission?(options: { mode: "read" }): Promise<PermissionState>;
}

/** Remembers picked files under a key; says how, or that it could not. */
export async function remember(key: string, picked: Picked): Promise<"handles" | "copies" | "not"> {
  const bytes = picked.files.reduce((sum, { file }) => sum + file.size, 0);
  const base = { key, name: picked.name, atMillis: Date.now(), bytes };
  try {
    if (picked.handles.length > 0) {
      await put({ ...base, handles: picked.handles });
      return "handles";
    }
    if (bytes > MOST_COPIED_BYTES) return "not";
    await put({ ...base, copies: picked.files.map(({ path, file }) => ({ path, file })) });
    return "copies";
  } catch {
    // Private windows and full disks refuse; opening goes on without.
    return "not";
  }
}

/** Brings files back. With `mayAsk`, inside a click, the browser asks for the permission again. */
export async function recall(key: string, mayAsk: boolean): Promise<Recalled> {
  const stored = await get(key).catch(() => null);
  if (stored === null) return { need: "drop" };
  if (stored.copies !== undefined) {
    const files = stored.copies.map(({ path, file }) => ({ path, file: new File([file], path.split("/").at(-1) ?? path) }));
    return { picked: { name: stored.name, files, handles: [] } };
  }
  const handles = stored.handles ?? [];
  for (const handle of handles as readonly WithPermission[]) {
    const granted = (await handle.queryPermission?.({ mode: "read" })) ?? "granted";
    if (granted === "granted") continue;
    if (!mayAsk) return { need: "ask" };
    if ((await handle.requestPermission?.({ mode: "read" })) !== "granted") return { need: "ask" };
  }
  try {
    const picked = await fromHandles(handles);
    return picked === null ? { need: "drop" } : { picked };
  } catch {
    // Moved or deleted since.
    return { need: "drop" };
  }
}

/** Removes what is remembered under a key. */
export async function forget(key: string): Promise<void> {
  await request("readwrite", (store) => store.delete(key));
}

/** Everything that is remembered, newest first. */
export async function listStored(): Promise<readonly StoredFiles[]> {
  const all = await request<StoredFiles[]>("readonly", (store) => store.getAll() as IDBRequest<StoredFiles[]>).catch(() => []);
  return all.sort((a, b) => b.atMillis - a.atMillis);
}

async function put(stored: StoredFiles): Promise<void> {
  await request("readwrite", (store) => store.put(stored));
}

async function get(key: string): Promise<StoredFiles | null> {
  return (await request<StoredFiles | undefined>("readonly", (store) => store.get(key) as IDBRequest<StoredFiles | undefined>)) ?? null;
}

let opening: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const open = indexedDB.open("parallax", 1);
    open.onupgradeneeded = () => { open.result.createObjectStore(STORE, { keyPath: "key" }); };
    open.onsuccess = () => { resolve(open.result); };
    open.onerror = () => { reject(open.error ?? new Error("The browser's storage cannot be used")); };
  });
  return opening;
}

async function request<T>(mode: IDBTransactionMode, make: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const transaction = (await database()).transaction(STORE, mode);
  const asked = make(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => { resolve(asked.result); };
    transaction.onabort = () => { reject(transaction.error ?? new Error("The browser's storage is full")); };
    transaction.onerror = () => { reject(transaction.error ?? new Error("The browser's storage failed")); };
  });
}

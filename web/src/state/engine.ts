import type { Table } from "@uwdata/flechette";
import type { Json } from "../base/json.ts";

/** What `open` says about one thing found in a root. */
export interface ItemReply {
  /** Handle to name it by in later requests; valid as long as the engine runs. */
  item: string;
  kind: "experiment" | "ensemble";
  /** Name of the measured program. */
  title: string;
  /** Where it lies inside the root; empty for the root itself. */
  name: string;
  format: string;
  size_bytes: number;
  /** Kinds of issue met while opening. */
  issues: number;
  error: { message: string; hint: string | null } | null;
}

export interface RootInfo {
  key: string;
  name: string;
  bytes: number;
  files: number;
}

export interface AskOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number }) => void;
}

export interface Protocol {
  open: { request: { root: string }; reply: { items: ItemReply[]; notes: string[] } };
  [name: string]: { request: Json; reply: Json | object };
}

export interface EngineClient {
  readonly kind: "worker" | "http";
  ask(name: string, request: object, options?: AskOptions): Promise<{ reply: unknown; tables: Record<string, Table> }>;
  addFiles(name: string, files: { path: string; file: Blob }[]): Promise<RootInfo>;
  addUrl(name: string, url: string, files?: string[]): Promise<RootInfo>;
  readonly roots: RootInfo[];
  dispose(): void;
}

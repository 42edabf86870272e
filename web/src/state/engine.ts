import type { Table } from "@uwdata/flechette";
import type { EnsembleAsk, Protocol } from "../wire/protocol.ts";

/** A file or folder that the engine can open. */
export interface RootInfo {
  key: string;
  name: string;
  bytes: number;
  files: number;
}

/** How far a request is. */
export interface Progress {
  done: number;
  total: number;
}

export interface AskOptions {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** What the application needs of an engine; the worker and the server both are one. */
export interface EngineClient {
  readonly kind: "worker" | "http";
  ask<K extends keyof Protocol>(
    name: K,
    request: Protocol[K]["request"],
    options?: AskOptions,
  ): Promise<{ reply: Protocol[K]["reply"]; tables: Record<string, Table> }>;
  /** Worker only: makes a root of files; nothing leaves the computer. */
  addFiles(name: string, files: { path: string; file: Blob }[]): Promise<RootInfo>;
  /** Makes a root of something on the web that is read in place. */
  addUrl(name: string, url: string, files?: string[]): Promise<RootInfo>;
  /** What a server offers. */
  readonly roots: RootInfo[];
  dispose(): void;
}

/** How several files become one ensemble when nobody says otherwise: every choice is the engine's default. */
export const DEFAULT_ENSEMBLE: EnsembleAsk = {
  parameters: [],
  metric: null,
  profiles: null,
  over: null,
  detail: null,
  library_frames: false,
  region_time: null,
};

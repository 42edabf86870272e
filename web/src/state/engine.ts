import type { EnsembleAsk, RootReply } from "../wire/protocol.ts";

export { EngineError, type AskOptions, type EngineClient, type Progress } from "../engine-client/client.ts";

/** A file or folder that the engine can open. */
export type RootInfo = RootReply;

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

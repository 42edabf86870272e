import type { RootReply } from "../wire/protocol.ts";

export { EngineError, type AskOptions, type EngineClient, type Progress } from "../engine-client/client.ts";

/** A file or folder that the engine can open. */
export type RootInfo = RootReply;

import type { EngineClient } from "../state/engine.ts";

/** Starts the engine: in a worker of this page, or the server that the page came from. Loaded after the first paint. */
export async function connect(): Promise<EngineClient> {
  const engine = await import("../engine-client/index.ts");
  return engine.connect();
}

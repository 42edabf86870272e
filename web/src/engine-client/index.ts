/** The engine of this page: one interface, whether it runs in a worker or in a server. */
import type { EngineClient } from "./client.ts";
import { embeddedWorker } from "./embedded.ts";
import { HttpClient } from "./http-client.ts";
import { isServed, takeToken } from "./served.ts";
import { WorkerClient } from "./worker-client.ts";

export {
  type Answer,
  type AskOptions,
  type EngineClient,
  EngineError,
  type NamedFile,
  type Progress,
} from "./client.ts";

/** Connects to the server that served this page, or starts an engine in a worker. */
export async function connect(): Promise<EngineClient> {
  if (isServed()) {
    return HttpClient.connect(new URL(".", document.baseURI).href, takeToken());
  }
  const brought = await embeddedWorker();
  return WorkerClient.connect(
    brought ?? (() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "engine" })),
  );
}

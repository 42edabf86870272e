/** The engine of this page: one interface, whether it runs in a worker or in a server. */
import type { EngineClient } from "./client.ts";
import { embeddedWorker } from "./embedded.ts";
import { HttpClient } from "./http-client.ts";
import { WorkerClient } from "./worker-client.ts";

export {
  type Answer,
  type AskOptions,
  type EngineClient,
  EngineError,
  type NamedFile,
  type Progress,
} from "./client.ts";

/** The server writes this element into the page that it serves; its content is unused. */
const SERVED = 'meta[name="parallax-server"]';

/** Where the token is kept when it has been taken out of the address, for reloads of this tab. */
const TOKEN = "parallax-token";

/** Connects to the server that served this page, or starts an engine in a worker. */
export async function connect(): Promise<EngineClient> {
  if (document.querySelector(SERVED) !== null) {
    return HttpClient.connect(new URL(".", document.baseURI).href, token());
  }
  const brought = await embeddedWorker();
  return WorkerClient.connect(
    brought ?? (() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "engine" })),
  );
}

/** The token, out of the address (where it would be copied along with links) or the tab's memory. */
function token(): string {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return sessionStorage.getItem(TOKEN) ?? "";
  sessionStorage.setItem(TOKEN, given);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
  return given;
}

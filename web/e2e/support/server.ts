import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Page } from "@playwright/test";
import { binary } from "./cli.ts";
import { expect } from "./test.ts";

/** A `parallax open` that runs. */
export interface Served {
  readonly url: string;
  readonly token: string;
  /** Takes the page away, and asks the server to end, as a system does that shuts down; it must end well. */
  stop(page: Page): Promise<void>;
}

/** Starts `parallax open` and waits for its address. */
export async function serve(...paths: readonly string[]): Promise<Served> {
  const child = spawn(binary(), ["open", "--json", "--no-browser", ...paths], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const said = createInterface({ input: child.stdout });
  const first = await said[Symbol.asyncIterator]().next();
  said.close();
  if (first.done === true) throw new Error("the server said nothing");
  const { url, token } = JSON.parse(first.value) as { url: string; token: string };
  const stop = async (page: Page): Promise<void> => {
    // What a page still loads in the background fails without its server, and the test with it.
    if (!page.isClosed()) await page.goto("about:blank");
    child.kill("SIGTERM");
    expect(await ended, "exit code and signal of the server").toEqual([0, null]);
  };
  return { url, token, stop };
}

// The same application from `parallax open`, and inside a page that `parallax export` wrote.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { card, seesMaps, seesTree, treeRow, valueOf } from "./support/app.ts";
import { binary } from "./support/cli.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const REACTOR = join(FIXTURES, "reactor");
const RUN = join(REACTOR, "n1024-p8");
const RUNS = ["n256-p1", "n256-p2", "n512-p1", "n512-p2"].map((run) => join(REACTOR, run));

interface Served {
  readonly url: string;
  readonly token: string;
  /** Asks it to end, as a system does that shuts down; it must end well. */
  stop(): Promise<void>;
}

/** Starts `parallax open` and waits for its address. */
async function serve(...paths: readonly string[]): Promise<Served> {
  const child: ChildProcess = spawn(binary(), ["open", "--json", ...paths], { stdio: ["ignore", "pipe", "ignore"] });
  const { stdout } = child;
  if (stdout === null) throw new Error("the server has no output");
  for await (const line of createInterface({ input: stdout })) {
    const { url, token } = JSON.parse(line) as { url: string; token: string };
    const stop = async (): Promise<void> => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended, "exit code and signal of the server").toEqual([0, null]);
    };
    return { url, token, stop };
  }
  throw new Error("the server said nothing");
}

/** Addresses that the page asked for, without those inside it. */
function asked(page: Page): string[] {
  const all: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url())) all.push(request.url());
  });
  return all;
}

test("a server shows the database that it was started with, and keeps its token out of the address", async ({ page }) => {
  const server = await serve(RUN);
  try {
    const addresses = asked(page);
    await page.goto(server.url);
    await seesTree(page);
    expect(page.url()).not.toContain(server.token);
    await page.reload();
    await seesTree(page);
    expect(addresses.filter((address) => !address.startsWith(new URL(server.url).origin))).toEqual([]);
    expect(addresses.filter((address) => address.endsWith(".wasm"))).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("a server that was given several runs shows them as an ensemble", async ({ page }) => {
  const server = await serve(...RUNS);
  try {
    await page.goto(server.url);
    await seesMaps(page);
    await expect(card(page, "0")).toBeVisible();
  } finally {
    // What the page still loads in the background would fail without a server.
    await page.goto("about:blank");
    await server.stop();
  }
});

test("a page without the token gets no answers", async ({ page, complaints }) => {
  complaints.expect(/401/);
  const server = await serve(RUN);
  try {
    await page.goto(new URL("/", server.url).href);
    await expect(page.getByRole("region", { name: "Messages" })).toContainText("open the address with its token");
    const answer = await page.evaluate(async () => (await fetch("api/ask", { method: "POST", body: "{}" })).status);
    expect(answer).toBe(401);
  } finally {
    await server.stop();
  }
});

test("a report opens from a disk, without a network, with the numbers that a server shows", async ({ page, context }, info) => {
  const html = info.outputPath("report.html");
  execFileSync(binary(), ["export", RUN, "--html", html, "--title", "Eight ranks"]);
  const server = await serve(RUN);
  let served: number | null;
  try {
    await page.goto(server.url);
    await seesTree(page);
    served = await valueOf(treeRow(page, "<main thread>").locator("[data-value]").first());
    expect(served).not.toBeNull();
    // What it still loads would fail without a network.
    await page.close();
  } finally {
    await server.stop();
  }
  await context.setOffline(true);
  const report = await context.newPage();
  const addresses = asked(report);
  await report.goto(pathToFileURL(html).href);
  await seesTree(report);
  expect(await valueOf(treeRow(report, "<main thread>").locator("[data-value]").first())).toBe(served);
  await expect(report.getByText("Eight ranks").first()).toBeVisible();
  await report.reload();
  await seesTree(report);
  expect(new Set(addresses.map((address) => address.replace(/#.*/, "")))).toEqual(new Set([pathToFileURL(html).href]));
});

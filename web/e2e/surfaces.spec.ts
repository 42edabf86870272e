// The same application from `parallax open`, and inside a page that `parallax export` wrote.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { card, seesMaps, seesTree, treeRow, valueOf } from "./support/app.ts";
import { binary } from "./support/cli.ts";
import { serve } from "./support/server.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const REACTOR = join(FIXTURES, "reactor");
const RUN = join(REACTOR, "n1024-p8");
const RUNS = ["n256-p1", "n256-p2", "n512-p1", "n512-p2"].map((run) => join(REACTOR, run));

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
    await server.stop(page);
  }
});

test("a server that was given several runs shows them as an ensemble", async ({ page }) => {
  const server = await serve(...RUNS);
  try {
    await page.goto(server.url);
    await seesMaps(page);
    await expect(card(page, "0")).toBeVisible();
  } finally {
    await server.stop(page);
  }
});

test("a page without the token gets no answers", async ({ page, complaints }) => {
  complaints.expect(/401/);
  const server = await serve(RUN);
  try {
    await page.goto(new URL("/", server.url).href);
    await expect(page.getByRole("region", { name: "Messages" })).toContainText("Open the address that");
    const answer = await page.evaluate(async () => (await fetch("api/ask", { method: "POST", body: "{}" })).status);
    expect(answer).toBe(401);
  } finally {
    await server.stop(page);
  }
});

test("a link that was copied from a server opens elsewhere, and says what it lets in", async ({ page, context, browser }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const server = await serve(RUN);
  try {
    await page.goto(server.url);
    await seesTree(page);
    await page.getByRole("banner").getByRole("button", { name: "Copy a link to this view" }).click();
    const said = page.getByRole("region", { name: "Messages" });
    await expect(said).toContainText("Link with the access token copied");
    await expect(said).toContainText("treat it like a password");
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(new URL(link).searchParams.get("token")).toBe(server.token);
    const other = await browser.newContext();
    const colleague = await other.newPage();
    await colleague.goto(link);
    await seesTree(colleague);
    await other.close();
    await said.getByRole("button", { name: "Copy without the token" }).click();
    await expect(said).toContainText("Link without the token copied");
    expect(await page.evaluate(() => navigator.clipboard.readText())).not.toContain(server.token);
  } finally {
    await server.stop(page);
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
  } finally {
    await server.stop(page);
  }
  await page.close();
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

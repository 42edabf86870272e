// What could run in parallel, and the lines it is about, with the numbers of the command line.
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { command, pick, stateInAddress, useClassicPicker } from "./support/app.ts";
import { SMALL } from "./support/calls.ts";
import { ask } from "./support/cli.ts";
import { roundsFolder } from "./support/rounds.ts";
import { expect, test } from "./support/test.ts";

test.describe.configure({ timeout: 180_000 });

async function show(page: Page, view: string, testid: string): Promise<Locator> {
  await command(page, `Show ${view}`);
  const panel = page.getByTestId(testid);
  await expect(panel).toBeVisible();
  return panel;
}

async function isClean(page: Page, testid: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include(`[data-testid=${testid}]`).analyze();
  expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`))).toEqual([]);
}

async function open(page: Page, below: string): Promise<string> {
  const { folder, database } = roundsFolder(below, SMALL);
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open folder", folder);
  await expect(page.getByRole("tab", { name: "Parallelism" })).toBeVisible({ timeout: 60_000 });
  return database;
}

test("loops have the verdicts of the command line, and lead to their lines", async ({ page }, info) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const database = await open(page, info.outputDir);
  const view = await show(page, "Parallelism", "view-advice");
  const loops = ask("advise", database).rows;
  await expect(view.getByTestId("advice-verdict")).toHaveText(loops.map((row) => String(row["verdict"])));
  await expect(view.getByTestId("advice-work_s").first()).toHaveAttribute("data-value", String(loops[0]?.["work_s"]));
  await expect(view.getByTestId("advice-sentence")).toContainText("no number of workers makes the run more than");
  await isClean(page, "view-advice");

  // A loop leads to its source, where signs say what happens on its lines.
  await view.getByTestId("advice-loop").last().click();
  const source = await show(page, "Source", "view-source");
  await expect(source.getByTestId("source-code")).toContainText("private += shared[i] * private;");
  const signs = source.locator(".cm-signs .signs");
  await expect(signs.filter({ hasText: "LRW" }).or(signs.filter({ hasText: /^L$/u })).first()).toBeVisible();
  await expect(signs.filter({ hasText: /RW/u }).first()).toHaveAttribute("title", /reads shared, 108 times/u);
  await isClean(page, "view-source");

  // What rows are is kept.
  const before = page.url();
  await view.getByRole("combobox", { name: "What" }).selectOption("context");
  const contexts = ask("advise", database, "--by", "context").rows;
  await expect(view.getByTestId("advice-parallelism").first()).toHaveAttribute("data-value", String(contexts[0]?.["parallelism"]));
  await stateInAddress(page, before);
  await page.reload();
  await expect(page.getByTestId("view-advice").getByRole("combobox", { name: "What" })).toHaveValue("context", { timeout: 60_000 });
});

test("calls side by side are put on workers", async ({ page }, info) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const database = await open(page, info.outputDir);
  const view = await show(page, "Parallelism", "view-advice");
  await view.getByRole("combobox", { name: "What" }).selectOption("task");
  const tasks = ask("advise", database, "--by", "task").rows;
  if (tasks.length === 0) await expect(view.getByText("Nothing to list")).toBeVisible();
  else await expect(view.getByTestId("gantt")).toHaveAttribute("data-bars", String(2 * tasks.length));
});

// What could run in parallel, and the lines it is about, with the numbers of the command line.
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { pick, showView, stateInAddress, useClassicPicker } from "./support/app.ts";
import { SMALL } from "./support/calls.ts";
import { ask } from "./support/cli.ts";
import { roundsFolder } from "./support/rounds.ts";
import { isClean } from "./support/axe.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

test.describe.configure({ timeout: 180_000 });

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
  const view = await showView(page, "Parallelism", "view-advice");
  const loops = ask("advise", database).rows;
  await expect(view.getByTestId("advice-verdict")).toHaveText(loops.map((row) => String(row["verdict"])));
  await expect(view.getByTestId("advice-work_s").first()).toHaveAttribute("data-value", String(loops[0]?.["work_s"]));
  await expect(view.getByTestId("advice-sentence")).toContainText("the speedup of the run is at most");
  await isClean(page, "view-advice");

  // A loop leads to its source, where signs say what happens on its lines.
  await view.getByTestId("advice-loop").last().click();
  const source = await showView(page, "Source", "view-source");
  await expect(source.getByTestId("source-code")).toContainText("private += shared[i] * private;");
  const signs = source.locator(".cm-signs .signs");
  await expect(signs.filter({ hasText: "LRW" }).or(signs.filter({ hasText: /^L$/u })).first()).toBeVisible();
  await expect(signs.filter({ hasText: /RW/u }).first()).toHaveAttribute("title", /reads shared, 108 times/u);
  await isClean(page, "view-source");

  // What rows are is kept.
  const before = page.url();
  await view.getByRole("combobox", { name: "Analysis" }).selectOption("context");
  const contexts = ask("advise", database, "--by", "context").rows;
  await expect(view.getByTestId("advice-parallelism").first()).toHaveAttribute("data-value", String(contexts[0]?.["parallelism"]));
  await stateInAddress(page, before);
  await page.reload();
  await expect(page.getByTestId("view-advice").getByRole("combobox", { name: "Analysis" })).toHaveValue("context", { timeout: 60_000 });
});

test("calls side by side are put on workers, and the sample brings its source along", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await page.goto("?sample=measured-image");
  await expect(page.getByRole("tab", { name: "Parallelism" })).toBeVisible({ timeout: 60_000 });
  const view = await showView(page, "Parallelism", "view-advice");
  await view.getByRole("combobox", { name: "Analysis" }).selectOption("task");
  const recording = join(FIXTURES, "measured/image.plxm");
  const tasks = ask("advise", recording, "--by", "task").rows;
  // Each task is there twice: in a row, and on its worker.
  expect(tasks.length).toBeGreaterThan(1);
  const plan = view.getByTestId("gantt");
  await expect(plan).toHaveAttribute("data-bars", String(2 * tasks.length));
  await expect(plan).toHaveAttribute("data-rows", "5");
  await expect(view.getByTestId("advice-sentence")).toContainText(`${String(tasks.length)} tasks below`);
  await expect(view.getByTestId("advice-takes_s").first()).toHaveAttribute("data-value", String(tasks[0]?.["takes_s"]));
  await isClean(page, "view-advice");

  // Eight workers are asked for anew; the plan is walked with the keyboard.
  await view.getByRole("combobox", { name: "Workers" }).selectOption("8");
  await expect(plan).toHaveAttribute("data-rows", "9");
  await plan.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(view.locator("[aria-live=polite]").first()).toContainText(/worker \d, from/u);
  const source = await showView(page, "Source", "view-source");
  await expect(source.getByTestId("source-code")).toContainText("PARALLAX_FUNCTION();");

  // What keeps the loop of `smooth` in order is the image that it changes.
  await view.getByRole("combobox", { name: "Analysis" }).selectOption("reference");
  const references = ask("advise", recording, "--by", "reference").rows;
  await expect(view.getByTestId("advice-effect")).toHaveText(references.map((row) => String(row["effect"])));
});

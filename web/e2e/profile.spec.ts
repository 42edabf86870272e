// What people do with the calling context tree of one experiment.
import type { Page } from "@playwright/test";
import { seesTree, treeRow } from "./support/app.ts";
import { expect, test } from "./support/test.ts";

const SHOW_HELPERS = "Helper threads excluded: show";

async function open(page: Page): Promise<void> {
  await page.goto("?url=data/reactor/n1024-p8/");
  await seesTree(page);
}

test("the hot path leads from the main thread into the sine", async ({ page }) => {
  // All rows of the path are in sight.
  await page.setViewportSize({ width: 1280, height: 1440 });
  await open(page);
  await treeRow(page, "<main thread>").click();
  await page.getByTestId("hot-path").click();
  const hot = page.locator(".line.hot [data-testid=context-name]");
  await expect(hot.filter({ hasText: /^main$/ })).toBeVisible();
  expect(await hot.count()).toBeGreaterThan(3);
  await page.getByLabel("Minimum share on the hot path, in percent").fill("99");
  await page.keyboard.press("Tab");
  await treeRow(page, "<main thread>").click();
  await page.getByTestId("hot-path").click();
  await expect.poll(() => hot.count()).toBeLessThan(4);
});

test("helper threads are excluded, said so, and shown on request", async ({ page }) => {
  await open(page);
  const view = page.getByTestId("view-tree");
  const total = async (): Promise<number> => Number(await view.getByTestId("total").getAttribute("data-value"));
  const program = await total();
  await expect(treeRow(page, "<application thread>")).toHaveCount(0);
  const show = view.getByRole("button", { name: SHOW_HELPERS });
  await show.hover();
  await expect(page.getByRole("tooltip")).toContainText("event_base_loop");
  await show.click();
  await expect(treeRow(page, "<application thread>")).toBeVisible();
  await expect(show).toHaveCount(0);
  expect(await total()).toBeGreaterThan(program * 2);
  await view.getByRole("button", { name: "Remove: With helper threads" }).click();
  await expect(treeRow(page, "<application thread>")).toHaveCount(0);
  expect(await total()).toBe(program);
});

test("a search counts, goes to the matches and opens their parents", async ({ page }) => {
  await open(page);
  const view = page.getByTestId("view-tree");
  await expect(view.getByTestId("context-name").filter({ hasText: /MPI_Gather/ })).toHaveCount(0);
  await view.getByTestId("search").fill("mpi_gather");
  await expect(view.getByTestId("search-count")).not.toHaveText("None");
  await view.getByTestId("search").press("Enter");
  await expect(view.getByTestId("context-name").filter({ hasText: /MPI_Gather/ })).not.toHaveCount(0);
  await view.getByTestId("search").fill("no such function");
  await expect(view.getByTestId("search-count")).toHaveText("None");
});

test("a click on a frame zooms, Escape goes out again, and the tip names the frame", async ({ page }) => {
  await open(page);
  await page.getByRole("tab", { name: "Flame graph" }).click();
  // With a second thread beside the main one there is something to come back to.
  await page.getByTestId("view-flame").getByRole("button", { name: SHOW_HELPERS }).click();
  await expect(page.getByTestId("view-flame").getByRole("button", { name: SHOW_HELPERS })).toHaveCount(0);
  const flame = page.getByTestId("flame");
  const box = await flame.boundingBox();
  if (box === null) throw new Error("no flame graph");
  // The right part of the second row is main, below the main thread.
  await page.mouse.move(box.x + box.width * 0.85, box.y + 28);
  await expect(flame.locator("xpath=..").getByRole("tooltip")).toContainText("main");
  await page.mouse.click(box.x + box.width * 0.85, box.y + 28);
  // Zoomed, main fills the width: its left edge is under the pointer now.
  await page.mouse.move(box.x + 20, box.y + 28);
  await expect(flame.locator("xpath=..").getByRole("tooltip")).toContainText("main");
  await flame.press("Escape");
  await flame.press("Escape");
  await page.mouse.move(box.x + 22, box.y + 10);
  await expect(flame.locator("xpath=..").getByRole("tooltip")).toContainText("<application thread>");
});

test("the place in the tree, the sort and the open rows are there after a reload, however soon it comes", async ({ page }) => {
  await open(page);
  const view = page.getByTestId("view-tree");
  await view.getByTestId("search").fill("exchange_halo");
  await view.getByTestId("search").press("Enter");
  await treeRow(page, "exchange_halo").click();
  await view.getByRole("columnheader").nth(2).getByRole("button").click();
  await expect(view.getByRole("columnheader").nth(2)).toHaveAttribute("aria-sort", "descending");
  await expect(page.getByTestId("distribution-context")).toHaveText("exchange_halo");
  await page.reload();
  await seesTree(page);
  await expect(treeRow(page, "exchange_halo")).toBeVisible();
  await expect(view.getByRole("columnheader").nth(2)).toHaveAttribute("aria-sort", "descending");
  await expect(page.getByTestId("distribution-context")).toHaveText("exchange_halo");
});

test("a part of the tree is shown alone, and everything again", async ({ page }) => {
  await open(page);
  await page.getByTestId("view-tree").getByRole("button", { name: SHOW_HELPERS }).click();
  await expect(treeRow(page, "<application thread>")).toBeVisible();
  await treeRow(page, "<main thread>").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Show only this part" }).click();
  await expect(treeRow(page, "<application thread>")).toHaveCount(0);
  // Functions that only the other threads call are gone from the lists too.
  for (const [tab, view] of [["Callers", "view-callers"], ["Flat", "view-flat"]] as const) {
    await page.getByRole("tab", { name: tab }).click();
    const names = page.getByTestId(view).getByTestId("context-name");
    await expect(names.filter({ hasText: "reaction_rate" })).not.toHaveCount(0);
    await expect(names.filter({ hasText: "epoll_wait" })).toHaveCount(0);
    await expect(page.getByTestId(view).getByText("Part of the tree")).toBeVisible();
  }
  await page.getByTestId("view-flat").getByRole("button", { name: "Remove: Part of the tree" }).click();
  await expect(page.getByTestId("view-flat").getByTestId("context-name").filter({ hasText: "epoll_wait" })).not.toHaveCount(0);
  await page.keyboard.press("Control+Z");
  await page.getByRole("tab", { name: "Tree" }).click();
  await page.keyboard.press("Control+Z");
  await expect(treeRow(page, "<application thread>")).toBeVisible();
});

test("the source of a function shows what its lines cost", async ({ page }) => {
  await page.goto("?sample=reactor-run");
  await seesTree(page);
  const view = page.getByTestId("view-tree");
  await view.getByTestId("search").fill("exchange_halo");
  await view.getByTestId("search").press("Enter");
  await treeRow(page, "exchange_halo").click();
  await expect(page.getByTestId("source-code")).toContainText("MPI_Waitall");
});

test("a formula becomes a column", async ({ page }) => {
  await open(page);
  await page.getByTestId("columns").click();
  await page.getByTestId("formula").fill("$REALTIME * 2");
  await page.getByTestId("formula-add").click();
  await page.keyboard.press("Escape");
  const row = treeRow(page, "<main thread>");
  const numbers = await row.locator(".number").evaluateAll((all) => all.map((cell) => Number(cell.getAttribute("data-value"))));
  expect(numbers.length).toBeGreaterThan(2);
  expect(numbers).toContain((numbers[0] ?? 0) * 2);
});

test("panels are moved, closed and brought back", async ({ page }) => {
  await open(page);
  await page.getByRole("tab", { name: "Source" }).click();
  await page.keyboard.press("Alt+W");
  await expect(page.getByRole("tab", { name: "Source" })).toHaveCount(0);
  await page.keyboard.press("Control+Z");
  await expect(page.getByRole("tab", { name: "Source" })).toBeVisible();
});

// Tasks that people do every day, from the start page, with counted clicks and keys: the table in docs/web.md has the counts.
import type { Locator, Page } from "@playwright/test";
import { treeRow } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { Counted } from "./support/counted.ts";
import { DIST, expect, test } from "./support/test.ts";

test.use({ viewport: { width: 1440, height: 900 } });
test.describe.configure({ timeout: 180_000 });

const sample = (page: Page, title: RegExp): Locator => page.getByRole("main").getByRole("button", { name: title });

test("find the slowest rank in a function", async ({ page }) => {
  const by = new Counted(page);
  await by.start();
  await by.click(sample(page, /One run of the reactor on 8 ranks/));
  await by.click(treeRow(page, "react"));
  // Locations are on screen: they follow the focus.
  const locations = page.getByTestId("view-distribution");
  await expect(locations.getByTestId("distribution-context")).toContainText("react");
  const id = await treeRow(page, "react").getByTestId("context-name").getAttribute("data-context");
  const { rows } = ask("distribution", `${DIST}/samples/reactor-run`, "--context", id ?? "");
  const [slowest] = [...rows].sort((a, b) => Number(b["value"]) - Number(a["value"]));
  await expect(locations.getByTestId("statistic-max")).toHaveAttribute("data-value", String(slowest?.["value"]));
  await expect(locations.getByTestId("whose-max")).toHaveText(String(slowest?.["label"]));
  by.expectAsDocumented("Find the slowest rank in a function");
});

test("compare two runs", async ({ page }) => {
  const by = new Counted(page);
  await by.start();
  await by.click(sample(page, /Two versions of the solver/));
  await expect(page.getByTestId("map-card").first()).toBeVisible();
  await by.click(page.getByRole("tab", { name: "Compare" }));
  await expect(page.getByRole("region", { name: "Comparison" }).getByTestId("map-cell").first()).toBeVisible();
  by.expectAsDocumented("Compare two runs");
});

test("send a view to a colleague", async ({ page, context, browserName }) => {
  expect(browserName).toBe("chromium");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const by = new Counted(page);
  await by.start();
  await by.click(sample(page, /One run of the reactor on 8 ranks/));
  const row = page.getByTestId("view-tree").getByTestId("context-name").getByText("react", { exact: true });
  await by.click(row.first());
  await expect(page.getByTestId("distribution-context")).toContainText("react");
  await by.click(page.getByRole("banner").getByRole("button", { name: "Copy a link to this view" }));
  await expect(page.getByRole("region", { name: "Messages" })).toContainText("Link copied");
  by.expectAsDocumented("Send a view to a colleague");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const colleague = await context.newPage();
  await colleague.goto(link);
  await expect(colleague.getByTestId("distribution-context")).toContainText("react");
});

test("find where an ensemble stops scaling", async ({ page }) => {
  const by = new Counted(page);
  await by.start();
  await by.click(sample(page, /A reactor on 1 to 8 ranks/));
  await expect(page.getByTestId("verdict-sentences")).toContainText(/No speedup for input i3: no run is faster than that on 1 core/);
  await expect(page.getByTestId("verdict-loss").first()).toBeVisible();
  by.expectAsDocumented("Find where an ensemble stops scaling");
});

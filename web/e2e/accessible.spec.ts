// What axe finds wrong: nothing, anywhere. Light is checked for everything, dark for contrast, which
// is all that differs.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { regionCheck, seesMaps, seesTree } from "./support/app.ts";
import { expect, test } from "./support/test.ts";

/** Charts have hundreds of cells that are alike; contrast of what is in them is checked in the first one. */
const ALIKE = "li:has([data-testid=map-card]) ~ li, [data-testid=region-thumbnail]";

async function isClean(page: Page, isDark: boolean, where: string, part?: string): Promise<void> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).exclude(ALIKE);
  if (part !== undefined) axe.include(part);
  if (isDark) axe.withRules(["color-contrast"]);
  const { violations } = await axe.analyze();
  const found = violations.flatMap((one) => one.nodes.map((node) => `${where}: ${one.id}: ${one.help}: ${node.target.join(" ")} ${node.failureSummary?.split("\n").slice(1).join(";") ?? ""}`));
  expect(found).toEqual([]);
}

for (const theme of ["light", "dark"] as const) {
  const isDark = theme === "dark";
  test.describe(theme, () => {
    test.use({ colorScheme: theme });
    test.describe.configure({ timeout: 180_000 });

    test("start page, palette and dialogs", async ({ page }) => {
      await page.goto("");
      await expect(page.getByText("A solver on 1 to 16 cores")).toBeVisible();
      await isClean(page, isDark, "start page");
      for (const [keys, where] of [["Control+K", "palette"], ["?", "keys"]] as const) {
        await page.keyboard.press(keys);
        await expect(page.getByRole("dialog")).toBeVisible();
        await isClean(page, isDark, where);
        await page.keyboard.press("Escape");
        await expect(page.getByRole("dialog")).toHaveCount(0);
      }
      await page.getByRole("main").getByRole("button", { name: "Open address" }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
      await isClean(page, isDark, "open address", "dialog");
    });

    test("views of an ensemble", async ({ page }) => {
      await page.goto("?sample=reactor-scaling");
      await seesMaps(page);
      await isClean(page, isDark, "ensemble");
      await regionCheck(page, "0").click();
      for (const tab of ["Numbers", "Information", "Issues"]) {
        await page.getByRole("tab", { name: tab }).click();
        const panel = page.getByRole("tabpanel", { name: tab });
        await expect(panel).toBeVisible();
        await isClean(page, isDark, tab, `#${(await panel.getAttribute("id")) ?? ""}`);
      }
      await page.getByRole("button", { name: "Layout" }).click();
      await isClean(page, isDark, "menu", "[role=menu]");
    });

    test("two versions of a program", async ({ page }) => {
      await page.goto("?sample=pascal-compare");
      await seesMaps(page);
      await page.getByRole("tab", { name: "Compare" }).click();
      const panel = page.getByRole("tabpanel", { name: "Compare" });
      await expect(panel.getByTestId("scaling-compare")).toBeVisible();
      await isClean(page, isDark, "Compare", `#${(await panel.getAttribute("id")) ?? ""}`);
    });

    test("views of an experiment", async ({ page }) => {
      await page.goto("?sample=reactor-run");
      await seesTree(page);
      await expect(page.getByTestId("distribution-context")).toBeVisible();
      await isClean(page, isDark, "experiment");
      for (const tab of ["Callers", "Flat", "Report", "Issues"]) {
        await page.getByRole("tab", { name: tab }).click();
        const panel = page.getByRole("tabpanel", { name: tab });
        await expect(panel).toBeVisible();
        await isClean(page, isDark, tab, `#${(await panel.getAttribute("id")) ?? ""}`);
      }
      await page.getByRole("tab", { name: "Tree" }).click();
      await page.getByTestId("view-tree").getByTestId("filter").click();
      await isClean(page, isDark, "filter", "dialog");
      await page.keyboard.press("Escape");
      await page.getByTestId("view-tree").getByTestId("columns").click();
      await isClean(page, isDark, "columns", "dialog");
    });
  });
}

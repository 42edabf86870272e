// What changed between two runs: the numbers of the command line, as a picture and a table.
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { command, valueOf } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { serve } from "./support/server.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const OLD = join(FIXTURES, "reactor/n512-p4");
const NEW = join(FIXTURES, "reactor/n1024-p4");

test.describe.configure({ timeout: 120_000 });

test("the differences of two runs are those of the command line, and reachable by keyboard", async ({ page }) => {
  const server = await serve(OLD, NEW);
  try {
    await page.setViewportSize({ width: 1280, height: 1000 });
    await page.goto(server.url);
    await page.getByRole("button", { name: /2 experiments/ }).first().click();
    await page.getByText("n1024-p4").first().click();
    await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 45_000 });
    await command(page, "Show Differences");
    const view = page.getByTestId("view-differences");
    await expect(view.getByTestId("difference-sentences")).toContainText("Whole program: slower by");
    const first = (by: string): ReturnType<typeof ask>["rows"][number] => ask("compare", OLD, NEW, "--by", by).rows[0] ?? {};
    const context = first("context");
    await expect(view.getByTestId("changed-name").first()).toHaveText(String(context["name"]));
    expect(await valueOf(view.getByTestId("changed-old").first())).toBe(context["own_old"]);
    expect(await valueOf(view.getByTestId("changed-new").first())).toBe(context["own_new"]);
    expect(await valueOf(view.getByTestId("changed-by").first())).toBe(context["own_difference"]);
    await view.getByText("Relative", { exact: true }).click();
    await view.getByText("Functions", { exact: true }).click();
    const byFunction = first("function");
    await expect.poll(() => valueOf(view.getByTestId("changed-by").first())).toBe(byFunction["own_difference"]);
    await view.getByRole("grid", { name: "Differences" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include("[data-testid=view-differences]").analyze();
    expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}`))).toEqual([]);
  } finally {
    await server.stop(page);
  }
});

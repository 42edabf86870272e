// Stalls of GPU kernels: the numbers of the command line by kernel and line, their reasons, and the line that a row focuses.
import { join } from "node:path";
import { pick, showView, useClassicPicker } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { ask } from "./support/cli.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

test.describe.configure({ timeout: 120_000 });

const STALLS = join(FIXTURES, "gpu-stalls");

test("GPU stalls are those of the command line, and a line has the focus of all views", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open folder", STALLS);
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 60_000 });
  const view = await showView(page, "GPU stalls", "view-gpu-stalls");

  const lines = ask("gpu-stalls", STALLS, "--by", "line").rows;
  expect(lines.map((row) => row["line"])).toEqual([14, 5, 12]);
  const values = (column: string): Promise<number[]> =>
    view.getByTestId(`gpu-stalls-${column}`).evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute("data-value"))));
  await expect.poll(() => values("line")).toEqual(lines.map((row) => row["line"]));
  for (const column of ["cycles_percent", "exposed_percent", "reason_percent", "issue_percent"]) {
    expect(await values(column)).toEqual(lines.map((row) => row[column]));
  }
  // A line is no amount: its cell has no bar, others have.
  const bars = (column: string): Promise<number[]> =>
    view.getByRole("gridcell").filter({ has: page.getByTestId(`gpu-stalls-${column}`) }).locator(".bar").evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
  expect(Math.max(...await bars("line"))).toBe(0);
  expect(Math.max(...await bars("samples"))).toBeGreaterThan(0);
  // What the reasons mean stands with the answer.
  await expect(view.getByTestId("gpu-stalls-sentence")).toContainText("No instruction is issued in 59.0 % of the GPU cycles, 53.0 % for global memory. Most cycles: gather.");
  await expect(view.getByTestId("gpu-stalls-sentence")).toContainText("An access to global or local memory has not completed.");

  // The line that is chosen is shown in the source.
  await view.getByTestId("gpu-stalls-file").first().click();
  const source = await showView(page, "Source", "view-source");
  await expect(source).toContainText("gather.cu");

  await showView(page, "GPU stalls", "view-gpu-stalls");
  await view.getByLabel("Rows").selectOption("kernel");
  await expect(view.getByTestId("gpu-stalls-kernel")).toHaveText(["gather", "scale"]);
  const kernels = ask("gpu-stalls", STALLS).rows;
  expect(await values("kernel_s")).toEqual(kernels.map((row) => row["kernel_s"]));

  await isClean(page, "view-gpu-stalls");
  await page.emulateMedia({ colorScheme: "dark" });
  await isClean(page, "view-gpu-stalls");
});

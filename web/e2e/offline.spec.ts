// The application is a folder of files: once loaded it needs no network.
import { join } from "node:path";
import { pick, seesTree, useClassicPicker } from "./support/app.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

test("without a network it starts again and opens files of this computer", async ({ page, context }) => {
  await useClassicPicker(page);
  await page.goto("");
  await page.evaluate(async () => { await navigator.serviceWorker.ready; });
  await expect.poll(() => page.evaluate(async () => {
    const names = await caches.keys();
    const cached = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).length));
    return cached.reduce((sum, count) => sum + count, 0);
  })).toBeGreaterThan(10);
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("heading", { name: "Find the performance bottlenecks of your program" })).toBeVisible();
  await pick(page, "Open folder", join(FIXTURES, "reactor/hybrid-n1024-p2x2"));
  await seesTree(page);
  await page.getByRole("tab", { name: "Flat" }).click();
  await expect(page.getByTestId("view-flat").getByTestId("context-name").first()).toBeVisible();
});

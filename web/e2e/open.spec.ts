// Everything that can be opened, by every way of opening it.
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { card, cards, drop, ensembleFolder, pick, seesMaps, seesTree, treeRow, useClassicPicker } from "./support/app.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const PASCAL = join(FIXTURES, "pascal/solver-v1.json");
const DATABASE = join(FIXTURES, "reactor/n1024-p8");
const HYBRID = join(FIXTURES, "reactor/hybrid-n1024-p2x2");

test.describe("dropped", () => {
  test.beforeEach(async ({ page }) => { await page.goto(""); });

  test("a PaScal file shows the maps of the program and of its worst region", async ({ page }) => {
    await drop(page, PASCAL);
    await seesMaps(page);
    expect(await cards(page)).toEqual(["0", "1.2.5"]);
    await expect(card(page, "1.2.5")).toContainText("solver.c");
  });

  test("a large PaScal file, read in parts, shows what a small one with the same regions does", async ({ page }, info) => {
    const whole = JSON.parse(readFileSync(PASCAL, "utf8")) as { data: Record<string, { regions: Record<string, unknown[]> }> };
    for (const { regions } of Object.values(whole.data)) {
      for (const [name, entries] of Object.entries(regions)) regions[name] = Array.from({ length: 130 }, () => entries).flat();
    }
    mkdirSync(info.outputPath(), { recursive: true });
    const file = info.outputPath("large.json");
    writeFileSync(file, JSON.stringify(whole));
    expect(statSync(file).size).toBeGreaterThan(24 * 2 ** 20);
    await drop(page, file);
    await seesMaps(page);
    expect(await cards(page)).toEqual(["0", "1.2.5"]);
    await expect(card(page, "1.2.5")).toContainText("solver.c");
  });

  test("two PaScal files become two items", async ({ page }) => {
    await drop(page, PASCAL, join(FIXTURES, "pascal/solver-v2.json"));
    await seesMaps(page);
    await page.getByRole("banner").getByRole("button", { name: /solver-v1/ }).click();
    await expect(page.getByRole("menu").getByText("Ensemble · PaScal")).toHaveCount(2);
  });

  test("a folder of twelve databases becomes one ensemble", async ({ page }, info) => {
    await drop(page, ensembleFolder(info.outputPath()));
    await seesMaps(page);
    await expect(page.getByRole("banner")).toContainText("12 experiments");
  });

  test("the folder of a database shows its tree", async ({ page }) => {
    await drop(page, DATABASE);
    await seesTree(page);
    await expect(page.getByRole("banner")).toContainText("n1024-p8");
  });

  test("a database of ranks with threads shows both", async ({ page }) => {
    await drop(page, HYBRID);
    await seesTree(page);
    await page.getByRole("tab", { name: "Information" }).click();
    await expect(page.getByRole("tabpanel", { name: "Information" })).toContainText(/rank 2\s*thread 4/);
  });

  test("the folder above a database is enough", async ({ page }, info) => {
    const above = info.outputPath("measured");
    mkdirSync(above, { recursive: true });
    cpSync(DATABASE, join(above, "deep/database"), { recursive: true });
    await drop(page, above);
    await seesTree(page);
  });
});

test.describe("picked", () => {
  test.beforeEach(async ({ page }) => {
    await useClassicPicker(page);
    await page.goto("");
  });

  test("a PaScal file", async ({ page }) => {
    await pick(page, "Open files", PASCAL);
    await seesMaps(page);
    expect(await cards(page)).toEqual(["0", "1.2.5"]);
  });

  test("a folder of twelve databases", async ({ page }, info) => {
    await pick(page, "Open folder", ensembleFolder(info.outputPath()));
    await seesMaps(page);
    await expect(page.getByRole("banner")).toContainText("12 experiments");
  });

  test("the folder of a database", async ({ page }) => {
    await pick(page, "Open folder", HYBRID);
    await seesTree(page);
    await expect(treeRow(page, "<main thread>")).toContainText("%");
  });
});

test.describe("by address", () => {
  test("a PaScal file of a web server", async ({ page }) => {
    await page.goto("?url=data/pascal/solver-v1.json");
    await seesMaps(page);
    expect(await cards(page)).toEqual(["0", "1.2.5"]);
  });

  test("a database of a web server is read by ranges", async ({ page }) => {
    const ranges: string[] = [];
    page.on("request", (request) => {
      const range = request.headers()["range"];
      if (range !== undefined) ranges.push(range);
    });
    await page.goto("?url=data/reactor/n1024-p8/");
    await seesTree(page);
    expect(ranges.length).toBeGreaterThan(2);
  });

  test("typed into the window", async ({ page, baseURL }) => {
    await page.goto("");
    await page.getByRole("main").getByRole("button", { name: "Open address" }).click();
    await page.getByLabel("Address of a file").fill(`${baseURL ?? ""}data/reactor/hybrid-n1024-p2x2/`);
    await page.keyboard.press("Enter");
    await seesTree(page);
  });

  for (const [id, sees] of [["reactor-scaling", seesMaps], ["reactor-hybrid", seesTree]] as const) {
    test(`the sample ${id}`, async ({ page }) => {
      await page.goto(`?sample=${id}`);
      await sees(page);
    });
  }

  test("a sample of the start page", async ({ page }) => {
    await page.goto("");
    await page.getByRole("button", { name: /A solver on 1 to 16 cores/ }).click();
    await seesMaps(page);
  });
});

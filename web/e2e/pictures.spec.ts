// Pictures that people take along: as dots and as vectors, which look the same.
import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { drop, pick, showView, useClassicPicker } from "./support/app.ts";
import { SMALL, writeCalls } from "./support/calls.ts";
import { expect, test } from "./support/test.ts";
import { MADE, writeTrace } from "./support/trace.ts";

/** What the download menu of a view gives. */
async function saved(page: Page, view: Locator, ending: "svg" | "png"): Promise<Buffer> {
  const download = page.waitForEvent("download");
  await view.getByRole("button", { name: "Download" }).click();
  await page.getByRole("menuitem").filter({ hasText: `.${ending}` }).first().click();
  return readFileSync(await (await download).path());
}

interface Compared {
  /** Widths of both pictures, in their own pixels. */
  readonly widths: readonly [number, number];
  /** Share of pixels that are clearly of another colour than all pixels around their place in the other picture. */
  readonly different: number;
  /** Colours in the picture, roughly. */
  readonly colours: number;
}

/** Draws both pictures and compares their pixels. */
async function compared(page: Page, svg: Buffer, png: Buffer): Promise<Compared> {
  return page.evaluate(async ([vector, dots]) => {
    const pixels = async (url: string): Promise<{ data: Uint8ClampedArray; width: number }> => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("no canvas");
      context.drawImage(image, 0, 0);
      return { data: context.getImageData(0, 0, canvas.width, canvas.height).data, width: image.width };
    };
    const [a, b] = [await pixels(`data:image/svg+xml;base64,${vector}`), await pixels(`data:image/png;base64,${dots}`)];
    // Letters and edges may be half a pixel beside their place: a pixel is compared with all around it.
    const around = [0, -1, 1].flatMap((y) => [0, -1, 1].map((x) => 4 * (y * b.width + x)));
    const isNear = (at: number, other: number): boolean => [0, 1, 2].reduce((sum, part) => sum + Math.abs((a.data[other + part] ?? 0) - (b.data[at + part] ?? 0)), 0) <= 120;
    let different = 0;
    const colours = new Set<number>();
    for (let at = 0; at < b.data.length; at += 4) {
      if (!around.some((step) => isNear(at, at + step))) different += 1;
      colours.add((((b.data[at] ?? 0) >> 4) << 8) | (((b.data[at + 1] ?? 0) >> 4) << 4) | ((b.data[at + 2] ?? 0) >> 4));
    }
    return { widths: [a.width, b.width] as const, different: different / (b.data.length / 4), colours: colours.size };
  }, [svg.toString("base64"), png.toString("base64")] as const);
}

async function expectAlike(page: Page, view: Locator, text: string): Promise<void> {
  const [svg, png] = [await saved(page, view, "svg"), await saved(page, view, "png")];
  // A picture as text is long: what fails must not print it.
  expect(svg.toString().includes(`>${text}</text>`), `${text} in the picture`).toBe(true);
  const { widths, different, colours } = await compared(page, svg, png);
  expect(widths[0]).toBe(widths[1]);
  expect(colours).toBeGreaterThan(4);
  expect(different).toBeLessThan(0.005);
}

test("call instances: the graph with references, and lanes", async ({ page }, info) => {
  const path = info.outputPath("calls.db");
  writeCalls(path, SMALL);
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open files", path);
  const view = page.getByTestId("view-graph");
  const graph = page.getByTestId("graph");
  await expect(page.locator("[data-node]").first()).toBeAttached({ timeout: 60_000 });
  await graph.focus();
  // It opens with what is below main; what main touches is shown as well.
  await expect.poll(async () => Number(await graph.getAttribute("data-nodes"))).toBeGreaterThan(1);
  await page.keyboard.press("Alt+Enter");
  await expect.poll(async () => Number(await graph.getAttribute("data-references"))).toBeGreaterThan(0);
  await expect(graph).toHaveAttribute("data-moving", "false");
  await expectAlike(page, view, "main");
  const lanes = await showView(page, "Execution", "view-lanes");
  await expect(page.getByTestId("lanes")).not.toHaveAttribute("data-bars", "0");
  await expectAlike(page, lanes, "main");
});

test("a trace: the timeline with its axis and messages, and the flame graph", async ({ page }, info) => {
  const file = info.outputPath("made.json");
  writeTrace(file);
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-rows", String(MADE.ranks));
  await expect(page.getByTestId("timeline-links")).toContainText("messages");
  // Both pictures are of the same moment once all cells and the legend are there.
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-complete", "true");
  await expect(page.getByTestId("timeline-legend")).toContainText("solve");
  await expectAlike(page, page.getByTestId("view-timeline"), "solve");
  const flame = await showView(page, "Flame graph", "view-flame");
  await expect(flame.getByTestId("flame")).not.toHaveAttribute("data-frames", "0");
  await expectAlike(page, flame, "main");
});

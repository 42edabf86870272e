// What a daily user meets that the other files of this kind do not show: hints, warnings, names, colours and sentences.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { contrast } from "../src/base/palettes.ts";
import { command, pick, seesMaps, showView, useClassicPicker } from "./support/app.ts";
import { expect, test } from "./support/test.ts";
import { MADE, openMade, placeOf, solveOf, writeTrace } from "./support/trace.ts";

/** A name as a compiler writes it. */
const LONG = "void Kokkos::Impl::ParallelFor<Solver::apply(Kokkos::View<double*, Kokkos::LayoutRight> const&)::{lambda(int)#1}, Kokkos::RangePolicy<Kokkos::OpenMP>, Kokkos::OpenMP>::execute() const";

/** Folders of TAU profiles of one program with 1, 2 and 4 ranks, most of whose time is in a function with a long name. */
function profiles(below: string): string {
  const folder = join(below, "runs");
  for (const ranks of [1, 2, 4]) {
    const run = join(folder, `p${String(ranks)}`);
    mkdirSync(run, { recursive: true });
    for (let rank = 0; rank < ranks; rank += 1) {
      const micros = 8_000_000 / ranks + 100_000;
      writeFileSync(join(run, `profile.${String(rank)}.0.0`), [
        "2 templated_functions_MULTI_TIME",
        "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>",
        `"main" 1 1 100000 ${String(micros + 100_000)} 0 GROUP="TAU_DEFAULT"`,
        `"${LONG}" 10 0 ${String(micros)} ${String(micros)} 0 GROUP="TAU_USER"`,
        "0 aggregates",
        "",
      ].join("\n"));
    }
  }
  return folder;
}

/** A PaScal file of one input on 1, 2 and 4 cores; the run on one core takes so many seconds. */
function pascalFile(path: string, seconds: number): void {
  let start_time = 100;
  const keys = [1, 2, 4].flatMap((cores) => [1, 2, 3].map((repetition) => {
    start_time += 1000;
    return [`${String(cores)};0;${String(repetition)}`, { start_time, stop_time: start_time + seconds / cores }] as const;
  }));
  const descriptor = { values: ["start_time", "stop_time"], extras: {}, keys: ["cores", "input", "repetitions"] };
  writeFileSync(path, JSON.stringify({ config: { pkg: "./solver", command: "pascalanalyzer ./solver", data_descriptor: descriptor, arguments: ["1000"] }, data: Object.fromEntries(keys) }));
}

async function openFiles(page: Page, button: "Open files" | "Open folder", paths: string | string[]): Promise<void> {
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, button, paths);
}

test("the hint of Source is about the tool that wrote the data", async ({ page }, info) => {
  await openFiles(page, "Open folder", join(profiles(info.outputPath()), "p2"));
  await page.getByTestId("view-tree").getByText("ParallelFor", { exact: false }).first().click();
  const source = await showView(page, "Source", "view-source");
  await expect(source).toContainText(/TAU|folder/);
  await expect(source).not.toContainText("hpcprof");
});

test("verdicts carry the warnings of their data", async ({ page }, info) => {
  const [short, long] = [info.outputPath("short.json"), info.outputPath("long.json")];
  pascalFile(short, 0.008);
  pascalFile(long, 80);
  await openFiles(page, "Open files", [short]);
  await seesMaps(page);
  const verdict = await showView(page, "Verdict", "scaling-verdict");
  await expect(verdict.getByTestId("verdict-warnings")).toContainText("10 ms");
  await openFiles(page, "Open files", [long]);
  await seesMaps(page);
  await expect(await showView(page, "Verdict", "scaling-verdict")).toContainText("cores");
  await expect(page.getByTestId("verdict-warnings")).toHaveCount(0);
});

test("long names of C++ are abbreviated in maps, regions and tips as on the command line", async ({ page }, info) => {
  await openFiles(page, "Open folder", profiles(info.outputPath()));
  await seesMaps(page);
  const titles = await page.getByTestId("map-card").locator("h3").allInnerTexts();
  const named = titles.filter((title) => title.includes("ParallelFor"));
  expect(named.length).toBeGreaterThan(0);
  for (const title of named) {
    expect(title).toContain("ParallelFor::execute");
    expect(title).not.toContain("RangePolicy");
  }
  const regions = await showView(page, "Regions", "scaling-regions");
  await expect(regions).toContainText("ParallelFor::execute");
  await expect(regions).not.toContainText("RangePolicy");
});

test.describe("dark", () => {
  test.use({ colorScheme: "dark" });

  test("an efficiency of 100 % is seen on the dark ground", async ({ page }, info) => {
    const file = info.outputPath("linear.json");
    pascalFile(file, 80);
    await openFiles(page, "Open files", [file]);
    await seesMaps(page);
    const colours = await page.getByTestId("map-efficiency").first().getByTestId("map-cell").evaluateAll((cells) => {
      const card = cells[0]?.closest("[data-testid=map-card]");
      let ground = card ?? null;
      while (ground !== null && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
      const fills = cells.map((cell) => getComputedStyle(cell.matches("rect") ? cell : (cell.querySelector("rect") ?? cell)).fill);
      return { ground: ground === null ? "" : getComputedStyle(ground).backgroundColor, fills };
    });
    const rgb = (css: string): [number, number, number] => {
      const [red, green, blue] = (css.match(/[\d.]+/g) ?? []).map(Number);
      return [red ?? Number.NaN, green ?? Number.NaN, blue ?? Number.NaN];
    };
    expect(colours.fills.length).toBeGreaterThan(0);
    for (const fill of colours.fills) expect(contrast(rgb(fill), rgb(colours.ground)), `${fill} on ${colours.ground}`).toBeGreaterThan(1.9);
  });
});

test("one long iteration leaves the others their colours, and is marked", async ({ page }, info) => {
  await openMade(page, info, (path) => { writeTrace(path, { rounds: 30, longerMicros: (round) => (round === 20 ? 60_000 : (round % 5) * 20) }); });
  const view = await showView(page, "Iterations", "view-iterations");
  await expect(view.getByTestId("iterations-headline")).toContainText("30 iterations");
  const map = view.getByTestId("iterations-map");
  await expect(map).toHaveAttribute("data-outliers", /^[1-9]/);
  const shades = await map.locator("canvas").first().evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    const seen = new Map<string, number>();
    for (let at = 0; at < pixels.length; at += 4) {
      const colour = pixels.subarray(at, at + 3).join(",");
      seen.set(colour, (seen.get(colour) ?? 0) + 1);
    }
    return [...seen.values()].filter((count) => count > 200).length;
  });
  expect(shades).toBeGreaterThan(4);
});

test("a selected call has arrows for its own messages", async ({ page }, info) => {
  const timeline = await openMade(page, info);
  await expect(timeline).toHaveAttribute("data-own-links", "0");
  const sent = solveOf(3) + (MADE.solveMicros / 2 + MADE.sendMicros / 8) * 1000;
  const at = await placeOf(page, timeline, sent, 1);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByTestId("call-details")).toContainText("MPI_Send");
  await expect(timeline).toHaveAttribute("data-own-links", "2");
});

test("rows collapse by process, and open again", async ({ page }, info) => {
  const timeline = await openMade(page, info, (path) => {
    const events = [1, 2, 3].flatMap((pid) => [1, 2, 3, 4].map((tid) => ({ ph: "X", name: "work", pid, tid, ts: 100 * tid, dur: 500 })));
    writeFileSync(path, JSON.stringify({ traceEvents: events }));
  });
  await expect(timeline).toHaveAttribute("data-rows", "12");
  const folded = page.getByTestId("timeline-controls");
  if (await folded.count() > 0) await folded.click();
  await page.getByLabel("Group by").first().selectOption({ index: 1 });
  await expect(timeline).toHaveAttribute("data-rows", "3");
  await page.keyboard.press("Escape");
  await timeline.getByTestId("timeline-labels").getByRole("button").first().click();
  await expect(timeline).toHaveAttribute("data-rows", "7");
});

test("amounts in the report have prefixes, and counts agree with their nouns", async ({ page }) => {
  test.setTimeout(300_000);
  for (const sample of ["reactor-run", "halo-trace", "gpu-trace", "reactor-tau"]) {
    await page.goto(`?sample=${sample}`);
    await expect(page.getByRole("tab").first()).toBeVisible({ timeout: 120_000 });
    const report = await showView(page, "Report", "view-report");
    await expect(report.getByTestId("finding").first()).toBeVisible();
    const texts = [await report.innerText()];
    await command(page, "Show Issues");
    texts.push(await page.getByRole("tabpanel", { name: "Issues" }).innerText());
    texts.push(await (await showView(page, "Information", "view-information")).innerText());
    for (const text of texts) {
      // Nobody counts the zeros of 0.0000298 s, nor the digits of 29800000 ns.
      expect(text, sample).not.toMatch(/\b0\.000\d+ s\b|\b\d{5,} (ns|µs|ms|s|B)\b/);
      expect(text, sample).not.toMatch(/\b1 (locations|ranks|threads|iterations|calls|issues|warnings|values|runs|tracks|messages|samples|metrics|functions)\b/);
    }
  }
});

// `cargo xtask bench --against COMMIT web`: the pages of two commits in one Chromium, in turn.
import { test, type Browser } from "@playwright/test";
import { serveFolder, type StaticServer } from "../e2e/support/static-server.ts";
import { begin, data, DIST, firstPaint, hoverOver, machine, mega, millis, openFolder, openPascal, OTHER_DIST, quantile, tableText, timelineOf, zoomFrames } from "./measure.ts";
import { browserProcess } from "./memory.ts";

/** How often each side is measured; a quarter of this is left out on either side of the middle half. */
const ROUNDS = Number(process.env["PARALLAX_BENCH_ROUNDS"] ?? 8);

/** What was measured of one side, once. */
type Sample = Readonly<Record<string, number>>;

const MEASUREMENTS: Readonly<Record<string, (browser: Browser, site: StaticServer) => Promise<Sample>>> = {
  empty: async (browser, site) => ({ "first paint, nothing cached": await firstPaint(browser, site) }),
  pascal: async (browser, site) => {
    const { notes, growth } = await openPascal(browser, site, browserProcess(), data("PASCAL"));
    return {
      "PaScal: all maps computed": (notes.answered["scaling"] ?? Number.NaN) - notes.picked,
      "PaScal: maps on the screen": (notes.drawn["maps"] ?? Number.NaN) - notes.picked,
      "PaScal: memory": growth,
    };
  },
  large: async (browser, site) => {
    const { notes, growth } = await openFolder(browser, site, browserProcess(), data("LARGE"));
    return {
      "database: opened": (notes.answered["open"] ?? Number.NaN) - notes.picked,
      "database: tree on the screen": (notes.drawn["tree"] ?? Number.NaN) - notes.picked,
      "database: memory": growth,
    };
  },
  hover: async (browser, site) => {
    const page = await begin(browser, site);
    await page.locator('[data-pick="folder"]').setInputFiles(data("WIDE"));
    await page.getByTestId("flame").waitFor();
    await page.waitForTimeout(4000);
    const [flame, tree] = [await hoverOver(page, '[data-testid="flame"]'), await hoverOver(page, '[data-testid="cost-table"]')];
    await page.context().close();
    return { "hover on a flame graph, 95 %": quantile(flame, 0.95), "hover on a tree, 95 %": quantile(tree, 0.95) };
  },
  timeline: async (browser, site) => {
    const page = await begin(browser, site);
    await page.locator('[data-pick="folder"]').setInputFiles(process.env["PARALLAX_BENCH_TRACE"] ?? data("LARGE"));
    const picture = await timelineOf(page);
    await page.waitForTimeout(3000);
    const frames = await zoomFrames(picture);
    await page.context().close();
    return { "timeline: frame while zooming": quantile(frames, 0.5), "timeline: 95 % of frames": quantile(frames, 0.95) };
  },
};

test("the pages of two commits in one browser", async ({ browser }) => {
  test.skip(OTHER_DIST === undefined, "one build is measured");
  if (OTHER_DIST === undefined) return;
  const only = process.env["PARALLAX_BENCH_ONLY"];
  const sites = [await serveFolder(OTHER_DIST), await serveFolder(DIST)] as const;
  const found = new Map<string, [old: number[], now: number[]]>();
  test.setTimeout(0);
  try {
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (only !== undefined && only !== name) continue;
      for (let round = 0; round < ROUNDS; round += 1) {
        // Each side is first in every other round.
        for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          for (const [what, value] of Object.entries(await measure(browser, sites[side]))) {
            const both = found.get(what) ?? [[], []];
            both[side].push(value);
            found.set(what, both);
          }
        }
      }
    }
  } finally {
    // What was measured before something failed took as long, and is as true.
    const rows = [...found].map(([what, [old, now]]) => [what, middle(what, old), middle(what, now), (quantile(now, 0.5) / quantile(old, 0.5)).toFixed(2), verdict(old, now)]);
    console.log(`\n${machine(browser.version())}; median and middle half of ${String(ROUNDS)} in turn\n\n${tableText(["what", "then", "now", "ratio", ""], rows)}\n`);
    for (const site of sites) await site.close();
  }
});

function middle(what: string, values: readonly number[]): string {
  const text = what.endsWith("memory") ? mega : millis;
  return `${text(quantile(values, 0.5))} (${text(quantile(values, 0.25))} to ${text(quantile(values, 0.75))})`;
}

/** Only where the middle halves do not overlap is one side said to be better. */
function verdict(old: readonly number[], now: readonly number[]): string {
  if (quantile(now, 0.25) > quantile(old, 0.75)) return "MORE";
  return quantile(now, 0.75) < quantile(old, 0.25) ? "less" : "within noise";
}

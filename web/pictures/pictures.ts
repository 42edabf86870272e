// `npm run pictures`: every view of data of each kind, at two sizes and in both themes, to be looked at.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { drop, openPalette } from "../e2e/support/app.ts";
import { expect, REPOSITORY, test } from "../e2e/support/test.ts";

const CORPUS = process.env["PARALLAX_CORPUS"] ?? join(REPOSITORY, "../shared");
const INTO = process.env["PARALLAX_PICTURES"] ?? join(REPOSITORY, "target/pictures");
/** Only views whose titles contain this, and only of this data. */
const ONLY = process.env["PARALLAX_PICTURES_ONLY"] ?? "";
const OF = process.env["PARALLAX_PICTURES_OF"];
/** Each size in one theme, for a quick look at everything. */
const IS_QUICK = process.env["PARALLAX_PICTURES_QUICK"] !== undefined;

const SIZES = [[1440, 900], [1000, 700]] as const;
const THEMES = ["light", "dark"] as const;

/** What is dropped on the start page, below the corpus or, with "fixtures" in front, the repository. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  "gpu-trace": ["data/chrome/hta/control.json.gz"],
  "mpi-trace": ["data/reactor/otf2-p4"],
  "samples": ["data/reactor/hpctoolkit/n512-p4"],
  "amg-64": ["data/hpctoolkit/measured/large-amg-64x1"],
  "gpu-profile": ["data/hpctoolkit/upstream/loops-cuda-nvidiapc-t.d"],
  "tau-flat": ["data/tau/ppk/LoadImbalance-16.ppk"],
  "ensemble": ["data/hpctoolkit/measured/strong-amg"],
  "parceive": ["data/parceive/processed/nested_tests_with_calls.db"],
  "training": ["data/chrome/critical_path_alexnet_benchmark_result_2869224_1695835535_trace.json.gz"],
  "tau-callpaths": ["data/tau/lulesh-8x2-ebs"],
  "tau-trace": ["data/reactor/tau-trace-p4"],
  "caliper": ["data/caliper/mpi_scaling_cali/64_cores.cali"],
  "callgrind": ["fixtures/callgrind"],
  "gpu-stalls": ["fixtures/gpu-stalls"],
  "recording": ["fixtures/measured"],
  "pascal": ["data/pascal/swaptions/swaptions-openmp.json"],
  "nsight": ["data/other/cloverleaf-nsys/perlmutter-cloverleaf-cuda.sqlite"],
  "two-traces": ["data/chrome/hta/sampled_rank-0.json.gz", "data/chrome/hta/sampled_rank-1.json.gz"],
};

for (const [name, paths] of Object.entries(SETS).filter(([name]) => OF === undefined || OF.split(",").includes(name))) {
  test(`pictures of ${name}`, async ({ page }) => {
    const from = paths.map((path) => join(path.startsWith("fixtures/") ? REPOSITORY : CORPUS, path));
    const absent = from.find((path) => !existsSync(path));
    test.skip(absent !== undefined, `no ${absent ?? ""}`);
    const folder = join(INTO, name);
    mkdirSync(folder, { recursive: true });
    await page.goto("");
    await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
    await drop(page, ...from);
    await expect(page.getByRole("tab").first()).toBeVisible({ timeout: 300_000 });
    const settled = async (): Promise<void> => {
      await expect(page.locator("[role=status]").filter({ hasText: /^(Asking|Reading|Looking|Opening)/ })).toHaveCount(0, { timeout: 120_000 });
      await page.waitForTimeout(400);
    };
    const take = async (view: string): Promise<void> => {
      for (const [nth, [width, height]] of SIZES.entries()) {
        await page.setViewportSize({ width, height });
        for (const colorScheme of THEMES.filter((_, theme) => !IS_QUICK || theme === nth)) {
          await page.emulateMedia({ colorScheme });
          await settled();
          await page.screenshot({ path: join(folder, `${view}-${String(width)}-${colorScheme}.png`) });
        }
      }
    };
    await take("0-opened");
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await (await openPalette(page)).fill("Show ");
    await expect(options.first()).toBeVisible();
    const titles = (await options.allInnerTexts()).flatMap((text) => /^\s*Show ([^\n]+)/.exec(text)?.[1]?.trim() ?? []).filter((title) => title !== "keyboard shortcuts");
    await page.keyboard.press("Escape");
    console.log(`${name}: ${titles.join(", ")}`);
    for (const title of titles.filter((one) => one.toLowerCase().includes(ONLY.toLowerCase()))) {
      await (await openPalette(page)).fill(`Show ${title}`);
      await options.filter({ hasText: `Show ${title}` }).first().click();
      await take(title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"));
    }
  });
}

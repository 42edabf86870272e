import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "@playwright/test";

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromium = process.env["PARALLAX_CHROMIUM"] ?? KNOWN.find((path) => existsSync(path));

/** Quiet: nothing but the page uses the network, and nothing is drawn differently on another machine. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
];

export default defineConfig({
  testDir: "e2e",
  outputDir: "../target/e2e",
  snapshotPathTemplate: "{testDir}/screens/{arg}{ext}",
  fullyParallel: true,
  workers: 2,
  // A test that fails now and then shows a race, of the page or of the test. It is run again and listed
  // as flaky: it has to be mended, but says nothing about the change that is being tested.
  retries: 1,
  timeout: 180_000,
  forbidOnly: true,
  reporter: [["list"]],
  expect: {
    // A machine with two busy cores takes ten times as long as a quiet one; who waits for what is seen loses nothing.
    timeout: 45_000,
    // A thousandth: with a hundredth a whole card of the start page was missing from its picture, and tabs.
    toHaveScreenshot: { maxDiffPixelRatio: 0.001, animations: "disabled", caret: "hide", scale: "css" },
  },
  use: {
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "UTC",
    colorScheme: "light",
    reducedMotion: "reduce",
    trace: "off",
    launchOptions: {
      ...(chromium === undefined ? {} : { executablePath: chromium }),
      args: ARGS,
      env: { ...definedEnvironment(), FONTCONFIG_FILE: fileURLToPath(new URL("e2e/fonts.conf", import.meta.url)) },
    },
  },
});

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

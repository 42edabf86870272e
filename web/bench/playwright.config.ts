import { defineConfig } from "@playwright/test";
import tests from "../playwright.config.ts";

// The browser of the tests, but one at a time, on its own, and with smooth motion as people have it.
export default defineConfig({
  ...tests,
  testDir: ".",
  testMatch: "*.bench.ts",
  outputDir: "../../target/web-bench",
  fullyParallel: false,
  workers: 1,
  timeout: 600_000,
  reporter: [["line"]],
});

import { defineConfig } from "@playwright/test";
import tests from "../playwright.config.ts";

// Pictures to be looked at: the browser of the tests, and no part of their run.
export default defineConfig({
  ...tests,
  testDir: ".",
  testMatch: "pictures.ts",
  outputDir: "../../target/pictures-run",
  timeout: 1_800_000,
});

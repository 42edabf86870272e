import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import { offline } from "./build/offline.ts";
import { engineFromPage, single } from "./build/single.ts";
import { stamp } from "./build/stamp.ts";

const DOCK_STYLES = "virtual:dock-styles.css";

/** The dock's layout rules without its themes: the package ships them only inside its script for pages without a bundler. */
function dockStyles(): Plugin {
  return {
    name: "parallax-dock-styles",
    resolveId: (id) => (id === DOCK_STYLES ? `\0${DOCK_STYLES}` : undefined),
    load(id) {
      if (id !== `\0${DOCK_STYLES}`) return undefined;
      const file = createRequire(import.meta.url).resolve("dockview-core/dist/dockview-core.js");
      const line = readFileSync(file, "utf8").split("\n").find((text) => text.includes("s.textContent = \""));
      const literal = line?.slice(line.indexOf("\""), line.lastIndexOf("\"") + 1);
      if (literal === undefined) throw new Error("dockview-core.js has no styles; look where its new version keeps them");
      const css = JSON.parse(literal) as string;
      // Themes are flat rules; ours is in src/app/dock.css.
      return css.replace(/[^{}]*\.dockview-theme-[^{}]*\{[^{}]*\}/g, "");
    },
  };
}

const ENGINE = fileURLToPath(new URL("./src/engine-client/pkg/parallax_wasm.js", import.meta.url));

/** Lets the application be built and looked at before the engine is: opening something then says how to build it. */
function engineOrNone(): Plugin {
  return {
    name: "parallax-engine-or-none",
    enforce: "pre",
    resolveId: (id) => (/\/pkg\/parallax_wasm(_bg)?\.(js|wasm)/.test(id) && !existsSync(ENGINE) ? "\0no-engine" : undefined),
    load: (id) =>
      id === "\0no-engine"
        ? `export class Engine {}
           export default () => Promise.reject(JSON.stringify({ kind: "open", message: "this build has no engine", hint: "build it with cargo xtask web" }));`
        : undefined,
  };
}

/** `--mode single` makes the one page of reports. */
export default defineConfig(({ mode }) => ({
  base: "./",
  plugins: [engineOrNone(), svelte(), dockStyles(), mode === "single" ? single() : offline(), stamp()],
  worker: { format: mode === "single" ? "iife" : "es", plugins: () => (mode === "single" ? [engineFromPage(), engineOrNone()] : [engineOrNone()]) },
  build: {
    target: ["es2023", "chrome125", "firefox128", "safari17.5"],
    chunkSizeWarningLimit: 800,
  },
  test: {
    environment: "jsdom",
    restoreMocks: true,
    include: ["tests/**/*.test.ts", "src/**/*.test.ts"],
  },
  // Without it Svelte resolves to its server build under vitest and nothing can be mounted.
  resolve: process.env["VITEST"] === undefined ? {} : { conditions: ["browser"] },
}) as UserConfig);

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

/** Leaves a file that tells Cargo that there is a new build to embed; see `crates/server/build.rs`. */
export function stamp(): Plugin {
  return {
    name: "parallax-stamp",
    apply: "build",
    writeBundle() {
      writeFileSync(fileURLToPath(new URL("./built", import.meta.url)), `${new Date().toISOString()}\n`);
    },
  };
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

/** Writes `sw.js` from its template: the list of built files, and a version that changes when any of them does. */
export function offline(): Plugin {
  let publicFolder = "";
  return {
    name: "parallax-offline",
    apply: "build",
    configResolved(config) {
      publicFolder = config.publicDir;
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const files = Object.keys(bundle).filter((name) => name !== "sw.js" && !name.endsWith(".map")).sort();
        // Icon and manifest are copied next to the bundle; the folder of samples is data.
        const copied = readdirSync(publicFolder, { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name).sort();
        const hash = createHash("sha256");
        for (const name of copied) hash.update(name).update(readFileSync(join(publicFolder, name)));
        for (const name of files) {
          const part = bundle[name];
          if (part === undefined) continue;
          hash.update(name).update(part.type === "chunk" ? part.code : part.source);
        }
        const template = readFileSync(fileURLToPath(new URL("./sw.template.js", import.meta.url)), "utf8");
        const source = template
          .replace("__VERSION__", JSON.stringify(hash.digest("hex").slice(0, 16)))
          .replace("__FILES__", JSON.stringify([...files, ...copied]));
        this.emitFile({ type: "asset", fileName: "sw.js", source });
      },
    },
  };
}

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const WASM = fileURLToPath(new URL("../src/engine-client/pkg/parallax_wasm_bg.wasm", import.meta.url));
const ICON = fileURLToPath(new URL("../public/icon.svg", import.meta.url));

/** Where `parallax export` puts data; it looks for the last one. */
const DATA = "<!--parallax-data-->";

/** In the worker of such a page the engine has no address: who starts the worker writes it before the script. */
const ENGINE = `
const letters = atob(self.parallaxEngine);
delete self.parallaxEngine;
const bytes = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]);
export default new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
`;

export function engineFromPage(): Plugin {
  return {
    name: "parallax-engine-from-page",
    enforce: "pre",
    resolveId: (id) => (id.endsWith("/pkg/parallax_wasm_bg.wasm?url") ? "\0engine-from-page" : undefined),
    load: (id) => (id === "\0engine-from-page" ? ENGINE : undefined),
  };
}

/** One page with everything in it, for reports: scripts, styles, worker and engine; `dist-single/index.html`. */
export function single(): Plugin {
  return {
    name: "parallax-single",
    apply: "build",
    config: () => ({
      publicDir: false,
      build: {
        outDir: "dist-single",
        cssCodeSplit: false,
        modulePreload: false,
        assetsInlineLimit: (path: string) => !path.endsWith(".wasm"),
        rolldownOptions: { output: { codeSplitting: false } },
      },
    }),
    transformIndexHtml: {
      order: "pre",
      handler: (html) =>
        html
          .replace(/\s*<link rel="manifest"[^>]*>/, "")
          .replace(/href="\.\/icon\.svg"/, () => `href="data:image/svg+xml;base64,${readFileSync(ICON).toString("base64")}"`),
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const page = bundle["index.html"];
        if (page?.type !== "asset") throw new Error("the build has no index.html");
        let html = text(page.source);
        const inlined: string[] = [];
        let scripts = "";
        html = html.replace(/\s*<script type="module"[^>]*src="\.\/([^"]+)"[^>]*><\/script>/g, (_tag, name: string) => {
          const chunk = bundle[name];
          if (chunk?.type !== "chunk") throw new Error(`the page asks for ${name}, which is no script`);
          inlined.push(name);
          scripts += `<script type="module">${forScript(chunk.code)}</script>\n`;
          return "";
        });
        html = html.replace(/<link rel="stylesheet"[^>]*href="\.\/([^"]+)"[^>]*>/g, (_tag, name: string) => {
          const asset = bundle[name];
          if (asset?.type !== "asset") throw new Error(`the page asks for ${name}, which is no style`);
          inlined.push(name);
          return `<style>${text(asset.source)}</style>`;
        });
        const worker = Object.values(bundle).find((one) => /(^|\/)worker-[^/]*\.js$/.test(one.fileName));
        if (worker === undefined) throw new Error("the build has no worker");
        inlined.push(worker.fileName);
        const brought = [
          packed("application/x-parallax-worker", worker.type === "chunk" ? worker.code : worker.source),
          packed("application/x-parallax-engine", readFileSync(WASM)),
          scripts.trim(),
          DATA,
        ];
        for (const name of Object.keys(bundle)) {
          if (name === "index.html") continue;
          if (!inlined.includes(name) && !name.endsWith(".wasm")) throw new Error(`${name} would be a second file`);
          delete bundle[name];
        }
        page.source = html.replace("</body>", () => `${brought.join("\n")}\n</body>`);
      },
    },
  };
}

function text(source: string | Uint8Array): string {
  return typeof source === "string" ? source : Buffer.from(source).toString("utf8");
}

function packed(type: string, source: string | Uint8Array): string {
  return `<script type="${type}">${gzipSync(source, { level: 9 }).toString("base64")}</script>`;
}

/** Code as HTML can carry it: what would end a script, or begin a comment in one, is written otherwise. */
function forScript(code: string): string {
  return code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "\\x3C!--");
}

// What the compiler does not see: promises that nobody waits for, forgotten cases, loose equality.
// Few rules, each of which names a defect; how code looks is not their business.
import { existsSync } from "node:fs";
import { defineConfig } from "eslint/config";
import svelte from "eslint-plugin-svelte";
import svelteParser from "svelte-eslint-parser";
import typescript from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const TYPES_NOT_KNOWN = {
  "@typescript-eslint/no-unsafe-argument": "off",
  "@typescript-eslint/no-unsafe-assignment": "off",
  "@typescript-eslint/no-unsafe-call": "off",
  "@typescript-eslint/no-unsafe-member-access": "off",
  "@typescript-eslint/no-unsafe-return": "off",
};

// The types of the engine come from its build, which a fresh clone does not have yet.
const hasEngine = existsSync(new URL("src/engine-client/pkg/parallax_wasm.d.ts", import.meta.url));

export default defineConfig(
  { ignores: ["dist", "dist-single", "public", "src/engine-client/pkg", "src/wire/protocol.ts", "build/sw.template.js"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts", "**/*.svelte"],
    plugins: { "@typescript-eslint": typescript.plugin, svelte },
    languageOptions: {
      parser: typescript.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname, extraFileExtensions: [".svelte"] },
    },
    rules: {
      "array-callback-return": "error",
      "eqeqeq": ["error", "always", { null: "ignore" }],
      "no-constructor-return": "error",
      "no-duplicate-imports": ["error", { allowSeparateTypeImports: true }],
      "no-promise-executor-return": "error",
      // Statistics are the engine's: a mean that a view computes itself differs from that of the command line.
      "no-restricted-imports": ["error", { paths: [{ name: "d3-array", allowImportNames: ["ticks"], message: "Views analyse nothing: ask the engine." }] }],
      "no-self-compare": "error",
      "no-unreachable-loop": "error",
      "no-var": "error",
      "prefer-const": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-confusing-void-expression": "error",
      "@typescript-eslint/no-deprecated": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-for-in-array": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-unsafe-argument": "error",
      "@typescript-eslint/no-unsafe-assignment": "error",
      "@typescript-eslint/no-unsafe-call": "error",
      "@typescript-eslint/no-unsafe-member-access": "error",
      "@typescript-eslint/no-unsafe-return": "error",
      "@typescript-eslint/no-unused-expressions": "error",
      // A name that begins with "_" is there for its place, or to keep it out of the rest.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/prefer-promise-reject-errors": "error",
      "@typescript-eslint/require-array-sort-compare": "error",
      "@typescript-eslint/restrict-plus-operands": "error",
      "@typescript-eslint/restrict-template-expressions": "error",
      "@typescript-eslint/return-await": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  ...(hasEngine ? [] : [{ files: ["src/engine-client/*.ts"], rules: TYPES_NOT_KNOWN }]),
  {
    files: ["**/*.svelte"],
    languageOptions: {
      parser: svelteParser,
      parserOptions: { parser: typescript.parser, svelteConfig },
    },
    rules: {
      // Types of other components are unknown here, so that what comes from them would all be unsafe; svelte-check knows them.
      ...TYPES_NOT_KNOWN,
      "prefer-const": "off",
      "svelte/prefer-const": ["error", { destructuring: "all" }],
      "svelte/infinite-reactive-loop": "error",
      "svelte/no-at-debug-tags": "error",
      "svelte/no-at-html-tags": "error",
      "svelte/no-dupe-style-properties": "error",
      "svelte/no-dupe-else-if-blocks": "error",
      "svelte/no-not-function-handler": "error",
      "svelte/no-object-in-text-mustaches": "error",
      "svelte/no-reactive-reassign": "error",
      "svelte/no-unused-props": "error",
      "svelte/require-each-key": "error",
      "svelte/valid-each-key": "error",
    },
  },
);

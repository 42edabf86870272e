import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { REPOSITORY } from "./test.ts";

/** A table as the command line writes it as JSON. */
export interface CliTable {
  readonly columns: readonly { readonly name: string; readonly unit: string }[];
  readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
}

const BINARY = process.env["PARALLAX_BINARY"] ?? `${REPOSITORY}target/debug/parallax`;

/** The command line tool, as the tests of the workspace built it. */
export function binary(): string {
  if (!existsSync(BINARY)) {
    execFileSync("cargo", ["build", "--quiet", "--locked", "--package", "parallax-cli"], { cwd: REPOSITORY, stdio: "inherit" });
  }
  return BINARY;
}

/** What the command line answers to the same question. */
export function ask(...words: readonly string[]): CliTable {
  const { status, stdout, stderr } = spawnSync(binary(), [...words, "--json", "--all", "--quiet"], { encoding: "utf8", maxBuffer: 64 << 20 });
  if (status !== 0) throw new Error(`parallax ${words.join(" ")} ended with ${String(status)}: ${stderr}`);
  const { columns, rows } = JSON.parse(stdout) as { columns: CliTable["columns"]; rows: (string | number | boolean | null)[][] };
  return { columns, rows: rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at] ?? null]))) };
}

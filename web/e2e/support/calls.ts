import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { REPOSITORY } from "./test.ts";

/** How large a program is whose every call is recorded; `crates/testkit/src/parceive.rs` has what it does. */
export interface CallsProgram {
  readonly threads: number;
  readonly rounds: number;
  readonly depth: number;
  readonly inner: number;
  readonly accesses: number;
}

/** What such a recording holds. */
export interface CallsCounts {
  readonly calls: number;
  readonly executions: number;
  readonly iterations: number;
  readonly references: number;
  readonly reads: number;
  readonly writes: number;
}

/** Three threads, each with four rounds of a recursion five calls deep, and nested loops in the deepest one. */
export const SMALL: CallsProgram = { threads: 3, rounds: 4, depth: 5, inner: 3, accesses: 4 };

const WRITER = `${REPOSITORY}target/debug/examples/parceive_database`;

/** Writes a database of Parceive, as the tests of the workspace built the writer. */
export function writeCalls(path: string, program: CallsProgram): CallsCounts {
  if (!existsSync(WRITER)) {
    execFileSync("cargo", ["build", "--quiet", "--locked", "--package", "parallax-testkit", "--example", "parceive_database"], { cwd: REPOSITORY, stdio: "inherit" });
  }
  const { threads, rounds, depth, inner, accesses } = program;
  return JSON.parse(execFileSync(WRITER, [path, ...[threads, rounds, depth, inner, accesses].map(String)], { encoding: "utf8" })) as CallsCounts;
}

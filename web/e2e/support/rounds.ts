import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeCalls, type CallsCounts, type CallsProgram } from "./calls.ts";

/** What the program of `writeCalls` looks like: its definitions, loops and accesses are on the lines that the recording names. */
const ROUNDS = `// Recursion, nested loops, threads, and shared and private variables.
#include "rounds.h"
static double *shared;

int main(int argc, char **argv) {
  shared = calloc(512, sizeof(double));
  void worker(void);
  start_threads(worker);

  for (int round = 0; round < ROUNDS; round++) {
    shared[0] = round;
    descend(DEPTH);
  }
}
void descend(int depth) {
  if (depth > 0) descend(depth - 1);
  double private = 0;
  if (depth > 0) return;

  for (int i = 0; i < INNER; i++)
    for (int j = 0; j < INNER; j++)
      private += shared[i] * private;
}
`;

/** Writes a folder with a recording and the source that it is of. */
export function roundsFolder(below: string, program: CallsProgram): { readonly folder: string; readonly database: string; readonly counts: CallsCounts } {
  const folder = join(below, "rounds");
  mkdirSync(folder, { recursive: true });
  const database = join(folder, "rounds.db");
  writeFileSync(join(folder, "rounds.c"), ROUNDS);
  return { folder, database, counts: writeCalls(database, program) };
}

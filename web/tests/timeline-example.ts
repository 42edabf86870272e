import { tableFromArrays, tableFromIPC, tableToIPC, type Table } from "@uwdata/flechette";
import { timelineCatalog, type TimelineCatalog } from "../src/view-kit/catalog.ts";

/** A table as it arrives: written and read again. */
export function arrived(columns: Record<string, ArrayLike<unknown>>): Table {
  const bytes = tableToIPC(tableFromArrays(columns as Parameters<typeof tableFromArrays>[0]), {});
  if (bytes === null) throw new Error("no bytes");
  return tableFromIPC(bytes);
}

/**
 * Four tracks on two nodes:
 *
 *     main
 *       solve
 *         MPI_Send
 *       write
 */
export function exampleCatalog(): TimelineCatalog {
  return timelineCatalog(
    { has_calls: true, origin_ns: "1000", span_ns: 1_000_000, sends: 2, receives: 2, counters: [], program_tracks: null, helpers: null, notes: [], components: [] },
    {
      tracks: arrived({ location: Uint32Array.of(0, 1, 2, 3), label: ["rank 0", "rank 1", "rank 2", "rank 3"], calls: Float64Array.of(10, 10, 10, 10), node: Float64Array.of(0, 0, 1, 1), rank: Float64Array.of(0, 1, 2, 3) }),
      functions: arrived({ name: ["main", "solve", "MPI_Send", "write"], group: Uint32Array.of(0, 0, 1, 0), exclusive_ns: Float64Array.of(10, 500, 300, 20), calls: Float64Array.of(4, 40, 40, 4) }),
      groups: arrived({ name: ["TAU_USER", "MPI"], exclusive_ns: Float64Array.of(530, 300), calls: Float64Array.of(48, 40) }),
      contexts: arrived({ context_id: Uint32Array.of(0, 7, 8, 9, 5), parent: Uint32Array.of(0xffff_ffff, 0, 1, 2, 1), function: Uint32Array.of(0xffff_ffff, 0, 1, 2, 3), depth: Uint32Array.of(0, 1, 2, 3, 2) }),
    },
  );
}

import type { Table } from "@uwdata/flechette";
import type { PairSum } from "../../widgets/trace/matrix.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";

/** A row of the table by pair. */
export interface PairRow extends PairSum {
  readonly senderName: string;
  readonly receiverName: string;
  /** Received before they were sent. */
  readonly backwards: number;
}

/** A row of the table by size: messages of `from` bytes up to twice that. */
export interface SizeRow {
  readonly from: number;
  readonly messages: number;
  readonly bytes: number;
}

/** The rows of `messages` by pair; `trackOf` finds the track of a name, -1 for what is not in the trace. */
export function pairRows(table: Table, trackOf: (name: string) => number): readonly PairRow[] {
  const [sender, receiver] = [textColumn(table, "sender"), textColumn(table, "receiver")];
  const column = (name: string): Float64Array => numberColumn(table, name);
  const [messages, bytes, mean, longest, unmatched, backwards] = [column("messages"), column("bytes"), column("mean_s"), column("longest_s"), column("unmatched"), column("backwards")];
  return Array.from({ length: table.numRows }, (_, row): PairRow => {
    const [senderName, receiverName] = [textAt(sender, row), textAt(receiver, row)];
    return {
      senderName, receiverName,
      sender: trackOf(senderName), receiver: trackOf(receiverName),
      messages: messages[row] ?? 0, bytes: bytes[row] ?? 0,
      meanSeconds: mean[row] ?? Number.NaN, longestSeconds: longest[row] ?? Number.NaN,
      unmatched: unmatched[row] ?? 0, backwards: backwards[row] ?? 0,
    };
  });
}

/** The rows of `messages` by size. */
export function sizeRows(table: Table): readonly SizeRow[] {
  const [from, messages, bytes] = [numberColumn(table, "from_bytes"), numberColumn(table, "messages"), numberColumn(table, "bytes")];
  return Array.from(from, (at, row): SizeRow => ({ from: at, messages: messages[row] ?? 0, bytes: bytes[row] ?? 0 }));
}

/** Finds tracks by name; names may lack the ` thread 0` that all tracks have. */
export function trackFinder(labels: readonly string[]): (name: string) => number {
  const tracks = new Map<string, number>();
  const only = " thread 0";
  const isCommon = labels.every((label) => label.endsWith(only));
  labels.forEach((label, track) => {
    if (isCommon) tracks.set(label.slice(0, -only.length), track);
    tracks.set(label, track);
  });
  return (name) => tracks.get(name) ?? -1;
}

import { number, seconds } from "../../base/format.ts";
import type { TipContent } from "../../widgets/charts/tip.ts";
import { inputCode, regionName, type ScalingData } from "./data.ts";
import { mapColumn, mapTitle, mapValue, type MapKind } from "./maps.ts";
import type { ScalingSettings } from "./settings.ts";

/** A time in the ensemble's unit: `12.34 s`. */
export function timeText(value: number, unit: string): string {
  if (Number.isNaN(value)) return "–";
  return unit === "s" ? seconds(value) : `${number(value)} ${unit}`;
}

/** Whether the times of a cell were estimated from first iterations. */
export function isEstimate(data: ScalingData, region: number, column: number, core: number): boolean {
  return data.cell("estimated", region, column, core) > 0;
}

/** A cell in a sentence, for screen readers. */
export function cellSentence(data: ScalingData, kind: MapKind, settings: ScalingSettings, region: number, row: number, column: number): string {
  const core = data.rows[row] ?? row;
  const value = data.cell(mapColumn(kind, settings.differences), region, column, core);
  const cores = data.cores[core] ?? 0;
  return `${mapTitle(kind)} ${mapValue(kind, value)}, ${String(cores)} ${cores === 1 ? "core" : "cores"}, input ${inputCode(column)} ${data.inputs[column] ?? ""}${isEstimate(data, region, column, core) ? ", estimated" : ""}`;
}

/** Everything about a cell, for the tip next to it. */
export function cellTip(
  data: ScalingData, kind: MapKind, settings: ScalingSettings, region: number, row: number, column: number, at: TipContent["at"],
): TipContent {
  const core = data.rows[row] ?? row;
  const of = (name: Parameters<ScalingData["cell"]>[0]): number => data.cell(name, region, column, core);
  const { unit } = data.reply;
  const [repetitions, estimated] = [of("repetitions"), of("estimated")];
  const isDefined = !Number.isNaN(of(mapColumn(kind, settings.differences)));
  const reply = data.regions[region];
  const loss = of("loss");
  return {
    at,
    title: `${mapTitle(kind)} · ${reply === undefined ? "" : regionName(reply)}`,
    lead: mapValue(kind, of(mapColumn(kind, settings.differences))),
    lines: [
      { name: "Cores", value: String(data.cores[core] ?? "") },
      { name: `Input ${inputCode(column)}`, value: data.inputs[column] ?? "" },
      { name: `Time (${settings.statistic})`, value: timeText(of("time"), unit) },
      ...(repetitions > 1 ? [{ name: "Shortest to longest", value: `${timeText(of("time_min"), unit)} to ${timeText(of("time_max"), unit)}` }] : []),
      { name: "Repetitions", value: Number.isNaN(repetitions) ? "0" : String(repetitions) },
      ...(estimated > 0 ? [{ name: "Estimated", value: estimated < repetitions ? `${String(estimated)} of them, from first iterations` : "from first iterations" }] : []),
      { name: "Speedup", value: Number.isNaN(of("speedup")) ? "–" : number(of("speedup")) },
      ...(kind === "efficiency" ? [] : [{ name: "Efficiency", value: mapValue("efficiency", of("efficiency")) }]),
      ...(kind === "imbalance" || Number.isNaN(of("imbalance")) ? [] : [{ name: "Load imbalance", value: mapValue("imbalance", of("imbalance")) }]),
      ...(Number.isNaN(loss) ? [] : [{ name: "Overhead", value: `${number(loss)} core-${unit}` }]),
    ],
    ...(isDefined ? {} : { text: whyUndefined(data, kind, settings, of("time"), core, column) }),
  };
}

function whyUndefined(data: ScalingData, kind: MapKind, settings: ScalingSettings, time: number, core: number, column: number): string {
  if (Number.isNaN(time)) return "This configuration was not measured.";
  if (kind === "imbalance") return "The measurements do not distinguish the times of threads or ranks here.";
  if ((data.reply.baselines[column] ?? null) === null) return "The baseline was not measured, so efficiency is unknown. Select another baseline under “Computation settings”.";
  if (kind === "efficiency") return "The baseline of this region was not measured.";
  if (settings.differences === "relative" && (core === 0 || column === 0)) return "There is no previous cell to compare with.";
  return "The cell to compare with was not measured.";
}

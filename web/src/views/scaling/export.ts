import { csv } from "../../widgets/save.ts";
import { inputCode, type CellColumn, type ScalingData } from "./data.ts";
import { settingsText, type ScalingSettings } from "./settings.ts";

const ALL: readonly CellColumn[] = [
  "repetitions", "time", "time_min", "time_max", "speedup", "efficiency", "scalability_abs", "strong_abs", "weak_abs",
  "scalability_rel", "strong_rel", "weak_rel", "imbalance", "estimated",
];

/** Maps as CSV with the columns of `parallax scaling --csv`: one row for each region, input and core count. */
export function mapCsv(data: ScalingData, regions: readonly number[], columns: readonly CellColumn[] = ALL): string {
  const rows: (string | number | null)[][] = [["region", "input", "cores", ...columns]];
  for (const region of regions) {
    data.inputs.forEach((input, column) => {
      data.rows.forEach((core) => {
        rows.push([
          data.regions[region]?.id ?? "", input, data.cores[core] ?? null,
          ...columns.map((name) => {
            const value = data.cell(name, region, column, core);
            return Number.isNaN(value) ? null : value;
          }),
        ]);
      });
    });
  }
  return csv(rows);
}

/** What stands below exported pictures, so that they can be read alone: the inputs, and how numbers were computed. */
export function exportNotes(data: ScalingData, settings: ScalingSettings): readonly string[] {
  const words = settingsText(settings, data.reply.parameters);
  const estimates = data.inputs.flatMap((_, input) =>
    data.rows.filter((core) => data.cell("estimated", 0, input, core) > 0).map((core) => `${inputCode(input)} on ${String(data.cores[core] ?? "")}`),
  );
  return [
    ...data.inputs.map((input, at) => `${inputCode(at)}: ${input}`),
    ...(estimates.length === 0 ? [] : [`estimated from first iterations (≈): ${estimates.join(", ")}`]),
    ...(words.length === 0 ? [] : [words.join(" · ")]),
  ];
}

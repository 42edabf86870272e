import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ramp } from "../src/base/palettes.ts";
import { differenceColours, efficiencyColours, mirrored, pictureBytes } from "../src/widgets/charts/colours.ts";
import { cellOf, largest, refine, refinedLength, type Grid } from "../src/widgets/charts/grid.ts";
import { bandsOf, fitsText, labelStep, mapCell, thumbnailCell, treeRowHeight } from "../src/widgets/charts/layout.ts";
import { bandOf, extent, logarithmicTicks, pathOf } from "../src/widgets/charts/lines.ts";

function grid(rows: readonly (readonly number[])[]): Grid {
  return { rows: rows.length, columns: rows[0]?.length ?? 0, values: Float64Array.from(rows.flat()) };
}

describe("interpolation of maps", () => {
  it("makes of each axis as many cells as PaScal Viewer does", () => {
    // Counted on screenshots of the viewer: 7 by 6 becomes 25 by 21, 7 by 5 becomes 25 by 17.
    expect([refinedLength(7), refinedLength(6), refinedLength(5)]).toEqual([25, 21, 17]);
    expect([refinedLength(0), refinedLength(1)]).toEqual([0, 1]);
    const fine = refine(grid([[1, 2], [3, 4], [5, 6]]));
    expect([fine.rows, fine.columns]).toEqual([9, 5]);
  });

  it("keeps measured cells exactly and is linear between them, along both axes", () => {
    const fine = refine(grid([[0, 8], [16, 40]]));
    expect(Array.from(fine.values.slice(0, 5))).toEqual([0, 2, 4, 6, 8]);
    expect([cellOf(fine, 1, 0), cellOf(fine, 2, 0), cellOf(fine, 4, 0)]).toEqual([4, 8, 16]);
    // The middle of a bilinear patch is the mean of its corners.
    expect(cellOf(fine, 2, 2)).toBe((0 + 8 + 16 + 40) / 4);
    expect(cellOf(fine, 1, 3)).toBe(0.75 * 6 + 0.25 * 34);
    expect(cellOf(fine, 4, 4)).toBe(40);
  });

  it("does not invent values next to undefined cells, and keeps the defined ones", () => {
    const fine = refine(grid([[Number.NaN, 1, 2], [Number.NaN, 3, 4]]));
    expect(cellOf(fine, 0, 3)).toBeNaN();
    expect(cellOf(fine, 0, 4)).toBe(1);
    expect(cellOf(fine, 2, 4)).toBe(2);
    expect(cellOf(fine, 2, 8)).toBe(3);
  });

  it("puts labels where the values are exact", () => {
    const bands = bandsOf(3, refinedLength(3));
    expect(bands.map((band) => band.middle)).toEqual([0.5 / 9, 4.5 / 9, 8.5 / 9]);
    expect(bands[0]?.start).toBe(0);
    expect(bands[0]?.end).toBeCloseTo(2.5 / 9, 12);
    expect(bands[1]?.start).toBeCloseTo(2.5 / 9, 12);
    expect(bands[2]?.end).toBe(1);
    expect(bandsOf(2, null)).toEqual([{ start: 0, end: 0.5, middle: 0.25 }, { start: 0.5, end: 1, middle: 0.75 }]);
  });
});

describe("colours of maps", () => {
  beforeEach(() => { document.documentElement.dataset["theme"] = "light"; });
  afterEach(() => {
    delete document.documentElement.dataset["theme"];
    delete document.documentElement.dataset["maps"];
  });

  it("are those that were chosen, and in the dark none that is black", () => {
    document.documentElement.dataset["maps"] = "cividis";
    expect(efficiencyColours().rgb(0)).toEqual(ramp("cividis").rgb(1));
    document.documentElement.dataset["theme"] = "dark";
    delete document.documentElement.dataset["maps"];
    expect(efficiencyColours().rgb(1)).not.toEqual(ramp("inferno").rgb(0));
  });

  it("are Inferno reversed for efficiency: pale for none, black for all", () => {
    const colours = efficiencyColours();
    expect(colours.rgb(0)).toEqual(ramp("inferno").rgb(1));
    expect(colours.rgb(1)).toEqual(ramp("inferno").rgb(0));
    expect(colours.rgb(1.3)).toEqual(colours.rgb(1));
    expect(colours.ticks).toEqual([0, 0.5, 1]);
  });

  it("are symmetric around nothing for differences", () => {
    const colours = differenceColours(0.4);
    expect(colours.ticks).toEqual([-0.4, 0, 0.4]);
    expect(colours.rgb(0)).toEqual(ramp("brbg").rgb(0.5));
    expect(colours.rgb(-0.4)).toEqual(ramp("brbg").rgb(0));
    expect(mirrored(colours).rgb(0.4)).toEqual(colours.rgb(-0.4));
  });

  it("survive a range of nothing", () => {
    expect(differenceColours(0).rgb(0)).toEqual(ramp("brbg").rgb(0.5));
  });

  it("leave undefined cells transparent in pictures", () => {
    const bytes = pictureBytes(Float64Array.from([Number.NaN, 1]), efficiencyColours());
    expect([bytes[3], bytes[7]]).toEqual([0, 255]);
  });

  it("find the largest distance from nothing", () => {
    expect(largest([grid([[0.1, -0.7, Number.NaN]]), grid([[0.3]])])).toBe(0.7);
    expect(largest([])).toBe(0);
  });
});

describe("room", () => {
  it("gives thumbnails whole pixels while they fit, stretched a little, then squeezes them", () => {
    expect(thumbnailCell(4, 3, 72, 42)).toEqual({ widthPixels: 9, heightPixels: 9 });
    expect(thumbnailCell(6, 7, 60, 30)).toEqual({ widthPixels: 8, heightPixels: 5 });
    expect(thumbnailCell(16, 7, 72, 42)).toEqual({ widthPixels: 6, heightPixels: 2 });
    const squeezed = thumbnailCell(64, 4, 60, 30);
    expect(squeezed.heightPixels * 64).toBeLessThanOrEqual(30);
    expect(squeezed.widthPixels).toBe(3);
    expect(thumbnailCell(0, 0, 60, 30)).toEqual({ widthPixels: 0, heightPixels: 0 });
  });

  it("shrinks rows of trees as they become more", () => {
    const heights = [5, 40, 400, 40_000].map((rows) => treeRowHeight(rows));
    expect(heights).toEqual(heights.toSorted((a, b) => b - a));
    expect(heights[0]).toBeGreaterThan(heights[2] ?? 0);
    for (const height of heights) expect(height % 4).toBe(0);
  });

  it("writes numbers only into cells that hold them", () => {
    expect(fitsText({ widthPixels: 40, heightPixels: 20 }, 5)).toBe(true);
    expect(fitsText({ widthPixels: 30, heightPixels: 20 }, 5)).toBe(false);
    expect(fitsText({ widthPixels: 80, heightPixels: 9 }, 3)).toBe(false);
  });

  it("keeps maps of many rows within a screen", () => {
    expect(mapCell(4, 3, 216)).toEqual({ widthPixels: 72, heightPixels: 44 });
    for (const rows of [1, 8, 32, 128]) expect(mapCell(rows, 4, 200).heightPixels * rows).toBeLessThanOrEqual(520);
  });

  it("omits labels that would touch", () => {
    expect(labelStep(4, 200, 20)).toBe(1);
    expect(labelStep(32, 160, 12)).toBe(3);
    expect(labelStep(0, 100, 10)).toBe(1);
  });
});

describe("lines", () => {
  it("are interrupted where a value is undefined", () => {
    expect(pathOf([{ x: 0, y: 1 }, { x: 1, y: Number.NaN }, { x: 2, y: 3 }, { x: 3, y: 4 }])).toBe("M0.00 1.00M2.00 3.00L3.00 4.00");
  });

  it("have bands from the shortest to the longest, and none around a single point", () => {
    expect(bandOf([{ x: 0, low: 1, high: 2 }, { x: 5, low: 3, high: 4 }])).toBe("M0.00 2.00L5.00 4.00L5.00 3.00L0.00 1.00Z");
    expect(bandOf([{ x: 0, low: 1, high: 2 }])).toBe("");
  });

  it("have a range that holds what is known", () => {
    expect(extent([3, Number.NaN, 1], [0])).toEqual([0, 3]);
    expect(extent([Number.NaN])).toEqual([0, 1]);
  });

  it("have ticks on a logarithmic axis that can be read", () => {
    expect(logarithmicTicks(0.18, 6)).toEqual([0.2, 0.5, 1, 2, 5]);
    expect(logarithmicTicks(0.5, 20_000)).toEqual([1, 10, 100, 1000, 10_000]);
    expect(logarithmicTicks(0, 5)).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { clampRange, lengthText, momentText, nsAt, nsPerPixel, panRange, parseMoment, parseRange, pixelOf, rangeAbout, rangeText, ticks, tickStep, zoomAbout, type TimeRange } from "../src/widgets/timeline/axis.ts";

const THIN = "\u202f";
const plain = (text: string): string => text.replaceAll(THIN, " ");
const BOUNDS: TimeRange = [0, 10e9];

describe("scale", () => {
  const scale = { fromNs: 1e9, toNs: 3e9, pixels: 1000 };

  test("a moment becomes a pixel and back", () => {
    expect(nsPerPixel(scale)).toBe(2e6);
    expect(pixelOf(scale, 2e9)).toBe(500);
    expect(nsAt(scale, pixelOf(scale, 1_234_567_891))).toBeCloseTo(1_234_567_891, 3);
  });

  test("zooming keeps the moment under the pointer where it is", () => {
    let window: TimeRange = [1e9, 3e9];
    const about = 1.6e9;
    const before = pixelOf({ fromNs: window[0], toNs: window[1], pixels: 800 }, about);
    for (const factor of [0.5, 0.3, 0.9]) window = zoomAbout(window, factor, about, BOUNDS);
    expect(pixelOf({ fromNs: window[0], toNs: window[1], pixels: 800 }, about)).toBeCloseTo(before, 6);
    expect(window[1] - window[0]).toBeCloseTo(2e9 * 0.5 * 0.3 * 0.9, 3);
  });

  test("a window never leaves the trace and never vanishes", () => {
    expect(zoomAbout([1e9, 3e9], 100, 2e9, BOUNDS)).toEqual([0, 10e9]);
    expect(panRange([1e9, 3e9], -5e9, BOUNDS)).toEqual([0, 2e9]);
    expect(panRange([1e9, 3e9], 50e9, BOUNDS)).toEqual([8e9, 10e9]);
    const tiny = zoomAbout([1e9, 3e9], 1e-30, 2e9, BOUNDS);
    expect(tiny[1] - tiny[0]).toBe(10);
    expect(clampRange([5, 6], [0, 3])).toEqual([0, 3]);
  });

  test("a call is shown with room about it", () => {
    const [from, to] = rangeAbout([4e9, 5e9], BOUNDS);
    expect(from).toBeLessThan(4e9);
    expect(to).toBeGreaterThan(5e9);
  });
});

describe("ticks", () => {
  test("steps are 1, 2 or 5 times a power of ten and leave room for the text", () => {
    for (const length of [37, 1234, 5e5, 9.9e8, 7e10, 3e13]) {
      const scale = { fromNs: 0, toNs: length, pixels: 1000 };
      const step = tickStep(scale, 100);
      expect([1, 2, 5]).toContain(Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9)));
      expect(step / nsPerPixel(scale)).toBeGreaterThanOrEqual(100 - 1e-6);
      expect(step / nsPerPixel(scale)).toBeLessThanOrEqual(length < 100 ? 1000 : 251);
    }
  });

  test("ticks lie in the window and all have one unit", () => {
    const list = ticks({ fromNs: 1.2e9, toNs: 1.2005e9, pixels: 1000 });
    expect(list.length).toBeGreaterThan(3);
    expect(list.every(({ ns }) => ns >= 1.2e9 && ns <= 1.2005e9)).toBe(true);
    expect(plain(list[0]?.text ?? "")).toBe("1.200 0 s");
    expect(new Set(list.map(({ text }) => text)).size).toBe(list.length);
  });
});

describe("words for times", () => {
  test("a moment is as exact as asked for", () => {
    expect(plain(momentText(1_234_567_000, 1000))).toBe("1.234 567 s");
    expect(plain(momentText(1_234_567_891, 1))).toBe("1.234 567 891 s");
    expect(plain(momentText(1500, 100))).toBe("1.5 µs");
    expect(plain(momentText(0, 1e6, 5e9))).toBe("0.000 s");
    expect(plain(momentText(1_234_000_000_000, 1e9))).toBe("1 234 s");
  });

  test("a length has four digits", () => {
    expect(plain(lengthText(262_144))).toBe("262.1 µs");
    expect(plain(lengthText(1_500_000_000))).toBe("1.500 s");
    expect(plain(lengthText(7))).toBe("7 ns");
  });

  test("what is typed is understood", () => {
    expect(parseMoment("1.5s")).toBe(1.5e9);
    expect(parseMoment("200 ms")).toBe(2e8);
    expect(parseMoment("3 us")).toBe(3000);
    expect(parseMoment("fast")).toBeNull();
    expect(parseRange("1.5s..2s", BOUNDS)).toEqual([1.5e9, 2e9]);
    expect(parseRange("1.5 – 2 s", BOUNDS)).toEqual([1.5e9, 2e9]);
    expect(parseRange("500..600ms", BOUNDS)).toEqual([5e8, 6e8]);
    expect(parseRange("2s..", BOUNDS)).toEqual([2e9, 10e9]);
    expect(parseRange("2s..1s", BOUNDS)).toBeNull();
    expect(parseRange("", BOUNDS)).toEqual(BOUNDS);
  });

  test("a window that was written can be typed again", () => {
    const window: TimeRange = [1_234_500_000, 1_237_500_000];
    const [from, to] = parseRange(rangeText(window), BOUNDS) ?? [0, 0];
    expect(from).toBeCloseTo(window[0], -4);
    expect(to).toBeCloseTo(window[1], -4);
  });
});

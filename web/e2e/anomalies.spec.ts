// Anomalies: a planted call that takes longer than the others is listed, leads to the timeline, and is marked there.
import { showView } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { expect, test } from "./support/test.ts";
import { MADE, openMade, writeTrace } from "./support/trace.ts";

const ROUNDS = 60;
const LONG = 41;
const LONGER_MICROS = 20_000;

test("a long call is listed with its evidence, leads to the timeline, and is marked there", async ({ page }, info) => {
  const timeline = await openMade(page, info, (path) => { writeTrace(path, { rounds: ROUNDS, longerMicros: (round) => (round === LONG ? LONGER_MICROS : 0) }); });
  await expect(page.getByTestId("timeline-anomaly")).toHaveCount(0);
  await page.getByTestId("timeline-anomalies").click();
  await expect(page.getByTestId("timeline-anomaly")).toHaveCount(MADE.ranks);

  const panel = await showView(page, "Anomalies", "view-anomalies");
  await expect(panel.getByTestId("anomalies-says")).toContainText(`${String(MADE.ranks)} anomalies`);
  await expect(panel.getByTestId("anomalies-name")).toHaveText(Array<string>(MADE.ranks).fill("solve"));
  await expect(panel.getByTestId("anomalies-exclusive_ns").first()).toHaveAttribute("data-value", String((MADE.solveMicros + LONGER_MICROS) * 1000));
  await isClean(page, "view-anomalies");

  await panel.getByTestId("anomalies-name").first().click();
  // The timeline comes to the front.
  await panel.getByRole("grid", { name: "Anomalies" }).press("Enter");
  const start = (LONG * MADE.roundMicros + 50) * 1000;
  await expect.poll(async () => Number(await timeline.getAttribute("data-from"))).toBeGreaterThan(start / 2);
  expect(Number(await timeline.getAttribute("data-from"))).toBeLessThanOrEqual(start);
});

test("a trace in which all calls are alike has none", async ({ page }, info) => {
  await openMade(page, info, (path) => { writeTrace(path, { rounds: ROUNDS }); });
  const panel = await showView(page, "Anomalies", "view-anomalies");
  await expect(panel).toContainText("No anomalies");
});

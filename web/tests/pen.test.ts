import { describe, expect, test } from "vitest";
import { VectorPen } from "../src/widgets/canvas/pen.ts";
import { RULER } from "./ruler.ts";

function drawn(draw: (pen: VectorPen) => void): string {
  const pen = new VectorPen(() => RULER);
  draw(pen);
  return pen.svg(100, 50);
}

describe("a pen that writes SVG", () => {
  test("a line has the look that was set, and none of what is left as it is", () => {
    const line = (pen: VectorPen): void => {
      pen.beginPath();
      pen.moveTo(1, 2);
      pen.lineTo(5.14159, 4);
      pen.stroke();
    };
    expect(drawn(line)).toContain('<path d="M1 2L5.14 4" fill="none" stroke="#000"/>');
    const look = drawn((pen) => {
      Object.assign(pen, { strokeStyle: "red", lineWidth: 2, lineCap: "round", globalAlpha: 0.5 });
      pen.setLineDash([4, 2]);
      line(pen);
    });
    expect(look).toContain('stroke="red" opacity="0.5" stroke-width="2" stroke-linecap="round" stroke-dasharray="4 2"');
  });

  test("restore brings the look back and closes what was scaled and clipped", () => {
    const text = drawn((pen) => {
      pen.fillStyle = "blue";
      pen.save();
      pen.fillStyle = "red";
      pen.scale(2, 2);
      pen.beginPath();
      pen.rect(0, 0, 10, 10);
      pen.clip();
      pen.fillRect(0, 0, 5, 5);
      pen.restore();
      pen.fillRect(1, 1, 5, 5);
    });
    expect(text.indexOf('fill="red"')).toBeLessThan(text.indexOf("</g></g>"));
    expect(text.indexOf("</g></g>")).toBeLessThan(text.indexOf('fill="blue"'));
    expect(text).toMatch(/<clipPath id="(.*)">.*clip-path="url\(#\1\)"/);
    expect(text.match(/<g /g)).toHaveLength(2);
    expect(text.match(/<\/g>/g)).toHaveLength(2);
  });

  test("what is open at the end is closed", () => {
    expect(drawn((pen) => { pen.translate(3, 4); })).toMatch(/<g transform="translate\(3 4\)"><\/g><\/svg>$/);
  });

  test("a whole circle is two halves, for an arc whose ends meet is nothing", () => {
    const text = drawn((pen) => {
      pen.beginPath();
      pen.arc(10, 10, 5, 0, 2 * Math.PI);
      pen.fill();
    });
    expect(text).toContain('d="M15 10A5 5 0 0 1 5 10A5 5 0 0 1 15 10"');
  });

  test("texts stand where their alignment says, with signs of markup escaped", () => {
    const text = drawn((pen) => {
      pen.font = '12px "A & B"';
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText("a<b>&", 7, 8);
    });
    expect(text).toContain('x="7" y="8" style="font:12px &quot;A &amp; B&quot;;white-space:pre" text-anchor="end" dominant-baseline="central"');
    expect(text).toContain(">a&lt;b&gt;&amp;</text>");
  });

  test("widths are measured in the font that is set", () => {
    const pen = new VectorPen(() => RULER);
    pen.font = "20px x";
    expect(pen.measureText("abc").width).toBe(18);
    expect(RULER.font).toBe("20px x");
  });

  test("corners are no rounder than there is room", () => {
    const text = drawn((pen) => {
      pen.beginPath();
      pen.roundRect(0, 0, 10, 4, 8);
      pen.fill();
    });
    expect(text).toContain("a2 2 0 0 1 2 2");
  });
});

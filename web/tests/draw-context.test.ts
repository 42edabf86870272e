import { describe, expect, test } from "vitest";
import { SvgContext } from "../src/widgets/canvas/draw-context.ts";
import { RULER } from "./ruler.ts";

function drawn(draw: (context: SvgContext) => void): string {
  const context = new SvgContext(() => RULER);
  draw(context);
  return context.svg(100, 50);
}

describe("a context that writes SVG", () => {
  test("a line has the look that was set, and none of what is left as it is", () => {
    const line = (context: SvgContext): void => {
      context.beginPath();
      context.moveTo(1, 2);
      context.lineTo(5.14159, 4);
      context.stroke();
    };
    expect(drawn(line)).toContain('<path d="M1 2L5.14 4" fill="none" stroke="#000"/>');
    const look = drawn((context) => {
      Object.assign(context, { strokeStyle: "red", lineWidth: 2, lineCap: "round", globalAlpha: 0.5 });
      context.setLineDash([4, 2]);
      line(context);
    });
    expect(look).toContain('stroke="red" opacity="0.5" stroke-width="2" stroke-linecap="round" stroke-dasharray="4 2"');
  });

  test("restore brings the look back and closes what was scaled and clipped", () => {
    const text = drawn((context) => {
      context.fillStyle = "blue";
      context.save();
      context.fillStyle = "red";
      context.scale(2, 2);
      context.beginPath();
      context.rect(0, 0, 10, 10);
      context.clip();
      context.fillRect(0, 0, 5, 5);
      context.restore();
      context.fillRect(1, 1, 5, 5);
    });
    expect(text.indexOf('fill="red"')).toBeLessThan(text.indexOf("</g></g>"));
    expect(text.indexOf("</g></g>")).toBeLessThan(text.indexOf('fill="blue"'));
    expect(text).toMatch(/<clipPath id="(.*)">.*clip-path="url\(#\1\)"/);
    expect(text.match(/<g /g)).toHaveLength(2);
    expect(text.match(/<\/g>/g)).toHaveLength(2);
  });

  test("what is open at the end is closed", () => {
    expect(drawn((context) => { context.translate(3, 4); })).toMatch(/<g transform="translate\(3 4\)"><\/g><\/svg>$/);
  });

  test("a whole circle is two halves, for an arc whose ends meet is nothing", () => {
    const text = drawn((context) => {
      context.beginPath();
      context.arc(10, 10, 5, 0, 2 * Math.PI);
      context.fill();
    });
    expect(text).toContain('d="M15 10A5 5 0 0 1 5 10A5 5 0 0 1 15 10"');
  });

  test("texts stand where their alignment says, with signs of markup escaped", () => {
    const text = drawn((context) => {
      context.font = '12px "A & B"';
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText("a<b>&", 7, 8);
    });
    expect(text).toContain('x="7" y="8" style="font:12px &quot;A &amp; B&quot;;white-space:pre" text-anchor="end" dominant-baseline="central"');
    expect(text).toContain(">a&lt;b&gt;&amp;</text>");
  });

  test("widths are measured in the font that is set", () => {
    const context = new SvgContext(() => RULER);
    context.font = "20px x";
    expect(context.measureText("abc").width).toBe(18);
    expect(RULER.font).toBe("20px x");
  });

  test("corners are no rounder than there is room", () => {
    const text = drawn((context) => {
      context.beginPath();
      context.roundRect(0, 0, 10, 4, 8);
      context.fill();
    });
    expect(text).toContain("a2 2 0 0 1 2 2");
  });
});

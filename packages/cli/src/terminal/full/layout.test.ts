import { describe, expect, test } from "vitest";
import { layOutBottom, type Parts } from "./layout.ts";

const parts: Parts = {
  spinner: "running",
  plan: () => [],
  waiting: ["steer: a", "queued: b", "queued: c"],
  input: { lines: ["─ Reply ─", "text"], cursor: { row: 1, column: 4 } },
  status: "chat",
};

describe("T26: the bottom of the screen", () => {
  test("is what goes on, what waits, the prompt and the status; the rest is for what is still open", () => {
    expect(layOutBottom(parts, { columns: 40, rows: 24 })).toEqual({
      lines: ["", "running", "steer: a", "queued: b", "queued: c", "─ Reply ─", "text", "chat"],
      cursor: { row: 6, column: 4 },
      room: 15,
    });
  });

  test("leaves out in few rows what can be missed: the gap, what waits, the status, what goes on", () => {
    const lines = (rows: number) => layOutBottom(parts, { columns: 40, rows }).lines;
    expect(lines(10)).toEqual(["running", "steer: a", "queued: b", "queued: c", "─ Reply ─", "text", "chat"]);
    expect(lines(8)).toEqual(["running", "steer: a", "─ Reply ─", "text", "chat"]);
    expect(lines(7)).toEqual(["running", "steer: a", "─ Reply ─", "text"]);
    expect(lines(4)).toEqual(["running", "─ Reply ─", "text"]);
    expect(lines(3)).toEqual(["─ Reply ─", "text"]);
  });

  test("T57: has the plan above what waits, on a fifth of the rows, as long as the transcript keeps its room", () => {
    const planned: Parts = { ...parts, plan: (most) => ["p1", "p2", "p3", "p4", "p5"].slice(0, Math.max(0, most)) };
    const lines = (rows: number) => layOutBottom(planned, { columns: 40, rows }).lines;
    expect(lines(24).slice(0, 8)).toEqual(["", "running", "p1", "p2", "p3", "p4", "steer: a", "queued: b"]);
    expect(layOutBottom(planned, { columns: 40, rows: 24 })).toMatchObject({ cursor: { row: 10 }, room: 11 });
    expect(lines(12).slice(0, 4)).toEqual(["running", "p1", "p2", "steer: a"]);
    expect(lines(8)).toEqual(["running", "steer: a", "─ Reply ─", "text", "chat"]);
  });

  test("has no line that is wider than the screen", () => {
    const { lines } = layOutBottom({ ...parts, waiting: ["x".repeat(99)] }, { columns: 20, rows: 24 });
    expect(lines[2]).toBe(`${"x".repeat(19)}…`);
  });
});

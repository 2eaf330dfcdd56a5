import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OpenPorts } from "./open-ports.ts";

test("S39: keeps the ports of a folder for later programs, and a damaged file keeps none", () => {
  const state = mkdtempSync(join(tmpdir(), "banyan-open-ports-"));
  try {
    const ports = new OpenPorts({ state });
    expect(ports.list("/garden")).toEqual([]);
    for (const port of [5173, 8080, 5173]) ports.add("/garden", port);
    ports.add("/__proto__", 3000);
    const later = new OpenPorts({ state });
    expect(later.list("/garden")).toEqual([8080, 5173]);
    expect([later.has("/garden", 8080), later.has("/", 8080), later.has("/__proto__", 3000)]).toEqual([
      true,
      false,
      true,
    ]);
    expect([later.remove("/garden", 8080), later.remove("/garden", 8080)]).toEqual([true, false]);
    expect(ports.list("/garden")).toEqual([5173]);
    for (const text of ["{", "[]", '{"/garden":"5173"}', '{"/garden":["5173",null]}']) {
      writeFileSync(join(state, "ports.json"), text);
      expect(ports.list("/garden")).toEqual([]);
    }
  } finally {
    rmSync(state, { recursive: true });
  }
});

import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { CHECKS, inPlace } from "./programs.fixture.ts";

test.each(Object.entries(CHECKS))("L12: the program %s runs over a real wire", async (name, check) => {
  await inPlace(fileURLToPath(new URL(`${name}.ts`, import.meta.url)), check);
});

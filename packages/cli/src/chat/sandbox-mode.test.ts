import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe("S37: the approval mode sandbox, where it is not available", () => {
  const REFUSED = "Approval 'sandbox' is not available. You have not trusted this folder.";

  test("a flag is an error with the reason, and no turn begins", async () => {
    await using model = await modelServer({ text: "Hello." });
    const args = ["-p", "hello", "--approval", "sandbox", ...MODEL];
    const { code, stderr, stdout } = await banyan(place, args, { env: model.env });
    expect([code, stdout, model.asked.length]).toEqual([2, "", 0]);
    expect(stderr).toContain(REFUSED);
  });

  test("a variable or setting is a notice with the reason, and the turn asks first", async () => {
    await using model = await modelServer({ text: "Hello." });
    const env = { ...model.env, BANYAN_APPROVAL: "sandbox" };
    const { code, stderr, stdout } = await banyan(place, ["-p", "hello", ...MODEL], { env });
    expect([code, stdout.trim()]).toEqual([0, "Hello."]);
    expect(stderr).toContain(REFUSED);
    expect(stderr).toContain("Banyan asks before calls instead.");
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { methods, type RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { expect, test, vi } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { type EditorHere, editor, endOf } from "../testing/editor.ts";
import { modelServer, shell } from "../testing/model-server.ts";

const { session } = methods.agent;
const MODEL = ["--model", "openai-compatible/test"];

/** Ends of `banyan acp` while its editor has an open question. */
const ENDS: readonly (readonly [string, (at: EditorHere) => void])[] = [
  ["is killed", ({ running }) => void running.kill("SIGKILL")],
  ["is told to end", ({ running }) => void running.kill("SIGTERM")],
  ["is interrupted", ({ running }) => void running.kill("SIGINT")],
  [
    "is told twice",
    ({ running }) => {
      running.kill("SIGTERM");
      running.kill("SIGTERM");
    },
  ],
  ["loses its editor", ({ running }) => void running.stdin.end()],
];

/** An editor that never answers, and the requests that it got. */
async function waiting(place: Home, env: Readonly<Record<string, string>>) {
  const asked: RequestPermissionRequest[] = [];
  const at = await editor(place, MODEL, {
    env,
    permit: (given) => {
      asked.push(given);
      return new Promise(() => {});
    },
  });
  return { at, asked };
}

test.each(ENDS)(
  "F72: `banyan acp` %s while a permission waits: it is asked again when the session is loaded, the call runs once, and the turn ends",
  async (_how, end) => {
    using place = home();
    await using model = await modelServer(shell("echo ran >> ran.txt"), { text: "All done." });
    const before = await waiting(place, model.env);
    const { sessionId } = await before.at.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
    before.at.say(sessionId, "go").catch(() => {}); // Its process ends first.
    await vi.waitFor(() => expect(before.asked).toHaveLength(1), 60_000);
    end(before.at);
    await endOf(before.at.running);
    const listed = await banyan(place, ["conversations", "--waiting", "--output", "json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: sessionId, questions: [{ id: expect.any(String) }] }]);

    const again: RequestPermissionRequest[] = [];
    const after = await editor(place, MODEL, {
      env: model.env,
      permit: async (given) => {
        again.push(given);
        return { outcome: { outcome: "selected", optionId: "once" } };
      },
    });
    await after.agent.request(session.load, { sessionId, cwd: place.workspace, mcpServers: [] });
    await vi.waitFor(() => expect(after.said).toMatch(/All done\.$/), 60_000);
    expect(again).toEqual(before.asked);
    expect(readFileSync(join(place.workspace, "ran.txt"), "utf8")).toBe("ran\n");
    expect(model.asked).toHaveLength(2);
    expect(after.strays).toEqual([]);
  },
);

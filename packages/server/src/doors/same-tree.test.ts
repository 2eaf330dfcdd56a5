import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "@banyan/core/conversation";
import { scriptedModel } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { doorPlayers, exported } from "../testing/door-players.fixture.ts";
import { doorScenarios } from "../testing/door-scenarios.fixture.ts";
import { serving } from "../testing/serving.fixture.ts";

/** The tree of a conversation, without ids, times, and the text of denials. */
async function treeOf(address: string, conversation: string): Promise<object[]> {
  const { events } = JSON.parse(await exported(address, conversation)) as { events: Event[] };
  const places = new Map<string | null, number>([[null, -1]]);
  const place = (id: string) => places.set(id, places.size - 1);
  return events.flatMap((event): object[] => {
    switch (event.type) {
      case "message.added":
        place(event.message);
        return [{ by: event.author ?? event.role, below: places.get(event.parentId), parts: event.parts }];
      case "message.started":
        place(event.message);
        return [{ by: "assistant", at: places.get(event.message), below: places.get(event.parentId) }];
      case "message.completed":
        return [
          { at: places.get(event.message), finish: event.finish, usage: event.usage },
          event.parts.map((part) => ("text" in part ? [part.type, part.text] : [part.type])),
        ];
      case "message.abandoned":
        return [{ abandoned: places.get(event.message) }];
      case "call.pending":
        return [{ calls: event.tool, with: event.inputText, at: places.get(event.message) }];
      case "call.completed":
      case "call.failed":
      case "call.cancelled":
        return [{ [event.type]: event.output }];
      case "file.changed":
        return [{ changed: event.path, diff: event.diff }];
      case "call.denied":
        return [{ denied: event.tool }];
      case "run.ended":
        return [{ ended: event.reason }];
      default:
        return [];
    }
  });
}

test.each(doorScenarios)("every door gives the tree that the socket gives: $name", async (scenario) => {
  const { script, agent, files = {}, holds } = scenario;
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "banyan-doors-")));
  onTestFinished(() => rmSync(workspace, { recursive: true }));
  const model = scriptedModel((_, index) => script[index % script.length]);
  const site = await serving({ ...agent?.(workspace), model }, { workspace });
  let first: object[] | undefined;
  for (const [name, play] of Object.entries(doorPlayers)) {
    for (const [path, content] of Object.entries(files)) writeFileSync(join(workspace, path), content);
    const conversation = await play(site, scenario);
    if (conversation === undefined) continue;
    const tree = await treeOf(site.server.address, conversation);
    first ??= tree;
    expect(tree, name).toEqual(first);
  }
  for (const held of holds) expect(JSON.stringify(first)).toContain(held);
});

import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NAMED_PROGRAMS, PROGRAMS, ProgramChat, send } from "../doors/openai/programs.fixture.ts";
import { type NodeProcess, Nodes } from "../testing/nodes.fixture.ts";

const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

describe.skipIf(whyNoPostgres !== undefined)(`W89: a chat of a program over two nodes${title}`, () => {
  let nodes: Nodes;
  let a: NodeProcess;
  let b: NodeProcess;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
    [a, b] = [await nodes.start(), await nodes.start()];
  });
  afterAll(() => nodes.remove());

  test.each([...PROGRAMS.slice(0, 1), ...NAMED_PROGRAMS.slice(1)])(
    "W89: $name speaks to one node and then to another, and its chat is one conversation",
    async (program) => {
      const client = await nodes.client(a);
      const before = (await client.ask("conversation.list", { programs: true })).conversations.length;
      const chat = new ProgramChat(program, `chat of ${program.name}`);
      const answered = new Set<string | null>();
      for (let turn = 0; turn < 6; turn++) {
        const request = turn === 4 ? chat.regenerate() : chat.say(`Question ${turn} of ${program.name}?`);
        const { text, conversation } = await send((turn % 2 === 0 ? a : b).address, request);
        chat.answered(text);
        answered.add(conversation);
      }
      expect(answered.size).toBe(1);
      const after = (await client.ask("conversation.list", { programs: true })).conversations;
      expect(after).toHaveLength(before + 1);
    },
  );
});

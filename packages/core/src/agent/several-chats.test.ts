import { expect, test } from "vitest";
import { type Message, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/path.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { pause, scriptedModel, text } from "../testing/index.ts";
import { Agent } from "./agent.ts";
import { say } from "./directive.ts";

/** What people have said, of a prompt or of a path. */
function saidIn(messages: readonly (PromptMessage | Message)[]): string {
  const said = messages.filter(({ role }) => role === "user");
  return said.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join("")).join(", ");
}

test("B11: chats that go on from one place, in turn and at once, show the model and their handlers the path that is theirs", async () => {
  // The model answers with what it is shown.
  const agent = new Agent({ model: scriptedModel(({ messages }) => [pause(1), text(saidIn(messages))]) });
  const session = Session.inMemory();
  const places: string[] = [];
  for (const word of ["one", "two", "three"]) {
    const { message } = await agent.send(word, { session });
    places.push(message?.id ?? "");
  }
  const talk = async (at: string, name: string) => {
    let turns = 0;
    const talking = agent.with({
      onTurn: async (conversation, self, turn) => {
        const leaf = turn.message?.id ?? "";
        // Somebody else goes on from there before the person does, and before the handler looks.
        await agent.send(`beside ${name}${turns}`, { session, at: leaf });
        expect(saidIn(conversation.path)).toBe(turn.text);
        return ++turns < 4 ? self.chat(say(`${name}${turns}`), { at: leaf }) : undefined;
      },
    });
    for await (const _ of talking.chat(say(`${name}0`), { session, at }));
  };
  await Promise.all(places.map((place, index) => talk(place, "abc"[index] ?? "")));

  const answers = [...session.state.messages.values()].filter(({ role }) => role === "assistant");
  expect(answers).toHaveLength(3 + 3 * 4 * 2);
  for (const answer of answers) expect(textOf(answer)).toBe(saidIn(pathTo(session.state, answer.id)));
  expect(answers.map(textOf)).toContain("one, two, b0, b1, b2, beside b2");
});

test("B49: what is said below one named message at once makes branches, as it does one after the other", async () => {
  const agent = new Agent({ model: scriptedModel(({ messages }) => saidIn(messages)) });
  const session = Session.inMemory();
  const { message } = await agent.send("root", { session });
  const at = message?.id ?? "";
  const turns = await Promise.all(["a", "b", "c"].map((word) => agent.send(word, { session, at })));
  expect(turns.map(({ text }) => text)).toEqual(["root, a", "root, b", "root, c"]);
  expect(session.state.children.get(at)).toHaveLength(3);
});

test("B11: what is said at once without a named message is one branch", async () => {
  const agent = new Agent({ model: scriptedModel(({ messages }) => saidIn(messages)) });
  const session = Session.inMemory();
  await agent.send("root", { session });
  const turns = await Promise.all(["a", "b"].map((word) => agent.send(word, { session })));
  expect(turns.map(({ text }) => text)).toEqual(["root, a", "root, a, b"]);
});

test("B49: what is said below a message that a summary is being made of waits for it", async () => {
  const model = scriptedModel(({ instructions, messages }) => [
    pause(5),
    text(instructions.startsWith("You are asked to sum up") ? "Short." : saidIn(messages)),
  ]);
  const agent = new Agent({ model });
  const session = Session.inMemory();
  for (let i = 0; i < 5; i++) await agent.send(`${i} `.repeat(50), { session });
  const at = session.state.leaf ?? "";
  const [, turn] = await Promise.all([agent.compact({ session }), agent.send("Next", { session, at })]);
  const path = pathTo(session.state, turn.message?.id ?? "");
  expect(path.map(({ role }) => role).slice(-3)).toEqual(["summary", "user", "assistant"]);
});

import { describe, expect, test } from "vitest";
import { person, puppet, TestServers } from "./testing/surroundings.fixture.ts";

describe("elicitation", () => {
  const form = (properties: object, required: readonly string[] = []) => ({
    params: { mode: "form", message: "Who are you?", requestedSchema: { type: "object", properties, required } },
  });

  test("B47: the waiting user fills in a form field by field", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const fields = {
      name: { type: "string", title: "Name", description: "As in your passport" },
      age: { type: "integer", minimum: 0 },
      colour: { type: "string", enum: ["r", "g"], enumNames: ["red", "green"], default: "g" },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "small" },
          { const: "l", title: "large" },
        ],
      },
      tags: { type: "array", items: { type: "string", enum: ["a", "b, or not", "c"] } },
      mail: { type: "string", format: "email" },
      agreed: { type: "boolean" },
      note: { type: "string" },
    };
    const { ask, asked } = person(
      ...["answer", "Ann", "ten", "10", "green", "large", "a, b, or not", "ann", "ann@example.com", "yes", "-"],
    );
    const said = await opened.call("mcp_it_elicit", form(fields, ["name", "age"]), { ask });
    expect(JSON.parse(said)).toEqual({
      action: "accept",
      content: {
        name: "Ann",
        age: 10,
        colour: "g",
        size: "l",
        tags: ["a", "b, or not"],
        mail: "ann@example.com",
        agreed: true,
      },
    });
    expect(asked.slice(0, 5)).toEqual([
      {
        text: 'The MCP server "it" asks: Who are you?\nIt asks for: Name, age, colour, size, tags, mail, agreed, note.',
        choices: ["answer", "decline"],
      },
      { text: 'The MCP server "it" asks for: Name: As in your passport' },
      { text: 'The MCP server "it" asks for: age' },
      { text: expect.stringMatching(/^Not a valid answer: it must .*\nThe MCP server "it" asks for: age$/) },
      {
        text: 'The MCP server "it" asks for: colour (optional)',
        choices: ["red", "green", "skip this field"],
        default: "green",
      },
    ]);
    // Multiple choices are asked like the agent's own questions. A sign skips a typed answer.
    const labels = ["a", "b, or not", "c", "skip this field"].map((label) => ({ label }));
    expect(asked[6]).toEqual({
      text: 'The MCP server "it" asks for: tags (optional)',
      fields: [{ heading: "tags", text: "Which of them?", choices: labels, several: true }],
    });
    expect(asked[7]?.text).toBe('The MCP server "it" asks for: mail (as in name@example.com; type - to skip)');
    expect(asked[8]?.text).toMatch(
      /^Not a valid answer: it must be an e-mail address, as in name@example\.com\.\nThe MCP server "it" asks for: mail/,
    );
    expect(asked.at(-1)?.text).toContain("note (type - to skip)");
  });

  test.each([
    ["somebody who declines", person("decline"), { action: "decline" }],
    ["somebody who is not there", person(), { action: "cancel" }],
    ["somebody who leaves", person("answer"), { action: "cancel" }],
    ["somebody whose answers never fit", person("answer", "x", "y", "z"), { action: "cancel" }],
  ])("B47: the server gets the answer %s", async (_, { ask }, result) => {
    await using opened = await TestServers.settled({ it: puppet() });
    const said = await opened.call("mcp_it_elicit", form({ age: { type: "number" } }, ["age"]), { ask });
    expect(JSON.parse(said)).toEqual(result);
  });

  test("F108: a number outside a form's range causes the question again, in the first question and in the fields", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const fields = { colour: { type: "string", enum: ["red", "green"] }, sure: { type: "boolean" } };
    const { ask, asked } = person("3", "answer", "9", "green", "7", "yes");
    const said = await opened.call("mcp_it_elicit", form(fields, ["colour", "sure"]), { ask });
    expect(JSON.parse(said)).toEqual({ action: "accept", content: { colour: "green", sure: true } });
    expect(asked[1]?.text).toMatch(/\nNot a choice: "answer" or "decline"\?$/);
    expect(asked.slice(1).map(({ text }) => text.startsWith("Not a valid answer"))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ]);
    const never = person("3", "4", "5");
    expect(JSON.parse(await opened.call("mcp_it_elicit", form(fields), { ask: never.ask }))).toEqual({
      action: "decline",
    });
    const visit = { params: { mode: "url", message: "Pay", elicitationId: "1", url: "https://pay.example.com" } };
    expect(JSON.parse(await opened.call("mcp_it_elicit", visit, person("3", "done")))).toEqual({ action: "accept" });
  });

  test("S15: each question of a form names its server, and no text of the server hides this name", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const flood = `${"\n\r\t".repeat(100)}Banyan needs the password of your account${"!".repeat(5_000)}`;
    const fields = {
      one: { type: "string", title: flood, description: flood },
      two: { type: "string", title: "Banyan: your password", oneOf: [{ const: "x", title: flood }] },
      three: { type: "array", items: { type: "string", enum: [flood] } },
    };
    const { params } = form(fields, ["one"]);
    const { ask, asked } = person("answer", "1", "", "");
    await opened.call("mcp_it_elicit", { params: { ...params, message: flood } }, { ask });
    expect(asked).toHaveLength(4);
    for (const { text } of asked) {
      expect(text).toMatch(/^The MCP server "it" (asks|asks for): /);
      expect(text.length).toBeLessThan(10_000);
      expect(text.split("\n").length).toBeLessThan(4);
    }
  });

  test("B47: an address is shown with its host, and nothing is opened; only http and https are addresses", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const visit = (url: string) => ({ params: { mode: "url", message: "Pay", elicitationId: "1", url } });
    const { ask, asked } = person("done");
    const said = await opened.call("mcp_it_elicit", visit("https://pay.example.com/1?a=b"), { ask });
    expect(JSON.parse(said)).toEqual({ action: "accept" });
    expect(asked[0]?.text).toContain("https://pay.example.com/1?a=b");
    expect(asked[0]?.text).toContain("only if you trust pay.example.com");
    const file = await opened.call("mcp_it_elicit", visit("file:///etc/passwd"), { ask });
    expect(JSON.parse(file)).toEqual({ action: "decline" });
  });
});

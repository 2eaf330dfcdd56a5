import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Provider } from "../child.ts";
import type { Format } from "../measure.ts";
import { textOf } from "../provider/answers.ts";
import type { Connect } from "./client.ts";
import { connect as overPackage } from "./engine-over-package.ts";
import { connectTo } from "./index.ts";

const FORMATS: readonly Format[] = ["chat", "anthropic", "gemini", "responses"];
const CLIENTS = ["hand-written", "engine", "engine, SQLite", "engine, provider-package"];

let provider: Provider;
beforeAll(async () => {
  provider = await Provider.start();
});
afterAll(() => provider[Symbol.dispose]());

/** Returns the client with this name, from the sources. */
function clientOf(name: string, format: Format, route: string) {
  if (name === "engine, provider-package")
    return (overPackage satisfies Connect)(`${provider.address}/${route}/v1`, format);
  return connectTo({ provider: provider.address, turns: 1, places: {}, format }, route, name);
}

describe.each(FORMATS)("in the format %s", (format) => {
  describe.each(CLIENTS)("%s", (name) => {
    test("reads all of an answer's text, turn after turn", async () => {
      const client = await clientOf(name, format, "turns/30");
      const conversation = await client.open();
      expect(await conversation.ask("What is a banyan?")).toBe(textOf(30).length);
      expect(await conversation.ask("And what does it do then?")).toBe(textOf(30).length);
      await conversation.close?.();
    });

    test("runs the calls with what the model gave them, and tells it their results", async () => {
      const client = await clientOf(name, format, "loop/3");
      const paths: string[] = [];
      const conversation = await client.open(({ path }) => {
        paths.push(path);
        return "Seen.";
      });
      expect(await conversation.ask("Read all chapters.")).toBe(textOf(10).length);
      expect(paths).toEqual(["src/chapter-1.md", "src/chapter-2.md", "src/chapter-3.md"]);
      await conversation.close?.();
    });
  });

  test("the bare socket reads an answer to its end", async () => {
    const conversation = await (await clientOf("socket", format, "stream/30")).open();
    expect(await conversation.ask("What is a banyan?")).toBeUndefined();
    expect(await conversation.ask("And what does it do then?")).toBeUndefined();
  });
});

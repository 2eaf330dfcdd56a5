import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

test.skipIf(!hasTmux)(
  "T52: the first message stands on the screen before the model has said a word, and so does a command typed while it works",
  async () => {
    using place = home();
    const letGo = Promise.withResolvers<void>();
    await using model = await modelServer({ text: ["", "The answer."], held: letGo.promise });
    using pty = Pty.open(place, ["--model", "openai-compatible/test"], model.env);
    await pty.prompted();
    pty.enter("hello");
    // The model's response is held back.
    await pty.until(/^❯ hello$/);
    await pty.until("Esc to stop");
    pty.enter("/waiting");
    const screen = await pty.until("No message waits");
    expect(screen).not.toContain("The answer.");
    letGo.resolve();
    await pty.until("The answer.");
    const lines = (await pty.prompted()).split("\n");
    const places = ["❯ hello", "❯ /waiting", "No message waits", "The answer."].map((line) =>
      lines.findIndex((shown) => shown.startsWith(line)),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  },
);

test.skipIf(!hasTmux)("C18: a command as first message has the same effect as a typed command", async () => {
  using place = home();
  await using model = await modelServer({ text: "Looked." });
  using pty = Pty.open(place, ["--model", "openai-compatible/test", "/init tests"], model.env);
  await pty.until("Looked.");
  expect(JSON.stringify(model.asked[0]?.at(-1)?.content)).toContain("Most important to me: tests");
  using other = Pty.open(place, ["--model", "openai-compatible/test", "/mdoel"], model.env);
  await other.until("There is no command /mdoel. Did you mean /model");
  expect(model.asked).toHaveLength(1);
});

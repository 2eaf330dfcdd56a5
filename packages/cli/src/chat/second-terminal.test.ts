import { expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

test.skipIf(!hasTmux)(
  "F5: a second terminal gets the name of the process that has the conversation, until this process closes it",
  async () => {
    using place = home();
    await using server = await modelServer({ text: "Hello to you." }, { text: "And to you." });
    using first = Pty.open(place, MODEL, server.env);
    await first.prompted();
    await first.exchange("hello", "Hello to you.");
    const open =
      /^banyan: Conversation [0-9a-z]{26} is open in banyan \(process \d+ on \S+, since [-\d]+ [:\d]+\); close the conversation there/;

    const print = await banyan(place, ["-p", "and me?", "--continue", ...MODEL], server);
    expect({ code: print.code, stdout: print.stdout }).toEqual({ code: 2, stdout: "" });
    expect(print.stderr).toMatch(open);
    using second = Pty.open(place, ["--continue", ...MODEL], server.env);
    expect((await second.until("[exit 2]")).replaceAll(/\n(?!$|\[)/g, "")).toMatch(open);

    first.enter("/clear");
    await first.until("New conversation.");
    const later = await banyan(place, ["-p", "and now?", "--continue", ...MODEL], server);
    expect(later).toMatchObject({ code: 0, stdout: "And to you.\n" });
  },
);

import { expect, test } from "vitest";
import { nextLine, run } from "./child.fixture.ts";
import { ID, storeIn, temporaryDirectory } from "./store.fixture.ts";

const COUNT = 100_000;

test.runIf(process.env.BANYAN_LONG)(
  "F10 a path 100,000 messages deep opens under a memory cap, from 100,000 events",
  async () => {
    const directory = await temporaryDirectory();
    const log = await storeIn(directory).open(ID, { create: true });
    for (let block = 0; block < COUNT / 1000; block++) {
      const next = Array.from({ length: 1000 }, (_, index) => log.seq + 1 + index);
      await log.append(
        next.map((seq) => ({
          type: "message.added",
          message: `m${seq}`,
          parentId: seq === 1 ? null : `m${seq - 1}`,
          role: "user",
          parts: [{ type: "text", text: `message ${seq}` }],
          seq,
          epoch: log.epoch,
          at: seq,
        })),
      );
    }
    await log.close();
    const { lines } = run(
      directory,
      `await log.close();
    const { pathTo, Session, textOf } = await import(${JSON.stringify(import.meta.resolve("@banyan/core"))});
    const session = await Session.open(store, ${JSON.stringify(ID)});
    const path = pathTo(session.state, session.state.leaf);
    console.log(JSON.stringify([path.length, textOf(path[0]), textOf(path.at(-1)), session.damage]));
    const { excerpt } = (await store.search("message 77777"))[0];
    console.log(excerpt);
    await session.close();
    process.exit();`,
      ["--max-old-space-size=160"],
    );
    expect(JSON.parse(await nextLine(lines))).toEqual([COUNT, "message 1", `message ${COUNT}`, []]);
    expect(await nextLine(lines)).toBe("message 77777");
  },
);

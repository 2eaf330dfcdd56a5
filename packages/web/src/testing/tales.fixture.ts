import { createId, Session } from "@banyan/core";
import { ASKED } from "./scenes.fixture.ts";
import type { Stage } from "./stage.fixture.ts";
import { STORY } from "./story.fixture.ts";

/** An image of a sky and a sea, 96 by 64. */
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAGAAAABAAQMAAADf+uBNAAAABlBMVEWoy+scYoxpaqmFAAAAFElEQVR42mNgGAV0A/+RwChnWHAAb2euYCO34eMAAAAASUVORK5CYII=";

/** The tide table, at the question before the file change. */
export async function asking(stage: Stage): Promise<string> {
  for (const title of ["Move the buoys into their own table", "Why is the build slow on ARM?"]) {
    await stage.idle(await stage.begun(title));
  }
  const conversation = await stage.begun(STORY.wrongDay, "The tide table, on the station's clock");
  await stage.waiting(conversation, "edit");
  return conversation;
}

/** The same story to its end, with branches and two sub-agents, of which one asks a question. */
export async function branches(stage: Stage): Promise<string> {
  const conversation = await stage.begun(STORY.wrongDay, "The wrong day after midnight");
  await stage.allow(conversation, "edit");
  await stage.allow(conversation, "shell");
  await stage.idle(conversation);
  const fixed = await stage.leafOf(conversation);
  /** Sends a message below an answer, and returns the new answer. */
  const answered = async (words: string, at: string) => {
    await stage.say(conversation, words, at);
    await stage.idle(conversation);
    return stage.leafOf(conversation);
  };
  const library = await answered(STORY.library, fixed);
  await answered(STORY.temporal, library);
  await answered(STORY.test, library);
  await answered(STORY.almanac, fixed);
  const chart = await answered(STORY.chart, fixed);
  await answered(STORY.axis, chart);
  await answered(STORY.colour, chart);
  await answered(STORY.leap, fixed);
  await stage.say(conversation, STORY.zones, fixed);
  await stage.waiting(conversation, "shell");
  return conversation;
}

/** A conversation with one message, in the given state. */
export function one(words: string, then: "idle" | "waiting" | "running" = "running") {
  const known = ones.get(words);
  if (known) return known;
  const tell = async (stage: Stage) => {
    const conversation = await stage.begun(words);
    if (then !== "running") await stage[then](conversation);
    return conversation;
  };
  ones.set(words, tell);
  return tell;
}

const ones = new Map<string, (stage: Stage) => Promise<string>>();

/** A working conversation with a steering message and a queued one. */
export async function queued(stage: Stage): Promise<string> {
  const conversation = await stage.begun(ASKED.watch);
  const say = (text: string, delivery: "steer" | "queue") =>
    stage.ask("turn.say", { conversation, parts: [{ type: "text", text }], delivery });
  await say("Leave out the tests of the chart.", "steer");
  await say("Then write down in CHANGES.md what is new in 2.5.0.", "queue");
  return conversation;
}

/** A conversation with an approved plan. */
export async function planned(stage: Stage): Promise<string> {
  const conversation = await stage.begun(ASKED.plan);
  await stage.allow(conversation, "update_plan");
  await stage.idle(conversation);
  return conversation;
}

/** A conversation with an image and an attached text. */
export async function attached(stage: Stage): Promise<string> {
  const { conversation } = await stage.ask("conversation.create", {});
  const text = Buffer.from("London Bridge\nSydney, Fort Denison\n").toString("base64");
  await stage.ask("turn.say", {
    conversation,
    parts: [
      { type: "text", text: "Which harbour is this, and is it in the list?" },
      { type: "file", mediaType: "image/png", data: PICTURE, name: "harbour.png" },
      { type: "file", mediaType: "text/plain", data: text, name: "stations.txt" },
    ],
  });
  await stage.idle(conversation);
  return conversation;
}

/** A conversation whose answer names two web images: one exists, one does not. */
export async function naming(stage: Stage): Promise<string> {
  const conversation = await stage.begun(`${ASKED.gauges} ${stage.at("/")}`, "The gauges");
  await stage.idle(conversation);
  return conversation;
}

/** A conversation of 10,000 messages, of which every third begins a branch. */
export async function long(stage: Stage): Promise<string> {
  await using session = await Session.open(stage.served.store);
  const ids = Array.from({ length: 10_000 }, () => createId());
  for (let from = 0; from < ids.length; from += 1_000) {
    await session.commit(
      ids.slice(from, from + 1_000).map((message, index) => {
        const at = from + index;
        return {
          type: "message.added" as const,
          message,
          parentId: ids[at % 3 === 0 ? Math.floor((at - 1) / 2) : at - 1] ?? null,
          role: "user" as const,
          author: "user" as const,
          parts: [{ type: "text" as const, text: `High water number ${at} of the year` }],
        };
      }),
    );
  }
  return session.id;
}

/** A conversation after the file change, at the question before the tests. */
export async function running(stage: Stage): Promise<string> {
  const conversation = await stage.begun(STORY.wrongDay, "Tides, before the tests");
  await stage.allow(conversation, "edit");
  await stage.waiting(conversation, "shell");
  return conversation;
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { hasEnded, lasting } from "../testing/lasting.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--plain", "--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

const call = (tool: string, input: object): ServerAnswer => ({ calls: [{ tool, input }] });

describe.skipIf(!hasTmux)("the commands of a chat", () => {
  test("T66: /changes and /undo: what was changed is shown, and taken back with its diff; the model is told with what is said next", async () => {
    const path = join(place.workspace, "a.txt");
    writeFileSync(path, "one\n");
    await using server = await modelServer(
      call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
      {
        text: "Done.",
      },
      {
        text: "I see.",
      },
    );
    using pty = Pty.open(place, [...MODEL, "--approval", "edits"], server.env);
    await pty.prompted();
    await pty.exchange("/changes git", "/changes git works after the first message of a conversation.");
    await pty.exchange("change it", "Done.");
    // A single changed file needs no name.
    expect(await pty.exchange("/changes", /^changed a\.txt, 1 line added, 1 removed$/)).toMatch(/- one\n.*\+ two/);
    expect(await pty.exchange("/undo", "Undone: changed a.txt, 1 line added, 1 removed")).toMatch(/- two\n.*\+ one/);
    expect(readFileSync(path, "utf8")).toBe("one\n");
    await pty.exchange("/undo", "No call on this branch has changed a file, or the changes are already undone.");
    pty.enter("go on");
    await pty.until("I see.");
    const told = server.asked[2]?.map(({ content }) => content).at(-2);
    expect(told).toMatch(/^The user undid file changes\. .*\n- a\.txt has its previous content again$/);
    expect(server.asked[2]?.at(-1)?.content).toBe("go on");
  });

  test("C6, T57: /processes and /tasks list what goes on in the background, /processes stops it, and the status counts it", async () => {
    const command = lasting();
    await using server = await modelServer(
      call("shell", { command: `echo up; ${command}`, background: true }),
      { text: "It runs." },
      { text: "I see." },
    );
    const full = MODEL.filter((flag) => flag !== "--plain");
    using pty = Pty.open(place, [...full, "--approval", "all", "--unconfined"], server.env);
    await pty.prompted();
    await pty.exchange("/processes", "Nothing runs in the background.");
    await pty.exchange("start it", "It runs.");
    expect(pty.screen()).toContain(`Running in the background (p1): echo up; ${command}`);
    await pty.until("1 in the background");
    await pty.exchange("/tasks", new RegExp(`^p1 .* echo up; ${command}$`));
    await pty.exchange("/processes stop p7", "No command p7 runs in the background.");
    await pty.exchange("/processes stop", "Give the name of one command, as in /processes stop p1.");
    await pty.exchange("/processes kill", "/processes does not know kill. It knows stop");
    await pty.exchange("/processes stop p1", "p1 has ended: a user stopped it.");
    await hasEnded(command);
    // The model gets the message; the user has already read it.
    expect((await pty.exchange("go on", "I see.")).match(/p1.* has ended/g)).toHaveLength(1);
    expect(server.asked[2]?.map(({ content }) => content).at(-2)).toBe(
      `p1 (echo up; ${command}) has ended: a user stopped it.`,
    );
  });

  test("B40, B39: /mode task works until finish_task; ask_client asks the person, who may take the default", async () => {
    await using server = await modelServer(
      call("ask_client", { question: "Which colour?", default_answer: "blue" }),
      call("finish_task", { result: "It is painted.", summary: "painted" }),
      { text: "You are welcome." },
    );
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("/mode task", "Task mode: the agent works on your message until the task is finished.");
    pty.enter("paint it");
    await pty.until("banyan asks:\nWhich colour?\n(now: blue; an empty line keeps it)");
    await pty.until("Your answer:");
    pty.press("Enter");
    await pty.until("It is painted.");
    expect(JSON.stringify(server.asked[1])).toContain("blue");
    await pty.prompted();
    await pty.exchange("/mode chat", "Chat mode: it is your turn after each answer.");
    pty.enter("thanks");
    await pty.until("You are welcome.");
  });

  test("B37: --task ends with the task and its exit code; a sub-agent's question names the sub-agent", async () => {
    await using server = await modelServer(
      call("launch_agent", { task: "touch it", expected_output: "nothing" }),
      call("shell", { command: "touch made.txt" }),
      call("finish_task", { result: "touched", summary: "" }),
      call("finish_task", { result: "All is done.", summary: "" }),
    );
    using pty = Pty.open(place, [...MODEL, "--task", "have it touched"], server.env);
    await pty.until("agent 1 asks to run shell in");
    await pty.until("Allow this?");
    pty.enter("1");
    const screen = await pty.until("[exit 0]");
    expect(screen).toContain("All is done.");
    expect(screen).not.toMatch(/^touched$/m);
  });

  test("T54: /agents, /context, /memory, /title, /approval, /mcp, /status, /config, /copy and /export tell and set what they are about", async () => {
    await using server = await modelServer(
      call("launch_agent", { task: "look around", expected_output: "a word" }),
      call("finish_task", { result: "nothing", summary: "" }),
      { text: "Done." },
    );
    const hook = {
      hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "exit 0" }] }] },
      statusLine: { type: "command", command: "echo mine" },
    };
    mkdirSync(join(place.env.BANYAN_HOME ?? "", "config"), { recursive: true });
    writeFileSync(join(place.env.BANYAN_HOME ?? "", "config", "settings.json"), JSON.stringify(hook));
    using pty = Pty.open(place, MODEL, { ...server.env, BANYAN_MEMORY: "on" });
    await pty.prompted();
    await pty.exchange("/memory off", "Memory is off for this conversation");
    pty.enter("have a look");
    await pty.until("Done.");
    const asks: [command: string, says: RegExp][] = [
      ["/agents", /^1 +done, .*look around/],
      ["/context", /^tool +launch_agent +~?[\d,]+/],
      ["/memory", /^Memory is off for this conversation\. \/memory on turns it on\.$/],
      ["/title The look", /^The title is now “The look”\.$/],
      ["/approval edits", /^Approval: the agent edits files here without asking, and asks before commands\.$/],
      ["/mcp", /^No MCP servers are set up\./],
      [
        "/status",
        /approval +edits: edits freely\n.*“The look”, 3 messages(.*\n)+.*file +\/.*\.sqlite\n(.*\n)+.*MCP +no servers/,
      ],
      ["/config hooks", /^hooks\.SessionEnd +user +.*exit 0.*\n\n(.*\n)*user: \/.*settings\.json$/],
      ["/copy", /^Copied the answer, 1 line\.$/],
      ["/export", /^Written: \/.*\.md$/],
      ["?", /^In a plain terminal, your system's own keys edit the line/],
      ["/hooks", /^\/.*settings\.json\n {2}SessionEnd +\* +exit 0\nThe status line is written by echo mine$/],
    ];
    for (const [command, says] of asks) {
      await pty.prompted();
      pty.enter(command);
      await pty.until(says);
    }
  });

  test("/compact replaces earlier messages by a summary, and the conversation continues below it", async () => {
    const answers = ["Red, because ".padEnd(2_000, "it is warm, "), "Round.", "Large.", "Heavy."].map((text) => ({
      text,
    }));
    await using server = await modelServer(...answers, { text: "Red is liked." }, { text: "Yes." });
    using pty = Pty.open(place, MODEL, server.env);
    for (const { text } of answers) {
      await pty.prompted();
      pty.enter("what is it like?");
      await pty.until(text.slice(0, 5));
    }
    await pty.prompted();
    await pty.exchange(
      "/compact",
      /Compacted \d+ messages: from about [\d,]+ to [\d,]+ tokens\nAll messages stay in the tree\./,
    );
    pty.enter("is it so?");
    await pty.until("Yes.");
    const said = JSON.stringify(server.asked.at(-1));
    expect(said).toContain("Red is liked.");
    expect(said).toContain("Heavy.");
    expect(said).not.toContain("it is warm");
  });

  test("F99: /edit makes an edited summary next to the old: from the text after the command, or from the prompt", async () => {
    await using server = await modelServer(
      { text: "Red." },
      { text: "Round." },
      { text: "Red is liked." },
      { text: "Yes." },
      { text: "No." },
    );
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    for (const said of ["Red.", "Round."]) await pty.exchange("what is it like?", said);
    await pty.exchange("/compact", /Compacted \d+ messages/);
    await pty.exchange("/edit #5 Blue is liked.", "Your next message continues from the edited summary.");
    await pty.exchange("is it so?", "Yes.");
    expect(JSON.stringify(server.asked.at(-1))).toContain("Blue is liked.");
    expect(JSON.stringify(server.asked.at(-1))).not.toContain("Red is liked.");
    pty.enter("/edit #5");
    await pty.until("(you had written: /edit #5 Red is liked.)");
    pty.enter("/edit #5 Red is liked. So is green.");
    await pty.until("Your next message continues from the edited summary.", 2);
    await pty.prompted();
    await pty.exchange("and now?", "No.");
    expect(JSON.stringify(server.asked.at(-1))).toContain("Red is liked. So is green.");
  });

  test("a Markdown file of the user is a command: its text goes to the agent, and what is named in it goes along", async () => {
    const folder = join(place.env.BANYAN_HOME ?? "", "config", "commands");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "review.md"), "---\ndescription: look at a file\n---\nReview $1 with care: @$1\n");
    writeFileSync(join(place.workspace, "a.txt"), "alpha\n");
    await using server = await modelServer({ text: "It is fine." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    await pty.exchange("/help", /\/review +look at a file/);
    pty.enter("/review a.txt");
    await pty.until("Attached: a.txt (text, 6 B)");
    await pty.until("It is fine.");
    const said = JSON.stringify(server.asked[0]);
    for (const part of ["Review a.txt with care", "alpha"]) expect(said).toContain(part);
  });
});

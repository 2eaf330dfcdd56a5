// A client of `banyan serve` without our client library. It sends a message and prints the answer while it streams.
import { WebSocket } from "ws";

type Result = { readonly conversation: string };
const { BANYAN_ADDRESS: address = "http://127.0.0.1:4180", BANYAN_TOKEN: token } = process.env;
const headers = { authorization: `Bearer ${token}` };
const socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, { headers });
const send = (frame: object) => socket.send(JSON.stringify(frame));
const answers = new Map<string, (result: Result) => void>();

/** Sends a command. After a lost connection the same id may be sent again: the command acts once. */
function ask(type: string, input: object): Promise<Result> {
  const id = crypto.randomUUID().replaceAll("-", "");
  send({ type, id, ...input });
  return new Promise((resolve) => answers.set(id, resolve));
}

socket.onopen = () => send({ type: "hello", protocol: "1.0", client: "by hand" });
socket.onmessage = async ({ data }) => {
  const { type, id, result, error, conversation, items = [] } = JSON.parse(String(data));
  if (type === "done") answers.get(id)?.(result);
  if (type === "failed") throw new Error(error.message);
  if (type === "welcome") {
    const { conversation } = await ask("conversation.create", {});
    await ask("feed.subscribe", { conversation });
    await ask("turn.say", { conversation, parts: [{ type: "text", text: "create oak.txt with tall and slow" }] });
  }
  for (const { type, text, question } of items) {
    if (type === "text.delta") process.stdout.write(text);
    if (type === "message.completed") process.stdout.write("\n");
    if (type === "call.approval-requested")
      await ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    if (type === "run.ended") socket.close();
  }
};

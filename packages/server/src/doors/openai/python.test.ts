import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as read } from "node:stream/consumers";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { pythonPackage } from "../../../../../scripts/python-package.ts";
import { serving, TOKEN } from "../../testing/serving.fixture.ts";

const { path: PYTHONPATH, whyNot } = pythonPackage("openai");

/** A Python program that sends each kind of request and prints the answers. */
const PROGRAM = `
import os
from openai import OpenAI
client = OpenAI(base_url=os.environ["ADDRESS"], api_key=os.environ["TOKEN"], max_retries=0)
print([model.id for model in client.models.list()][0])
first = client.responses.create(model="banyan", input="one")
print(first.output_text)
with client.responses.stream(model="banyan", input="two", previous_response_id=first.id) as stream:
    for event in stream:
        if event.type == "response.output_text.delta": print(event.delta, end="|")
    print(stream.get_final_response().status)
tools = [{"type": "function", "function": {"name": "locate", "parameters": {"type": "object"}}}]
messages = [{"role": "user", "content": "where?"}]
asked = client.chat.completions.create(model="banyan", messages=messages, tools=tools).choices[0]
print(asked.finish_reason, asked.message.tool_calls[0].function.name)
result = {"role": "tool", "tool_call_id": asked.message.tool_calls[0].id, "content": "here"}
said = client.chat.completions.create(model="banyan", messages=[*messages, asked.message, result], tools=tools, stream=True)
print("".join(chunk.choices[0].delta.content or "" for chunk in said))
`;

describe.skipIf(whyNot !== "")(`OpenAI's client in Python${whyNot}`, () => {
  test("lists models, goes on behind a response, streams, and carries out its own tools", async () => {
    const model = scriptedModel(["One.", [text("Two", " and three.")], [call("locate")], "Here."]);
    const { server } = await serving({ model });
    const env = { ...process.env, PYTHONPATH, ADDRESS: `${server.address}/v1`, TOKEN };
    const client = spawn("python3", ["-c", PROGRAM], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void client.kill());
    const [said, [code]] = await Promise.all([read(client.stdout), once(client, "exit")]);
    expect([code, said.replaceAll("|", "")]).toEqual([
      0,
      "banyan\nOne.\nTwo and three.completed\ntool_calls locate\nHere.\n",
    ]);
  });
});

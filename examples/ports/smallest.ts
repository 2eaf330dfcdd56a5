// AI SDK: one streamed answer.
import { openai } from "@ai-sdk/openai";
import { streamText } from "ai";

const { textStream } = streamText({ model: openai("gpt-5-mini"), prompt: "Why are leaves green?" });
for await (const text of textStream) process.stdout.write(text);

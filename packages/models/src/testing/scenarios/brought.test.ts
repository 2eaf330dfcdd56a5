import { expect, test } from "vitest";
import { bodiesOf, user } from "../../families/request.fixture.ts";
import { formats } from "./formats.ts";
import { play } from "./play.ts";
import { calling, DOT, PAPER, scan } from "./tools.ts";

// C4: files of a tool's result reach a model in its provider's form, and a model that cannot see them gets a note.

const png = `data:image/png;base64,${DOT}`;
const pdf = `data:application/pdf;base64,${PAPER}`;
const UNHEARD = "[hum (application/x-none) is not shown to you: this model is not known to accept such files.]";
const UNREAD = "[paper.pdf (application/pdf) is not shown to you: this model is not known to accept such files.]";
const UNSEEN = "[dot.png (image/png) is not shown to you: this model is not known to accept such files.]";
const SAID = `scanned\n${UNHEARD}`;

const behind = (...parts: readonly object[]) => ({
  role: "user",
  content: [{ type: "text", text: "Files from the result of scan (call call_1):" }, ...parts],
});
const picture = { type: "image_url", image_url: { url: png } };
const blocks = (title: object) => [
  { type: "text", text: SAID },
  { type: "image", source: { type: "base64", media_type: "image/png", data: DOT } },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: PAPER }, ...title },
];

const GEMINI = [
  {
    role: "user",
    parts: [
      { functionResponse: { name: "scan", response: { name: "scan", content: SAID } } },
      { inlineData: { mimeType: "image/png", data: DOT } },
      { text: "Tool executed successfully and returned this image as a response" },
      { inlineData: { mimeType: "application/pdf", data: PAPER } },
      { text: "Tool executed successfully and returned this file as a response" },
    ],
  },
];

const RESPONSES = [
  {
    type: "function_call_output",
    call_id: "call_1",
    output: [
      { type: "input_text", text: SAID },
      { type: "input_image", image_url: png },
      { type: "input_file", filename: "paper.pdf", file_data: pdf },
    ],
  },
];

/** The parts after the call in a request, by format. */
const expected: Readonly<Record<string, readonly object[]>> = {
  "OpenAI chat": [
    { role: "tool", tool_call_id: "call_1", content: SAID },
    behind(picture, { type: "file", file: { filename: "paper.pdf", file_data: pdf } }),
  ],
  "OpenAI chat, at any address": [
    { role: "tool", tool_call_id: "call_1", content: `scanned\n${UNREAD}\n${UNHEARD}` },
    behind(picture),
  ],
  "Ollama's own address for OpenAI's format": [
    { role: "tool", tool_call_id: "call_1", content: `scanned\n${UNSEEN}\n${UNREAD}\n${UNHEARD}` },
  ],
  "OpenAI responses": RESPONSES,
  "OpenAI responses, through its package": RESPONSES,
  Anthropic: [
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "call_1", content: blocks({ title: "paper.pdf" }) }],
    },
  ],
  "Anthropic, through its package, at an address with its version": [
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: blocks({}) }] },
  ],
  Gemini: GEMINI,
  "Gemini, through its package": GEMINI,
};

test.each(formats)("C4: a picture and a document of a tool, in the way of: $name", async (format) => {
  const replies = [{ response: { toolCalls: [calling("call_1", "scan", {})] } }, { response: { content: "A dot." } }];
  const { requests, turns } = await play(format, { says: ["Scan it"], replies, agent: { tools: [scan] } });
  expect(turns[0]?.text).toBe("A dot.");
  const body = requests[1]?.body as Readonly<Record<string, readonly object[]>>;
  const said = body.messages ?? body.input ?? body.contents ?? [];
  const bare = JSON.parse(
    JSON.stringify(said, (key, value) => (key === "cache_control" || key === "id" ? undefined : value)),
  );
  const wanted = expected[format.name] ?? [];
  expect(bare.slice(-wanted.length)).toEqual(wanted);
});

const UNTAKEN = [UNSEEN, UNREAD].join("\n");

test.each<[name: string, env: Record<string, string>, address: string, expected: object]>([
  [
    "google/gemini-3-pro-preview",
    { GOOGLE_GENERATIVE_AI_API_KEY: "k" },
    "GOOGLE_GENERATIVE_AI_BASE_URL",
    {
      functionResponse: {
        id: "abcdefghi",
        name: "scan",
        response: { name: "scan", content: "scanned" },
        parts: [
          { inlineData: { mimeType: "image/png", data: DOT } },
          { inlineData: { mimeType: "application/pdf", data: PAPER } },
        ],
      },
    },
  ],
  [
    "mistral/mistral-medium-latest",
    { MISTRAL_API_KEY: "k" },
    "MISTRAL_BASE_URL",
    [
      { type: "image_url", image_url: png },
      { type: "document_url", document_url: pdf },
    ],
  ],
  [
    "groq/openai/gpt-oss-120b",
    { GROQ_API_KEY: "k" },
    "GROQ_BASE_URL",
    { role: "tool", tool_call_id: "abcdefghi", content: `scanned\n${UNTAKEN}` },
  ],
  [
    "xai/grok-4.5",
    { XAI_API_KEY: "k" },
    "XAI_BASE_URL",
    [
      { type: "input_text", text: `scanned\n${UNREAD}` },
      { type: "input_image", image_url: png },
    ],
  ],
  [
    "amazon-bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    { AWS_REGION: "eu-west-1", AWS_BEARER_TOKEN_BEDROCK: "k" },
    "AMAZON_BEDROCK_BASE_URL",
    [
      { text: "scanned" },
      { image: { format: "png", source: { bytes: DOT } } },
      { document: { format: "pdf", name: "paper", source: { bytes: PAPER } } },
    ],
  ],
])("C4: the same for %s", async (name, env, address, expected) => {
  const file = { type: "file", digest: "d" } as const;
  const files = [
    { ...file, mediaType: "image/png", name: "dot.png", data: DOT },
    { ...file, mediaType: "application/pdf", name: "paper.pdf", data: PAPER },
  ];
  const [body] = await bodiesOf(name, (url) => ({ ...env, [address]: url }), {
    tools: [{ name: "scan", description: "Scans.", input: { type: "object", properties: {} } }],
    messages: [
      user("Scan it"),
      {
        role: "assistant",
        parts: [{ type: "call", id: "abcdefghi", tool: "scan", input: {} }],
        results: [{ call: "abcdefghi", tool: "scan", output: "scanned", failed: false, files }],
      },
    ],
  });
  expect(JSON.stringify(body)).toContain(JSON.stringify(expected).replace(/^\[|\]$/g, ""));
});

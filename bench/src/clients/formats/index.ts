import type { Format } from "../../measure.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import type { WireFormat } from "./format.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";

export const formats: Readonly<Record<Format, WireFormat>> = { chat, anthropic, gemini, responses };

export { toHtml } from "./html.ts";
export { ExchangeError, fromJson, type ReadConversation, toJson } from "./json.ts";
export { toMarkdown } from "./markdown.ts";

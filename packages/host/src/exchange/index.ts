export { ExchangeError } from "./error.ts";
export { toHtml } from "./html.ts";
export { fromJson, type ReadConversation, toJson } from "./json.ts";
export { toMarkdown } from "./markdown.ts";

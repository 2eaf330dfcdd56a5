export { ExchangeError } from "./error.ts";
export { dollars, eventSchemas, usage } from "./event-schema.ts";
export { toHtml } from "./html.ts";
export { fromJson, type ReadConversation, toJson } from "./json.ts";
export { toMarkdown } from "./markdown.ts";

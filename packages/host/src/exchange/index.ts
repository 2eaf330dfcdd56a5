export { toHtml } from "./html.ts";
export { ExchangeError, fromJson, type ReadConversation, toJson } from "./json.ts";
export { toMarkdown } from "./markdown.ts";
export { type FoundSession, readSession, sessionFolders, sessionsIn } from "./programs/find.ts";
export { type ForeignProgram, type PastSession, PROGRAMS } from "./programs/past-session.ts";
export { conversationOf, SOURCE, sessionSource } from "./programs/to-events.ts";

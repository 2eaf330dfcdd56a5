export { type SearchedLog, searchLogs } from "./search-logs.ts";

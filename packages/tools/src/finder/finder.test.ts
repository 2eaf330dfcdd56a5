import { Agent, type ToolContext } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { toolFinder } from "./finder.ts";
import { toolsOfServers } from "./servers.fixture.ts";

const tools = toolsOfServers();
const [find] = toolFinder(() => tools);

async function found(query: string): Promise<string[]> {
  const answer = String(await find?.execute({ query }, {} as ToolContext));
  return answer.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line).name as string] : []));
}

/** Queries in a user's words, each with the tools that fit. */
const WANTED: readonly (readonly [query: string, ...names: string[]])[] = [
  ["report a bug in our GitHub project", "mcp_github_create_issue"],
  ["which tickets are still open on GitHub?", "mcp_github_list_issues", "mcp_github_search_issues"],
  ["leave a remark under a ticket", "mcp_github_add_issue_comment"],
  ["close a GitHub ticket that is done", "mcp_github_update_issue"],
  ["bring a finished PR into the main branch", "mcp_github_merge_pull_request"],
  ["did the CI checks of a pull request pass?", "mcp_github_get_pull_request_status"],
  ["make my own copy of somebody's repo on GitHub", "mcp_github_fork_repository"],
  ["what was changed lately in a repository, and by whom", "mcp_github_list_commits"],
  ["approve a colleague's pull request", "mcp_github_create_pull_request_review"],
  ["what files does a PR touch", "mcp_github_get_pull_request_files"],
  ["propose my branch for merging on gitlab", "mcp_gitlab_create_merge_request"],
  ["tell the team something on Slack", "mcp_slack_slack_post_message"],
  ["what was said last in a Slack channel", "mcp_slack_slack_get_channel_history"],
  ["give a thumbs up to a message", "mcp_slack_slack_add_reaction"],
  ["answer somebody in a thread", "mcp_slack_slack_reply_to_thread"],
  ["who works here? everybody on slack", "mcp_slack_slack_get_users"],
  ["how do I get from Berlin to Munich by car", "mcp_google-maps_maps_directions"],
  ["latitude and longitude of a street", "mcp_google-maps_maps_geocode"],
  ["which street is at these coordinates", "mcp_google-maps_maps_reverse_geocode"],
  ["how high above the sea is a place", "mcp_google-maps_maps_elevation"],
  ["pizza places near the station", "mcp_google-maps_maps_search_places", "mcp_brave-search_brave_local_search"],
  ["how long does it take to travel between several cities", "mcp_google-maps_maps_distance_matrix"],
  ["google something on the internet", "mcp_brave-search_brave_web_search"],
  ["how many customers are in our SQL database?", "mcp_postgres_query"],
  ["remember that Anna is the boss of Ben", "mcp_memory_create_relations", "mcp_memory_create_entities"],
  ["forget a person from the knowledge graph", "mcp_memory_delete_entities"],
  ["show me everything you have in memory", "mcp_memory_read_graph"],
  ["rename a file on the disk", "mcp_filesystem_move_file"],
  ["make a new folder", "mcp_filesystem_create_directory"],
  ["how big is this file, and when was it changed", "mcp_filesystem_get_file_info"],
  ["view a photo from the disk", "mcp_filesystem_read_media_file"],
  ["replace a few lines of a text file", "mcp_filesystem_edit_file"],
  [
    "what does the web page look like now? take a picture",
    "mcp_puppeteer_puppeteer_screenshot",
    "mcp_playwright_browser_take_screenshot",
    "mcp_chrome-devtools_take_screenshot",
  ],
  [
    "press the login button on a website",
    "mcp_puppeteer_puppeteer_click",
    "mcp_playwright_browser_click",
    "mcp_chrome-devtools_click",
  ],
  [
    "why is my site so slow to load",
    "mcp_chrome-devtools_performance_start_trace",
    "mcp_chrome-devtools_performance_analyze_insight",
    "mcp_chrome-devtools_lighthouse_audit",
  ],
  [
    "which HTTP calls does the page make",
    "mcp_playwright_browser_network_requests",
    "mcp_chrome-devtools_list_network_requests",
  ],
  ["errors that the page logs", "mcp_playwright_browser_console_messages", "mcp_chrome-devtools_list_console_messages"],
  ["docs of a JavaScript library", "mcp_context7_query-docs", "mcp_context7_resolve-library-id"],
  ["write a new page into our Notion", "mcp_notion_API-post-page"],
  ["draw a picture of a castle", "mcp_everart_generate_image"],
];

describe("C3: find_tools", () => {
  test("finds the right tool for 40 of 40 plain descriptions, among the tools of 16 servers", async () => {
    expect(tools.length).toBeGreaterThan(170);
    expect(WANTED.length).toBe(40);
    const missed: unknown[] = [];
    for (const [query, ...names] of WANTED) {
      const all = await found(query);
      if (!names.some((name) => all.includes(name))) missed.push([query, all]);
    }
    expect(missed).toEqual([]);
  });

  test("find_tools returns a bounded number of schemas unchanged, the exact name first, and the names of weaker matches", async () => {
    const answer = String(await find?.execute({ query: "mcp_slack_slack_get_users" }, {} as ToolContext));
    const [first = "", ...rest] = answer.split("\n");
    expect(JSON.parse(first)).toMatchObject({
      name: "mcp_slack_slack_get_users",
      input: { type: "object", properties: { cursor: { type: "string" } } },
    });
    expect(rest.filter((line) => line.startsWith("{")).length).toBeLessThan(10);
    expect(rest.filter((line) => line.startsWith("- mcp_")).length).toBeGreaterThan(5);
    expect(answer.length).toBeLessThan(40_000);
    expect(await find?.execute({ query: "qqqq" }, {} as ToolContext)).toMatch(/^\[none of 181 tools fits/);
  });

  test("an unknown name returns similar names", async () => {
    const model = scriptedModel([[call("call_tool", { tool: "mcp_github_create_isue", input: {} })], "ok"]);
    const unlisted = tools.map((tool) => ({ ...tool, unlisted: true }));
    await new Agent({ model, tools: [...unlisted, ...toolFinder(() => unlisted)] }).send("Go.");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["find_tools", "call_tool"]);
    const last = model.requests[1]?.messages.at(-1);
    expect(last?.role === "assistant" && last.results[0]?.output).toMatch(
      /there is no tool "mcp_github_create_isue"\. Did you mean mcp_github_create_issue/,
    );
  });
});

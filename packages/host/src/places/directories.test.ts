import { expect, test } from "vitest";
import { directories } from "./directories.ts";

test("without variables the folders lie in the home directory, where XDG has them", () => {
  expect(directories({}, "/home/u")).toEqual({
    config: "/home/u/.config/banyan",
    data: "/home/u/.local/share/banyan",
    state: "/home/u/.local/state/banyan",
    worktrees: "/home/u/.local/share/banyan-worktrees",
    cache: "/home/u/.cache/banyan",
  });
});

test("each XDG variable moves its folder, and a relative value or an empty one is ignored", () => {
  expect(
    directories(
      { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "relative", XDG_STATE_HOME: "", XDG_CACHE_HOME: "/d" },
      "/home/u",
    ),
  ).toEqual({
    config: "/c/banyan",
    data: "/home/u/.local/share/banyan",
    state: "/home/u/.local/state/banyan",
    worktrees: "/home/u/.local/share/banyan-worktrees",
    cache: "/d/banyan",
  });
});

test("BANYAN_HOME contains all folders, whatever XDG says", () => {
  expect(directories({ BANYAN_HOME: "/b", XDG_CONFIG_HOME: "/c" }, "/home/u")).toEqual({
    config: "/b/config",
    data: "/b/data",
    state: "/b/state",
    worktrees: "/b/worktrees",
    cache: "/b/cache",
  });
  expect(directories({ BANYAN_HOME: "here" }, "/home/u").config).toBe(`${process.cwd()}/here/config`);
});

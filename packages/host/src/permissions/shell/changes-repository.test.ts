import { expect, test } from "vitest";
import { repositoryChange } from "./changes-repository.ts";

test.each([
  ...[
    "git commit -m x",
    "git -C sub commit",
    "/usr/bin/git add .",
    "cd a && git push",
    "sudo git gc",
    "X=1 git tag v1",
  ],
  ...[
    "bash -c 'git stash'",
    "git branch new",
    "git remote add a b",
    "git $X",
    "ls; (git reset --hard)",
    "git clone a b",
  ],
  ...["git config user.name x", "git worktree add ../x", "find . -exec git rm {} +", "echo $(git fetch)", "git init"],
])("S37: %s changes a repository", (command) => {
  expect(repositoryChange(command)).toBeDefined();
});

test.each([
  ...["git status", "git --no-pager log -3", "git diff HEAD~1 | cat", "git branch", "git branch --show-current"],
  ...["git stash list", "git remote -v", "npm test", "echo git commit", "git", "git --version", "git config --get a.b"],
])("S37: %s changes no repository", (command) => {
  expect(repositoryChange(command)).toBeUndefined();
});

import { commandAttacks } from "./commands.ts";

// S24: a rule for the harmless options of a program, as "always" sets it, runs no other program.

const ALWAYS = [
  "rg",
  "sort",
  "git log",
  "git diff",
  "git grep",
  "git show",
  "find",
  "sed",
  "date",
  "tree",
  "npm test",
  "go test",
]
  .map((start) => `shell(${start} [harmless])`)
  .flatMap((rule) => ["--allow", rule]);

export const attacks = commandAttacks(
  "S24",
  ["evil"],
  [
    "rg --pre ./evil x .",
    "rg --pre=./evil x .",
    "rg x --pre ./evil",
    "rg {--pre,./evil} x",
    "rg --hostname-bin ./evil --hyperlink-format default x",
    "sort --compress-program=./evil -S 1k evil",
    "sort --compress-prog ./evil -S 1k evil",
    "git log --ext-diff -p",
    "git grep -O./evil x",
    "git grep --no-index -O./evil bin",
    "git grep --open-files-in-pager=./evil x",
    "git -c core.pager=./evil log",
    "git -c alias.log=!./evil log",
    "git -c diff.external=./evil diff --no-index evil ls",
    "find . -exec ./evil ;",
    "find . -name evil -exec {} ;",
    "find . -maxdepth 0 -execdir ./evil ;",
    "find . -okdir ./evil ;",
    "sed '1e ./evil' evil",
    "sed -n 1,80p -e 1e./evil evil",
    "sed -n '1p;1e ./evil' evil",
    "npm test --script-shell=./evil",
    "npm test --node-options=--require=./evil",
    "go test -exec ./evil ./...",
    "go test -toolexec ./evil ./...",
  ].map((command) => ({ command: command.replace(/ ;$/, " \\;"), flags: ALWAYS })),
);

import { UNKNOWN } from "../match.ts";

/** Programs that never run a program or write a file. They may read any file that their arguments name. */
export const ALWAYS_HARMLESS: ReadonlySet<string> = new Set(
  ": [ arch b2sum basename cat cksum cmp comm cut df dirname du echo egrep expand expr factor false fgrep fold free grep groups head hexdump id join jq locale logname ls md5sum nl nproc numfmt od paste printenv printf ps pwd readlink realpath rev seq sha1sum sha256sum sha512sum sleep stat strings sum tac tail test tr true tty type uname unexpand uptime wc which whoami".split(
    " ",
  ),
);

/** The harmless arguments of a command. */
export interface HarmlessArguments {
  /**
   * Options, separated by blanks: `-abc` letters without a value, `-x:` with a value, `-x=` with an optional value in
   * the same word, `--name`, `--name:`, `--name=` likewise, `-#` a number. Others are not harmless.
   */
  readonly options: string;
  /** True if options are whole words after one dash, as for `find` and `go`. */
  readonly wordy?: boolean;
  /** Maximum number of words, without counting options. Default: no maximum. */
  readonly most?: number;
  /** The required form of each word that is not an option. */
  readonly operand?: RegExp;
  /** The required form of the first word that is not an option. */
  readonly first?: RegExp;
  /** The required form of the values of options. */
  readonly value?: RegExp;
}

/** A path part that leads up. A wildcard after a dot may match `..`, as in `.*`. */
const UP = String.raw`(?:^|/)\.(?:\.(?:/|$)|[^/]*${UNKNOWN})`;
/** A path that stays inside, and no file with further words (`@words`): these programs run what they find there. */
const INSIDE = new RegExp(`^(?![/~@-])(?![\\s\\S]*${UP})`);
/** An option value of these programs, which may be a path. */
const NOT_AWAY = new RegExp(`^(?![/~])(?![\\s\\S]*${UP})`);
const HISTORY =
  "-# -pswbzRWaiEFq -u -U: -M= -C= -S: -G: -L: -n: --stat --stat= --shortstat --numstat --dirstat --name-only --name-status --summary --compact-summary --oneline --graph --decorate --decorate= --no-decorate --all --cached --staged --patch --no-patch --patch-with-stat --color --color= --no-color --no-ext-diff --no-textconv --no-pager --word-diff --word-diff= --color-words --unified: --max-count: --skip: --since: --until: --after: --before: --author: --committer: --grep: --invert-grep --format: --pretty --pretty: --abbrev --abbrev= --abbrev-commit --no-abbrev-commit --follow --reverse --merges --no-merges --first-parent --date: --diff-filter: --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --minimal --patience --histogram --find-renames --find-renames= --find-copies --no-renames --raw --check --left-right --cherry-pick --cherry --exit-code --quiet --relative --relative= --topo-order --date-order --author-date-order --branches --tags --remotes --function-context --merge-base --count --no-prefix --full-index --simplify-by-decoration";
const TESTS =
  "-v -t: -g: --run --watch=false --watchAll=false --no-watch --coverage --coverage=false --no-coverage --bail --bail= --verbose --silent --testNamePattern: --grep: --reporter=dot --reporter=verbose --reporter=default --reporter=basic --reporter=json --reporter=tap --reporter=spec --reporter=line --reporter=list --passWithNoTests --maxWorkers: --runInBand --changed --no-color --ci --forceExit --if-present -s -w: --workspace: --workspaces --include-workspace-root";
const SCRIPT = "-s -w: --silent --if-present --workspace: --workspaces --include-workspace-root --no-color";
const PYTEST =
  "-qvxsl -k: -m: -r= --lf --ff --last-failed --failed-first --sw --stepwise --tb: --maxfail: --durations: --no-header --no-summary --quiet --verbose --exitfirst --showlocals --collect-only --co --color:";
const CARGO =
  "-qvr -p: -j: --quiet --verbose --release --package: --workspace --all --lib --bins --bin: --tests --test: --examples --example: --benches --bench: --all-targets --all-features --no-default-features --features: --no-fail-fast --locked --offline --frozen --no-run --doc --nocapture --test-threads: --exact --ignored --include-ignored --show-output --jobs: --keep-going --message-format:";
const GITHUB =
  "-R: -L: -s: -l: -a: -A: --repo: --limit: --state: --label: --author: --assignee: --search: --json: --jq: --comments --name-only --patch";

const tests: HarmlessArguments = { options: TESTS, operand: INSIDE, value: NOT_AWAY };
const script: HarmlessArguments = { options: SCRIPT, most: 0, value: NOT_AWAY };
const pytest: HarmlessArguments = { options: PYTEST, operand: INSIDE, value: NOT_AWAY };
const cargo: HarmlessArguments = { options: CARGO, operand: INSIDE, value: NOT_AWAY };
const github: HarmlessArguments = { options: GITHUB };
const history: HarmlessArguments = { options: HISTORY };

/** A new name in the workspace without hidden parts. */
const NEW = /^(?![/~-])(?![\s\S]*(?:^|\/)\.)/;

/** An awk program without pipes, redirects, indirect calls, or functions that run something or load code. */
const AWK = new RegExp(`^(?![\\s\\S]*(?:system|getline|extension))[^|>@${UNKNOWN}]+$`);
/** Commands of sed that print lines or replace text, and neither run a program nor write a file. */
const SED_COMMAND = String.raw`(?:\d+(?:,(?:\d+|\+\d+|\$))?p|s/(?:[^/\[\\\n${UNKNOWN}]|\\[^\n${UNKNOWN}])+/(?:[^/\\\n${UNKNOWN}]|\\[^\n${UNKNOWN}])*/[gpI\d]*)`;
const SED = new RegExp(`^${SED_COMMAND}(?:;${SED_COMMAND})*;?$`);

/** The harmless arguments of each command, by the command's first words; `NAME` is any plain word. */
export const TABLES: Readonly<Record<string, HarmlessArguments>> = {
  awk: { options: "-F: -v:", first: AWK },
  base64: { options: "-dD -w: --decode --wrap:", most: 1 },
  cd: { options: "", first: /./, operand: INSIDE, most: 1 },
  column: { options: "-t -s:" },
  date: {
    options: "-uR -I= -d: -r: --utc --iso-8601 --iso-8601= --rfc-3339: --rfc-email --date: --reference:",
    operand: /^\+/,
  },
  diff: {
    options:
      "-urqNwbBiyacsTt -U: -C: -x: -I: --unified --unified= --recursive --brief --new-file --color --color= --side-by-side --suppress-common-lines --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --exclude: --text",
  },
  file: { options: "-bhiLkNnr --brief --mime --mime-type --mime-encoding --dereference --no-dereference" },
  fd: {
    options:
      "-HIuspgaFi0 -e: -t: -d: -E: --hidden --no-ignore --extension: --type: --max-depth: --exclude: --glob --absolute-path --full-path",
  },
  find: {
    wordy: true,
    options:
      "-name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -type: -xtype: -maxdepth: -mindepth: -size: -mtime: -mmin: -ctime: -cmin: -atime: -amin: -newer: -newermt: -perm: -user: -group: -links: -inum: -samefile: -printf: -lname: -not -o -a -or -and -empty -print -print0 -prune -readable -writable -executable -ls -depth -xdev -mount -L -H -P -follow -quit -true -false -daystart -nouser -nogroup -noleaf",
  },
  mkdir: { options: "-pv --parents --verbose", operand: NEW },
  rg: {
    options:
      "-nNivwlLcFUHIsSxoaqPuhV0 -g: -t: -T: -A: -B: -C: -m: -e: -f: -d: -M: -j: -r: -E: --files --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --glob: --iglob: --type: --type-not: --type-list --line-number --no-line-number --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --only-matching --multiline --multiline-dotall --pcre2 --context: --after-context: --before-context: --max-count: --max-depth: --max-columns: --max-filesize: --heading --no-heading --with-filename --no-filename --json --stats --sort: --sortr: --color: --vimgrep --replace: --regexp: --invert-match --trim --text --unrestricted --follow --null --passthru --quiet --column --version --help --no-messages --no-config --threads:",
  },
  sed: { options: "-nEr --quiet --silent --regexp-extended", first: SED },
  sort: {
    options:
      "-nrufbdghiMRVczs -k: -t: -S: --numeric-sort --reverse --unique --key: --field-separator: --ignore-case --ignore-leading-blanks --version-sort --human-numeric-sort --general-numeric-sort --stable --zero-terminated --check --random-sort --month-sort --dictionary-order",
  },
  touch: { options: "-acm", operand: NEW },
  tree: {
    // Letters cannot be combined: `-Lo 1 file` takes one word per letter.
    wordy: true,
    options:
      "-a -d -f -p -s -h -u -g -D -i -C -n -F -l -t -r -L: -I: -P: --dirsfirst --noreport --gitignore --du --prune --filelimit: --ignore-case --sort:",
  },
  uniq: { options: "-cdDuiz -f: -s: -w: --count --repeated --unique --ignore-case --zero-terminated", most: 1 },

  "git add": {
    options: "-Aunv -N --all --update --dry-run --intent-to-add --verbose --ignore-errors --renormalize --refresh",
  },
  "git blame": { options: "-wlstnefp -L: -C= -M= --date: --line-porcelain --porcelain --show-email --show-name" },
  "git branch": {
    options:
      "-arvi --all --remotes --list --verbose --show-current --contains: --no-contains: --merged --no-merged --sort: --format: --color= --no-color --points-at:",
    most: 0,
  },
  "git cat-file": { options: "-ptse", most: 2 },
  "git commit": {
    options:
      "-aqsn -m: --message: --all --quiet --signoff --amend --no-edit --allow-empty --author: --date: --no-verify --only --include --dry-run --short --porcelain",
  },
  "git config --get": { options: "", most: 1 },
  "git config --list": { options: "--global --local --show-origin", most: 0 },
  "git describe": { options: "--tags --all --always --dirty --long --abbrev= --match: --exact-match --contains" },
  "git diff": history,
  "git diff-tree": history,
  "git grep": {
    options:
      "-nilwcEFPIhHLoqv -e: -A: -B: -C: --line-number --ignore-case --files-with-matches --word-regexp --count --extended-regexp --fixed-strings --cached --untracked --heading --break --show-function --and --or --not --max-depth:",
  },
  "git log": history,
  "git ls-files": {
    options:
      "-cdmoisuztv -x: --cached --deleted --modified --others --exclude-standard --stage --unmerged --error-unmatch --full-name --exclude: --ignored --directory --eol",
  },
  "git ls-tree": { options: "-rtdlz --name-only --name-status --full-name --full-tree --long --abbrev=" },
  "git merge-base": { options: "-a --all --is-ancestor --fork-point --octopus --independent" },
  "git reflog": { options: HISTORY, most: 0 },
  "git remote": { options: "-v --verbose", most: 0 },
  "git rev-list": history,
  "git rev-parse": {
    options:
      "-q --short --short= --abbrev-ref --abbrev-ref= --show-toplevel --git-dir --git-common-dir --verify --quiet --is-inside-work-tree --show-prefix --show-cdup --symbolic-full-name --all --branches --tags",
  },
  "git shortlog": { options: "-sne -# --summary --numbered --email --no-merges --all --since: --until:" },
  "git show": history,
  "git stash list": history,
  "git status": {
    options:
      "-sbvz -u= --short --branch --verbose --porcelain --porcelain= --long --untracked-files --untracked-files= --ignored --ignored= --show-stash --ahead-behind --no-ahead-behind",
  },
  "git tag": { options: "-l -n= --list --sort: --contains: --merged= --format: --points-at:", most: 0 },

  "cargo bench": cargo,
  "cargo build": cargo,
  "cargo check": cargo,
  "cargo clippy": cargo,
  "cargo fmt": { options: "-v --all --check --verbose --quiet -q -p:", most: 0 },
  "cargo test": cargo,
  "cargo tree": { options: "-i: -e: -p: -d --depth: --invert: --duplicates --all-features --workspace", most: 1 },
  "docker images": { options: "-aq --all --quiet --format: --filter: -f: --no-trunc --digests" },
  "docker logs": { options: "-ft -n: --tail: --since: --until: --follow --timestamps --details" },
  "docker ps": { options: "-aqls -n: -f: --all --quiet --latest --size --format: --filter: --no-trunc" },
  "gh issue list": github,
  "gh issue view": github,
  "gh pr checks": github,
  "gh pr diff": github,
  "gh pr list": github,
  "gh pr view": github,
  "go build": { wordy: true, options: "-v -race -x", operand: INSIDE },
  "go list": { wordy: true, options: "-m -json -f: -deps -test -e", operand: INSIDE },
  "go test": {
    wordy: true,
    options: "-v -run: -count: -race -short -cover -timeout: -bench: -benchmem -failfast -parallel: -skip: -json",
    operand: INSIDE,
  },
  "go vet": { wordy: true, options: "-v -json", operand: INSIDE },
  "kubectl describe": { options: "-n: -l: -A --namespace: --selector: --all-namespaces" },
  "kubectl get": {
    options: "-n: -o: -l: -Aw --namespace: --output: --selector: --all-namespaces --show-labels --watch --sort-by:",
  },
  "kubectl logs": { options: "-n: -c: -l: -fp --namespace: --tail: --since: --follow --previous --container:" },
  "npm ls": { options: "-a --all --depth: --json --prod --omit: --parseable --long" },
  "npm outdated": { options: "--json --long --all" },
  "npm run NAME": script,
  "npm run test": tests,
  "npm t": tests,
  "npm test": tests,
  "npm view": { options: "--json" },
  "npx jest": tests,
  "npx vitest": tests,
  "npx vitest run": tests,
  "pip freeze": { options: "-l --local --all", most: 0 },
  "pip list": { options: "--outdated --format: --local --not-required -o -l", most: 0 },
  "pip show": { options: "-f --files --verbose" },
  "pnpm run NAME": script,
  "pnpm run test": tests,
  "pnpm test": tests,
  pytest,
  "python -m pytest": pytest,
  "python3 -m pytest": pytest,
  "yarn run NAME": script,
  "yarn run test": tests,
  "yarn test": tests,
};

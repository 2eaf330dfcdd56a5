// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
/** Random choices, the same for the same seed. */
export interface Chance {
  below(bound: number): number;
  one(...makers: readonly (string | (() => string))[]): string;
}

export function chance(seed: number): Chance {
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % bound;
  };
  return {
    below,
    one(...makers) {
      const maker = makers[below(makers.length)] ?? "";
      return typeof maker === "string" ? maker : maker();
    },
  };
}

/** A script of harmless commands and constructs that could change what they do. */
export function openScript(random: Chance): string {
  const { one, below } = random;
  const operand = () =>
    one(
      "a",
      "src",
      "src/*.ts",
      "*",
      "$x",
      '"$x"',
      "'a b'",
      "--",
      "-n",
      "-l",
      "a'b'\"c\"",
      "{a,b}",
      "~",
      "\\$x",
      "$'a'",
      "é",
    );
  const option = () =>
    one(
      "--pre ./evil",
      "--pre=evil",
      "-o ls",
      "--output=ls",
      "--outp ls",
      "--ext-diff",
      "-z",
      "{-o,ls}",
      "$'--pre=evil'",
    );
  const plain = () =>
    one("ls", "cat", "rg", "git log", "npm test", "sort", "echo", "cd src", "cd ..") +
    Array.from({ length: below(3) }, () => ` ${one(operand, operand, operand, option)}`).join("");
  const inner = () => one("ls", "evil", "PATH=.", "PATH=. ls", "rg --pre evil");
  const setting = () =>
    one(
      "PATH=.",
      "PATH=. ls",
      "((PATH=0))",
      "echo $((PATH=1))",
      "echo ${PATH:=.}",
      "echo ${PATH=.}",
      "unset PATH; PATH=.",
      "ls {PATH}>a",
      "ls {PATH}</dev/null",
      "[[ PATH=1 -eq 1 ]]",
      "[[ -v a[PATH=1] ]]",
      "a[PATH=1]=2",
      "let PATH=1",
      "declare PATH=.",
      "export PATH=.",
      "readonly PATH=.",
      "typeset -x PATH=.",
      "printf -v PATH .",
      "read PATH <<< .",
      "mapfile -t PATH <<< .",
      "getopts a PATH",
      "for PATH in .; do ls; done",
      "select PATH in .; do ls; done",
      "ls() { evil; }",
      "function ls { evil; }",
      "ls () (evil)",
      "alias ls=evil\nls",
      "hash -p ./ls ls",
      "enable -n echo",
      "set -- evil",
      "set -a",
      "trap evil EXIT",
      "trap evil DEBUG",
      "eval PATH=.",
      "eval 'PATH=.'",
      ". ./ls",
      "source ./ls",
      "exec evil",
      "command -p evil",
      "builtin eval PATH=.",
      "coproc evil",
      "PATH=. :",
      "PATH+=:.",
      "x=evil; $x",
      "$'\\145vil'",
      "ev''il",
      "./ls",
      "src/ls",
      "e?il",
      "{evil,a}",
      "~/evil",
      "\\evil",
      "e\\\nvil",
      () => `echo $(${inner()})`,
      () => `echo \`${inner()}\``,
      () => `cat <(${inner()})`,
      () => `ls >(${inner()})`,
      () => `cat <<E\n$(${inner()})\nE\n`,
      () => `cat <<E\n\${PATH:=.}\nE\nls`,
      () => `cat <<'E'\n$(${inner()})\nE\n`,
      () => `cat <<-E\n\ta\n\tE\n${inner()}`,
      () => `if ${inner()}; then ls; fi`,
      () => `while ${inner()}; do ls; done`,
      () => `case a in a) ${inner()};; esac`,
      () => `( ${inner()} )`,
      () => `{ ${inner()}; }`,
      () => `! ${inner()}`,
      () => `time ${inner()}`,
      () => `ls $'\\'; ${inner()} #'`,
      () => `ls # '\n${inner()}`,
      () => `ls \\# ; ${inner()}`,
      () => `echo "a\\"; ${inner()}"`,
      () => `echo 'a\\'; ${inner()}`,
      () => `ls\u00a0; ${inner()}`,
      () => `ls\r; ${inner()}`,
    );
  const piece = () =>
    one("'", '"', "$(", "`", "\\", "\n", ";", "&", "|", "((", "{", "}", ")", "<", "${", "#", "!", "[[", "]]", "=");
  const command = () =>
    one(plain, plain, plain, plain, setting, () => `${plain()} ${one("2>&1", ">/dev/null", "<src/ls", ">&2")}`);
  const joined = () =>
    Array.from({ length: 1 + below(3) }, command).reduce(
      (all, next) => all + one(" && ", " || ", "; ", " | ", "\n") + next,
    );
  const made = joined();
  if (below(4) > 0) return made;
  const at = below(made.length + 1);
  return one(
    () => made.slice(0, at) + piece() + made.slice(at),
    () => made.slice(0, at) + made.slice(at + 1 + below(2)),
  );
}

/** A script that may run `evil` or `git push` through something else. */
export function deniedScript({ one, below }: Chance): string {
  const denied = () =>
    one("evil", "evil x", "git push", "git push origin", "git -C . push", "git -c a=b push", "git --no-pager push");
  const free = () =>
    one(
      "ls",
      "cat a",
      "git log",
      "git status",
      "git commit -m a",
      "rg a",
      "npm test",
      "frob ls",
      "nice ls",
      "echo a",
      "true",
      "ls | cat",
    );
  const quoted = () =>
    one(
      () => `'${denied()}'`,
      () => `"${denied()}"`,
      () => `'ls; ${denied()}'`,
      () => `"ls && ${denied()}"`,
    );
  const about = () =>
    one(
      denied,
      () => `frob ${denied()}`,
      () => `frob frob ${denied()}`,
      () => `frob sh -c ${quoted()}`,
      () => `sh -c ${quoted()}`,
      () => `env ${denied()}`,
      () => `env -i PATH="$PATH" ${denied()}`,
      () => `nice -n 3 ${denied()}`,
      () => `timeout 9 ${denied()}`,
      () => `timeout -s KILL 9 frob ${denied()}`,
      () => `echo ${denied()} | sh`,
      () => `echo ${denied()} | frob sh`,
      () => `echo a | xargs ${denied()}`,
      () => `echo ${denied()} | xargs frob`,
      () => `find . -maxdepth 0 -exec ${denied()} \\;`,
      () => `eval ${quoted()}`,
      () => `trap ${quoted()} EXIT`,
      () => `x=evil; $x`,
      () => `x=push; git $x`,
      () => `X=${quoted()} frob sh -c '$X'`,
      () => `sh <<E\n${denied()}\nE\n`,
      () => `frob sh <<'E'\n${denied()}\nE\n`,
      () => `{ sh; } <<'E'\n${denied()}\nE\n`,
      () => `(${denied()})`,
      () => `if true; then ${denied()}; fi`,
      () => `f() { ${denied()}; }; f`,
      () => `echo ${quoted()}`,
      () => `rg ${quoted()}`,
      () => `git commit -m ${quoted()}`,
      () => `ls # ${denied()}`,
      () => `cat <<'E'\n${denied()}\nE\n`,
      () => `ev''il`,
      () => `e\\vil`,
      () => `./../programs/evil`,
      () => `frob ./../programs/evil`,
    );
  return Array.from({ length: 1 + below(2) }, () => one(free, free, about)).reduce(
    (all, next) => all + one("; ", " && ", "\n") + next,
  );
}

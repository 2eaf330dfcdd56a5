// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
import { commandAttacks } from "../commands.ts";

// S18: allowing `ls` allows exactly the system's `ls`, not another program with this name.

const ALLOWED = "ls,echo,cat,true,export,declare,typeset,readonly,read,printf,let,mapfile,set,test,[,hash,f,:,a,x"
  .split(",")
  .flatMap((name) => ["--allow", `shell(${name} *)`]);

export const attacks = commandAttacks({
  rule: "S18",
  planted: ["ls"],
  flags: ALLOWED,
  commands: [
    "((PATH=0)); ls",
    "echo $((PATH=0)); ls",
    "echo ${PATH:=.}; ls",
    "[[ PATH=0 -eq 0 ]]; ls",
    "[[ PATH=1 -gt 0 ]] && ls",
    "echo ${x[PATH=0]}; ls",
    "echo ${HOME:PATH=0}; ls",
    "echo {PATH}>/dev/null; ls",
    "true {PATH}</dev/null; ls",
    "cat <<E\n$((PATH=0))\nE\nls",
    "cat <<E >/dev/null\n${x[PATH=0]}\nE\nls",
    "let PATH=0; ls",
    "export PATH=.; ls",
    "declare PATH=.; ls",
    "typeset PATH=.; ls",
    "readonly PATH=.; ls",
    "read PATH <<< .; ls",
    "mapfile -t PATH <<< .; ls",
    "printf -v PATH .; ls",
    "test -v 'x[PATH=0]'; ls",
    "hash -p ./ls ls; ls",
    "PATH=.; ls",
    "PATH=. ls",
    "for PATH in .; do ls; done",
    "ls() { ./ls; }; ls",
    "ls () ( ./ls ); ls",
    "function ls { ./ls; }; ls",
    "if ((PATH=1)); then ls; fi",
    "(( PATH = 1 )) && (ls)",
    "echo `./ls`",
    "echo $(PATH=0; ls)",
    "echo $'\\'; ./ls #'",
    "set -a; PATH=.; ls",
  ],
});

#!/bin/sh
# An agent that asks before each of three edits, and tells what it was allowed to do.
read -r _prompt
ask() {
  printf '{"type":"approval","id":"%s","description":"%s","tool":"%s","kind":"%s",%s}\n' "$1" "$2" "$3" "$4" "$5"
  read -r answer
  case "$answer" in *'"value":"yes"'*) allowed="$allowed $1" ;; esac
}
ask docs 'Fix a typo' Edit edit '"paths":["docs/index.md"]'
ask push 'Publish it' Bash execute '"command":"git push origin main"'
ask code 'Rename a function' Edit edit '"paths":["src/app.ts"]'
printf '{"type":"result","text":"allowed:%s"}\n' "$allowed"

#!/bin/sh
# An agent in POSIX sh. With input_format = "text" a prompt is a bare line; what it says is one JSON object a line.
# A reply looks like {"type":"response","in_reply_to":"question","value":"words"}: compact, so that sed can read it.

say() { printf '%s\n' "$1"; }

value_of() { printf '%s\n' "$1" | sed -n 's/.*"value":"\([^"]*\)".*/\1/p'; }

while read -r prompt; do
  say '{"type":"progress","message":"counting","percent":50}'
  say '{"type":"question","question":"Words or letters?","options":["words","letters"]}'
  read -r reply || exit 0
  say '{"type":"tool_call","id":"wc","name":"wc","kind":"execute"}'
  case $(value_of "$reply") in
    words) count=$(printf '%s' "$prompt" | wc -w | tr -d ' ') ;;
    letters) count=$(printf '%s' "$prompt" | tr -d ' ' | wc -c | tr -d ' ') ;;
    *)
      say '{"type":"error","message":"words or letters, please"}'
      continue
      ;;
  esac
  say "{\"type\":\"tool_result\",\"id\":\"wc\",\"content\":\"$count\"}"
  say "{\"type\":\"result\",\"text\":\"$count\",\"count\":$count}"
done

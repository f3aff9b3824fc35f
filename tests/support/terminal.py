"""Runs a command in a terminal of its own: terminal.py STEPS COMMAND ARGUMENTS...

STEPS is JSON, a list of [text to wait for, keys to type]. What the terminal shows goes to stdout; exits as the command.
"""
import json
import os
import pty
import select
import sys
import time

WITHIN_SECONDS = 60

steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

shown = b""
seen = 0
deadline = time.monotonic() + WITHIN_SECONDS
while time.monotonic() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side has closed.
            break
        if not piece:
            break
        shown += piece
    if steps:
        found = shown.find(steps[0][0].encode(), seen)
        if found >= 0:
            seen = found + len(steps[0][0].encode())
            os.write(terminal, steps.pop(0)[1].encode())
else:
    os.kill(child, 9)

sys.stdout.buffer.write(shown)
sys.stdout.flush()
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)

// Says its text without waiting for a prompt, the last line without an LF, and ends.
process.stdout.write('first\r\n\nlast');

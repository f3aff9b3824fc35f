// A line of exactly the limit, one a byte longer, and a last one.
const fixed = JSON.stringify({ type: 'partial', text: '' }).length;
const line = (length) => `${JSON.stringify({ type: 'partial', text: 'x'.repeat(length - fixed) })}\n`;
process.stdout.write(line(8 * 1024 * 1024));
process.stdout.write(line(8 * 1024 * 1024 + 1));
process.stdout.write('{"type":"result","text":"done"}\n');

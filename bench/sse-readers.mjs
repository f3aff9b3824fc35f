// Opens N event streams and drains each to its end. Says `begin` first, `open` when all have begun, `done BYTES` when all have ended.
import { connect } from 'node:net';

const [port, path, readers, token, body = ''] = process.argv.slice(2);
const posted = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
const lastChunk = Buffer.from('0\r\n\r\n');
console.log('begin');
let open = 0;
let ended = 0;
let bytes = 0;
for (let reader = 0; reader < Number(readers); reader++) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(
      `${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${posted}Connection: close\r\n\r\n${body}`,
    );
  });
  let begun = false;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    // The end of the stream; some servers keep the connection for another request, whatever we asked for.
    if (chunk.subarray(-lastChunk.length).equals(lastChunk)) socket.destroy();
    if (begun) return;
    begun = true;
    open++;
    if (open === Number(readers)) console.log('open');
  });
  socket.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  socket.on('close', () => {
    ended++;
    if (ended === Number(readers)) console.log(`done ${bytes}`);
  });
}

import { connect } from 'node:net';

const waitMs = 20_000;

/** One call on a bare socket, header lines as given; all that comes back until the server closes. */
export async function rawCall(port: number, lines: readonly string[], body: Uint8Array | string = ''): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const timer = setTimeout(() => reject(new Error(`no end within ${waitMs} ms; so far: ${text}`)), waitMs);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    // A server that closes early resets the rest of what we write; what it said counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
    socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    socket.write(body);
  });
}

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Bytes from here to a port, until told to behave badly. */
export class Proxy {
  /** `pass`, `deaf` (what is asked arrives, what is answered does not), or `shut`. */
  manner = 'pass';
  #server;
  #pairs = new Set();

  constructor(target) {
    this.target = target;
  }

  get port() {
    return this.#server.address().port;
  }

  async start() {
    this.#server = createServer((near) => this.#join(near)).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Everybody who is connected is cut off. */
  cut() {
    for (const pair of this.#pairs) for (const end of pair) end.destroy();
  }

  stop() {
    this.cut();
    this.#server.close();
  }

  #join(near) {
    if (this.manner === 'shut') return near.destroy();
    const far = connect(this.target, '127.0.0.1');
    const pair = [near, far];
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const side of pair) side.on('error', end).on('close', end);
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => (this.manner === 'deaf' ? end() : near.write(chunk)));
  }
}

// Loaded before a server or runner: its wall clock stands off by as many milliseconds as the file CHAOS_CLOCK says.
import { readFileSync } from 'node:fs';

const file = process.env.CHAOS_CLOCK;
const RealDate = Date;
const realNow = Date.now;
let offset = 0;

function look() {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // It is being written.
  }
}

if (file !== undefined) {
  look();
  setInterval(look, 100).unref();
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(realNow() + offset);
      else super(...given);
    }

    static now() {
      return realNow() + offset;
    }
  };
}

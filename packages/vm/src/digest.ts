/** SHA-256 and MD5 of UTF-8 text, in hex. Written out because this room has no platform API. */

export function sha256(text: string): string {
  const words = padded(utf8(text), false);
  let state = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
  for (let block = 0; block < words.length; block += 16) state = sha256Block(state, words.subarray(block, block + 16));
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function sha256Block(state: readonly number[], block: Uint32Array): number[] {
  const w = new Uint32Array(64);
  w.set(block);
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15] ?? 0;
    const b = w[i - 2] ?? 0;
    const s0 = rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >>> 3);
    const s1 = rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >>> 10);
    w[i] = (w[i - 16] ?? 0) + s0 + (w[i - 7] ?? 0) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + (SHA256_K[i] ?? 0) + (w[i] ?? 0)) | 0;
    const s0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const t2 = (s0 + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, i) => (word + (state[i] ?? 0)) | 0);
}

export function md5(text: string): string {
  const words = padded(utf8(text), true);
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < words.length; block += 16) state = md5Block(state, words.subarray(block, block + 16));
  return state.map((word) => swap(word).toString(16).padStart(8, '0')).join('');
}

function md5Block(state: readonly number[], block: Uint32Array): number[] {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let i = 0; i < 64; i++) {
    const [mix, index] = md5Round(i, b, c, d);
    const sum = (a + mix + (MD5_K[i] ?? 0) + (block[index] ?? 0)) | 0;
    const turn = MD5_TURNS[(i >> 4) * 4 + (i & 3)] ?? 0;
    [a, d, c, b] = [d, c, b, (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0];
  }
  return [a, b, c, d].map((word, i) => (word + (state[i] ?? 0)) | 0);
}

function md5Round(i: number, b: number, c: number, d: number): readonly [number, number] {
  if (i < 16) return [(b & c) | (~b & d), i];
  if (i < 32) return [(d & b) | (~d & c), (5 * i + 1) % 16];
  if (i < 48) return [b ^ c ^ d, (3 * i + 5) % 16];
  return [c ^ (b | ~d), (7 * i) % 16];
}

function rotateRight(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function swap(word: number): number {
  return (((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}

/** The bytes, a 1 bit, zeros, and the length in bits, as words. */
function padded(bytes: readonly number[], littleEndian: boolean): Uint32Array {
  const words = new Uint32Array((((bytes.length + 8) >> 6) + 1) * 16);
  [...bytes, 0x80].forEach((byte, i) => {
    const shift = littleEndian ? (i % 4) * 8 : 24 - (i % 4) * 8;
    words[i >> 2] = (words[i >> 2] ?? 0) | (byte << shift);
  });
  const bits = bytes.length * 8;
  const [low, high] = [bits >>> 0, Math.floor(bits / 0x1_0000_0000)];
  words[words.length - 2] = littleEndian ? low : high;
  words[words.length - 1] = littleEndian ? high : low;
  return words;
}

/** UTF-8; a lone surrogate becomes U+FFFD as everywhere else. */
function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    let code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return bytes;
}

const MD5_TURNS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const MD5_K = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 0x1_0000_0000));

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
const SHA256_K = primes(64).map((prime) => Math.floor((Math.cbrt(prime) % 1) * 0x1_0000_0000));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

import { err, ok, type Result } from '@concerto/base';
import type { Blobs } from '@concerto/log';
import {
  type FilePart,
  fileOf,
  fileWords,
  isLongerThanMessage,
  kindsOf,
  type LlmContent,
  messageLengthMax,
  type Part,
  wordsOf,
} from '@concerto/protocol';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { typeOfBytes } from './file-type.ts';

/** Bytes in one event; a file that is larger is kept beside the session. */
export const inlineBytesMax = 1024 * 1024;
/** Of all files of one message: agents are given them in one line. */
const filesBytesMax = 16 * 1024 * 1024;

/** What somebody said, as it is decided upon: in words, and in full where it is more than words. */
export type TakenContent = {
  readonly text: string;
  readonly objective?: LlmContent;
  /** Of the files that are kept beside the session. */
  readonly handles: readonly string[];
};

/** Who is to hear it. */
export type Listener = {
  readonly kind: string;
  readonly name: string;
  /** Types of files that it takes; undefined where that is not known before it has run. */
  readonly accepts: readonly string[] | undefined;
};

/** Looks at every part before anything is written: one that is wrong, gone, or of no use to who hears it is refused. */
export async function takeContent(
  said: string | LlmContent,
  listener: Listener,
  blobs: Blobs,
): Promise<Result<TakenContent, ServiceRefusal>> {
  if (typeof said === 'string') return ok({ text: said, handles: [] });
  const parts: Part[] = [];
  const handles: string[] = [];
  let bytes = 0;
  for (const [index, part] of said.parts.entries()) {
    const taken = await takePart(part, listener, blobs);
    if (!taken.ok) {
      const { code, message } = taken.error;
      return err(refusal(code, `\`parts.${index}\`: ${message}`, { ...taken.error.details, part: index }));
    }
    parts.push(taken.value);
    const file = fileOf(taken.value);
    bytes += file?.bytes ?? 0;
    if (file?.at.kind === 'stored') handles.push(file.at.handle);
  }
  if (bytes > filesBytesMax) {
    const message = `the files of a message have at most ${filesBytesMax} bytes together, and these have ${bytes}`;
    return err(refusal('invalid_content', message));
  }
  const objective = { ...said, role: said.role ?? 'user', parts };
  const text = wordsOf(objective);
  if (text.length === 0 || isLongerThanMessage(text)) {
    return err(refusal('invalid_content', `the texts of a message have 1 to ${messageLengthMax} characters`));
  }
  return ok({ text, objective, handles });
}

async function takePart(part: Part, listener: Listener, blobs: Blobs): Promise<Result<Part, ServiceRefusal>> {
  const kinds = kindsOf(part);
  // Whoever hears it would be given the first, and nobody told of the rest.
  if (kinds.length > 1) {
    const named = kinds.map((kind) => `\`${kind}\``).join(' and ');
    return err(refusal('invalid_content', `is ${named}: a part is of one kind, so make several of it`));
  }
  if ('text' in part && typeof part.text === 'string') return ok(part);
  if ('json' in part) return ok(part);
  const written = fileOf(part);
  const file = written && { ...written, mimeType: plainType(written.mimeType) };
  if (file === undefined) {
    const kind = Object.keys(part)[0] ?? 'nothing';
    return err(refusal('invalid_content', `is ${JSON.stringify(kind)}; people say \`text\`, \`json\` and files`));
  }
  const notTaken = whyNotTaken(file, listener);
  if (notTaken !== undefined) return err(notTaken);
  switch (file.at.kind) {
    case 'link':
    case 'inline': {
      const plain = file.mimeType === written?.mimeType ? part : partOf(file, file.at);
      return file.at.kind === 'link' ? ok(plain) : await takeInline(plain, file, { data: file.at.data, blobs });
    }
    case 'stored': {
      const { handle } = file.at;
      const found = await blobs.find(handle);
      if (found === undefined) {
        const message = `there is no file ${JSON.stringify(handle)}; POST /api/blobs keeps one`;
        return err(refusal('no_such_blob', message));
      }
      // Its own type counts: what it is called otherwise was not looked at.
      const { mimeType } = found;
      const refused =
        whyNotTaken({ ...file, mimeType }, listener) ?? whyNotItself(mimeType, await beginningOf(handle, blobs));
      return refused === undefined ? ok(storedPart(found, file.title)) : err(refused);
    }
  }
}

/** Whoever names a type does so in any case, and with parameters: it is compared and told without. */
function plainType(mimeType: string): string {
  return mimeType.replace(/;.*$/s, '').trim().toLowerCase();
}

function partOf({ mimeType, title }: FilePart, at: Exclude<FilePart['at'], { kind: 'stored' }>): Part {
  return at.kind === 'link'
    ? { fileData: { fileUri: at.uri, mimeType, ...titled(title) } }
    : { inlineData: { mimeType, data: at.data, ...titled(title) } };
}

async function takeInline(
  part: Part,
  { mimeType, title }: FilePart,
  { data, blobs }: { readonly data: string; readonly blobs: Blobs },
): Promise<Result<Part, ServiceRefusal>> {
  const bytes = decodeBase64(data);
  if (bytes === undefined) return err(refusal('invalid_content', '`inlineData.data` is not base64'));
  const refused = whyNotItself(mimeType, bytes);
  if (refused !== undefined) return err(refused);
  if (bytes.length <= inlineBytesMax) return ok(part);
  return ok(storedPart(await blobs.put(mimeType, [bytes]), title));
}

/** A model that is told the wrong type of a picture refuses all that comes with it. */
function whyNotItself(mimeType: string, bytes: Uint8Array): ServiceRefusal | undefined {
  const real = mimeType.startsWith('image/') ? typeOfBytes(bytes) : undefined;
  if (real === undefined || real === mimeType) return undefined;
  return refusal('invalid_content', `says that it is ${mimeType} and is ${real}`);
}

async function beginningOf(handle: string, blobs: Blobs): Promise<Uint8Array> {
  const opened = await blobs.open(handle);
  const first = await opened?.bytes.next();
  await opened?.bytes.return();
  return first?.done === false ? first.value : new Uint8Array();
}

export function storedPart(blob: Awaited<ReturnType<Blobs['put']>>, title: string | undefined): Part {
  return { storedData: { ...blob, ...titled(title) } };
}

function titled(title: string | undefined): { readonly title?: string } {
  return title === undefined ? {} : { title };
}

/** Undefined for what is not exactly base64. */
function decodeBase64(data: string): Buffer | undefined {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return undefined;
  return Buffer.from(data, 'base64');
}

function whyNotTaken(file: FilePart, { kind, name, accepts }: Listener): ServiceRefusal | undefined {
  if (accepts === undefined || isTaken(file.mimeType, accepts)) return undefined;
  const takes = [...new Set(['text', ...accepts])];
  const hint = kind === 'agent' ? `; \`accepts\` in [agents.${name}] says what it takes` : '';
  const message = `${kind} ${JSON.stringify(name)} takes ${takes.join(', ')}, and this is a ${fileWords(file)}${hint}`;
  return refusal('part_not_taken', message, { takes });
}

/** Text is taken by all: it is told as such. */
export function isTaken(mimeType: string, accepts: readonly string[]): boolean {
  if (mimeType.startsWith('text/') || mimeType === 'application/json') return true;
  return accepts.some((pattern) => {
    if (pattern === '*/*' || pattern === mimeType) return true;
    return pattern.endsWith('/*') && mimeType.startsWith(pattern.slice(0, -1));
  });
}

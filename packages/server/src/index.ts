export type { AnsweredCall } from './call-log.ts';
export type { InlineTools } from './inline-tools.ts';
export { openApiDocument } from './openapi.ts';
export { People } from './people/people.ts';
export type { ProgramShelf, WriteRefusal } from './program-shelf.ts';
export { type RunningServer, type ServeOptions, serve } from './serve.ts';
export type { Upkeep } from './server-context.ts';

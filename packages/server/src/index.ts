export type { InlineTools } from './inline-tools.ts';
export { type RunningServer, type ServeOptions, serve } from './serve.ts';

export { createApp } from './app.ts';
export { type RunningServer, type ServeOptions, serve } from './serve.ts';

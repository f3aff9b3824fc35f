export { openTracing, type TracedCall, type Tracing } from './tracing/tracing.ts';

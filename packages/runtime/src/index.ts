export { type Catalog, type CatalogEntry, catalogOf, type LoadedProgram } from './catalog.ts';
export { type Clock, type Environment, type MintId, type Report, type StartAgent, systemClock } from './ports.ts';
export { PoolKeeper } from './session/pool-keeper.ts';
export { type ProcessNote, ProcessRegister } from './session/process-register.ts';
export { Runner, type RunnerOptions } from './session/runner.ts';
export type { ServiceRefusal } from './session/service-refusal.ts';
export { SessionStore } from './session/session-store.ts';
export { type Caller, Sessions, type SessionsOptions } from './session/sessions.ts';

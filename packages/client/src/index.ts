export { ClientError, type ClientErrorCode } from './client-error.ts';
export { type ConcertoClient, concertoClient, type StartRequest } from './concerto-client.ts';
export type { ConnectionState, FollowedEvent, FollowOptions, UnknownEvent } from './follow-session.ts';
export type { CallOptions, ClientOptions } from './http-calls.ts';

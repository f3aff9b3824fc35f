export { type ContractSubject, eventLogContract } from './event-log-contract.ts';
export { hasRedisServer, type RedisServer, startRedisServer } from './redis-server.ts';
export { replaceableLog } from './replaceable-log.ts';

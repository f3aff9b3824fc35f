export { type ContractSubject, eventLogContract } from './event-log-contract.ts';

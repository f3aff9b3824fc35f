import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from '../store.ts';
import { appendContract } from './append-contract.ts';
import { blobContract } from './blob-contract.ts';
import { documentContract } from './document-contract.ts';
import { leaseContract } from './lease-contract.ts';
import { lifetimeContract } from './lifetime-contract.ts';
import { readContract } from './read-contract.ts';

/** One empty store under test. */
export type ContractSubject = {
  readonly log: Store;
  /** The store's clock. */
  readonly now: () => number;
  /** Moves the store's clock forward. */
  readonly advance: (ms: number) => void;
  /** Ends the log if it is still open, and removes what it kept. */
  readonly dispose: () => Promise<void>;
};

/** Gives the subject of the running test. */
export type SubjectOf = () => ContractSubject;

/** Registers the tests that every store passes. */
export function eventLogContract(name: string, open: () => Promise<ContractSubject>): void {
  describe(`${name}: event log contract`, () => {
    let subject: ContractSubject | undefined;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(async () => {
      await subject?.dispose();
      subject = undefined;
    });
    const current = (): ContractSubject => {
      if (subject === undefined) throw new Error('no test is running');
      return subject;
    };
    appendContract(current);
    readContract(current);
    documentContract(current);
    blobContract(current);
    leaseContract(current);
    lifetimeContract(current);
  });
}

import { describe } from 'vitest';
import { compactionRules } from './contract/compaction-rules.ts';
import type { ContractEngine } from './contract/contract-engine.ts';
import { inputRules } from './contract/input-rules.ts';
import { leaseRules } from './contract/lease-rules.ts';
import { lifecycleRules } from './contract/life-rules.ts';
import { readRules } from './contract/read-rules.ts';
import { snapshotRules } from './contract/snapshot-rules.ts';
import { transactionRules } from './contract/transaction-rules.ts';
import { watchRules } from './contract/watch-rules.ts';

export type { ContractEngine } from './contract/contract-engine.ts';

/** The rules of SPEC.md, as tests of one engine. */
export function describeStoreContract(engine: ContractEngine): void {
  // Some flush hundreds of times, which a busy medium takes its time for.
  describe(`the contract of the store, kept by ${engine.name}`, { timeout: 60_000 }, () => {
    describe('keys and values', () => inputRules(engine));
    describe('reads', () => readRules(engine));
    describe('transactions', () => transactionRules(engine));
    describe('watches', () => watchRules(engine));
    describe('leases', () => leaseRules(engine));
    describe('compaction', () => compactionRules(engine));
    describe('snapshots', () => snapshotRules(engine));
    describe('life', () => lifecycleRules(engine));
  });
}

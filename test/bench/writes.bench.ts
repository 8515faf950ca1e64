import { type Benchmark, SharedRuns } from './harness.ts';
import { type WriteCosts, writeCosts } from './write-costs.ts';

const runs = new SharedRuns(writeCosts);

/** What a cluster writes by itself, beside a get of one object, which passes the same filters and stores nothing. */
const WRITES: readonly (readonly [what: string, of: (costs: WriteCosts) => number])[] = [
  ['the renewal of a lease', ({ lease }) => lease],
  ["a node's status", ({ nodeStatus }) => nodeStatus],
  ["a pod's status", ({ podStatus }) => podStatus],
  ['a new event', ({ newEvent }) => newEvent],
  ['an event that happened again', ({ repeatedEvent }) => repeatedEvent],
  ['a slice of 100 endpoints', ({ endpointSlice }) => endpointSlice],
];

export const benchmarks: Benchmark[] = WRITES.map(([what, of]) => ({
  kind: 'macro',
  name: `writes: CPU time of ${what}, in process, store in memory`,
  unit: 'µs',
  better: 'lower',
  rounds: 1,
  baseline: runs.figure('a get', ({ get }) => get),
  subject: runs.figure('sampan', of),
}));

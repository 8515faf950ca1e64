import { TestCluster, type TestClusterOptions } from './test-cluster.ts';

export { TestClock, TestCluster, type TestClusterOptions, type WaitOptions } from './test-cluster.ts';

/** Starts a cluster for a test: `await using cluster = await startCluster({ nodes: 3, clock: 'virtual' })`. */
export function startCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  return TestCluster.start(options);
}

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const resolve = { conditions: ['source', 'node', 'import'] };

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    // The default leaves one core to the runner, which is half of a small machine; most tests wait for others.
    maxWorkers: availableParallelism(),
    setupFiles: ['test/setup/no-leaked-handles.ts'],
    // Real kernels and processes on a busy machine take more than the default second.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        // Files of a worker share their modules, which have no state (a house rule): loading them anew cost more than all tests.
        test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false, testTimeout: 60_000, hookTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'house-rules',
          include: ['test/house-rules/**/*.test.ts'],
          isolate: false,
          globalSetup: 'test/setup/build.ts',
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/{integration,e2e,robustness,oracle,hostile}/**/*.test.ts'],
          globalSetup: 'test/setup/build.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

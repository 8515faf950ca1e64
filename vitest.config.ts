import { defineConfig } from 'vitest/config';

const resolve = { conditions: ['source', 'node', 'import'] };

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    setupFiles: ['test/setup/no-leaked-handles.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'house-rules', include: ['test/house-rules/**/*.test.ts'], globalSetup: 'test/setup/build.ts', testTimeout: 30_000 },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/{integration,e2e,robustness,oracle}/**/*.test.ts'],
          globalSetup: 'test/setup/build.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
